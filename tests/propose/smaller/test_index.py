"""Two inputs merged into one by a constant: the constant is found, simple where it may be, and false pairs are not."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.problem import Problem, make_problem
from unisymnet.propose.smaller.reductions import best_reduction
from unisymnet.symbolic.expr import Const, evaluate, walk
from unisymnet.symbolic.parse import parse


def _problem(law: str, ranges: tuple[tuple[float, float], ...], noise: float, n: int = 120, seed: int = 3) -> Problem:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(low, high, n) for low, high in ranges])
    y = evaluate(parse(law), X)
    return make_problem(X, y + noise * np.std(y) * rng.normal(size=n))


@pytest.mark.parametrize(
    ("law", "ranges", "merged", "factor"),
    [
        ("5*(1 - exp(-0.3*x0*sqrt(x1)))", ((0.2, 5), (0.5, 9)), "x0*sqrt(x1)", "1"),
        ("3*exp(-x0**2/(2.8*x1))/sqrt(x1)", ((0.1, 4), (0.5, 6)), "x0/sqrt(x1)", "1/sqrt(x1)"),
    ],
)
def test_a_simple_power_joins_two_inputs(
    law: str, ranges: tuple[tuple[float, float], ...], merged: str, factor: str
) -> None:
    found = best_reduction(_problem(law, ranges, 0.02), noisy=False, max_ratio=1.3)
    assert found is not None and (*map(str, found.inputs), str(found.factor)) == (merged, factor)


def test_a_weight_joins_two_inputs() -> None:
    problem = _problem("7/(1 + 20*exp(-0.9*(x0 + 0.23*x1)))", ((0, 6), (1, 20)), 0.02)
    found = best_reduction(problem, noisy=False, max_ratio=1.3)
    assert found is not None and len(found.inputs) == 1 and found.factor == Const(1.0)
    at_zero, at_one = evaluate(found.inputs[0], np.array([[1.0, 0.0], [1.0, 1.0]]))
    assert at_one - at_zero == pytest.approx(0.23, abs=0.01)


def test_waves_that_no_polynomial_follows_are_unfolded() -> None:
    problem = _problem("0.5*cos(12.57*x0/x1)", ((0.5, 2), (0.4, 0.7)), 0.03, n=150)
    found = best_reduction(problem, noisy=False, max_ratio=1.3)
    assert found is not None and len(found.inputs) == 1
    with np.errstate(all="ignore"):
        merged = evaluate(found.inputs[0], problem.X)
    assert abs(np.corrcoef(merged, problem.X[:, 0] / problem.X[:, 1])[0, 1]) > 0.999


def test_inputs_that_go_their_own_ways_are_not_merged() -> None:
    problem = _problem("x0**2 + 3*sin(2*x1)", ((0.5, 3), (0.5, 4)), 0.02, n=150)
    found = best_reduction(problem, noisy=False, max_ratio=1.3)
    assert found is None or len(found.inputs) == 2 or found.power != 1.0


def test_without_noise_only_simple_numbers_will_do() -> None:
    problem = _problem("ln(x0 + 0.37*x1)", ((1, 3), (1, 3)), 0.0, n=400)
    found = best_reduction(problem, noisy=False, max_ratio=1.3)
    numbers = [node.value for part in found.inputs for node in walk(part) if isinstance(node, Const)] if found else []
    assert all(abs(number) in (1.0, 0.5, 2.0, 3.0, 1 / 3) for number in numbers)
