"""Statistics of a data set: symmetric in the points, independent of units and padding, and telling."""

import numpy as np
import pytest

from unisymnet.model.summary import (
    ADDITIVE,
    INVERSE,
    LN_Y,
    LOGS,
    N_FUNCTIONS,
    N_SETS,
    N_VIEWS,
    QUADRATIC,
    RAW,
    SQUARE,
    Y,
    summarise,
)


def rows_of(f, n: int = 80, d: int = 2, d_max: int = 4) -> np.ndarray:
    X = np.random.default_rng(0).uniform(0.5, 4.0, (n, d))
    rows = np.zeros((1, n, d_max + 1))
    rows[0, :, :d], rows[0, :, -1] = X, f(*X.T)
    return rows


def left_over(rows: np.ndarray) -> np.ndarray:
    """(views, sets): log10 of the unexplained share over 7; -1 is nothing left."""
    start = N_VIEWS * (rows.shape[2] - 1) * N_FUNCTIONS
    return summarise(rows)[0, start : start + N_VIEWS * (N_SETS - 1)].reshape(N_VIEWS, N_SETS - 1)


def test_order_padding_and_units_do_not_matter() -> None:
    rows = rows_of(lambda a, b: a * np.sin(b))
    plain = summarise(rows)
    assert plain.dtype == np.float32
    order = np.random.default_rng(1).permutation(80)
    assert np.allclose(summarise(rows[:, order]), plain, atol=1e-4)
    assert np.allclose(summarise(rows * 2.0**50), plain, atol=1e-5)
    padded = np.concatenate([rows, np.zeros_like(rows)], axis=1)
    changed = np.flatnonzero(np.abs(summarise(padded) - plain)[0] > 1e-3)
    assert len(changed) == 1 and plain[0, changed[0]] == 1.0  # the share of rows that are points


@pytest.mark.parametrize(
    ("f", "view", "basis"),
    [
        (lambda a, b: 3 * a - b + 2, Y, RAW),
        (lambda a, b: 5 * a**2 / b, LN_Y, LOGS),
        (lambda a, b: a * b + a**2, Y, QUADRATIC),
        (lambda a, b: 1 / (a + 2 * b), INVERSE, RAW),
        (lambda a, b: np.sqrt(a) + np.log(b), Y, ADDITIVE),
        (lambda a, b: np.sqrt(a + b), SQUARE, RAW),
    ],
)
def test_a_simple_law_leaves_nothing_in_its_own_view(f, view: int, basis: int) -> None:
    assert left_over(rows_of(f))[view, basis] < -0.7


@pytest.mark.parametrize("f", [lambda a, b: np.sin(2 * a) + b, lambda a, b: np.exp(a) - 3 * b])
def test_waves_are_found_by_scanning(f) -> None:
    end = summarise(np.ones((1, 4, 5))).shape[1] - 4 * 4 * (4 + 14)
    scans = summarise(rows_of(f))[0, end - 3 * 4 * 8 : end].reshape(3, 8, 4)
    assert scans[0, :, 0].min() < -0.9 and scans[0, :, 1].min() > -0.9


@pytest.mark.parametrize(
    ("f", "kind"),
    [
        (lambda a, b: (a * a + 2 * b) / b, 0),
        (lambda a, b: b * (a * a + 2 * a * b), 1),
        (lambda a, b: b / (a * b + 1), 2),
        (lambda a, b: 1 / (b * (3 * a + b)), 3),
    ],
)
def test_a_factor_of_one_column_comes_off(f, kind: int) -> None:
    start = summarise(np.ones((1, 4, 5))).shape[1] - 4 * 4 * (4 + 14)
    left = summarise(rows_of(f))[0, start + 16 : start + 32].reshape(4, 4)  # (product, column) over the quadratic set
    assert left[kind, 1] < -0.8 and left[kind, 2] == 0.0


def test_the_constant_term_shows() -> None:
    start = N_VIEWS * (4 * N_FUNCTIONS + N_SETS - 1) + 4 * 5 + 1
    without, with_one = (
        summarise(rows_of(lambda a, b, c=c: a * b + c))[0, start : start + N_VIEWS * N_SETS].reshape(N_VIEWS, N_SETS)
        for c in (0.0, 1.0)
    )
    assert without[Y, QUADRATIC] < -0.9 < with_one[Y, QUADRATIC]


def test_noise_leaves_nearly_everything() -> None:
    rng = np.random.default_rng(2)
    assert left_over(rows_of(lambda a, b: rng.normal(size=len(a))))[Y, RAW] > -0.1


@pytest.mark.parametrize("f", [lambda a, b: 0 * a, lambda a, b: 1e12 * a, lambda a, b: 1 / (a - a.mean())])
def test_always_finite(f) -> None:
    assert np.isfinite(summarise(rows_of(f))).all()
