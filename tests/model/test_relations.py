"""Relations between columns and target: found with their coefficients, symmetric in the points, bounded, finite."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from unisymnet.model.greedy import table_of
from unisymnet.model.relations import FAMILIES, _peeled, _related, relations


def rows_of(f, n: int = 120, d: int = 3, d_max: int = 4, *, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).uniform(0.5, 4.0, (n, d))
    rows = np.zeros((1, n, d_max + 1), dtype=np.float32)
    rows[0, :, :d], rows[0, :, -1] = X, f(*X.T)
    return rows


def names(degree: int, d: int = 4) -> list[str]:
    chosen = [c for k in range(degree + 1) for c in combinations_with_replacement("abcd"[:d], k)]
    return ["".join(c) or "1" for c in chosen]


def found(rows: np.ndarray, power: int, degrees: tuple[int, int]) -> tuple[float, set[str], set[str]]:
    """How exact the relation is, and the monomials of P and of Q."""
    with np.errstate(all="ignore"):
        exact, sizes = _related(table_of(rows), power, (degrees,))
    n_p = len(names(degrees[0]))
    told = [
        {name for name, size in zip(names(k), part) if size > 0.1}
        for k, part in zip(degrees, np.split(sizes[0], [n_p]))
    ]
    return float(exact[0]), *told


@pytest.mark.parametrize(
    ("f", "power", "degrees", "p", "q"),
    [
        (lambda a, b, c: (a * b + 2) / (c + 3 * a), 1, (2, 1), {"1", "ab"}, {"a", "c"}),
        (lambda a, b, c: 3 * a * b * c - c + 2, 1, (3, 0), {"1", "c", "abc"}, {"1"}),
        (lambda a, b, c: a - b / (a * c + 1), 1, (3, 2), {"a", "b", "aac"}, {"1", "ac"}),
        (lambda a, b, c: np.sqrt(a / (b + c)), 2, (2, 1), {"a"}, {"b", "c"}),
        (lambda a, b, c: np.exp(a * b / c), 0, (2, 1), {"ab", "c"}, {"c"}),  # ln of a multiple of y
        (lambda a, b, c: a * b * c * c / (a * b - 7 * c), 1, (4, 2), {"abcc"}, {"c", "ab"}),
        (lambda a, b, c: a * b / (a * b * c - 9), 1, (3, 3), {"ab"}, {"1", "abc"}),
    ],
)
def test_a_quotient_is_told_by_its_monomials(f, power: int, degrees: tuple[int, int], p: set, q: set) -> None:
    exact, top, bottom = found(rows_of(f), power, degrees)
    assert exact > 0.85
    assert (top, bottom) == (p, q)


def test_what_is_no_quotient_and_noise_leave_something() -> None:
    rng = np.random.default_rng(3)
    for f in (lambda a, b, c: np.sin(3 * a) * np.exp(b) + np.sqrt(c), lambda a, b, c: rng.normal(size=len(a))):
        for power, degrees in FAMILIES.items():
            for pair in degrees:
                assert found(rows_of(f), power, pair)[0] < 0.75


def test_few_points_say_nothing() -> None:
    rows = rows_of(lambda a, b, c: a + b + c, n=20)
    assert found(rows, 1, (3, 2)) == (0.0, set(), set())
    assert found(rows, 1, (1, 1))[0] > 0.85


def test_many_columns_have_relations_of_low_degree() -> None:
    """Ten columns: x0·x1/(x2 + …) is exact for degrees (2, 1), which comes last; the size is that of all families."""
    rows = rows_of(lambda *x: (x[0] * x[1] + x[5]) / (x[2] + x[3] + x[4]), d=6, d_max=10)
    told = relations(rows)[0]
    n_linear, n_quadratic = 11, 66
    first = 3 + 2 * n_linear + n_quadratic  # what degrees (1, 1) and (2, 0) leave, and their coefficients
    assert told[0] < 0.75 and told[first] > 0.85
    sizes = told[first + 1 : first + 1 + n_quadratic + n_linear]
    assert (sizes > 0.1).sum() == 5 and (sizes[n_quadratic:] > 0.1).nonzero()[0].tolist() == [3, 4, 5]
    assert len(told) == first + 1 + n_quadratic + n_linear


def test_a_column_divided_off_leaves_a_sum() -> None:
    """y = b·(sin a + √c) is no sum of the dictionary's functions, y/b is one."""
    parts = _peeled(table_of(rows_of(lambda a, b, c: b * (np.sin(a) + np.sqrt(c)))))
    column, left, weights = parts[:3]
    assert column[0].argmax() == 1 and left[0, -1] > 0.9 and (weights[0] > 0.3).sum() == 2


def test_order_and_padding_do_not_matter() -> None:
    rows = rows_of(lambda a, b, c: a * b / (c + 1) + c)
    plain = relations(rows)
    assert plain.dtype == np.float32
    order = np.random.default_rng(1).permutation(rows.shape[1])
    padded = np.concatenate([rows, np.zeros_like(rows)], axis=1)
    for other in (rows[:, order], padded):
        # Below rounding, the logarithm of what is left is noise; what it says is not.
        assert np.abs(relations(other) - plain).max() < 0.15


@pytest.mark.parametrize("f", [lambda a, b, c: 0 * a, lambda a, b, c: 1e12 * a, lambda a, b, c: 1 / (a - a[3])])
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_always_finite(f) -> None:
    rows = np.nan_to_num(rows_of(f).astype(np.float64), posinf=1e12)
    for scale in (1.0, 1e9, 1e-9):
        assert np.isfinite(relations(rows * scale)).all() and np.abs(relations(rows * scale)).max() < 2.0
