"""Sums of a few terms among columns that hardly differ are found from below."""

import numpy as np
import pytest

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.short.subsets import Subsets
from unisymnet.symbolic.constants import free_constants
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
    from unisymnet.symbolic.expr import evaluate

    clean = evaluate(parse(law), X)
    y = clean + 0.02 * np.std(clean) * rng.normal(size=120)
    assert free_constants(simplify(parse(law)))[0] in _forms(X, y)


def test_operators_are_kept_to():
    rng = np.random.default_rng(2)
    X = rng.uniform(1.0, 4.0, (60, 2))
    y = np.sin(X[:, 0]) + 0.05 * rng.normal(size=60)
    forms = _forms(X, y, operators=frozenset({"add", "mul"}))
    assert forms and not any("sin" in str(form) or "**" in str(form) or "/" in str(form) for form in forms)


def test_too_few_rows_have_no_subset():
    assert _forms(np.arange(5.0)[:, None], np.arange(5.0) ** 2 + 1.0) == []
