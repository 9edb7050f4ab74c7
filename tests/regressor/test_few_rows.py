"""A curve through a few points is no law."""

import numpy as np
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.candidate import Candidate
from unisymnet.judge.judge import make_judge
from unisymnet.metrics import complexity
from unisymnet.regressor.judged import UNTOLD, believed
from unisymnet.search.shortlist import Shortlist
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse

X = np.array([[0.387], [0.723], [1.0], [1.524], [5.203], [9.539]])


def _candidate(text, y):
    expr = parse(text)
    return Candidate(expr, float(np.mean((evaluate(expr, X) - y) ** 2)), complexity(expr), 2)


def _through_all(y):
    """A polynomial with a constant for all rows but one, and a sine that takes care of that one."""
    table = np.column_stack([X[:, 0] ** k for k in range(5)] + [np.sin(9.0 * X[:, 0])])
    numbers = np.linalg.solve(table, y)
    powers = " + ".join(f"{c!r}*x0**{k}" for k, c in enumerate(numbers[:5].tolist()))
    return f"{powers} + {float(numbers[5])!r}*sin(9*x0)"


@pytest.mark.parametrize("measured", [True, False])
def test_few_rows_believe_a_law_and_no_curve_through_them(measured):
    y = X[:, 0] ** 1.5
    if measured:  # three decimals, as in an old table, and a slip in the last
        y = np.round(y, 3) + np.array([0.001, 0.0, 0.0, -0.001, 0.002, 0.0])
    law, curve = _candidate("x0**1.5", y), _candidate(_through_all(y), y)
    shortlist = Shortlist(make_judge(X, y))
    shortlist.offer(law)
    assert not shortlist.believes(curve)
    rows = X, y, np.ones(len(y))
    assert not believed([curve.expr], [law], rows, UNTOLD)
    assert believed([law.expr], [law], rows, UNTOLD)


def test_many_rows_need_no_judge():
    X = np.linspace(1.0, 9.0, 60)[:, None]
    shortlist = Shortlist(make_judge(X, X[:, 0]))
    assert shortlist.believes(_candidate("x0 + 0.1", np.zeros(6)))


def test_values_too_large_for_the_judge_still_get_a_table():
    rng = np.random.default_rng(0)
    y = 10.0 ** rng.uniform(141.0, 149.0, 30)
    model = UniSymNetRegressor(proposers=["monomial"], max_time=5, n_jobs=1).fit(rng.uniform(1.0, 2.0, (30, 1)), y)
    assert len(model.equations_) and np.isfinite(model.predict([[1.5]])).all()
