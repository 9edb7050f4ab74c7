"""Reductions are recognised from rows alone, exact or noisy, and formulas come back in the original inputs."""

import numpy as np
import pytest
from recover import draw, solve

from unisymnet.candidate import Proposal
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.separable.features import Features
from unisymnet.propose.smaller.reduce import Reduce, chain
from unisymnet.propose.smaller.reduction import Reduction
from unisymnet.propose.view.noise import noise_beyond_doubt, smooth_residual
from unisymnet.propose.view.smooth import best_frame, polynomial
from unisymnet.symbolic.expr import Const, Var, evaluate
from unisymnet.symbolic.parse import parse


def reduced(law, ranges, n=600, noise=0.0):
    X, y = draw(law, ranges, n=n, noise=noise)
    problem = make_problem(X, y)
    steps = list(chain(problem, noisy=noise > 0, max_ratio=1.3, max_steps=8, deadline=Deadline.never()))
    for step in steps:
        problem = step.apply(problem)
    return steps, problem


CASES = [
    ("x0*sin(x1)*x2**-1.5", [(1, 3)] * 3, 1),
    ("exp(-(x1-x2)**2)*x0", [(1, 3)] * 3, 1),
    ("tanh(x0*x1/x2)", [(1, 3)] * 3, 1),
    ("x0**3/(exp(x0/x1)-1)", [(1, 5), (1, 3)], 1),  # y = x0^3·f(x0/x1)
    ("x0*x1/(x0+2.5*x1)", [(1e-2, 1e3, "log"), (1e-2, 1e3, "log")], 1),
    ("cos(x0*x1)*x2", [(-2, 2), (-2, 2), (-3, 3)], 1),  # signs and zeros everywhere
    ("x0**2+x1*x2", [(1, 3), (1, 3), (1, 3)], 1),
    ("cos(1.3*x0)*(x1**2+1.7*x2)", [(0, 3), (1, 3), (1, 3)], 2),  # a function of one input as a factor
    ("x0/(1+x1*sin(x0*x2))", [(1, 3), (0, 0.8), (1, 3)], 1),  # x0/y is 1 + x1·f(x0·x2)
    ("exp(1.3*x0*x1)*x2**2", [(-2, -1), (1, 2), (-3, -1)], 1),  # negative inputs in log space
    ("exp(0.3*x0*x1)+sin(x1*x2)+x0*x2", [(1, 3), (1, 3), (1, 3)], 3),  # nothing to reduce
]


@pytest.mark.parametrize(("law", "ranges", "left"), CASES, ids=[c[0] for c in CASES])
def test_reductions_go_as_far_as_the_law_allows(law, ranges, left):
    _, problem = reduced(law, ranges)
    assert problem.n_features == left


def test_irrelevant_inputs_are_left_out():
    steps, problem = reduced("sin(x0)/(1+x1)", [(1, 3)] * 5)
    assert steps[0].inputs == (Var(0), Var(1))
    assert steps[0].factor == Const(1.0)
    assert problem.n_features <= 2


SMALL_AND_NOISY = [
    ("x0*exp(-0.7*x1*x2)+0.4", [(2, 9), (0.1, 2), (0.2, 2)], 60, 2),
    ("sqrt(2*(x0-x1)/x2)", [(2, 5), (0.5, 1.5), (0.8, 1.3)], 60, 1),
    ("8.3*x0*x1*ln(x2/x3)", [(1, 4), (2, 6), (3, 9), (0.5, 2.5)], 100, 1),
]


@pytest.mark.parametrize(("law", "ranges", "n", "left"), SMALL_AND_NOISY, ids=[c[0] for c in SMALL_AND_NOISY])
def test_small_noisy_tables_are_reduced_too(law, ranges, n, left):
    """A polynomial of the second degree bends every input and every pair; cubics would want twice the rows."""
    _, problem = reduced(law, ranges, n=n, noise=0.02)
    assert problem.n_features == left


def test_under_noise_a_clear_power_law_is_still_stripped():
    steps, problem = reduced("x0**2*sin(x1)", [(1, 4), (0.5, 3)], n=800, noise=0.05)
    assert problem.n_features == 1
    assert steps[0].factor == parse("x0**2")


