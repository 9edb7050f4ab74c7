"""Laws that are linear in a function of one input, with laws of the other inputs as coefficients."""

import numpy as np
import pytest
from recover import draw, solve

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.linear.monomial import Monomial
from unisymnet.propose.pool import Pool, Task
from unisymnet.propose.short.subsets import Subsets
from unisymnet.propose.smaller.affine import Affine, _believed, _estimates
from unisymnet.symbolic.expr import Var, evaluate
from unisymnet.symbolic.parse import parse

ASKED = (Monomial(), Subsets())
LAWS = [
    ("x0+x1+2*sqrt(x0*x1)*cos(x2)", [(1, 6), (1, 6), (0, 6.2)]),  # interference
    ("1/(1/x0+(1-cos(x2))/(2.1*x1))", [(1, 5), (1, 5), (0.1, 3)]),  # seen through 1/y, with 1 - cos(x)
    ("(x0+1.4*x1)*(1+0.7*x1*exp(-x2))", [(1, 5), (1, 4), (0.1, 3)]),  # B/A is plainer than B
    ("sqrt(x0**3+1.3*x1*x2**2)", [(1, 3), (1, 3), (1, 3)]),
]


def proposed(stage, X, y):
    rng = np.random.default_rng(0)
    return [p.expr for p in stage.propose(make_problem(X, y), ParetoFront(), rng=rng, deadline=Deadline.never())]


@pytest.mark.parametrize(("law", "ranges"), LAWS, ids=[law for law, _ in LAWS])
def test_clean_laws_are_found(law, ranges):
    assert solve(Affine(stages=ASKED, seconds=30.0), *draw(law, ranges))[0] < 1e-9


@pytest.mark.parametrize(("law", "ranges"), LAWS, ids=[law for law, _ in LAWS])
def test_under_noise_the_law_is_among_few_proposals(law, ranges):
    X, y = draw(law, ranges, n=150, noise=0.02)
    found = proposed(Affine(stages=ASKED, seconds=30.0), X, y)
    truth = evaluate(parse(law), X)
    assert 0 < len(found) <= 6
    assert min(np.std(evaluate(expr, X) - truth) for expr in found) < 0.012 * np.std(truth)


def believed(law, ranges, noise):
    problem = make_problem(*draw(law, ranges, n=200, noise=noise))
    return _believed(Task(problem, Pool(problem, ""), np.random.default_rng(0), Deadline.never()))


def test_the_rows_tell_which_input_and_which_function():
    first = believed(*LAWS[0], noise=0.02)[0]
    assert first.frame.power == 1.0 and first.term == parse("cos(x2)")


def test_estimates_come_with_their_errors():
    choice = believed(*LAWS[0], noise=0.02)[0]
    (slope, variance), (quotient, doubt) = _estimates(choice)
    X = choice.frame.X
    for estimate, error, truth in (
        (slope, variance, 2.0 * np.sqrt(X[:, 0] * X[:, 1])),
        (quotient, doubt, 2.0 * np.sqrt(X[:, 0] * X[:, 1]) / (X[:, 0] + X[:, 1])),
    ):
        off = (estimate - truth) / np.sqrt(error * choice.variance)
        assert 0.5 < np.sqrt(np.mean(off**2)) < 2.0


def test_what_no_function_of_one_input_explains_is_left_alone():
    assert believed("sin(3*x0*x1*x2)", [(1, 3), (1, 3), (1, 3)], noise=0.0) == []


def test_few_rows_one_input_and_no_time():
    stage = Affine(stages=ASKED)
    X, y = draw(*LAWS[0], n=40)
    assert proposed(stage, X, y) == []
    assert proposed(stage, X[:, :1], y) == []
    X, y = draw(*LAWS[0], n=200)
    over = Deadline.after(0.0)
    assert list(stage.propose(make_problem(X, y), ParetoFront(), rng=np.random.default_rng(0), deadline=over)) == []


def test_only_allowed_functions_are_used():
    problem = make_problem(*draw(*LAWS[0], n=200), operators=frozenset({"add", "mul", "sqrt"}))
    task = Task(problem, Pool(problem, ""), np.random.default_rng(0), Deadline.never())
    assert all(choice.term == Var(choice.column) for choice in _believed(task))
