"""Small polynomials times one exponential or wave with a free constant."""

from __future__ import annotations

import numpy as np
import pytest
from listing import proposals
from recover import draw, solve

from unisymnet import UniSymNetRegressor
from unisymnet.propose.separable.modulated import Modulated
from unisymnet.symbolic.expr import Call, evaluate, walk

T, A, B, C = (0.0, 30.0), (60.0, 95.0), (10.0, 25.0), (-2.0, 2.0)


@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("21 + (x1 - 21)*exp(-0.083*x0)", [T, A]),
        ("x2 + (x1 - x2)*exp(-0.083*x0)", [T, A, B]),
        ("(1 + 0.3*x0)*sin(0.7*x0 + 0.4) + x1", [T, C]),
        ("exp(1.2 + 0.3*x1 - 2*exp(-0.2*x0))", [T, C]),
        ("1/(0.2 + (1 + 0.3*x1)*exp(-0.3*x0))", [T, C]),
        ("x0*x1*exp(-0.2*x0) + 0.3", [T, C]),
        ("(1 + x0**2)*exp(-0.4*x0)", [T]),
        ("x1*sin(2.3*x0) - x2*cos(2.3*x0) + x3", [C, T, A, B]),
        ("13.12 + 0.6215*x0 - 11.37*x1**0.16 + 0.3965*x0*x1**0.16", [(-20.0, 5.0), (5.0, 60.0)]),  # wind chill
    ],
)
def test_laws_are_found_exactly(law: str, ranges: list[tuple[float, float]]) -> None:
    X, y = draw(law, ranges, n=200)
    assert solve(Modulated(), X, y)[0] < 1e-11


@pytest.mark.parametrize("law", ["sqrt(x0 + 1)*x1 + cos(x0*x1)", "x0/(x1**2 + 1) + ln(x0 + 2)", "3.5"])
def test_silent_on_other_laws(law: str) -> None:
    X, y = draw(law, [T, C], n=200)
    assert proposals(Modulated(), X, y + 0.0 * X[:, 0]) == []


def test_silent_on_noise_forbidden_operators_and_many_inputs() -> None:
    X, y = draw("21 + (x1 - 21)*exp(-0.083*x0)", [T, A], n=200)
    noise = np.random.default_rng(0).normal(size=len(y))
    assert proposals(Modulated(), X, y + 0.01 * noise) == []
    assert proposals(Modulated(), X, y, operators=frozenset({"add", "mul", "sin"})) == []
    assert proposals(Modulated(most_inputs=1), X, y) == []


def test_cooling_with_every_temperature_a_column_takes_a_moment() -> None:
    X, y = draw("x2 + (x1 - x2)*exp(-0.083*x0)", [T, A, B], n=200)
    model = UniSymNetRegressor(max_time=30, random_state=0).fit(X, y)
    assert str(model.formula_) == "x2 + (x1 - x2)*exp(-0.083*x0)"
    assert model.front_[model.picked_].source in ("modulated", "reduce/modulated")


@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("x2 + (x1 - x2)*exp(-0.083*x0)", [T, A, B]),
        ("3*x1 + x2*cos(2.2*x0)", [(0.0, 6.0), (1.0, 4.0), (1.0, 4.0)]),
        ("x1*x0**0.7 + 2*x2", [(1.0, 9.0), (1.0, 5.0), (0.0, 4.0)]),
        ("1/(0.2 + x1*exp(-0.8*x0))", [(0.0, 6.0), (1.0, 4.0)]),  # seen through 1/y
    ],
)
def test_under_noise_the_law_is_among_few_proposals(law: str, ranges: list[tuple[float, float]]) -> None:
    X, y = draw(law, ranges, n=120, noise=0.02)
    truth = draw(law, ranges, n=120)[1]
    found = proposals(Modulated(noisy=True, seconds=30.0), X, y)
    assert 0 < len(found) <= 4
    assert min(np.std(evaluate(expr, X) - truth) for expr in found) < 0.008 * np.std(truth)


def test_the_inner_constant_is_written_once() -> None:
    X, y = draw("x2 + (x1 - x2)*exp(-0.083*x0)", [T, A, B], n=120, noise=0.02)
    first = proposals(Modulated(noisy=True, seconds=30.0), X, y)[0]
    assert sum(isinstance(node, Call) and node.op == "exp" for node in walk(first)) == 1
