"""Systems that are driven at a frequency that nobody has told, with `use_time=True`."""

import math
from pathlib import Path

import numpy as np
import pytest

from unisymnet import DynamicsRegressor, System
from unisymnet.deadline import Deadline
from unisymnet.dynamics.course import Course, make_course
from unisymnet.dynamics.finish import _within_a_turn
from unisymnet.dynamics.propose import RateSearch
from unisymnet.dynamics.proposers.driven import DrivenSearch, frequencies_of, merged, split
from unisymnet.dynamics.rate import sum_of, terms_of
from unisymnet.dynamics.trajectory import read_runs
from unisymnet.symbolic.expr import evaluate, variables
from unisymnet.symbolic.parse import parse


def runs_of(
    equations: dict[str, str], starts: list[list[float]], end: float, n: int, noise: float
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Runs with uneven times; the noise is a share of the spread."""
    rng = np.random.default_rng(0)
    times, values = [], []
    for start in starts:
        t = np.linspace(0.0, end, n)
        t[1:-1] += rng.uniform(-0.3, 0.3, n - 2) * end / n
        x = System.parse(equations).simulate(start, t)
        times.append(t)
        values.append(x + noise * x.std(axis=0) * rng.standard_normal(x.shape))
    return times, values


def course_of(times: list[np.ndarray], values: list[np.ndarray], names: list[str]) -> Course:
    return make_course(read_runs(times, values, states=names))


def test_cosine_and_sine_become_one_wave_with_a_phase_and_back() -> None:
    names = ["x", "t"]
    expr = parse("0.5*x + 0.3*cos(1.2*t) - 0.4*sin(1.2*t) + 2*x*sin(3*t)", names)
    one = sum_of(merged(terms_of(expr), 1))
    assert len(terms_of(one)) == 3 and sorted(frequencies_of(one, 1)) == [1.2, 3.0]
    again = sum_of(split(terms_of(one), 1))
    assert len(terms_of(again)) == 4
    rows = np.random.default_rng(0).uniform(-3.0, 3.0, (50, 2))
    assert np.allclose(evaluate(one, rows), evaluate(expr, rows)) and np.allclose(
        evaluate(again, rows), evaluate(expr, rows)
    )


def test_an_oscillator_is_driven_at_a_frequency_between_its_own() -> None:
    equations = {"x": "v", "v": "x - x^3 - 0.3*v + 0.5*cos(1.2*t)"}
    course = course_of(*runs_of(equations, [[1.0, 0.0], [-0.5, 0.5]], 30.0, 300, 0.02), ["x", "v"])
    search = RateSearch(course, 1, [0, 1, 2], Deadline.never())
    search.drive()
    best = search.ranked()[0].expr
    assert frequencies_of(best, 2) == pytest.approx([1.2], abs=0.003)


def test_seasonal_growth_prints_runs_and_is_stored(tmp_path: Path) -> None:
    equations = {"n": "0.8*n*(1 + 0.6*cos(2*pi*t/1.1 + 0.7)) - 0.08*n^2"}
    times, values = runs_of(equations, [[1.0], [15.0]], 12.0, 150, 0.02)
    model = DynamicsRegressor(max_time=30, use_time=True, search=False).fit(times, values, states=["n"])
    expr = model.system_.exprs[0]
    assert frequencies_of(expr, 1) == pytest.approx([2.0 * math.pi / 1.1], rel=0.003)
    assert len(terms_of(expr)) == 3 and model.score() > 0.99
    path = model.system_.simulate([5.0], times[0])
    truth = System.parse(equations).simulate([5.0], times[0])
    assert np.abs(path - truth).max() < 0.05 * np.ptp(truth)
    model.save(tmp_path / "model.json")
    assert DynamicsRegressor.load(tmp_path / "model.json").system_ == model.system_
    assert "cos" in model.system_.to("python") and "cos" in model.system_.latex()


def test_a_template_may_ask_for_a_function_of_the_time() -> None:
    equations = {"x": "v", "v": "-2*x - 0.3*v + 1.1*cos(2.2*t)"}
    times, values = runs_of(equations, [[1.0, 0.0]], 20.0, 250, 0.02)
    template = {"x": "v", "v": "-k*x - c*v + f(t)"}
    model = DynamicsRegressor(max_time=20, use_time=True, search=False, template=template)
    expr = model.fit(times, values, states=["x", "v"]).system_.exprs[1]
    assert frequencies_of(expr, 2) == pytest.approx([2.2], abs=0.01) and len(terms_of(expr)) == 3


def test_a_phase_is_shown_within_a_turn_with_its_error() -> None:
    errors = {49.7: 0.1}
    shown = _within_a_turn(parse("x*cos(6.27*t - 49.7) + sin(x + 9)", ["x", "t"]), 1, errors)
    phase = math.remainder(-49.7, 2.0 * math.pi)
    assert errors[abs(phase)] == 0.1 and f"{phase:.4f}"[:5] in str(shown)
    assert "9" in str(shown)  # of a state nothing is changed


def test_no_wave_is_found_in_noise_and_where_nothing_is_driven() -> None:
    rng = np.random.default_rng(1)
    still = course_of([np.linspace(0.0, 10.0, 120)], [rng.standard_normal((120, 1))], ["x"])
    search = RateSearch(still, 0, [0, 1], Deadline.never())
    assert DrivenSearch(still, search.rows, search.n_rows).run([parse("1", ["x"]), parse("x", ["x"])]) is None
    times, values = runs_of({"x": "v", "v": "-2*x - 0.3*v"}, [[1.0, 0.0]], 10.0, 150, 0.02)
    model = DynamicsRegressor(max_time=20, use_time=True, search=False).fit(times, values, states=["x", "v"])
    assert all(2 not in variables(expr) for expr in model.system_.exprs)