def test_a_power_is_taken_of_the_input_that_keeps_its_sign():
    """y·x0 is a bump over (x1 − x2)/x0; y·(x1 − x2), a bump times its own place, was not recognised under noise."""
    steps, problem = reduced("exp(-0.5*((x1-x2)/x0)**2)/x0", [(1, 3)] * 3, n=1000, noise=0.01)
    assert [step.factor for step in steps] == [Const(1.0), parse("1/x1")]
    assert problem.n_features == 1


def test_the_smaller_problem_means_the_same_rows():
    X, y = draw("x0*sin(x1-x2)", [(1, 3)] * 3)
    problem = make_problem(X, y)
    step = Reduction((parse("x1-x2"),), Var(0), 0.0)
    smaller = step.apply(problem)
    np.testing.assert_allclose(smaller.y, y / X[:, 0])
    lifted = step.lift(parse("sin(x0)"))
    np.testing.assert_allclose(evaluate(lifted, X), y)
    assert smaller.weights.mean() == pytest.approx(1.0)


def test_rows_where_the_factor_vanishes_are_dropped():
    X = np.column_stack([np.linspace(-1, 1, 41), np.linspace(1, 2, 41)])
    problem = make_problem(X, X[:, 0] * X[:, 1])
    smaller = Reduction((Var(1),), Var(0), 0.0).apply(problem)
    assert smaller.n_rows == 40


def test_solves_with_the_given_stages_and_writes_back():
    stage = Reduce(stages=(Features(),))
    error, formula = solve(stage, *draw("x3*x0/x1*sin(1.3*(x2-x4))**2", [(1, 3)] * 5, n=500), seconds=40)
    assert error < 1e-11, formula


def test_asks_the_stages_about_the_smallest_problem_first():
    asked = []

    class Spy:
        name = "spy"

        def propose(self, problem, front, *, rng, deadline):
            asked.append(problem.n_features)
            yield Proposal(Const(1.0), "spy")

    solve(Reduce(stages=(Spy(),)), *draw("x0*sin(x1-x2)", [(1, 3)] * 3, n=500))
    assert asked == sorted(asked) and asked[0] == 1


def test_many_noisy_rows_allow_sure_reductions_only():
    """x4**4/(x4**2 - x5**2)**2 is nearly x5**-5 times a curve of x4, and exactly a curve of x4/x5."""
    asked = []

    class Spy:
        name = "spy"

        def propose(self, problem, front, *, rng, deadline):
            asked.append(problem.X * problem.x_scales)
            yield Proposal(Const(1.0), "spy")

    ranges = [(1, 4), (1, 4), (1, 2), (3, 5)]
    X, y = draw("x0*x1**2*x2**4/(x2**2-x3**2)**2", ranges, n=800, noise=0.1)
    solve(Reduce(stages=(Spy(),), scatter=3.0, noisy=True), X, y)
    assert asked[0].shape[1] == 1 and len(asked[0]) >= 400  # rows that noise covers may have gone
    for ratio in (X[:, 2] / X[:, 3], X[:, 3] / X[:, 2]):
        if all(np.min(np.abs(ratio - value)) < 1e-9 for value in asked[0][:, 0]):
            break
    else:
        raise AssertionError("the only input left is no quotient of x2 and x3")


def test_polynomials_have_the_promised_size_and_degree():
    z = np.random.default_rng(0).uniform(-1, 1, size=(50, 2))
    assert polynomial(z, 10).shape == (50, 10)  # all terms up to degree 3
    assert polynomial(z, 9).shape == (50, 6)


def test_smooth_residual_tells_noise_from_smooth_laws():
    X, y = draw("x0*exp(-x1)", [(1, 3), (0, 2)], n=400)
    assert smooth_residual(make_problem(X, y))[0] < 1e-4
    X, y = draw("x0*exp(-x1)", [(1, 3), (0, 2)], n=400, noise=0.1)
    residual, flat = smooth_residual(make_problem(X, y))
    assert 0.05 < residual < 0.2 and flat
    assert noise_beyond_doubt(make_problem(X, y))


def test_a_frame_needs_enough_rows():
    X, y = draw("x0*x1", [(1, 3), (1, 3)], n=12)
    assert best_frame(make_problem(X, y), noisy=False) is None
