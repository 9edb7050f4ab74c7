"""Sums over full bases and products of factors."""

import numpy as np
import pytest
from listing import proposals
from recover import draw, solve

from unisymnet.problem import make_problem
from unisymnet.propose.linear.bases import Bases, ExtendedBases, extended_bases, plain_bases
from unisymnet.propose.linear.factors import Factors
from unisymnet.symbolic.expr import Call, walk

RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    ("law", "ranges", "n"),
    [
        ("x0*x3+x1*x4+x2*x5", [(1, 5)] * 6, 200),
        ("sqrt((x1-x0)**2+(x3-x2)**2)", [(1, 5)] * 4, 200),
        ("ln(x0+1.4)+ln(x0**2+1.3)", [(0, 2)], 20),
        ("x0**9+x0**8+x0**7+x0**5+x0", [(-1, 1)], 20),
        ("x0**4-x0**3+x1**2/2-x1", [(-3, 3)] * 2, 20),
        ("1/(0.3+1.7*x0**2+0.9*x1)", [(0, 3), (0, 3)], 100),
        ("1.9*x0**-2+0.45*x0**0.5", [(0.2, 6)], 60),
        ("-(2*x0-x0*x1-x0**2)", [(1e-5, 8), (1e-4, 3)], 200),
    ],
)
def test_exact_sums(law, ranges, n):
    X, y = draw(law, ranges, n=n)
    assert solve(Bases(noisy=False), X, y)[0] < 1e-12


@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("0.5*sin(x0-x1)-sin(x0)", [(-3, 3)] * 2),
        ("1.35*x0*x1+5.5*sin(x0-1)*(x1-1)", [(-3, 3)] * 2),
        ("1.5*exp(x0)+5*cos(x1)", [(-3, 3)] * 2),
        ("x0**x1", [(0.1, 2), (-1, 2)]),
        ("x0+x1+2*sqrt(x0*x1)*cos(x2)", [(1, 5)] * 3),
        ("cos(x0)*cos(x1)*cos(x2)+sin(x1)*sin(x2)", [(0, 3), (0, 1.5), (0, 1.5)]),
        ("x1*(x0*ln(x0)+(1-x0)*ln(1-x0))", [(0.05, 0.95), (1, 4)]),
        ("(ln(x0)-4.6+(0.03+x1**2/2)*x2)/(x1*sqrt(x2))", [(80, 120), (0.1, 0.5), (0.25, 2)]),
        ("1/((2.4-2*x0)*(abs(x0)+x1))", [(-9, 1), (1, 3)]),
    ],
)
def test_exact_sums_with_unary_functions(law, ranges):
    X, y = draw(law, ranges, n=300)
    assert solve(ExtendedBases(noisy=False), X, y)[0] < 1e-12


@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("x0*x1/(x2*(x3**2-x4**2))", [(1, 3), (1, 3), (1, 3), (3, 5), (1, 2)]),
        ("cos(x1)/sin(x1)*cos(x0)", [(-4, 4), (-3, 3)]),
        ("0.4*exp(-(x1/x0)**2/2)/x0", [(1, 3)] * 2),
        ("-6.4*x0**4*(x1+x2)/x3**5", [(1, 2), (2, 5), (2, 5), (1, 2)]),
        ("x0*exp(-x1)*(1+x2)", [(1, 5), (0, 2), (0, 3)]),
    ],
)
def test_exact_products_of_factors(law, ranges):
    X, y = draw(law, ranges, n=300)
    assert solve(Factors(noisy=False), X, y)[0] < 1e-12


def test_approximations_are_not_taken_for_laws():
    # A polynomial of degree 9 gives cos(x) on [0, 1] to 1e-12, but its last terms are idle.
    X = np.linspace(0.0, 1.0, 60)[:, None]
    assert solve(Bases(noisy=False), X, np.cos(X[:, 0]) + np.tanh(X[:, 0]))[0] > 1e-11


@pytest.mark.parametrize(("stage", "law", "wanted"), [
    (Bases(exact=False), "3*x0-2*x0*x1-x0**2", "x0*("),
    (ExtendedBases(exact=False), "-0.05*x0**2-sin(x1)", "sin(x1)"),
    (Factors(exact=False), "x0/(x1+x0)", "x0 + x1"),
])  # fmt: skip
def test_noisy_laws(stage, law, wanted):
    X, y = draw(law, [(0.5, 5)] * 2, n=500, noise=0.05)
    found = proposals(stage, X, y)
    assert 1 <= len(found) <= stage.limit
    assert wanted in str(found[0])


def test_operators_restrict_the_formulas():
    X, y = draw("x0*x1+x0", [(1, 2)] * 2, n=100, noise=0.1)
    operators = frozenset({"add", "sub", "mul"})
    for stage in (Bases(), ExtendedBases(), Factors()):
        for found in proposals(stage, X, y, operators):
            assert {node.op for node in walk(found) if isinstance(node, Call)} <= operators


def test_bases_grow_and_respect_rows_and_zeros():
    problem = make_problem(np.c_[np.arange(50.0), np.arange(50.0) ** 2 + 1], np.arange(50.0))
    found = plain_bases(problem, 37)
    assert [len(b) for b in found] == sorted(len(b) for b in found) and len(found[-1]) <= 37
    assert all(row[0] >= 0 for basis in found for row in basis.powers)  # x0 has a zero
    sizes = [len(b) for b, _ in extended_bases(problem, 30)]
    assert max(sizes) <= 30


def test_powers_of_thirds():
    # The binding energy of nuclei: volume, surface, charge, asymmetry.
    law = "15.8*x0-18.3*x0**(2/3)-0.714*x1*(x1-1)/x0**(1/3)-23.2*(x0-2*x1)**2/x0"
    X, y = draw(law, [(20, 200), (10, 90)], n=250)
    assert solve(Bases(noisy=False), X, y)[0] < 1e-11
