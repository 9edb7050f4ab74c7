"""Sums of exponentials with continuous rates."""

import numpy as np
import pytest
from listing import proposals
from recover import draw, solve

from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.separable.exponentials import Exponentials
from unisymnet.symbolic.expr import evaluate


@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("3.2*(exp(-0.4*x0)-exp(-1.5*x0))", [(0.1, 10)]),
        ("0.7*exp(-0.2*x0)+2.5*exp(-1.9*x0)+0.4", [(0, 6)]),
        ("1/(1+exp(-(0.4+1.3*x0-0.8*x1)))", [(-3, 3)] * 2),
        ("ln(1+exp(1.7*x0-x1))", [(-2, 2)] * 2),
        ("2*exp(0.001*x0)-3*exp(-0.002*x0+40*x1)", [(-900, 500), (0, 0.05)]),
    ],
)
def test_exact_sums_of_exponentials(law, ranges):
    X, y = draw(law, ranges, n=250)
    assert solve(Exponentials(), X, y)[0] < 1e-12


@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("0.7+2.5*exp(0.47*x0-0.3*x0**2)", [(-5, 5)]),
        ("2*exp(-(x0-1)**2)+3*exp(-(x0+1.5)**2/3)", [(-4, 4)]),
        ("x0*exp(-0.4*x1)-x1*exp(-0.2*x0)", [(1, 5), (0.5, 3)]),
        ("x0**1.3*exp(-x0)+2*x0", [(0.1, 5)]),
    ],
)
def test_exact_sums_of_power_laws_times_exponentials(law, ranges):
    X, y = draw(law, ranges, n=250)
    assert solve(Exponentials(mixed=True, terms=(2,), starts=16, seconds=20), X, y)[0] < 1e-11


def test_noisy_decay_with_two_rates():
    X, y = draw("5*exp(-0.3*x0)+8*exp(-2.1*x0)", [(0, 8)], n=400, noise=0.01)
    clean = 5 * np.exp(-0.3 * X[:, 0]) + 8 * np.exp(-2.1 * X[:, 0])
    found = [expr for expr in proposals(Exponentials(seconds=30), X, y) if str(expr).count("exp") == 2]
    assert any(np.std(evaluate(expr, X) - clean) < 0.2 * np.std(y - clean) for expr in found)


def test_silent_without_the_operator_or_without_columns_that_vary():
    X, y = draw("exp(-x0)+exp(-3*x0)", [(0, 3)], n=100)
    no_exp = make_problem(X, y, operators=("add", "mul", "pow"))
    assert list(Exponentials().propose(no_exp, None, rng=np.random.default_rng(0), deadline=Deadline.never())) == []
    assert proposals(Exponentials(), np.ones((50, 1)), np.arange(50.0)) == []
