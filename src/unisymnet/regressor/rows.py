"""Which rows a search sees: no slip of the pen, duplicates merged, a subsample, and rows kept back for validation.

Rows are put in a fixed order first, so that the result depends neither on their order nor on whether a row is
given twice or with weight two. Does not know columns or formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats

MIN_ROWS_TO_SPLIT = 50
MAX_VALID = 20_000
MAX_SORTED = 100_000  # beyond this, order and repetition no longer matter for what a sample says
LEAST_VALUES = 8
FAR_BEYOND = 1e3  # times as far out as any other value: worth a word
SLIP = 1e4  # the same: no formula should be asked to go through it
FEW_SLIPS = 0.02  # of the rows; more of them are no slips


@dataclass(frozen=True)
class Sample:
    """Indices of the rows to search on and of those kept back (none for small data)."""

    fit: NDArray[np.intp]
    valid: NDArray[np.intp]


@dataclass(frozen=True)
class Ordered:
    """Target and weights in a fixed order, and which rows of the table they belong to (None: all, as they are).

    The table itself is not copied: of hundreds of columns a search needs ten.
    """

    y: Floats
    weights: Floats
    index: NDArray[np.intp] | None = None

    def places(self, some: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where in the table some of these rows are."""
        return some if self.index is None else self.index[some]

    def of(self, X: Floats, columns: Sequence[int] | None = None) -> Floats:
        """These rows of the table, all columns or some."""
        if columns is not None and list(columns) != list(range(X.shape[1])):
            X = X[:, list(columns)]
        return X if self.index is None else X[self.index]


def slip_rows(y: Floats, times: float = SLIP) -> NDArray[np.intp]:
    """Rows of one or a few values that lie beyond all others as slips of the pen do, `times` as far out.

    Least squares would follow such a value alone, and a formula with a pole or a very narrow peak would go through it.
    The others must lie close together, by half of the gap in powers of ten: in steep laws (10^(5x), 1/(x − a)) they do
    not.  One that does belong to a law loses nothing: the law is in the other rows, and is asked about it afterwards.
    """
    if len(y) < LEAST_VALUES:
        return np.empty(0, dtype=np.intp)
    with np.errstate(over="ignore"):
        away = np.abs(y - np.median(y))
    middle, few = float(np.median(away)), max(1, round(FEW_SLIPS * len(y)))
    far = np.argpartition(away, len(away) - few - 1)[-few - 1 :]
    far = far[np.argsort(-away[far], kind="stable")]
    if 0.0 < middle and np.isfinite(away[far[0]]):
        for n in range(few, 0, -1):
            gap, rest = away[far[n - 1]] / away[far[n]], away[far[n]] / middle
            if gap > max(times, rest**2):
                return np.sort(far[:n])
    return np.empty(0, dtype=np.intp)


def canonical(X: Floats, y: Floats, weights: Floats | None) -> Ordered:
    """Rows without those of weight zero, in a fixed order, equal rows merged and their weights added."""
    weights = np.ones(len(y)) if weights is None else weights
    index: NDArray[np.intp] | None = None
    if (weights == 0.0).any():
        index = np.flatnonzero(weights > 0.0)
        y, weights = y[index], weights[index]
    if len(y) > MAX_SORTED or len(y) < 2:
        return Ordered(y, weights, index)
    used = np.arange(len(y)) if index is None else index
    last = y, weights
    order = _order(lambda k: X[used, k] if k < X.shape[1] else last[k - X.shape[1]], X.shape[1] + 2)
    index, y, weights = used[order], y[order], weights[order]
    new = np.ones(len(y), dtype=bool)
    new[1:] = y[1:] != y[:-1]
    ties = np.flatnonzero(~new)
    new[ties] = (X[index[ties]] != X[index[ties - 1]]).any(axis=1)
    if new.all():
        return Ordered(y, weights, index)
    return Ordered(y[new], np.add.reduceat(weights, np.flatnonzero(new)), index[new])


def _order(key_of: Callable[[int], Floats], n_keys: int) -> NDArray[np.intp]:
    """The rows by the first key, ties by the second, and so on: as np.lexsort, but only ties are looked at again.

    With hundreds of columns a sort by each of them would take seconds, and nearly all rows differ in the first.
    """
    first = key_of(0)
    order = np.argsort(first, kind="stable")
    same = first[order[1:]] == first[order[:-1]]
    for number in range(1, n_keys):
        tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
        if not len(tied):
            break
        key = key_of(number)
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
