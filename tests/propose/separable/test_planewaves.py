"""Waves along several columns: found with their constants, also faded, in views and under noise; nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.separable.planewaves import PlaneWaves
from unisymnet.symbolic.expr import Expr, evaluate
from unisymnet.symbolic.parse import parse

RNG = np.random.default_rng(0)
X = RNG.uniform(0.2, 6.0, (200, 3))


def proposed(y: np.ndarray, table: np.ndarray = X, *, noisy: bool = False, **limits: object) -> list[Expr]:
    problem = make_problem(table, y, **limits)  # type: ignore[arg-type]
    stage = PlaneWaves(noisy=noisy, seconds=20.0)
    with np.errstate(all="ignore"):
        found = stage.propose(problem, ParetoFront(), rng=np.random.default_rng(1), deadline=Deadline.never())
        return [proposal.expr for proposal in found]


@pytest.mark.parametrize(
    "law",
    [
        "2*sin(1.3*x0 - 2.1*x1 + 0.7*x2 + 0.4)",
        "3 - 0.5*x1 + 2*cos(1.3*x0 - 2.1*x1)",
        "x2**2*cos(1.3*x0 - 2.1*x1 + 0.2*x2)",
        "sin(2.3*x0 - x1)/x2",
        "exp(-0.3*x2)*sin(1.3*x0 - 2.1*x1)",
        "2.2*x2*cos(3.7*x0 + 0.5)*exp(-0.31*x0)",
        "exp(0.1*x0 - 0.3*x2)*sin(1.3*x0 - 2.1*x1 + 1)",
        "1/(2 + sin(1.3*x0 - 2.1*x1 + 0.7*x2))",
        "9/sin(2.3*x0 + x1 - 0.64*x2 - 0.1)",
        "sqrt(3 + cos(x0 + 2*x1))",
    ],
)
def test_a_wave_along_several_columns_is_exact(law: str) -> None:
    y = evaluate(parse(law), X)
    (found, *_) = proposed(y)
    assert np.abs(evaluate(found, X) / y - 1.0).max() < 1e-6


def test_two_and_four_columns() -> None:
    for d in (2, 4):
        table = RNG.uniform(-3.0, 3.0, (250, d))
        y = np.sin(table @ np.arange(1.0, d + 1.0) / 2.0 + 0.3)
        (found, *_) = proposed(y, table)
        assert evaluate(found, table) == pytest.approx(y, abs=1e-8)


@pytest.mark.parametrize("law", ["2*sin(1.3*x0 - 2.1*x1 + 0.4)", "exp(-0.3*x2)*sin(1.3*x0 - 2.1*x1)"])
def test_noise_leaves_the_wave(law: str) -> None:
    y = evaluate(parse(law), X)
    noisy = y + 0.05 * np.std(y) * np.random.default_rng(2).normal(size=len(y))
    assert not proposed(noisy)  # where exact laws are wanted, this is none
    best = proposed(noisy, noisy=True)[0]
    assert np.std(evaluate(best, X) - y) < 0.02 * np.std(y)


def test_no_wave_no_proposal() -> None:
    smooth = X[:, 0] ** 2 * X[:, 1] / (1.0 + X[:, 2])
    for y in (smooth, np.random.default_rng(3).normal(size=len(X)), np.ones(len(X))):
        assert not proposed(y)
    assert not proposed(np.random.default_rng(3).normal(size=len(X)), noisy=True)


def test_small_tables_and_forbidden_functions_are_left_alone() -> None:
    wave = np.sin(X.sum(axis=1))
    assert not proposed(wave[:20], X[:20])
    assert not proposed(np.sin(3.0 * X[:, 0]), X[:, :1])  # one column is oscillations.py's
    assert not proposed(wave, operators=("add", "mul", "exp"))
    flat = X * np.array([1.0, 1.0, 0.0]) + np.array([0.0, 0.0, 2.0])
    (found, *_) = proposed(np.sin(flat[:, 0] + flat[:, 1]), flat)
    assert evaluate(found, flat) == pytest.approx(np.sin(flat[:, 0] + flat[:, 1]), abs=1e-8)
