"""Shorter spellings are taken where, and only where, the rows allow them."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.fit.clean.respell import respelled
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.text import to_text

ROWS = np.random.default_rng(0).uniform(1.0, 2.0, (60, 4)) + [0.0, 0.0, 4.0, 0.0]


@pytest.mark.parametrize(
    ("written", "shortest"),
    [
        ("x0*x2/sqrt(x2**2 - x1**2)", "x0/sqrt(1 - (x1/x2)**2)"),
        ("x0*x3*sqrt(x1**2/x3**2 + 1)", "x0*sqrt(x1**2 + x3**2)"),
        ("x0/(x1*x3*sqrt(x2*(x2/x3 - 2*cos(x1))/x3 + 1))", "x0/(x1*sqrt(x3**2 + x2*(x2 - 2*x3*cos(x1))))"),
        ("sqrt((x0 - x2)**2/(x2**2 - x1**2))", "(x2 - x0)/sqrt(x2**2 - x1**2)"),
        ("abs(x0)*x1", "x0*x1"),
        ("x0*(1.7 - 1.7*cos(x1))", "1.7*x0*(1 - cos(x1))"),
        ("x0*sqrt((x1/x0)**2 + x2)/x1", "sqrt(x2*(x0/x1)**2 + 1)"),
        ("x0/(x0*x2 + x1)", "x0/(x0*x2 + x1)"),
        ("0.3*x0*((x1*x3)**2 + (x2*x3)**2)", "0.3*x0*x3**2*(x1**2 + x2**2)"),
        ("2*sqrt(x0)/sqrt(x1)", "2*sqrt(x0/x1)"),
        ("x0 + x1 + 2*x0*cos(x2)/sqrt(x0/x1)", "x0 + x1 + 2*cos(x2)*sqrt(x0*x1)"),
        ("x1*exp(-0.083*x0) - 21*exp(-0.083*x0) + 21", "(x1 - 21)*exp(-0.083*x0) + 21"),
        ("0.2958579881656805/x0 - 0.2958579881656804*cos(2.6*x0)/x0", "0.2958579881656804*(1 - cos(2.6*x0))/x0"),
    ],
)
def test_shortest_spelling(written: str, shortest: str) -> None:
    expr = parse(written)
    found = respelled(expr, ROWS)
    assert to_text(found) == shortest
    assert evaluate(found, ROWS) == pytest.approx(evaluate(expr, ROWS), rel=1e-9)


def test_rows_of_both_signs_forbid_what_positive_rows_allow() -> None:
    expr = parse("x0/sqrt(x0**2 - x1**2)")
    positive = np.column_stack([np.linspace(3.0, 5.0, 20), np.linspace(0.1, 1.0, 20)])
    mixed = positive * np.where(np.arange(20) % 2, 1.0, -1.0)[:, None]
    assert to_text(respelled(expr, positive)) == "1/sqrt(1 - (x1/x0)**2)"
    assert to_text(respelled(expr, mixed)) == "x0/sqrt(x0**2 - x1**2)"
