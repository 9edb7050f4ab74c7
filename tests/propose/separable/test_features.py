"""A power law times a power of one inner function with a free constant."""

from __future__ import annotations

import numpy as np
import pytest
from listing import proposals
from recover import draw, solve

from unisymnet.propose.separable.features import INNER, Features
from unisymnet.symbolic.expr import Call, Var, evaluate, walk

LAWS = [
    ("2.9*x0**3/(exp(1.37*x0/x1) - 1)", [(0.5, 5), (0.5, 3)]),
    ("x0/sqrt(1 - (x1/2.998)**2)", [(1, 5), (0.3, 2.5)]),
    ("3.7/(1 + exp(1.3*x0))**2", [(-2, 7)]),
    ("-2.1*x0**2*cos(1.3*x1)", [(-3, 3), (-3, 3)]),  # both signs
    ("x1**2*sin(2.2*x0)/x0", [(-3, 3), (1, 3)]),
    ("3.1*x0**0.5/(1 + 0.002*x1)", [(1e-2, 1e3, "log"), (1, 1e5, "log")]),
    ("(sin(1.3*x0)/x0)**2", [(0.5, 8)]),  # nearly zero in some rows
    ("x1*tanh(0.45*x0/x1)", [(1, 9), (1, 5)]),
    ("x0/cosh(0.7*(x1 - x2))", [(1, 3), (1, 5), (1, 5)]),
    ("2.3*x1/sinh(0.4*x0*x1)", [(1, 3), (1, 3)]),
    ("x0*ln(1 + 0.3*x1)", [(1, 3), (1, 9)]),
    ("sqrt(x0)*atan(1.9*x1)", [(1, 3), (0.1, 3)]),
    ("ln(1 + exp(1.7*x0))", [(-3, 3)]),  # seen through exp(y)
]


@pytest.mark.parametrize(("law", "ranges"), LAWS, ids=[law for law, _ in LAWS])
def test_laws_are_found_exactly(law: str, ranges: list[tuple[float, ...]]) -> None:
    assert solve(Features(), *draw(law, ranges))[0] < 1e-11


def test_twenty_rows_are_enough() -> None:
    assert solve(Features(), *draw("1.7*x0/(exp(0.6*x0) - 1)", [(0.1, 5)], n=20))[0] < 1e-11


@pytest.mark.parametrize("law", ["x0*x1 + sin(x0)", "2.7*x0**1.5/x1", "x0 + 3.1*tanh(x1)"])
def test_silent_on_other_laws(law: str) -> None:
    assert proposals(Features(), *draw(law, [(1, 3), (1, 3)])) == []


def test_silent_on_noise_and_after_the_deadline() -> None:
    X, y = draw("x1*tanh(0.45*x0/x1)", [(1, 9), (1, 5)])
    noise = np.random.default_rng(0).normal(size=len(y))
    assert proposals(Features(), X, y + 0.01 * noise) == []
    assert solve(Features(), X, y, seconds=0.0)[1] is None


@pytest.mark.parametrize("law", ["1.7*x0/(exp(0.6*x0) - 1)", "3.1*x0**2/(1 + exp(1.3*x0))", "x0*tanh(0.45/x0)"])
def test_under_noise_the_law_is_among_few_proposals(law: str) -> None:
    X, y = draw(law, [(0.2, 6)], n=120, noise=0.02)
    found = proposals(Features(noisy=True, seconds=30.0), X, y)
    truth = draw(law, [(0.2, 6)], n=120)[1]
    assert 0 < len(found) <= 4
    assert min(np.std(evaluate(expr, X) - truth) for expr in found) < 0.01 * np.std(truth)


def test_only_permitted_operators_appear() -> None:
    allowed = frozenset({"add", "sub", "mul", "div", "exp"})
    _, formula = solve(Features(), *draw("1.7*x0/(exp(0.6*x0) - 1)", [(0.1, 5)]), operators=allowed)
    assert formula is not None
    assert {node.op for node in walk(formula) if isinstance(node, Call)} <= allowed
    assert solve(Features(), *draw("x0*tanh(0.6*x0)", [(0.1, 5)]), operators=allowed)[1] is None


@pytest.mark.parametrize("inner", INNER, ids=lambda inner: "-".join(inner.needs))
def test_logarithms_and_formulas_agree_up_to_a_factor(inner) -> None:  # type: ignore[no-untyped-def]
    s = np.linspace(0.2, 1.4, 9)
    written = np.log(np.abs(evaluate(inner.build(Var(0)), s[:, None])))
    # ln 0 where a logarithm of 1 is taken; a constant factor is the power law's.
    difference = (inner.logs(s) - written)[np.isfinite(written)]
    assert np.ptp(difference) < 1e-12
