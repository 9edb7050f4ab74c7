"""Roots of quadratic equations from null vectors, exact and noisy."""

import numpy as np
import pytest
from listing import proposals
from recover import draw, solve

from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.linear.basis import polynomial
from unisymnet.propose.pool import Pool, Task
from unisymnet.propose.relation.equation import Equation
from unisymnet.propose.relation.fit import fitted
from unisymnet.propose.relation.roots import Roots
from unisymnet.propose.view.views import views_of
from unisymnet.propose.write.polynomial import cost

ACID = ("(sqrt(x0**2+4*x0*x1)-x0)/2", [(0.1, 2), (0.1, 5)])  # a weak acid: y² + K·y - K·C = 0
BOUND = ("(x0-x1-x2+sqrt((x0-x1-x2)**2+4*x0*x2))/(2*x0)", [(0.5, 3), (0.1, 5), (0.05, 1)])  # tight binding
FLIGHT = ("(x0+sqrt(x0**2+19.62*x1))/9.81", [(1, 20), (1, 50)])


@pytest.mark.parametrize(
    ("law", "ranges", "most"),
    [
        (*ACID, 12),
        (*BOUND, 28),
        (*FLIGHT, 14),
        ("2*x0+x1-sqrt(x1**2+x2**2)", [(1, 4), (1, 4), (0.2, 3)], 14),
        ("x2+9.5*sqrt(0.4*x0+1.6+0.7*x2+x1)/x3", [(0.5, 3)] * 4, 18),
        ("1/(x0+sqrt(x0**2+x1+3))", [(0.3, 3), (-2, 2)], 20),
        ("ln(x0*x1+sqrt((x0*x1)**2+1))", [(0.3, 3), (-2, 2)], 15),
    ],
)
def test_exact_roots_are_found_and_written_shortly(law, ranges, most):
    X, y = draw(law, ranges, n=300)
    misfit, found = solve(Roots(), X, y)
    assert misfit < 1e-11 and cost(found) <= most


@pytest.mark.parametrize("law", ["exp(x0)+sin(x0)", "tanh(x0)", "(x0+3)**1.3", "x0/(1+x0**2)", "2*x0+1"])
@pytest.mark.parametrize("half", [0.1, 0.5, 2.0])
def test_what_is_no_root_or_no_proper_one_is_left_to_others(law, half):
    # Quadratic equations with twelve coefficients follow any smooth curve closely.
    X, y = draw(law, [(-half, half)], n=60)
    assert solve(Roots(), X, y)[1] is None


@pytest.mark.parametrize(("law", "noise"), [(ACID, 0.05), (BOUND, 0.01), (FLIGHT, 0.05)])
def test_noisy_roots(law, noise):
    X, y = draw(*law, n=300, noise=noise)
    truth = draw(*law, n=300)[1]
    best = proposals(Roots(exact=False, noisy=True, seconds=60), X, y)[0]
    misfit, _ = solve(Roots(exact=False, noisy=True, seconds=60), X, y)
    assert "sqrt" in str(best) and misfit < 1.1 * noise * np.std(truth) / np.std(y)
    assert cost(best) <= 30


def test_the_start_of_a_noisy_fit_is_near_the_law():
    X, y = draw(*FLIGHT, n=400, noise=0.05)
    problem = make_problem(X, y)
    task = Task(problem, Pool(problem, "test"), np.random.default_rng(0), Deadline.never())
    bases = (polynomial(2, 1), polynomial(2, 1), polynomial(2, 0))
    law = fitted(task, Equation(views_of(problem, ["y"])[0], bases), np.arange(400))[0]
    c, b, a = (dict(part.terms) for part in law.parts)
    assert set(b) == {(1.0, 0.0)} and set(c) == {(0.0, 1.0)}
    assert b[1.0, 0.0] / a[0.0, 0.0] == pytest.approx(-2 / 9.81, rel=0.1)
    assert c[0.0, 1.0] / a[0.0, 0.0] == pytest.approx(-2 / 9.81, rel=0.1)


def test_no_roots_without_the_operator_and_with_few_rows():
    X, y = draw(*ACID, n=200)
    assert solve(Roots(), X, y, operators=frozenset({"add", "mul"}))[1] is None
    assert solve(Roots(noisy=True), X[:6], y[:6])[0] > 1e-12


def test_a_noisy_target_with_zeros_is_no_obstacle():
    X, y = draw("sqrt(x0**2+x1)-x0", [(0, 3), (0, 4)], n=200, noise=0.02)
    y[:5] = 0.0
    assert proposals(Roots(exact=False, noisy=True, seconds=20), X, y)
