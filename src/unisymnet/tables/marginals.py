"""What one column can say by itself: a few orthonormal shapes of its ranks, for all columns at once.

Ranks make the screening blind to units, outliers and the form of a monotone dependence. Tied values share a rank, so a
column of zeros and ones has one shape only. Does not know the target.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats

Singles = NDArray[np.float32]

N_SHAPES = 4
LEAST_LEFT = 1e-3  # share of a shape that must be new, or the column is too coarse for it
BLOCK = 256  # columns ranked at a time


@dataclass(frozen=True)
class Shapes:
    """`values[k]` holds shape k of every column, (rows, columns), zero where the column is too coarse for it.

    Every shape has mean zero and mean square one; `counts` says how many a column has.
    """

    values: tuple[Singles, ...]
    counts: NDArray[np.intp]

    @property
    def n_columns(self) -> int:
        return len(self.counts)

    def of(self, column: int) -> Floats:
        """The shapes of one column, (rows, its count)."""
        found = [values[:, column] for values in self.values[: self.counts[column]]]
        return np.column_stack(found).astype(np.float64) if found else np.zeros((len(self.values[0]), 0))


def shapes_of(X: Floats) -> Shapes:
    """Four orthonormal shapes of the ranks of every column: a line, a bend, two wiggles."""
    n, d = X.shape
    values = tuple(np.zeros((n, d), dtype=np.float32) for _ in range(N_SHAPES))
    counts = np.zeros(d, dtype=np.intp)
    for start in range(0, d, BLOCK):
        part = slice(start, min(start + BLOCK, d))
        u = _ranks(X[:, part])
        done: list[Floats] = []
        for k in range(N_SHAPES):
            shape = u if k == 0 else u * done[-1]
            before = np.einsum("ij,ij->j", shape, shape) / n
            shape = shape - shape.mean(axis=0)
            for other in done:
                shape = shape - other * (np.einsum("ij,ij->j", shape, other) / n)
            size = np.einsum("ij,ij->j", shape, shape) / n
            sound = size > LEAST_LEFT * before
            if k:
                sound &= counts[part] == k
            shape = np.where(sound, shape / np.sqrt(np.where(sound, size, 1.0)), 0.0)
            done.append(shape)
            values[k][:, part] = shape
            counts[part] += sound
    return Shapes(values, counts)


def _ranks(X: Floats) -> Floats:
    """Ranks in (-1, 1), the mean of their places for tied values."""
    n = len(X)
    order = np.argsort(X, axis=0, kind="stable")
    ordered = np.take_along_axis(X, order, axis=0)
    first = np.zeros(X.shape, dtype=np.intp)
    first[1:] = np.where(ordered[1:] != ordered[:-1], np.arange(1, n)[:, None], 0)
    first = np.maximum.accumulate(first, axis=0)
    last = np.full(X.shape, n - 1, dtype=np.intp)
    last[:-1] = np.where(ordered[1:] != ordered[:-1], np.arange(n - 1)[:, None], n - 1)
    last = np.minimum.accumulate(last[::-1], axis=0)[::-1]
    ranks = np.empty(X.shape)
    np.put_along_axis(ranks, order, (first + last + 1.0) / n - 1.0, axis=0)
    return ranks
