"""One inner function with free constants, in log and linear space."""

import numpy as np
import pytest
from recover import draw, solve

from unisymnet.propose.screen.features import Features
from unisymnet.symbolic.expr import Call, walk

LAWS = [
    ("2.9*x0**3/(exp(1.37*x0/x1)-1)", [(0.5, 5), (0.5, 3)]),
    ("x0/sqrt(1-(x1/2.998)**2)", [(1, 5), (0.3, 2.5)]),
    ("3.7*exp(-8.12/x0)", [(2, 7)]),
    ("20+63.1*exp(-0.083*x0)", [(0, 40)]),
    ("3.1*sin(41.7*x0+1.1)+0.2*x0", [(0, 5)]),  # 33 periods
    ("-2.1*x0**2*cos(1.3*x1)", [(-3, 3), (-3, 3)]),  # both signs
    ("x0-cos(x1)/x0", [(0.3, 4), (0, 6)]),  # a multiplier
    ("asin(0.7*x0*sin(x1))", [(0, 1), (0.1, 3)]),
    ("3.1*x0**0.5/(1+0.002*x1)", [(1e-2, 1e3, "log"), (1, 1e5, "log")]),
    ("0.3*x0**-0.37+1.2", [(0.1, 9)]),  # a real exponent beside an offset
]


@pytest.mark.parametrize(("law", "ranges"), LAWS, ids=[law for law, _ in LAWS])
def test_recovers_laws_with_one_inner_constant(law, ranges):
    error, _ = solve(Features(two_constants=False), *draw(law, ranges))
    assert error < 1e-11


TWO = ["1.3+0.8*tanh((x0-2.2)/0.6)", "4.1*x0**2.3/(3.4+x0**2.3)", "8.3/(1+13.1*exp(-0.7*x0))"]


@pytest.mark.parametrize("law", TWO)
def test_recovers_laws_with_two_inner_constants(law):
    error, _ = solve(Features(), *draw(law, [(0.1, 6)]))
    assert error < 1e-11


def test_twenty_rows_are_enough_for_a_simple_law():
    error, _ = solve(Features(), *draw("1.7*x0*exp(-0.6*x0)", [(0, 5)], n=20))
    assert error < 1e-11


def test_only_permitted_operators_appear():
    X, y = draw("1.7*exp(-0.6*x0)+0.4*sin(2*x0)", [(0.2, 5)])
    from unisymnet.candidate import ParetoFront
    from unisymnet.deadline import Deadline
    from unisymnet.problem import make_problem

    allowed = frozenset({"add", "sub", "mul", "exp"})
    problem = make_problem(X, y, operators=allowed)
    stage = Features(two_constants=False)
    proposals = stage.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.after(10))
    used = {n.op for p in proposals for n in walk(p.expr) if isinstance(n, Call)}
    assert used <= allowed


def test_an_expired_deadline_ends_the_stage():
    X, y = draw("x0*x1+sin(x0)", [(1, 3), (1, 3)])
    error, _ = solve(Features(), X, y, seconds=0.0)
    assert error > 1e-11


def test_under_noise_the_law_is_among_the_few_proposals():
    X, y = draw("5.1*exp(-0.4*x0)+1", [(0, 9)], n=300, noise=0.02)
    error, _ = solve(Features(), X, y, noise=None, seconds=8)
    assert error < 0.0215
