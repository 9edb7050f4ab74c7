"""Best pairs and triples of columns by their Gram matrix: the share of a target that two or three columns explain.

Columns are unit vectors orthogonal to the outer basis, ``b`` (N, T) their dot products with T unit targets.  For two
columns with g = f·f' the share is (b² + b'² − 2·g·b·b')/(1 − g²); for three, one column is eliminated first.  Numbers
only: what a column means is not known here.
"""

from __future__ import annotations

import numba
import numpy as np

from ...arrays import Floats, Ints

__all__ = ["best_pairs", "best_triples"]


# Columns closer than this to one line (1 - g²) are not told apart.
_PARALLEL = 1e-10
BLOCK = 256


def best_pairs(columns: Floats, b: Floats) -> tuple[Ints, Floats]:
    """For every column the best later partner, for each target: partners (N, T), -1 for none, and shares (N, T)."""
    partner = np.full(b.shape, -1, dtype=np.int64)
    share = np.zeros(b.shape, dtype=np.float64)
    for low in range(0, len(columns), BLOCK):
        gram = columns[low : low + BLOCK] @ columns[low:].T
        _scan_pairs(gram, b[low:], partner[low : low + BLOCK], share[low : low + BLOCK])
        block = partner[low : low + BLOCK]
        block[block >= 0] += low
    return partner, share


@numba.njit(cache=True, nogil=True, fastmath=True)
def _scan_pairs(gram, b, partner, share):  # type: ignore[no-untyped-def]
    """Rows of ``gram`` are the first columns of ``b``'s rows; partners are counted from the block's start."""
    n_targets = b.shape[1]
    for i in range(gram.shape[0]):
        for j in range(i + 1, gram.shape[1]):
            g = gram[i, j]
            rest = 1.0 - g * g
            if rest < _PARALLEL:
                continue
            scale = 1.0 / rest
            for t in range(n_targets):
                u, v = b[i, t], b[j, t]
                value = (u * u + v * v - 2.0 * g * u * v) * scale
                if value > share[i, t]:
                    share[i, t] = value
                    partner[i, t] = j


@numba.njit(cache=True, nogil=True, fastmath=True)
def best_triples(gram, b):  # type: ignore[no-untyped-def]
    """For every pair i < j the best third k > j, for each target: (M, M, T) of indices and shares."""
    m, n_targets = b.shape
    third = np.full((m, m, n_targets), -1, dtype=np.int64)
    share = np.zeros((m, m, n_targets), dtype=np.float64)
    for i in range(m):
        for j in range(i + 1, m):
            gij = gram[i, j]
            rest_j = 1.0 - gij * gij
            if rest_j < _PARALLEL:
                continue
            for k in range(j + 1, m):
                gik = gram[i, k]
                # Column i is eliminated from j and k, then j from k.
                cross = (gram[j, k] - gij * gik) / rest_j
                rest_k = 1.0 - gik * gik - cross * cross * rest_j
                if rest_k < _PARALLEL:
                    continue
                for t in range(n_targets):
                    bj = b[j, t] - gij * b[i, t]
                    bk = b[k, t] - gik * b[i, t] - cross * bj
                    value = b[i, t] * b[i, t] + bj * bj / rest_j + bk * bk / rest_k
                    if value > share[i, j, t]:
                        share[i, j, t] = value
                        third[i, j, t] = k
    return third, share
