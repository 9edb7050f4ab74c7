"""Quotients over functions that couple columns: found, bounded in time, silent where there is no such law."""

import time

import numpy as np
import pytest
from recover import draw, solve

from unisymnet.propose.relation.quotients import Coupled
from unisymnet.propose.write.polynomial import cost


@pytest.mark.parametrize(
    ("law", "ranges", "most"),
    [
        ("x0*x1/(1-(1+x1)**(-x2))", [(100, 1000), (0.01, 0.1), (5, 30)], 14),  # payment of a loan
        ("(1-(1+x0)**(-x1))/x0", [(0.01, 0.1), (2, 30)], 12),
        ("x0/(x0-x1)*(exp(-x1*x2)-exp(-x0*x2))", [(1.5, 3), (0.1, 1), (0, 6)], 20),  # decay chain
        ("(1-exp(-x0*(1-x1)))/(1-x1*exp(-x0*(1-x1)))", [(0.2, 4), (0.1, 0.9)], 26),  # counterflow
        ("x0*(1-exp(-x1/(x2*x3)))", [(1, 12), (0, 8), (0.5, 2), (0.5, 2)], 14),
        ("(x1/x0)**(1/x2)-1", [(100, 200), (200, 600), (2, 10)], 14),
        ("x0*(1+x1/x2)**(x2*x3)", [(100, 500), (0.01, 0.2), (1, 12), (1, 10)], 12),
        ("x2*(1-exp(-x0*x1))+x0", [(0.1, 2), (0.1, 3), (1, 4)], 14),
    ],
)
def test_laws_that_couple_columns(law, ranges, most):
    X, y = draw(law, ranges, n=200)
    misfit, found = solve(Coupled(), X, y)
    assert misfit < 1e-11 and cost(found) <= most


@pytest.mark.parametrize("law", ["x0*sin(x1*x2)", "sqrt(x0)+tanh(x1)*x2", "x0*exp(-0.7*x1*x2)"])
def test_others_are_left_alone(law):
    X, y = draw(law, [(0.5, 3)] * 3, n=200)
    assert solve(Coupled(), X, y)[1] is None


def test_one_column_or_many_and_wide_ranges_cost_nothing():
    rng = np.random.default_rng(0)
    for X in (rng.uniform(1, 2, (100, 1)), rng.uniform(1, 2, (100, 7)), rng.uniform(-500, 500, (100, 3))):
        began = time.monotonic()
        assert solve(Coupled(), X, rng.normal(size=100))[1] is None
        assert time.monotonic() - began < 2.5
