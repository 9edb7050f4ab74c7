"""Statistics of a data set: symmetric in the points, independent of units and padding, and telling."""

import numpy as np
import pytest

from unisymnet.model.summary import N_FUNCTIONS, N_SETS, N_VIEWS, summarise, summary_size

RAW, LOGS, QUADRATIC, ADDITIVE = range(4)
Y, LN_Y, INVERSE, SQUARE = range(4)


def rows_of(f, n: int = 80, d: int = 2, d_max: int = 4) -> np.ndarray:
    X = np.random.default_rng(0).uniform(0.5, 4.0, (n, d))
    rows = np.zeros((1, n, d_max + 1))
    rows[0, :, :d], rows[0, :, -1] = X, f(*X.T)
    return rows


def left_over(rows: np.ndarray) -> np.ndarray:
    """(views, sets): log10 of the unexplained share over 7; -1 is nothing left."""
    start = N_VIEWS * (rows.shape[2] - 1) * N_FUNCTIONS
    return summarise(rows)[0, start : start + N_VIEWS * N_SETS].reshape(N_VIEWS, N_SETS)


def test_order_padding_and_units_do_not_matter() -> None:
    rows = rows_of(lambda a, b: a * np.sin(b))
    plain = summarise(rows)
    assert plain.shape == (1, summary_size(4)) and plain.dtype == np.float32
    order = np.random.default_rng(1).permutation(80)
    assert np.allclose(summarise(rows[:, order]), plain, atol=1e-4)
    assert np.allclose(summarise(rows * 2.0**50), plain, atol=1e-5)
    padded = np.concatenate([rows, np.zeros_like(rows)], axis=1)
    assert np.allclose(summarise(padded)[:, :-1], plain[:, :-1], atol=1e-4)  # the last one is the share of points


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


def test_noise_leaves_nearly_everything() -> None:
    rng = np.random.default_rng(2)
    assert left_over(rows_of(lambda a, b: rng.normal(size=len(a))))[Y, RAW] > -0.1


@pytest.mark.parametrize("f", [lambda a, b: 0 * a, lambda a, b: 1e12 * a, lambda a, b: 1 / (a - a.mean())])
def test_always_finite(f) -> None:
    assert np.isfinite(summarise(rows_of(f))).all()
