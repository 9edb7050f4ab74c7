"""Quotients of polynomials from null vectors, exact and noisy."""

import numpy as np
import pytest
from listing import proposals
from recover import draw, solve

from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.linear.basis import polynomial
from unisymnet.propose.pool import Pool, Task, misfit
from unisymnet.propose.relation.equation import Equation
from unisymnet.propose.relation.fit import fitted
from unisymnet.propose.relation.quotients import Rational
from unisymnet.propose.view.views import views_of
from unisymnet.propose.write.polynomial import cost
from unisymnet.propose.write.write import write_ratio


@pytest.mark.parametrize(
    ("law", "ranges", "n", "most"),
    [
        ("x0*(4-x0-x1/(1+x0))", [(0, 6), (2, 11)], 200, 11),
        ("20-x0-x0*x1/(1+0.5*x0**2)", [(3, 16), (10, 50)], 200, 15),
        ("(x0+1)**3/(x0**2-x0+1)", [(-1, 1)], 20, 13),
        ("(x0**6+x0**5)/(x0**4+x0**3+x0**2+x0+1)", [(-1, 1)], 20, 23),
        ("(x2+x1)/(1+x2*x1/x0**2)", [(1, 5)] * 3, 200, 15),
        ("(x0*x2+x1*x3)/(x0+x1)", [(1, 5)] * 4, 200, 11),
        ("acos((cos(x2)-x1/x0)/(1-x1/x0*cos(x2)))", [(4, 6), (1, 3), (1, 3)], 300, 16),
        ("2.2e6*x0/(x0*x0+1e-8)", [(1e-5, 1e-3)], 100, 11),
        ("1/(exp((x0-5)/x1)+1)", [(0, 10), (1, 4)], 150, 12),
        ("0.083*x0/(x1-0.03)-15.5/(sqrt(x0)*x1*(x1+0.03))", [(280, 500), (0.5, 4)], 250, 27),
        ("(x2-2*x0-0.7*abs(x1))/x3", [(-9, 1), (-7, 5), (4, 9), (-3, 7)], 200, 13),
    ],
)
def test_exact_quotients_are_found_and_compact(law, ranges, n, most):
    X, y = draw(law, ranges, n=n)
    misfit, found = solve(Rational(noisy=False), X, y)
    assert misfit < 1e-11 and cost(found) <= most


def test_approximations_are_not_taken_for_laws():
    # A quotient of degree 6 over 4 is exp(x) to 1e-12 on a short range.
    X = np.linspace(-0.5, 0.5, 80)[:, None]
    plain = frozenset({"add", "sub", "mul", "div", "pow"})
    assert solve(Rational(noisy=False), X, np.exp(X[:, 0]) + np.sin(X[:, 0]), operators=plain)[1] is None


@pytest.mark.parametrize("noise", [0.01, 0.1])
@pytest.mark.parametrize(
    ("law", "ranges", "wanted"),
    [
        ("(x0*x2+x1*x3)/(x0+x1)", [(1, 5)] * 4, "(x0 + x1)"),
        ("x1*(x0/(1+x0)-0.075*x1)", [(0, 6), (2, 11)], "x1*(x0/(x0 + "),
        ("x0*(4-x0-x1/(1+x0))", [(0, 6), (2, 11)], " - x0 - x1/(x0 + "),
        ("x0**2*(x1+x2)/(x0**2+x1*x2)", [(1, 5)] * 3, "x0**2*(x1 + x2)/("),
    ],
)
def test_noisy_quotients(law, ranges, wanted, noise):
    """Most of the terms of a full basis hardly differ: the few that matter are found from below."""
    X, y = draw(law, ranges, n=600, noise=noise)
    assert wanted in str(proposals(Rational(exact=False, few=True, seconds=60), X, y)[0])


def test_noisy_quotients_with_a_function_of_an_input():
    X, y = draw("(1-x0**2)/(1+x0*cos(x1))", [(0.1, 0.8), (0, 6)], n=600, noise=0.01)
    found = proposals(Rational(exact=False, noisy=False, wide=True, seconds=60), X, y)
    assert all("x0*cos(x1)" in str(formula) for formula in found[:3]) and found


def test_noise_does_not_draw_the_start_towards_small_denominators():
    X, y = draw("(1+2*x0)/(1+x0**2)", [(-3, 3)], n=500, noise=0.1)
    problem = make_problem(X, y)
    task = Task(problem, Pool(problem, "test"), np.random.default_rng(0), Deadline.never())
    equation = Equation(views_of(problem, ["y"])[0], (polynomial(1, 2), polynomial(1, 2)))
    law = fitted(task, equation, np.arange(500))[0]
    assert sum(map(len, law.parts)) <= 5
    expr = write_ratio(problem, law.view, law.parts[0], law.parts[1].scaled(-1.0), law.tol)
    assert expr is not None and misfit(problem, expr) < 0.12


def test_too_few_rows_give_nothing():
    X, y = draw("x0/(1+x1)", [(1, 2)] * 2, n=6)
    assert solve(Rational(), X, y)[0] > 1e-9
