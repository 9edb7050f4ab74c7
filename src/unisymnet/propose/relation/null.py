"""Null vectors: which few columns of a table are bound by one linear relation, if any are.

Relations between polynomials of the inputs and of the target (rational.py, roots.py) are found as such.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Floats, Ints

__all__ = ["NULL", "single", "triangle", "unit_rows"]


# Relative singular values: below the first a vector is a null vector; a law stands out from the next one, and
# loses its null vector (second) when any of its terms is left out.
NULL, LEAST_TERM = 1e-12, 1e-8
MOST_COLUMNS = 80
GAP = 1e-4  # many columns are nearly bound without a law; a law stands out from these


def unit_rows(matrix: Floats) -> Floats:
    """Finite rows, scaled to count alike: a large target must not drown the others."""
    sizes = np.linalg.norm(matrix, axis=1)
    good = np.isfinite(sizes) & (sizes > 0)
    return matrix[good] / sizes[good, None]


def triangle(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.qr(matrix, mode="r"), dtype=np.float64)


def _singular(table: Floats) -> Floats:
    return np.asarray(np.linalg.svd(table, compute_uv=False), dtype=np.float64)


def _has_null(table: Floats) -> bool:
    values = _singular(table)
    return bool(values[-1] < NULL * values[0])


def single(table: Floats, prices: Sequence[float], fewest: int = 3) -> Ints | None:
    """Columns with exactly one null vector, in which none is idle; None if the null vector is no law."""
    if not np.isfinite(table).all():
        return None  # columns so small that their squares vanish have no length to be divided by
    keep = np.arange(table.shape[1])
    if len(keep) > 1:
        values = _singular(table)
        if values[-2] < min(NULL * 1e3 * values[0], values[-1] / GAP):
            if len(keep) > MOST_COLUMNS:
                return None  # smaller degrees have been tried, and the elimination would take long
            # Several null vectors: leave out dear columns as long as one vector remains.
            for k in sorted(keep, key=lambda k: -prices[int(k)]):
                rest = keep[keep != k]
                if _has_null(triangle(table[:, rest])):
                    keep = rest
    for _ in range(6):
        vector = np.linalg.svd(table[:, keep])[2][-1]
        small = np.abs(vector) < 1e-7 * np.max(np.abs(vector))
        if not small.any():
            break
        keep = keep[~small]
    if not fewest <= len(keep) or not _has_null(triangle(table[:, keep])):
        return None
    for k in keep[::-1]:
        rest = keep[keep != k]
        values = _singular(triangle(table[:, rest]))
        if values[-1] < LEAST_TERM * values[0]:
            return None
    return keep
