"""Greedy choices from the dictionaries: right, symmetric in the points, bounded, and never infinite."""

import numpy as np
import pytest

from unisymnet.model.greedy import N_STEPS, N_VIEWS, _logs, greedy, products

SIZE, N_LOGS = (f(np.ones((1, 4, 3))).shape[1] for f in (products, _logs))


def rows_of(f, n: int = 70, d: int = 3, d_max: int = 4) -> np.ndarray:
    X = np.random.default_rng(0).uniform(0.5, 4.0, (n, d))
    rows = np.zeros((1, n, d_max + 1))
    rows[0, :, :d], rows[0, :, -1] = X, f(*X.T)
    return rows


def parts(rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """For y, 1/y, y², 1/y², ln|y| and the implicit view: what is left (0 all, 1 nothing) by step, and the weights."""
    flat = greedy(rows)[0]
    logs, flat = np.split(flat, [N_VIEWS * N_STEPS])
    weights, flat = np.split(flat, [N_VIEWS * SIZE])
    found = list(zip(logs.reshape(N_VIEWS, -1), weights.reshape(N_VIEWS, -1)))
    for size in (N_LOGS, len(flat) - 2 * N_STEPS - N_LOGS - 1):
        found.append((flat[:N_STEPS], flat[N_STEPS : N_STEPS + size]))
        flat = flat[N_STEPS + size :]
    return found


@pytest.mark.parametrize(
    ("f", "view", "n_terms"),
    [
        (lambda a, b, c: 3 * a * b - c + 2, 0, 2),
        (lambda a, b, c: a / (b * c + a * a * 3), 1, 2),  # 1/y = b*c/a + 3*a
        (lambda a, b, c: b / (a - c) + 3 * a, 0, 2),
        (lambda a, b, c: np.sqrt(a * b + 2 * c), 2, 2),
        (lambda a, b, c: (a - b) ** 2 * c**0.5, 4, 2),
        (lambda a, b, c: np.sin(a) + 0.3 * np.exp(b) + c**-2, 0, 3),
        (lambda a, b, c: (a * b + 1) / (c + 2), 5, 2),  # y = a*b/2 + 1/2 - y*c/2
    ],
)
def test_a_sparse_law_is_found_in_its_view_with_as_many_terms(f, view: int, n_terms: int) -> None:
    left, weights = parts(rows_of(f))[view]
    assert left[-1] > 0.9 and left[max(n_terms - 2, 0)] < 0.5
    assert (weights > 0.0).sum() == n_terms and (weights > 0.3).sum() == n_terms


def test_absent_columns_and_noise_are_not_taken_for_laws() -> None:
    rng = np.random.default_rng(3)
    for left, weights in parts(rows_of(lambda a, b, c: rng.normal(size=len(a)))):
        assert left[-1] < 0.3 and weights.max() < 0.4


def test_order_and_padding_do_not_matter() -> None:
    rows = rows_of(lambda a, b, c: a * np.sin(b) + c)
    plain = greedy(rows)
    assert plain.dtype == np.float32
    order = np.random.default_rng(1).permutation(rows.shape[1])
    assert np.allclose(greedy(rows[:, order]), plain, atol=1e-4)
    padded = np.concatenate([rows, np.zeros_like(rows)], axis=1)
    assert np.allclose(greedy(padded), plain, atol=1e-4)


@pytest.mark.parametrize("f", [lambda a, b, c: 0 * a, lambda a, b, c: 1e12 * a, lambda a, b, c: 1 / (a - a[3])])
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_always_finite(f) -> None:
    rows = np.nan_to_num(rows_of(f), posinf=1e12)
    assert np.isfinite(greedy(rows)).all() and np.abs(greedy(rows)).max() < 2.0
    assert np.isfinite(greedy(rows * 1e9)).all()


def test_ten_columns_have_a_bounded_number() -> None:
    assert greedy(np.ones((1, 4, 11))).shape[1] < 3 * greedy(np.ones((1, 4, 5))).shape[1]
