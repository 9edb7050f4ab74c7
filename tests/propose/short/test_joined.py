"""Products and sums of curves of one input each are found as a whole on scattered rows."""

import numpy as np
import pytest
from recover import draw, solve

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.pool import misfit
from unisymnet.propose.short.joined import Joined
from unisymnet.propose.short.subsets import Subsets
from unisymnet.symbolic.expr import Call, evaluate, walk
from unisymnet.symbolic.parse import parse

LAWS = [
    ("2.1*(1-exp(-0.7*x0))*x1/(x1+1.4)", [(0, 6), (0.1, 8)]),
    ("3.1*x0/(x0+0.6)*exp(-((x1-27)/9)**2)", [(0.05, 6), (8, 40)]),
    ("(350+270*x0**0.36)*(1+0.022*ln(x1))*(1-x2**1.1)", [(0.01, 0.6), (1, 1000), (0.02, 0.8)]),
    ("4*exp(-0.3*x0)+2.5*x1/(x1+3)+0.6*sqrt(x2)", [(0, 10), (0.1, 12), (0, 9)]),
    ("6.2*(1-exp(-0.012*x0))*x1/(x1+180)-0.31*x2", [(0, 200), (100, 700), (0, 5)]),
]


@pytest.mark.parametrize(("law", "ranges"), LAWS, ids=[law for law, _ in LAWS])
def test_clean_laws_are_exact(law, ranges):
    assert solve(Joined(), *draw(law, ranges))[0] < 1e-11


@pytest.mark.parametrize(("law", "ranges"), LAWS[:2], ids=[law for law, _ in LAWS[:2]])
def test_under_noise_the_law_is_among_the_proposals(law, ranges):
    X, y = draw(law, ranges, n=150, noise=0.05)
    truth = evaluate(parse(law), X)
    found = proposed(make_problem(X, y))
    assert 0 < len(found) <= 6
    assert min(np.std(evaluate(expr, X) - truth) for expr in found) < 0.02 * np.std(truth)


def test_the_same_again():
    X, y = draw(*LAWS[0], noise=0.01)
    assert proposed(make_problem(X, y)) == proposed(make_problem(X, y))


def test_rows_without_weight_do_not_count():
    X, y = draw(*LAWS[0])
    weights = np.ones(len(y))
    weights[::4] = 0.0
    y[::4] = 100.0
    problem = make_problem(X, y, weights=weights)
    assert min(misfit(problem, expr) for expr in proposed(problem)) < 1e-11


def test_operators_are_kept():
    X, y = draw(*LAWS[0])
    allowed = frozenset({"add", "mul", "div", "pow"})
    for expr in proposed(make_problem(X, y, operators=allowed)):
        assert {node.op for node in walk(expr) if isinstance(node, Call)} <= allowed | {"sub", "neg"}


@pytest.mark.parametrize(("law", "n"), [("x0+exp(x0)", 100), ("x0*exp(x1)", 20)])
def test_silent_where_there_is_nothing_to_join(law, n):
    X, y = draw(law, [(0, 3)] * (2 if "x1" in law else 1), n=n)
    assert not proposed(make_problem(X, y))


def test_no_time_no_formula():
    X, y = draw(*LAWS[0])
    assert not proposed(make_problem(X, y), Deadline.after(0.0))


GROUPS = [
    ("3*(1-exp(-0.6*x0))*x1/(x1+0.9*x2)", [(0, 6), (0.5, 5), (0.5, 5)]),
    ("4*x0**2.2/(x0**2.2+6)+0.7*x1/x2", [(0.1, 8), (0.5, 5), (0.5, 5)]),
    ("x0/(x0+0.8*x1)*(x2*x3+2.2)", [(0.2, 5)] * 4),
]


@pytest.mark.parametrize(("law", "ranges"), GROUPS, ids=[law for law, _ in GROUPS])
def test_two_groups_of_inputs_are_looked_at_alone(law, ranges):
    X, y = draw(law, ranges, n=250)
    assert solve(Joined(stages=(Subsets(),)), X, y)[0] < 1e-11


def proposed(problem, deadline=None):
    deadline = deadline or Deadline.never()
    stage = Joined()
    return [p.expr for p in stage.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=deadline)]
