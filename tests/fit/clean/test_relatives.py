"""One bend as another: the same value and slope near zero, and what is shorter to write wins in the table."""

from contextlib import nullcontext

import numpy as np
import pytest

from unisymnet.candidate import Candidate
from unisymnet.deadline import Deadline
from unisymnet.fit.clean.relatives import relatives
from unisymnet.fit.clean.verdict import verdict
from unisymnet.judge.judge import make_judge
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import simplify

SMALL = np.random.default_rng(0).uniform(0.01, 0.02, (30, 2))
X = np.column_stack([np.random.default_rng(1).uniform(1.0, 5.0, 300), np.random.default_rng(2).uniform(0.1, 0.8, 300)])


@pytest.mark.parametrize(
    "text", ["exp(0.7*x0)", "2*(1 + 0.35*x0)**2", "3 + x0", "1/(1 - 0.4*x0*x1)", "x1/sqrt(2 - x0)"]
)
def test_relatives_start_with_the_same_value_and_slope(text):
    expr = simplify(parse(text))
    mine = evaluate(expr, SMALL)
    found = list(relatives(expr, SMALL))
    assert len(found) >= 7
    # Up to the second order, unless a factor of about one was left out.
    near = [one for one in found if np.allclose(evaluate(one, SMALL), mine, rtol=1e-3)]
    assert len(near) >= 7
    assert all(set("x0 x1".split()) >= {str(v) for v in ("x0", "x1") if v in str(one)} for one in found)


@pytest.mark.parametrize("text", ["x0", "2.5*x0*x1", "sin(x0)", "ln(x0)"])
def test_what_has_no_bend_has_no_relatives(text):
    assert not list(relatives(simplify(parse(text)), X))


def test_a_start_beyond_a_pole_is_moved_back():
    steep = simplify(parse("x0*exp(3*x1)"))  # 1/(1 - 3*x1) has a pole among the rows
    for one in relatives(steep, X):
        with np.errstate(all="ignore"):
            values = evaluate(one, X)
        assert np.isfinite(values).all() or "1.0" in str(one) or "1 -" in str(one)


def test_the_shorter_of_two_curves_that_fit_alike_is_chosen():
    rng = np.random.default_rng(5)
    clean = X[:, 0] / np.sqrt(1.0 - X[:, 1] ** 2)
    judge = make_judge(X, clean + 0.1 * np.std(clean) * rng.normal(size=len(X)))
    start = parse("x0*exp(0.7*x1**2)")
    rows = verdict([Candidate(start, 1.0, 8, 1)], judge, Deadline.never(), nullcontext())
    assert simplify(rows[0].expr) == simplify(parse("x0/sqrt(1 - x1**2)"))


def test_what_contradicts_what_is_known_is_not_shown():
    rng = np.random.default_rng(3)
    clean = X[:, 0] / np.sqrt(1.0 - X[:, 1] ** 2)
    judge = make_judge(X, clean + 0.1 * np.std(clean) * rng.normal(size=len(X)))
    start = parse("x0*exp(0.7*x1**2)")
    rows = verdict(
        [Candidate(start, 1.0, 8, 1)], judge, Deadline.never(), nullcontext(), lambda expr: "exp" in str(expr)
    )
    assert rows and all("exp" in str(row.expr) for row in rows)
