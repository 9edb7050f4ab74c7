"""Power laws and offset power laws: exact exponents, signs, zeros, decades, noise."""

import numpy as np
import pytest
from listing import proposals
from recover import draw, solve

from unisymnet.propose.linear.monomial import Monomial, nearest_simple
from unisymnet.propose.separable.offset import Offset
from unisymnet.symbolic.expr import variables
from unisymnet.symbolic.parse import parse


@pytest.mark.parametrize(
    ("law", "ranges", "formula"),
    [
        ("2.7*x0*x1", [(0, 1), (0, 1)], "2.7*x0*x1"),
        ("-0.83*x0*x1**3/x2**2", [(-2, 2), (-3, 3), (-1, 4)], "-0.83*x0*x1**3/x2**2"),
        ("sqrt(x0*x1/x2)", [(1, 5), (1, 5), (1, 5)], "sqrt(x0*x1/x2)"),
        ("x0**(2/3)", [(0, 4)], "x0**0.6666666666666666"),
        ("exp(-x0**2)", [(-1, 1)], "exp(-x0**2)"),
        ("asin(x0/x1)", [(0.1, 1), (1, 2)], "asin(x0/x1)"),
        ("x0/x1", [(1e-9, 1e-3, "log"), (1e20, 1e30, "log")], None),
        ("3.7*x0**1.37/x1**0.62", [(1e-3, 1e3, "log"), (1, 1e6, "log")], None),
    ],
)
def test_exact_power_laws(law, ranges, formula):
    X, y = draw(law, ranges, n=60)
    misfit, found = solve(Monomial(), X, y)
    assert misfit < 1e-13
    if formula is not None:
        assert str(parse(formula)) == str(found)


def test_columns_without_influence_are_left_out():
    X, y = draw("4.4*x1**2", [(1, 5)] * 6, n=40)
    assert variables(solve(Monomial(), X, y)[1]) == (1,)


def test_zeros_are_left_out_of_log_space():
    X = np.linspace(0.0, 4.0, 21)[:, None]
    assert solve(Monomial(), X, 3.0 * np.sqrt(X[:, 0]))[0] < 1e-14


@pytest.mark.parametrize("noise", [0.01, 0.1, 0.3])
def test_exponents_are_right_under_noise(noise):
    X, y = draw("0.05*x0**2*x1/(x2*x3**3)", [(1, 5)] * 4, n=1000, noise=noise)
    assert "x0**2*x1/(x2*x3**3)" in str(proposals(Monomial(), X, y)[0])


def test_constant_targets_and_few_rows_propose_nothing():
    X = np.random.default_rng(0).uniform(1, 2, (5, 2))
    assert solve(Monomial(), X, np.ones(5))[1] is None
    assert solve(Monomial(), X[:2], X[:2, 0])[1] is None


@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("17.3+2.9*x0**2.5/x1", [(0.1, 10), (0.1, 10)]),
        ("sqrt(1+2*x0**2*x1/x2**4)", [(1, 3), (1, 3), (1, 3)]),
        ("7.7-x0*x1*x2", [(-2, 2), (-2, 2), (-2, 2)]),
        ("0.4*exp(-0.5*x0**2)", [(1, 3)]),
    ],
)
def test_exact_offset_power_laws(law, ranges):
    X, y = draw(law, ranges, n=300)
    assert solve(Offset(), X, y)[0] < 1e-12


def test_offset_under_noise():
    X, y = draw("5+2*x0**2/x1", [(0.5, 3), (0.5, 3)], n=600, noise=0.05)
    assert "x0**2/x1" in str(proposals(Offset(), X, y)[0])


@pytest.mark.parametrize(
    ("value", "reach", "simple"), [(1.98, 0.05, 2.0), (0.47, 0.05, 0.5), (0.02, 0.05, 0.0), (1.3, 0.05, 1.3)]
)
def test_nearest_simple(value, reach, simple):
    assert nearest_simple(value, reach) == simple
