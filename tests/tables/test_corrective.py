"""Sums whose constants are all fitted together: what they find, and that rows without weight take no part."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.symbolic.expr import Call, Const, Var, evaluate
from unisymnet.tables.corrective import find_fits, within
from unisymnet.tables.polish import polish
from unisymnet.tables.pool import base_pool
from unisymnet.tables.sums import sum_of, term_of


def table(n: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """An interaction whose origin is not that of the columns, a kink and a line."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.5, 1.5, (n, 4))
    y = 2.0 * np.sin(0.5 * (X[:, 0] + 1.6) * (X[:, 1] + 1.4)) + np.abs(X[:, 2] - 0.3) + 0.5 * X[:, 3]
    return X, y + 0.05 * rng.normal(size=n)


def test_an_interaction_with_another_origin_is_found() -> None:
    X, y = table()
    pool = base_pool(X, range(4), range(4))
    found = find_fits(pool, X, y, np.ones(len(y)), 1.0, 40)
    best = within(found, 40, len(y), 1.0)
    fresh, truth = table(500, 1)
    rest = truth - evaluate(best.expr, fresh)
    assert best.size <= 40 and 1.0 - rest.var() / truth.var() > 0.98


def test_shorter_sums_are_offered_and_sizes_are_kept() -> None:
    X, y = table()
    found = find_fits(base_pool(X, range(4), range(4)), X, y, np.ones(len(y)), 1.0, 30)
    assert all(one.size <= 30 for one in found)
    assert within(found, 5, len(y), 1.0).size <= 5
    errors = [within(found, size, len(y), 0.0).error for size in (5, 15, 30)]
    assert errors == sorted(errors, reverse=True)


def test_rows_without_weight_take_no_part() -> None:
    X, y = table(150)
    spoiled, weights = y.copy(), np.ones(len(y))
    spoiled[:30], weights[:30] = 1e6, 0.0
    pool = base_pool(X, range(4), range(4))
    one = find_fits(pool, X, spoiled, weights, 1.0, 20)
    other = find_fits(pool, X, y, weights, 1.0, 20)
    assert [fit.expr for fit in one] == [fit.expr for fit in other]


def test_polish_moves_constants_inside_features() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(0.0, 4.0, (80, 1))
    y = 3.0 * np.abs(X[:, 0] - 1.7) + 1.0
    start = sum_of(0.5, [2.0], [Call("abs", (Var(0) - Const(2.0),))])
    found = polish(start, X, y, np.ones(80))
    assert np.allclose(evaluate(found, X), y, atol=1e-3)
    assert polish(start, X[:5], y[:5], np.ones(5)) == start  # too few rows


@pytest.mark.parametrize(
    "feature", [Var(0), Var(0) * Var(1), Const(1.0) / Var(0), Var(1) / (Var(0) + Const(2.0)), Call("sin", (Var(0),))]
)
def test_a_feature_comes_back_without_its_coefficient(feature) -> None:  # type: ignore[no-untyped-def]
    whole = sum_of(1.5, [-2.5], [feature])
    again = term_of(whole.args[1])
    X = np.array([[1.0, 2.0], [3.0, 5.0]])
    assert np.allclose(evaluate(again, X), evaluate(feature, X))


def test_numbers_that_are_names_of_kinds_become_cases() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 5, (300, 2)).astype(float)
    y = 7.0 * ((X[:, 0] == 3.0) & (X[:, 1] == 3.0)) + 2.0 * (X[:, 0] == X[:, 1]) + 0.05 * rng.normal(size=300)
    pool = base_pool(X, range(2), range(2))
    for feature, values in zip(pool.features, pool.raw.T, strict=True):
        assert np.allclose(np.broadcast_to(evaluate(feature.expr, X), y.shape), values)
    best = within(find_fits(pool, X, y, np.ones(300), 1.0, 40), 40, 300, 1.0)
    assert 1.0 - np.var(y - evaluate(best.expr, X)) / y.var() > 0.99
