"""Laws that are plain once the target is seen through a view are found there, clean or noisy."""

import numpy as np
import pytest
from recover import draw, solve

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.separable.textbook import Textbook
from unisymnet.propose.short.joined import Joined
from unisymnet.propose.smaller.seen import Seen, _unfolded, seen_through
from unisymnet.propose.view.views import views_of
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse

ASKED = (Joined(), Textbook(most_inputs=1))
LAWS = [
    ("3.1/(exp(1.2*x0)-1)", [(0.3, 5)]),  # an exponential with an offset, through 1/y
    ("sqrt(4.1+2.3*exp(-0.6*x0))", [(0, 6)]),  # the same through y**2
    ("4.2*(1-4.1*exp(-1.3*x0))**2", [(0.7, 4)]),  # the energy of a bond: a square whose root changes its sign
    ("1/(0.7*exp(-0.4*x0)+0.3*x1/(x1+1.7))", [(0, 6), (0.2, 8)]),  # curves of one input each, through 1/y
]


def proposed(law, ranges, noise, **settings):
    X, y = draw(law, ranges, n=120, noise=noise)
    stage = Seen(stages=ASKED, seconds=30.0, **settings)
    never, rng = Deadline.never(), np.random.default_rng(0)
    return X, [p.expr for p in stage.propose(make_problem(X, y), ParetoFront(), rng=rng, deadline=never)]


@pytest.mark.parametrize(("law", "ranges"), LAWS, ids=[law for law, _ in LAWS])
def test_clean_laws_are_found(law, ranges):
    assert solve(Seen(stages=ASKED, seconds=30.0), *draw(law, ranges))[0] < 1e-9


@pytest.mark.parametrize(("law", "ranges"), LAWS, ids=[law for law, _ in LAWS])
def test_under_noise_the_law_is_among_few_proposals(law, ranges):
    X, found = proposed(law, ranges, noise=0.03)
    truth = evaluate(parse(law), X)
    assert 0 < len(found) <= 6
    assert min(np.std(evaluate(expr, X) - truth) for expr in found) < 0.012 * np.std(truth)


def test_without_the_view_the_law_is_missed():
    _, found = proposed(*LAWS[0], noise=0.0, views=("sqrt(y)",))
    X, y = draw(*LAWS[0], n=120)
    assert min(np.std(evaluate(expr, X) - y) for expr in found) > 1e-4 * np.std(y)


@pytest.mark.parametrize("law", ["2.2*x0**2+3", "4*exp(-x0)", "sin(3*x0)"])
def test_a_curve_that_does_not_touch_zero_is_no_square(law):
    X, y = draw(law, [(0, 4)], n=80)
    assert _unfolded(make_problem(X, y)) is None


def test_residuals_of_a_view_count_as_those_of_y():
    X, y = draw("exp(0.8*x0)", [(0, 4)], n=50)
    problem = make_problem(X, y)
    seen = seen_through(problem, views_of(problem, ("ln(y)",))[0])
    assert np.allclose(seen.y, 0.8 * X[:, 0])
    assert np.mean(seen.weights) == pytest.approx(1.0)
    assert seen.weights[np.argmax(y)] > 10 * seen.weights[np.argmin(y)]


def test_a_view_that_most_rows_lack_is_not_taken():
    _, found = proposed("x0-2", [(0, 4)], noise=0.0, views=("ln(y)",))
    assert found == []
