"""What a smooth function of all columns makes of few rows, and sums that are chosen to explain it."""

import numpy as np
import pytest

from unisymnet.arrays import Floats
from unisymnet.deadline import Deadline
from unisymnet.metrics import r2
from unisymnet.tables.additive import WAYS, Additive, find_additive
from unisymnet.tables.forward import Settings, find_sums
from unisymnet.tables.pool import base_pool
from unisymnet.tables.ridge import ridge
from unisymnet.tables.smooth import MAX_ROWS, smoothed


def _found(X: Floats, y: Floats) -> Additive:
    """Sums of columns, of shapes, and of shapes chosen for smooth values."""
    return find_additive(
        X,
        y,
        np.ones(len(y)),
        max_size=60,
        allowed=frozenset(),
        ways=WAYS[:3],
        rng=np.random.default_rng(0),
        deadline=Deadline.never(),
    )


def test_noise_leaves_and_the_curve_stays() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (80, 2))
    truth = X[:, 0] + np.abs(X[:, 1])
    y = truth + 0.5 * rng.normal(size=80)
    found = smoothed(X, y, np.ones(80))
    assert np.mean((found - truth) ** 2) < 0.5 * np.mean((y - truth) ** 2)


def test_noise_alone_becomes_flat() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=60)
    assert np.var(smoothed(rng.normal(size=(60, 4)), y, np.ones(60))) < 0.3 * np.var(y)


def test_rows_without_weight_take_no_part() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    weights = np.where(np.arange(40) < 30, 1.0, 0.0)
    changed = np.where(weights > 0.0, y, 1e6)
    assert np.array_equal(smoothed(X, y, weights), smoothed(X, changed, weights))
    assert smoothed(X, y, weights)[:30] == pytest.approx(smoothed(X[:30], y[:30], np.ones(30)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_weight_of_two_counts_as_two_rows_and_odd_columns_do_no_harm() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    odd = np.column_stack([X, np.ones(30), np.where(np.arange(30) < 15, 1e300, -1e300)])
    assert smoothed(odd[:, :3], y, np.ones(30)) == pytest.approx(smoothed(X, y, np.ones(30)))
    assert np.isfinite(smoothed(odd, y, np.ones(30))).all()
    assert np.isfinite(smoothed(np.ones((30, 2)), y, np.ones(30))).all()


def test_features_chosen_for_smooth_values_are_steadier_on_few_noisy_rows() -> None:
    """Eight tables of forty rows with many weak columns; what the sums are worth on rows never seen."""
    gained = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1040, 6)) @ (np.eye(6) + 0.5 * rng.normal(size=(6, 6)))
        truth = X @ rng.normal(size=6) + X[:, 0] ** 2 / 4.0
        y = (truth + truth.std() * rng.normal(size=1040))[:40]
        pool, ones = base_pool(X, (), range(6)), np.ones(40)
        shown = []
        for target in (y, smoothed(X[:40], y, ones)):
            path = find_sums(pool.rows(np.arange(40)), target, ones, Settings(price=0.3))
            F = pool.raw[:, list(path.within(30, 40, 0.3).features)]
            shown.append(r2(truth[40:], ridge(F[:40], target, ones).predict(F[40:])))
        gained.append(shown[1] - shown[0])
    assert np.mean(gained) > 0.05 and np.median(gained) > 0.0


def test_many_rows_are_not_smoothed() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(MAX_ROWS + 1, 2))
    y = X[:, 0] + rng.normal(size=len(X))
    for n, there in ((MAX_ROWS, True), (MAX_ROWS + 1, False)):
        assert any(row.source == "smooth shapes" for row in _found(X[:n], y[:n]).rows) is there
