"""Uneven times, inputs between rows, starts that are noisy: what real tables look like."""

import numpy as np
import pytest

from unisymnet import DynamicsRegressor, System
from unisymnet.deadline import Deadline
from unisymnet.dynamics.course import make_course
from unisymnet.dynamics.doubts import fit_notes
from unisymnet.dynamics.propose import BY_LENGTH, RateSearch
from unisymnet.dynamics.rate import form_price
from unisymnet.dynamics.scoring import score_runs
from unisymnet.dynamics.shooting import shoot
from unisymnet.dynamics.smoothing import driven, smooth_all, smoothing_spline
from unisymnet.dynamics.trajectory import Trajectory, read_runs
from unisymnet.errors import DataError
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.text import to_text


@pytest.mark.parametrize("seed", range(4))
def test_noise_is_found_at_random_times(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0.0, 20.0, 180))
    curve = smoothing_spline(t, np.sin(2.0 * t) * np.exp(-0.05 * t) + 0.02 * rng.normal(size=180))
    assert curve.sigma == pytest.approx(0.02, rel=0.3)
    assert 20.0 < curve.freedom < 90.0
    inner = np.linspace(1.0, 19.0, 200)
    assert np.abs(curve.value(inner) - np.sin(2.0 * inner) * np.exp(-0.05 * inner)).max() < 0.1


def test_inputs_between_rows() -> None:
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0.0, 10.0, 150))
    between = 0.5 * (t[1:] + t[:-1])
    assert driven(t, np.sin(t), between) == pytest.approx(np.sin(between), abs=1e-4)
    steps = np.sign(np.sin(1.1 * t))
    assert set(driven(t, steps, np.linspace(0.0, 10.0, 1000))) == {-1.0, 1.0}
    rough = np.sin(t) + 0.05 * rng.normal(size=150)
    low, high = np.minimum(rough[1:], rough[:-1]), np.maximum(rough[1:], rough[:-1])
    found = driven(t, rough, between)
    assert np.all((found >= low - 1e-12) & (found <= high + 1e-12))


def test_states_behind_an_input_of_steps_are_not_exact() -> None:
    t = np.linspace(0.0, 10.0, 90)
    smooth = [Trajectory(t, np.sin(t)[:, None], np.cos(t)[:, None])]
    jumps = [Trajectory(t, np.sin(t)[:, None], np.sign(np.sin(1.1 * t))[:, None])]
    assert smooth_all(smooth)[1][0].clean and not smooth_all(jumps)[1][0].clean


def test_a_score_does_not_begin_in_a_noisy_row() -> None:
    truth = System.parse({"x": "v", "v": "-2*x"})
    t = np.linspace(0.0, 12.0, 100)
    x = truth.simulate([1.0, 0.0], t) + 0.02 * np.random.default_rng(1).normal(size=(100, 2))
    x[0] = [1.6, 0.7]  # a row that nobody should start from
    score = score_runs([(truth, read_runs(t, x, states=["x", "v"]))])
    assert 0.98 < score < 1.0
    positions = read_runs(t, x[:, :1], states=["x"])  # order 2: velocities are not measured
    assert score_runs([(truth, positions)]) > 0.98


def test_states_of_all_sizes_count_alike_in_a_score() -> None:
    truth, wrong = System.parse({"b": "-b", "c": "-2*c"}), System.parse({"b": "-b", "c": "0*c"})
    t = np.linspace(0.0, 3.0, 40)
    runs = read_runs(t, truth.simulate([1e9, 50.0], t), states=["b", "c"])
    assert score_runs([(truth, runs)]) > 0.999 and score_runs([(wrong, runs)]) < 0.6


def test_a_free_exponent_is_not_cheaper_than_a_logarithm() -> None:
    power, log, square = (parse(text, ["x"]) for text in ("3*x**1.02", "3*x*ln(x)", "3*x**2"))
    assert form_price([power]) > form_price([square]) + 3.0
    t = np.linspace(0.0, 15.0, 60)
    x = System.parse({"v": "0.45*v*ln(900/v)"}).simulate([12.0], t)
    noisy = x * (1.0 + 0.03 * np.random.default_rng(4).normal(size=x.shape))
    model = DynamicsRegressor(max_time=120, search=False).fit(t, noisy, states=["v"])
    assert "ln(v)" in str(model.system_) and form_price([log]) > 0.0


def test_rates_of_velocities_are_compared_by_their_positions() -> None:
    """Nothing is measured of a velocity, so that every rate of it once fitted as well as another."""
    orbit = System.parse({"x": "v", "y": "w", "v": "-4*x/(x**2 + y**2)**1.5", "w": "-4*y/(x**2 + y**2)**1.5"})
    t = np.linspace(0.0, 6.0, 120)
    course = make_course(read_runs(t, orbit.simulate([1.0, 0.0, 0.0, 1.7], t)[:, :2], states=["x", "y"]), order=2)
    search = RateSearch(course, 2, range(4), Deadline.never())
    wrong = search.add(parse("-4*x + 0.3", list(course.names)), "guess")
    central = next(library for library in search.libraries if library.name == "central forces")
    right = search.add(search._subsets(central)[BY_LENGTH], central.name)
    assert wrong is not None and wrong.reduced > 1e3
    assert right is not None and right.reduced < 1.0
    assert to_text(right.expr, course.names, 3) == "-4*x*(x**2 + y**2)**-1.5"


def test_what_cannot_be_used_is_said() -> None:
    t = np.linspace(0.0, 10.0, 60)
    x = np.column_stack([np.exp(-0.3 * t), np.full(60, 3.0)])
    with pytest.raises(DataError, match="cannot be stored"):
        read_runs(t, x * [1e300, 1.0])
    with pytest.raises(DataError, match="the time 't'"):
        read_runs(t * 1e-310, x)
    with pytest.raises(DataError, match="8 different times"):
        read_runs(np.zeros(60), x)
    model = DynamicsRegressor(max_time=60, search=False).fit(t, x, states=["a", "b"])
    assert model.system_.lines(3) == ["a' = -0.3*a", "b' = 0"]
    noise = make_course(read_runs(t, np.random.default_rng(0).normal(size=(60, 1)), states=["n"]))
    shot = shoot(noise, [parse("0*n", ["n", "t"])], np.empty(0))
    assert "n looks like noise" in fit_notes(noise, shot)[0]
