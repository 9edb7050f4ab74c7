"""Short rates that a longer sum of powers hides, and what the clock may not do to a comparison."""

import math

import numpy as np
import pytest

from unisymnet import DynamicsRegressor, System
from unisymnet.deadline import Deadline
from unisymnet.dynamics import integrate as kernels
from unisymnet.dynamics.choose import SystemSearch
from unisymnet.dynamics.course import Course, make_course
from unisymnet.dynamics.library import libraries
from unisymnet.dynamics.program import free_system
from unisymnet.dynamics.propose import RateSearch
from unisymnet.dynamics.shooting import shoot
from unisymnet.dynamics.smoothing import smooth_all
from unisymnet.dynamics.trajectory import Trajectory, read_runs
from unisymnet.symbolic.expr import variables
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.text import to_text


def course_of(
    equations: dict[str, str], start: list[float], end: float, n: int, noise: float = 0.0
) -> tuple[Course, list[str]]:
    t = np.linspace(0.0, end, n)
    x = System.parse(equations).simulate(start, t, rtol=1e-10)
    x = x + noise * x.std(axis=0) * np.random.default_rng(0).normal(size=x.shape)
    return make_course(read_runs(t, x, states=list(equations))), list(equations)


def test_a_series_is_no_reason_to_stop() -> None:
    course, names = course_of({"v": "30/(10 + f) - 0.5", "f": "-0.4"}, [0.0, 6.0], 10.0, 56)
    search = RateSearch(course, 0, [0, 1], Deadline.never())
    best = search.run()[0]
    assert best.reduced <= 1.0
    assert variables(best.expr) == (1,) and "**" not in to_text(best.expr, names)  # not four powers of v


def test_a_curve_with_an_inner_constant_is_tried_beside_three_powers() -> None:
    equations = {"m": "2/(1 + p**2) - 0.4*m", "p": "0.8*m - 0.3*p"}
    course, names = course_of(equations, [0.2, 0.1], 25.0, 120, noise=0.02)
    search = RateSearch(course, 0, [0, 1], Deadline.never())
    search.try_all([parse("3.0 - 0.4*m - 3.0*p + 1.16*p**2 - 0.16*p**3", names)], "monomials")
    assert not search.is_poor()  # it follows the data, but is longer
    search.try_all(search._grouped(next(lib for lib in search.libraries if lib.name == "Hill curves of 1")), "Hill")
    short = [rate.expr for rate in search.ranked() if len(free_system([rate.expr])[1]) == 3]
    assert any("inv(p**2 + " in to_text(expr, names) and "*m" in to_text(expr, names) for expr in short)


def test_an_amount_may_be_a_factor_of_its_whole_rate() -> None:
    ranges = {0: (0.1, 3.0), 1: (-2.0, 4.0)}
    grown = {library.name: library.terms for library in libraries([0, 1], ranges, grown=0)}["growth"]
    assert set(grown) == {parse(text, ["x", "y"]) for text in ("x", "x**2", "x**3", "x*y", "x**2*y", "x*y**2")}
    # What passes through zero is no amount.
    assert "growth" not in {library.name for library in libraries([0, 1], ranges, grown=1)}


def test_a_gap_in_a_smooth_input_is_part_of_the_noise() -> None:
    t = np.linspace(0.0, 20.0, 200)
    t = t[(t < 8.0) | (t > 8.8)]  # short enough not to be cut there
    x, u = np.sin(0.7 * t)[:, None], np.cos(1.1 * t)[:, None]
    whole = smooth_all([Trajectory(np.linspace(0.0, 20.0, 200), np.zeros((200, 1)), np.zeros((200, 1)))])
    noise = smooth_all([Trajectory(t, x, u)])[1][0]
    assert whole[1][0].least == 0.0
    assert not noise.clean and 1e-7 < noise.least < 1e-3
    assert noise.deviation(np.zeros(1)) >= noise.least


def test_a_fit_that_the_clock_cuts_short_is_not_compared() -> None:
    course, _ = course_of({"x": "1 - 0.5*x"}, [0.0], 8.0, 60, noise=0.02)
    forms, params = free_system([parse("0.3 - 0.2*x", ["x"])])
    late = Deadline.after(600.0).sooner(0.0)  # a slice is over, the search is not
    assert shoot(course, forms, params, deadline=late, least_trials=0).cut_short
    whole = shoot(course, forms, params, deadline=late)
    assert not whole.cut_short and whole.params == pytest.approx([1.0, 0.5], rel=0.1)
    search = SystemSearch(course, {}, late)
    assert math.isfinite(search.fit([parse("0.3 - 0.2*x", ["x"])]).length)  # something to keep
    assert search.fit([parse("0.3 - 0.2*x**2", ["x"])]).length == math.inf


def test_only_a_compilation_is_outside_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels.warm_up()
    assert kernels.warm_up() == 0.0
    monkeypatch.setattr(kernels, "warm_up", lambda: 1000.0)
    t = np.linspace(0.0, 4.0, 30)
    model = DynamicsRegressor(max_time=0.5).fit(t, np.exp(-t))
    assert model.seconds_ < 0.0  # a thousand seconds of compiling are not the search's
