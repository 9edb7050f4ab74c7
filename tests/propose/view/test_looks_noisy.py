"""Noise is seen in data, and in what a formula leaves of them."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.problem import Problem, make_problem
from unisymnet.propose.view.noise import looks_noisy, only_noise_left
from unisymnet.propose.view.smooth import followed
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse

LAWS = {
    "x0*x1/(x2*x3**2)": 4,
    "exp(-x0**2/2)*x1": 2,
    "(x0*x2 + x1*x3)/(x0 + x1)": 4,
    "x0*sin(x1)": 2,
}


def _problem(law: str, noise: float) -> Problem:
    rng = np.random.default_rng(1)
    X = rng.uniform(1.0, 3.0, (800, LAWS[law]))
    y = evaluate(parse(law), X)
    return make_problem(X, y + noise * np.sqrt(np.mean(y**2)) * rng.normal(size=len(y)))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_noise_is_seen(law: str, noise: float) -> None:
    assert looks_noisy(_problem(law, noise))


@pytest.mark.parametrize("law", LAWS)
def test_exact_data_are_not_noisy(law: str) -> None:
    assert not looks_noisy(_problem(law, 0.0))


SMALL = {"x0 + x1*x2/(x1 + x2)": 96, "x0*ln(x1/x2)": 96, "sqrt(x0**2 + x1**2 - 2*x0*x1*cos(x2))": 120}


@pytest.mark.parametrize("law", SMALL)
def test_of_small_tables_with_three_inputs_one_degree_more_tells(law: str) -> None:
    """Only the cubic reaches the floor there, so that fewer terms leave far more, noise or not."""
    rng = np.random.default_rng(1)
    X = rng.uniform(1.0, 4.0, (SMALL[law], 3)) * [1.0, 2.0, 1.0]
    y = evaluate(parse(law), X)
    assert not looks_noisy(make_problem(X, y))
    assert looks_noisy(make_problem(X, y + 0.03 * np.std(y) * rng.normal(size=len(y))))


@pytest.mark.parametrize("law", LAWS)
def test_the_law_leaves_only_noise(law: str) -> None:
    assert only_noise_left(_problem(law, 0.05), parse(law))


def test_noise_may_grow_with_the_target() -> None:
    X = np.random.default_rng(0).uniform(1.0, 3.0, (300, 2))
    y = X[:, 0] ** 1.5 / X[:, 1] * (1.0 + 0.01 * np.random.default_rng(1).normal(size=300))
    assert only_noise_left(make_problem(X, y), parse("x0**1.5/x1"))


@pytest.mark.parametrize("wrong", ["2*x0", "x0*x1/(x2*x3**1.9)", "x0*x1/(x2*x3**2) + 0.02*x1**2", "0.5"])
def test_another_formula_leaves_more(wrong: str) -> None:
    assert not only_noise_left(_problem("x0*x1/(x2*x3**2)", 0.01), parse(wrong))


@pytest.mark.parametrize("missed", ["0.03*cos(7*x1)", "0.02*sin(2*x0*x2)", "0.1*abs(x3 - x1)"])
def test_what_no_polynomial_follows_is_no_noise_either(missed: str) -> None:
    X = np.random.default_rng(3).uniform(-3.0, 3.0, (200, 4))
    y = evaluate(parse(f"x0*x1 + {missed}"), X)
    assert not only_noise_left(make_problem(X, y), parse("x0*x1"))


def test_a_missing_factor_is_no_noise_where_few_rows_are_large() -> None:
    X = np.random.default_rng(5).uniform(0.02, 3.0, (200, 3))
    y = evaluate(parse("x1**2*(1 + 0.1*sin(3*x2))/x0**2"), X)
    assert not only_noise_left(make_problem(X, y), parse("x1**2/x0**2"))


@pytest.mark.parametrize("seed", range(6))
def test_noise_on_few_rows_stays_noise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, (120, 1 + seed % 4))
    noise = rng.normal(size=120) if seed % 2 else rng.standard_t(3, size=120)
    assert only_noise_left(make_problem(X, X[:, 0] ** 2 + 0.1 * noise), parse("x0**2"))


def test_an_exact_law_leaves_no_noise_and_few_rows_prove_nothing() -> None:
    exact = _problem("x0*sin(x1)", 0.0)
    assert not only_noise_left(exact, parse("x0*sin(x1)"))
    noisy = _problem("x0*sin(x1)", 0.05)
    assert not only_noise_left(make_problem(noisy.X[:20], noisy.y[:20]), parse("x0*sin(x1)"))


def test_the_unit_of_the_target_does_not_matter() -> None:
    noisy = _problem("x0*sin(x1)", 0.05)
    huge = make_problem(noisy.X, noisy.y * noisy.y_scale * 1e30)
    assert only_noise_left(huge, parse("1e30*x0*sin(x1)"))
    assert not only_noise_left(huge, parse("1.1e30*x0*sin(x1)"))


def test_a_formula_for_a_few_huge_values_leaves_no_noise() -> None:
    X = np.random.default_rng(5).uniform(1.0, 2.0, (160, 2))
    pole = float(X[0, 0]) - 1e-8
    y = np.sin(3e3 * X[:, 0] * X[:, 1]) + np.where(np.arange(len(X)) == 0, 1e5, 0.0)
    problem, few = make_problem(X, y), parse(f"0.001/(x0 - {pole!r})")
    assert np.std(evaluate(few, X) - y) < 0.01 * np.std(y)
    assert not only_noise_left(problem, few)


def test_a_wave_with_ten_rows_a_period_is_no_noise() -> None:
    """x·sin(6.28·x) on 49 rows: the nearest wave leaves a sixth of the variance, and rows beside each other agree."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.permutation(np.linspace(-3.0, 3.0, 61))[:49])
    problem = make_problem(x[:, None], 0.3 * x * np.sin(6.28 * x) + rng.normal(0.0, 0.005, len(x)))
    assert not only_noise_left(problem, parse("0.115*x0**2*sin(1.57 - 5.68*x0)"))
    assert only_noise_left(problem, parse("0.3*x0*sin(6.28*x0)"))


def test_a_smooth_fit_takes_most_of_the_noise_away() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (300, 2))
    clean = X[:, 0] / (1.0 + X[:, 1] ** 2)
    noisy = clean + rng.normal(0.0, 0.05, len(clean))
    assert np.std(followed(X, noisy, np.ones(300)) - clean) < 0.4 * np.std(noisy - clean)
