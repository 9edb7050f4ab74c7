"""Sums of a few terms among columns that hardly differ are found from below."""

import numpy as np
import pytest

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.short.subsets import Subsets
from unisymnet.symbolic.constants import free_constants
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import simplify


def _forms(X, y, **settings):
    problem = make_problem(X, y, **settings)
    stage = Subsets()
    proposals = stage.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never())
    return [free_constants(simplify(problem.to_original(p.expr)))[0] for p in proposals]


@pytest.mark.parametrize(
    "law", ["1.5*x0*x1 - 0.8*x2**2", "2.1*x0 + 0.7*x1/x2", "3.3*ln(x0) - 1.2*x1 + 0.4", "0.9*x0**2 + 2.2*x1 - 1.3*x2"]
)
def test_sums_among_collinear_columns(law):
    rng = np.random.default_rng(1)
    base = rng.uniform(1.0, 4.0, 120)
    X = np.column_stack([base, base + 0.3 * rng.normal(size=120), base + 0.3 * rng.normal(size=120)])
    X = np.abs(X) + 0.2
    clean = evaluate(parse(law), X)
    y = clean + 0.02 * np.std(clean) * rng.normal(size=120)
    assert free_constants(simplify(parse(law)))[0] in _forms(X, y)


@pytest.mark.parametrize(
    "law",
    [
        "sqrt(1.3 + 0.9*x0**2 - 1.8*x0*cos(x1))",
        "1/(0.5*x0 + 0.2*x1**2)",
        "exp(0.4*x0*x1 - 0.9*x0)",
        "1/sqrt(0.3*x0 + 1.1*ln(x1))",
    ],
)
def test_sums_below_roots_and_fraction_lines_and_in_exponents(law):
    X = np.random.default_rng(3).uniform(1.1, 4.0, (300, 2))
    clean = evaluate(parse(law), X)
    y = clean + 0.03 * np.std(clean) * np.random.default_rng(4).normal(size=300)
    assert free_constants(simplify(parse(law)))[0] in _forms(X, y)


def test_the_law_of_cosines():
    law = "sqrt(0.9*x0**2 + 1.1*x1**2 - 1.8*x0*x1*cos(x2))"
    X = np.random.default_rng(5).uniform(0.5, 2.9, (150, 3))
    clean = evaluate(parse(law), X)
    y = clean + 0.02 * np.std(clean) * np.random.default_rng(6).normal(size=150)
    assert free_constants(simplify(parse(law)))[0] in _forms(X, y)


def test_a_sum_that_comes_near_zero_below_a_root_has_a_value_on_every_row():
    """Least squares put it beyond zero on some rows under noise, and no fit could begin there."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0.2, 3.0, 900), rng.uniform(-3.0, 3.0, 900)])
    clean = np.sqrt(1.0 + X[:, 0] ** 2 - 2.0 * X[:, 0] * np.cos(X[:, 1]))
    problem = make_problem(X, clean + 0.1 * rng.normal(size=900))
    proposals = Subsets().propose(problem, ParetoFront(), rng=rng, deadline=Deadline.never())
    law = free_constants(simplify(parse("sqrt(1.3 + 0.9*x0**2 - 1.8*x0*cos(x1))")))[0]
    found = [one.expr for one in proposals if free_constants(simplify(problem.to_original(one.expr)))[0] == law]
    assert found and np.isfinite(evaluate(found[0], problem.X)).all()


def test_operators_are_kept_to():
    rng = np.random.default_rng(2)
    X = rng.uniform(1.0, 4.0, (60, 2))
    y = np.sin(X[:, 0]) + 0.05 * rng.normal(size=60)
    forms = _forms(X, y, operators=frozenset({"add", "mul"}))
    assert forms and not any("sin" in str(form) or "**" in str(form) or "/" in str(form) for form in forms)


def test_rows_that_weigh_nothing_are_not_looked_at():
    rng = np.random.default_rng(6)
    X = rng.uniform(1.0, 3.0, (60, 2))
    y = 1.5 * X[:, 0] * X[:, 1] + 0.02 * rng.normal(size=60)
    y[5] = 1e6
    weights = np.ones(60)
    weights[5] = 0.0
    assert free_constants(parse("1.5*x0*x1"))[0] in _forms(X, y, weights=weights)


def test_too_few_rows_have_no_subset():
    assert _forms(np.arange(5.0)[:, None], np.arange(5.0) ** 2 + 1.0) == []
