"""Columns that do not matter are recognised on few rows, and the law is found in the others."""

import numpy as np
import pytest
from recover import draw

from unisymnet import UniSymNetRegressor
from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.linear.monomial import Monomial
from unisymnet.propose.smaller.reduce import Relevant, relevant_inputs


def _with_noise_columns(law, d, n=160, noise=0.0):
    X, y = draw(law, [(1.0, 4.0)] * d, n=n, noise=noise)
    return np.column_stack([X, np.random.default_rng(9).uniform(1.0, 5.0, (n, 5))]), y


@pytest.mark.parametrize(
    ("law", "d"), [("x0*x1/(x2*x3**2)", 4), ("(x0*x2 + x1*x3)/(x0 + x1)", 4), ("x0*sin(x1) + x2", 3), ("x0**2", 1)]
)
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_relevant_inputs(law, d, noise):
    X, y = _with_noise_columns(law, d, noise=noise)
    assert relevant_inputs(make_problem(X, y)) == list(range(d))


def test_proposals_are_written_in_the_old_inputs():
    X, y = _with_noise_columns("x0**2", 1)
    problem = make_problem(X[:, ::-1], y)
    stage = Relevant(stages=(Monomial(),))
    found = list(stage.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never()))
    assert str(found[0].expr) == "x5**2" and found[0].source == "relevant/monomial"


def test_silent_where_rows_are_plenty():
    X, y = _with_noise_columns("x0*x1", 2, n=400)
    stage = Relevant(stages=(Monomial(),))
    problem = make_problem(X, y)
    assert not list(stage.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never()))


def test_a_rational_law_among_columns_of_noise_is_found():
    X, y = _with_noise_columns("(x0*x2 + x1*x3)/(x0 + x1)", 4, n=200)
    model = UniSymNetRegressor(max_time=30, random_state=0).fit(X, y)
    assert str(model.formula_) == "(x0*x2 + x1*x3)/(x0 + x1)"


def test_a_column_wrongly_left_out_does_not_cost_the_law():
    # x0 adds little to y, and on these rows no polynomial follows cos(x3): the column seems not to matter.
    X, y = draw("x2*(cos(x3) - x1) + x0", [(6.0, 7.0), (-6.4, 4.5), (-7.4, 6.4), (-4.9, 1.4)], n=200)
    model = UniSymNetRegressor(max_time=20, random_state=0).fit(X, y)
    assert str(model.formula_) == "x2*(cos(x3) - x1) + x0"
