"""Best subsets: the true columns are found among collinear ones, and no exhaustive search does better."""

import itertools

import numpy as np
import pytest

from unisymnet.fit.subset import best_subsets, by_codelength, subset_codelength


def _monomials(x: np.ndarray, y: np.ndarray, degree: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
    powers = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    return np.column_stack([x**i * y**j for i, j in powers]), powers


def test_two_of_fifteen_nearly_collinear_columns_are_found() -> None:
    t = np.linspace(0.0, 4.0, 200)
    x, y = np.exp(-0.5 * t), 0.3 + 0.2 * np.tanh(t)  # a curve: its monomials are almost linearly dependent
    table, powers = _monomials(x, y, 4)
    target = 0.28 * x * y - 0.47 * y
    assert np.linalg.cond(table) > 1e8
    best = by_codelength(best_subsets(table, target), len(t), table.shape[1], floor=1e-20)[0]
    assert [powers[i] for i in best.columns] == [(0, 1), (1, 1)]
    assert best.coefficients == pytest.approx([-0.47, 0.28], rel=1e-6)


def test_small_problems_agree_with_the_exhaustive_search() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        table = rng.normal(size=(40, 9)) @ rng.normal(size=(9, 9))
        target = table @ rng.normal(size=9) + rng.normal(size=40)
        found = {s.size: s for s in best_subsets(table, target, max_size=4, keep=1)}
        for size in range(1, 5):
            losses = []
            for chosen in itertools.combinations(range(9), size):
                part = table[:, chosen]
                left = target - part @ np.linalg.lstsq(part, target, rcond=None)[0]
                losses.append(left @ left)
            assert found[size].loss == pytest.approx(min(losses), rel=1e-8)


def test_noise_chooses_the_true_size() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(120, 20))
    target = 2.0 * table[:, 3] - table[:, 11] + 0.5 * table[:, 17] + 0.1 * rng.normal(size=120)
    best = by_codelength(best_subsets(table, target), 120, 20)[0]
    assert best.columns == (3, 11, 17)


def test_columns_that_must_be_used_are_in_every_subset() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(50, 6))
    subsets = best_subsets(table, table[:, 2] + 0.1 * rng.normal(size=50), always=[5], max_size=3)
    assert subsets and all(5 in s.columns for s in subsets)
    assert subsets[0].columns == (2, 5)


def test_small_subsets_that_growing_passes_by_are_found_by_shrinking() -> None:
    better = 0
    for seed in range(10):
        x = np.random.default_rng(seed).uniform(1.0, 3.0, (60, 2))
        terms = [x[:, 0] ** i * np.cos(j * x[:, 1]) for i in (-2, -1, 0, 1, 2) for j in (0, 1, 2)]
        y = 1.0 + x[:, 0] ** -2 - 2.0 * np.cos(x[:, 1]) / x[:, 0] + np.random.default_rng(seed).normal(0.0, 0.05, 60)
        grown, shrunk = (
            best_subsets(np.column_stack(terms), y, max_size=5, beam=2, keep=1, shrink=s) for s in (False, True)
        )
        gains = [before.loss - after.loss for before, after in zip(grown, shrunk, strict=True)]
        assert min(gains) > -1e-9
        better += max(gains) > 1e-3
    assert better


def test_zero_equal_and_few_rows_do_no_harm() -> None:
    x = np.linspace(1.0, 2.0, 4)
    table = np.column_stack([np.zeros(4), x, x, x**2, x**3, x**4])
    subsets = best_subsets(table, 3.0 * x, max_size=6)
    assert subsets[0].columns in {(1,), (2,)} and subsets[0].coefficients == pytest.approx([3.0])
    assert all(not {1, 2} <= set(s.columns) for s in subsets)
    with pytest.raises(ValueError, match=r"columns must be"):
        best_subsets(table, x[:2])


def test_the_codelength_prices_columns_and_stops_at_the_floor() -> None:
    assert subset_codelength(1.0, 100, 2, 10) < subset_codelength(1.0, 100, 3, 10)
    assert subset_codelength(1e-20, 100, 2, 10, floor=1e-6) == subset_codelength(1e-9, 100, 2, 10, floor=1e-6)
