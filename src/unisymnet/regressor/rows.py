"""Which rows a search sees: duplicates merged, a subsample of large data, and rows kept back for validation.

Rows are put in a fixed order first, so that the result depends neither on their order nor on whether a row is
given twice or with weight two. Does not know columns or formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MIN_ROWS_TO_SPLIT = 50
MAX_VALID = 20_000
MAX_SORTED = 100_000  # beyond this, order and repetition no longer matter for what a sample says


@dataclass(frozen=True)
class Sample:
    """Indices of the rows to search on and of those kept back (none for small data)."""

    fit: NDArray[np.intp]
    valid: NDArray[np.intp]


def canonical(X: Floats, y: Floats, weights: Floats | None) -> tuple[Floats, Floats, Floats]:
    """Rows without those of weight zero, in a fixed order, equal rows merged and their weights added."""
    weights = np.ones(len(y)) if weights is None else weights
    if (weights == 0.0).any():
        X, y, weights = X[weights > 0.0], y[weights > 0.0], weights[weights > 0.0]
    if len(y) > MAX_SORTED or len(y) < 2:
        return X, y, weights
    order = _order([*X.T, y, weights])
    X, y, weights = X[order], y[order], weights[order]
    new = np.ones(len(y), dtype=bool)
    new[1:] = y[1:] != y[:-1]
    ties = np.flatnonzero(~new)
    new[ties] = (X[ties] != X[ties - 1]).any(axis=1)
    if new.all():
        return X, y, weights
    return X[new], y[new], np.add.reduceat(weights, np.flatnonzero(new))


def _order(keys: Sequence[Floats]) -> NDArray[np.intp]:
    """The rows by the first key, ties by the second, and so on: as np.lexsort, but only ties are looked at again.

    With hundreds of columns a sort by each of them would take seconds, and nearly all rows differ in the first.
    """
    order = np.argsort(keys[0], kind="stable")
    same = keys[0][order[1:]] == keys[0][order[:-1]]
    for key in keys[1:]:
        tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
        if not len(tied):
            break
        group = np.cumsum(~np.append(False, same))[tied]
        order[tied] = order[tied][np.lexsort((key[order[tied]], group))]
        same &= key[order[1:]] == key[order[:-1]]
    return order


def sample_rows(n_rows: int, *, fraction: float, max_rows: int, rng: np.random.Generator) -> Sample:
    """Split off `fraction` of the rows for validation where there are enough, and at most `max_rows` to fit."""
    order = rng.permutation(n_rows)
    n_valid = round(fraction * n_rows) if n_rows >= MIN_ROWS_TO_SPLIT else 0
    fit, valid = order[n_valid:], order[:n_valid]
    return Sample(np.sort(fit[:max_rows]), np.sort(valid[:MAX_VALID]))
