"""Smoothing, weak rows, the integrator and shooting, each against an independent computation."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

from unisymnet.dynamics.course import make_course
from unisymnet.dynamics.integrate import Accuracy, Cut, integrate, make_lanes
from unisymnet.dynamics.library import libraries
from unisymnet.dynamics.program import compile_system, free_system
from unisymnet.dynamics.rate import sum_of, terms_of
from unisymnet.dynamics.shooting import shoot
from unisymnet.dynamics.smoothing import difference_noise, smooth_all, smoothing_spline
from unisymnet.dynamics.trajectory import pieces, read_runs
from unisymnet.dynamics.weak import bump, weak_rows
from unisymnet.errors import DataError
from unisymnet.symbolic.expr import Const, Var, evaluate
from unisymnet.symbolic.parse import parse

T = np.linspace(0.0, 8.0, 200)


def test_the_smoothing_spline_finds_slopes_and_the_noise_level() -> None:
    rng = np.random.default_rng(0)
    curve = smoothing_spline(T, np.sin(T) + 0.05 * rng.normal(size=len(T)))
    inner = slice(10, -10)
    assert curve.sigma == pytest.approx(0.05, rel=0.15)
    assert np.sqrt(np.mean((curve.value(T, 1) - np.cos(T))[inner] ** 2)) < 0.06
    assert 4 < curve.freedom < 30


def test_clean_data_are_told_from_noisy_ones() -> None:
    rng = np.random.default_rng(1)
    keep = rng.random(len(T)) < 0.6  # uneven steps
    x = np.column_stack([np.sin(T), (1.2 + np.cos(T)) * (1.0 + 0.03 * rng.normal(size=len(T)))])[keep]
    _, noises = smooth_all(list(read_runs(T[keep], x).trajectories))
    assert noises[0].clean and not noises[1].clean
    assert noises[1].share == pytest.approx(0.03, rel=0.3)


def test_differences_do_not_see_polynomials() -> None:
    t = np.sort(np.random.default_rng(2).uniform(0.0, 1.0, 50))
    assert difference_noise(t, 3.0 - t + 5.0 * t**4, 6) < 1e-10


def test_bumps_and_their_derivatives() -> None:
    tau, h = np.linspace(-0.9, 0.9, 11), 1e-5
    for order in (1, 2):
        numeric = (bump(tau + h, order - 1) - bump(tau - h, order - 1)) / (2.0 * h)
        assert bump(tau, order) == pytest.approx(numeric, abs=1e-8)


def test_weak_rows_hold_for_the_true_rate() -> None:
    x = np.exp(-0.7 * T)
    course = make_course(read_runs(T, x))
    rows = weak_rows(course, 0)
    column = rows.columns([Var(0)], course.tables)[:, 0]
    assert np.linalg.norm(rows.target + 0.7 * column) < 1e-5 * np.linalg.norm(rows.target)


def test_trajectories_and_sensitivities_agree_with_scipy() -> None:
    names = ["x", "y"]
    exprs = [parse("1.3*y", names), parse("0.5*(1 - x**2)*y - 1.1*sin(x)", names)]
    forms, params = free_system(exprs)
    program = compile_system(forms, 2, len(params))
    lanes = make_lanes([np.zeros((2, 2))], [np.zeros((2, 2))], [(0.0, 8.0)])
    start = np.array([[0.4, 1.0]])

    def run(values: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray, int]:
        none = np.array([0])
        cut, accuracy = Cut(none, none + len(T), none), Accuracy(np.ones(2), tolerance)
        return integrate(program, values, np.arange(2), lanes, cut, T, start, accuracy)

    states, wide, lost = run(params, 1e-10)

    def rates(t: float, z: np.ndarray) -> list[float]:
        return [float(evaluate(e, z[None])[0]) for e in exprs]

    truth = solve_ivp(rates, (0.0, 8.0), start[0], t_eval=T, rtol=1e-11, atol=1e-12).y.T
    assert not lost and np.abs(states - truth).max() < 1e-7
    for k in range(len(params)):
        moved = params.copy()
        moved[k] += 1e-5
        numeric = (run(moved, 1e-11)[0] - states) / 1e-5
        assert np.abs(numeric - wide[:, :, 2 + k]).max() < 1e-2 * np.abs(numeric).max()


def test_a_trajectory_that_blows_up_is_lost_not_fatal() -> None:
    forms, params = free_system([parse("2.5*x**2", ["x"])])
    course = make_course(read_runs(T, 1.0 / (10.0 - T)))
    shot = shoot(course, forms, np.array([50.0]), cut=course.cut(1))
    assert not np.isfinite(shot.chi2)
    shot = shoot(course, forms, params, cut=course.cut(10))
    assert shot.params == pytest.approx([1.0], rel=1e-5)


def test_shooting_finds_constants_and_their_errors() -> None:
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        course = make_course(read_runs(T, 3.0 * np.exp(-0.5 * T) + 1.0 + 0.05 * rng.normal(size=len(T))))
        forms, params = free_system([parse("0.6 - 0.7*x", ["x"])])
        shot = shoot(course, forms, params, cut=course.cut(1))
        found.append((shot.params - 0.5) / shot.errors())
    scores = np.array(found)
    assert 0.4 < np.sqrt(np.mean(scores**2)) < 1.8


def test_jumps_of_an_input_keep_their_time_in_the_tables_of_the_integration() -> None:
    """Samples between rows had moved every jump by half a step of the table, and terms were found that undid it."""
    t = np.linspace(0.0, 40.0, 400)
    heat = ((t % 13) < 6) * 1.0
    middle = 0.5 * (t[1:] + t[:-1])
    ends = np.concatenate([[t[0]], middle, [t[-1]]])
    total = np.concatenate([[0.0], np.cumsum(heat * np.diff(ends))])  # room' = heat, integrated exactly
    room = np.interp(t, ends, total)
    table = pd.DataFrame({"t": t, "room": room + np.random.default_rng(0).normal(0, 1e-3, len(t)), "heat": heat})
    course = make_course(read_runs(table, time="t", states=["room"], inputs=["heat"], trajectory=None))
    program = compile_system([Var(1)], 3, 0)
    whole = Cut(np.array([0]), np.array([len(t)]), np.array([0]))
    accuracy = Accuracy(np.ones(1), 1e-8)
    states, _, lost = integrate(
        program, np.zeros(0), np.array([0]), course.lanes, whole, t, np.array([[0.0]]), accuracy
    )
    far = np.abs(t[:, None] - middle[np.diff(heat) != 0.0]).min(axis=1) > 0.1
    assert not lost and np.abs(states[far, 0] - room[far]).max() < 1e-3


def test_terms_and_sums_are_inverse() -> None:
    expr = parse("2*x - (y/4 - 3)*1 + 5/(1 + x)", ["x", "y"])
    terms = terms_of(expr)
    rows = np.random.default_rng(0).uniform(1.0, 2.0, (20, 2))
    assert evaluate(sum_of(terms), rows) == pytest.approx(evaluate(expr, rows))
    assert (3.0, Const(1.0)) in terms and len(terms) == 4


def test_runs_are_cut_at_gaps_and_missing_values_stay() -> None:
    t = np.concatenate([np.linspace(0.0, 2.0, 30), np.linspace(9.0, 12.0, 40)])
    x = np.column_stack([np.sin(t), np.where(np.arange(70) % 5 == 0, np.nan, np.cos(t))])
    runs = read_runs(t, x, states=["a", "b"])
    parts = pieces(runs.trajectories)
    assert [len(part) for part in parts] == [30, 40]
    assert np.isnan(parts[0].x[0, 1])


@pytest.mark.parametrize(
    ("t", "x", "message"),
    [
        ([0.0, 1.0], [1.0, 2.0], "no run has values at 8"),
        (np.r_[T[:50], T[:50]], np.sin(np.r_[T[:50], T[:50]]), "runs backwards"),
        (T, np.zeros((200, 2, 2)), r"states \(n, d\)"),
        (T, np.array(["a"] * 200), "must hold numbers"),
    ],
)
def test_bad_data_get_a_sentence(t: np.ndarray, x: np.ndarray, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_runs(t, x)


def test_repeated_times_are_averaged_and_falling_times_turned() -> None:
    t = np.repeat(np.arange(10.0), 2)
    runs = read_runs(t, np.arange(20.0))
    assert runs.trajectories[0].x[:, 0] == pytest.approx(np.arange(10) * 2 + 0.5)
    assert any("more than once" in note for note in runs.notes)
    assert read_runs(T[::-1], T[::-1] ** 2).trajectories[0].t == pytest.approx(T)


@pytest.mark.parametrize(
    "text", ["-1.5*x*y/(x + 2)", "y*(-1.5*x/(x + 2))", "-(3*x)*(y/(x + 2))/2", "y*x*(-1.5/(x + 2))"]
)
def test_a_term_is_the_same_however_it_is_written(text: str) -> None:
    ((factor, term),) = terms_of(parse(text, ["x", "y"]))
    assert factor == -1.5 and term == parse("x*y*inv(x + 2)", ["x", "y"])
    ((again, same),) = terms_of(sum_of([(factor, term)]))
    assert (again, same) == (factor, term)


def test_libraries_hold_terms_as_they_are_taken_apart() -> None:
    for library in libraries([0, 1], {0: (0.1, 3.0), 1: (-2.0, 4.0)}):
        for term in [*library.terms, *(term for group in library.groups for term in group)]:
            assert terms_of(sum_of([(2.5, term)])) == ((2.5, term),)
