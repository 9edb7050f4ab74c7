"""Powers are taken out of noisy data where the rows leave no doubt, whatever their order and units."""

import numpy as np
import pytest
from recover import draw

from unisymnet.problem import make_problem, rows_that_count
from unisymnet.propose.smaller.powers import stripped_powers
from unisymnet.propose.smaller.reduction import Reduction
from unisymnet.symbolic.expr import Const, Var, evaluate
from unisymnet.symbolic.parse import parse

CASES = [
    # The target spans decades, and between 1 and 3 the root looks like sqrt(x3*x4).
    ("x1*x5/(x0*x2**5)*sqrt(x3**2+x4**2)", [(1, 3)] * 6, 1000, 0.1, "x1*x5/(x0*x2**5)", (3, 4)),
    ("x0*x1*x2/(x3**2+x4**2)**1.5", [(0.5, 2), (1, 6), (1, 6), (0.5, 4), (0.5, 2)], 400, 0.05, "x0*x1*x2", (3, 4)),
    ("x1**2*sqrt(x3)*(x0+exp(x2))", [(1, 4), (1, 5), (-2, 2), (1, 9)], 400, 0.03, "x1**2*sqrt(x3)", (0, 2)),
]


def noisy(law, ranges, n, noise):
    X, y = draw(law, ranges, n=n)
    return X, y + noise * np.sqrt(np.mean(y**2)) * np.random.default_rng(3).normal(size=n)


@pytest.mark.parametrize(("law", "ranges", "n", "noise", "factor", "kept"), CASES, ids=[c[0] for c in CASES])
def test_a_factor_is_seen_where_noise_hides_most_rows(law, ranges, n, noise, factor, kept):
    X, y = noisy(law, ranges, n, noise)
    found = stripped_powers(make_problem(X, y))
    assert found is not None
    assert found.inputs == tuple(map(Var, kept))
    assert evaluate(found.factor, X) == pytest.approx(evaluate(parse(factor), X), rel=1e-12)


def test_order_and_units_do_not_matter():
    law, ranges, n, noise, _, kept = CASES[0]
    X, y = noisy(law, ranges, n, noise)
    rows = np.random.default_rng(0).permutation(n)
    columns = [5, 4, 3, 2, 1, 0]
    found = stripped_powers(make_problem(X[np.ix_(rows, columns)] * 2.0 ** np.arange(6), 8.0 * y[rows]))
    assert found is not None
    assert sorted(5 - one.index for one in found.inputs) == list(kept)


@pytest.mark.parametrize("law", ["x0*x1 - x2*x3", "x0 + x1*x2 + x3", "sin(x0*x1) + 2 + x2*x3"])
def test_a_law_without_factors_loses_none(law):
    X, y = noisy(law, [(1, 4)] * 4, 600, 0.02)
    assert stripped_powers(make_problem(X, y)) is None


def test_few_rows_say_nothing():
    law, ranges, _, noise, _, _ = CASES[0]
    X, y = noisy(law, ranges, 60, noise)
    assert stripped_powers(make_problem(X, y)) is None


def test_rows_of_noise_go_and_their_noise_is_known_still():
    X, y = noisy("x0/x1**5*(1+x2)", [(1, 3)] * 3, 400, 0.05)
    problem = make_problem(X, y, noise=0.05 * float(np.sqrt(np.mean(y**2))))
    smaller = Reduction((Var(0), Var(2)), parse("1/x1**5"), 1.0).apply(problem)
    fewer = rows_that_count(smaller)
    assert 40 <= fewer.n_rows < 250
    assert np.mean(fewer.weights) == pytest.approx(1.0)
    # Noise is that of a row of mean weight: weight over noise**2 of a row does not change.
    row = int(np.argmax(fewer.weights))
    same = int(np.flatnonzero((smaller.X == fewer.X[row]).all(axis=1))[0])
    assert fewer.weights[row] / fewer.noise**2 == pytest.approx(smaller.weights[same] / smaller.noise**2)
    even = Reduction((Var(0), Var(2)), Const(1.0), 1.0).apply(problem)
    assert rows_that_count(even).n_rows >= 0.98 * even.n_rows
