"""Outer logarithms and powers with a free constant, exact and noisy."""

import numpy as np
import pytest
from listing import proposals
from recover import draw, solve

from unisymnet.propose.linear.basis import polynomial
from unisymnet.propose.relation.outer import Outer, _Scan
from unisymnet.propose.write.polynomial import cost

LEVEL = ("10*log10(x0**2+3*x1)", [(1, 5), (1, 5)])
MAGNITUDE = ("4.2-2.5*log10(x0+2.2*x1)", [(1, 5), (1, 5)])


@pytest.mark.parametrize(
    ("law", "ranges", "most"),
    [
        (*LEVEL, 10),
        (*MAGNITUDE, 12),
        ("25.7*ln((4+145*x0)/(35*x1+10*x0*x2))", [(0.1, 2), (1, 5), (0.1, 2)], 18),  # Goldman
        ("x2*ln(1+x0/x1)/ln(2)", [(1, 5), (1, 5), (1, 3)], 14),  # Shannon
        ("x1/0.41*ln((x0-0.7)/0.1)", [(1, 30), (0.2, 1)], 12),
        ("3.3*ln(x0+0.5)/x1", [(1, 5), (1, 5)], 10),
        ("(x0/(x1+2)+1)**1.37", [(1, 5), (1, 5)], 16),
        ("-(1+0.2*x0**2)**3.5", [(0.1, 3)], 12),
    ],
)
def test_exact_laws_are_found_and_written_shortly(law, ranges, most):
    X, y = draw(law, ranges, n=200)
    misfit, found = solve(Outer(), X, y)
    assert misfit < 1e-11 and cost(found) <= most


@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("exp(x0)*x0+sin(x0)", [(1, 5)]),
        ("x0*x1/cos(x2)", [(1, 5), (1, 2), (2, 4)]),
        ("sin(x0)", [(-0.3, 0.3)]),
        ("tanh(x0)*x1", [(-2, 2), (1, 2)]),
    ],
)
def test_what_is_no_such_law_is_left_to_others(law, ranges):
    X, y = draw(law, ranges, n=120)
    assert solve(Outer(), X, y)[1] is None


def test_newton_finds_the_constant_from_the_grid():
    X, y = draw("2.439*ln(10*x0-7)", [(1, 30)], n=150)
    hits = _Scan(X, y, polynomial(1, 1), polynomial(1, 0)).hits()
    assert hits and hits[0] == pytest.approx(1 / 2.439, rel=1e-10)


@pytest.mark.parametrize("noise", [0.01, 0.05])
@pytest.mark.parametrize("law", [LEVEL, MAGNITUDE])
def test_noisy_levels(law, noise):
    X, y = draw(*law, n=300, noise=noise)
    best = proposals(Outer(exact=False, noisy=True, seconds=60), X, y)
    misfit, _ = solve(Outer(exact=False, noisy=True, seconds=60), X, y)
    assert misfit < 1.1 * noise and any("ln" in str(one) and cost(one) <= 16 for one in best)


def test_operators_and_odd_columns():
    X, y = draw(*LEVEL, n=100)
    assert solve(Outer(), X, y, operators=frozenset({"add", "mul"}))[1] is None
    X = np.column_stack([X, np.zeros(100), np.ones(100)])  # a column of zeros, and a constant one
    assert solve(Outer(), X[:, :2], y)[0] < 1e-11
    assert solve(Outer(seconds=5.0), X, y)[1] is None  # no error; a search leaves such columns out
