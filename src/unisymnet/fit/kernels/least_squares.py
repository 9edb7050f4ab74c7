"""Small dense linear algebra for the fits: orthogonal columns, triangular systems, damped steps.

Columns are rows of C-ordered arrays, so that sums over data rows run over neighbouring numbers.  Written out
because the systems are tiny (a dozen columns) and a LAPACK call costs more than the work.  Knows no formula.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from ...arrays import Floats
from .elementary import CAN_CACHE

# "reassoc" lets sums over rows run in vector lanes; nan and inf keep their meaning.
SUMS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract", "reassoc"}, "nogil": True, "cache": CAN_CACHE}
PART: dict[str, Any] = SUMS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # called by kernels only
ONCE: dict[str, Any] = PART | {"inline": "always"}  # by one place only

RANK_TOL = 1e-13  # a column whose part outside the earlier ones is smaller (relative) carries no information


@njit(**PART)
def dot(A: Floats, j: int, B: Floats, k: int, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += A[j, i] * B[k, i]
    return total


@njit(**PART)
def subtract(A: Floats, j: int, factor: float, B: Floats, k: int, n: int) -> None:
    """A_j -= factor * B_k."""
    for i in range(n):
        A[j, i] -= factor * B[k, i]


@njit(**PART)
def _normalise(Q: Floats, R: Floats, k: int, size: float, n: int) -> None:
    """Column k to length 1, or to zero if little of its ``size`` is left."""
    left = math.sqrt(dot(Q, k, Q, k, n))
    dead = left <= RANK_TOL * size
    R[k, k] = 0.0 if dead else left
    scale = 0.0 if dead else 1.0 / left
    for i in range(n):
        Q[k, i] *= scale


@njit(**PART)
def orthogonalise(Q: Floats, R: Floats, first: int, last: int, n: int) -> bool:
    """Modified Gram-Schmidt on columns ``first`` to ``last`` against all before; False if one is not finite.

    Columns without information become zero with a zero on R's diagonal.
    """
    for k in range(first, last):
        size = math.sqrt(dot(Q, k, Q, k, n))
        if not size < np.inf:
            return False
        for j in range(k):
            R[j, k] = dot(Q, j, Q, k, n)
            subtract(Q, k, R[j, k], Q, j, n)
        _normalise(Q, R, k, size, n)
    return True


@njit(**PART)
def orthogonal(table: Floats, row: int, Q: Floats, R: Floats, k: int, n: int) -> bool:
    """Column k of ``orthogonalise``, taken from a row of ``table`` instead of from Q."""
    size = math.sqrt(dot(table, row, table, row, n))
    if not size < np.inf:
        return False
    if k == 0:
        for i in range(n):
            Q[0, i] = table[row, i]
    else:
        R[0, k] = dot(Q, 0, table, row, n)
        for i in range(n):
            Q[k, i] = table[row, i] - R[0, k] * Q[0, i]
    for j in range(1, k):
        R[j, k] = dot(Q, j, Q, k, n)
        subtract(Q, k, R[j, k], Q, j, n)
    _normalise(Q, R, k, size, n)
    return True


@njit(**PART)
def project_out(Q: Floats, m: int, A: Floats, j: int, z: Floats, n: int) -> None:
    """Take the parts along the first m columns of Q off A_j and keep their lengths in ``z``."""
    for k in range(m):
        z[k] = dot(Q, k, A, j, n)
        subtract(A, j, z[k], Q, k, n)


@njit(**PART)
def back_substitute(R: Floats, z: Floats, m: int, x: Floats) -> None:
    """Solve R x = z, giving 0 to columns without information."""
    for k in range(m - 1, -1, -1):
        value = z[k]
        for j in range(k + 1, m):
            value -= R[k, j] * x[j]
        x[k] = value / R[k, k] if R[k, k] != 0.0 else 0.0


@njit(**PART)
def damped_step(R: Floats, z: Floats, damping: float, scale: Floats, S: Floats, t: Floats, step: Floats) -> None:
    """Minimise |R s - z|^2 + damping |diag(scale) s|^2 by Givens rotations; S (p, p) and t (p) are scratch."""
    p = step.shape[0]
    for j in range(p):
        t[j] = z[j]
        for k in range(p):
            S[j, k] = R[j, k] if k >= j else 0.0
    for row in range(p):
        # Rotate the row (0 … damping[row] … 0 | 0) into the triangle; step holds it meanwhile.
        for k in range(p):
            step[k] = 0.0
        step[row] = math.sqrt(damping) * (scale[row] if scale[row] > 0.0 else 1.0)
        right = 0.0
        for j in range(row, p):
            length = math.sqrt(S[j, j] * S[j, j] + step[j] * step[j])
            if length == 0.0:
                continue
            c, s = S[j, j] / length, step[j] / length
            for k in range(j, p):
                upper, lower = S[j, k], step[k]
                S[j, k] = c * upper + s * lower
                step[k] = c * lower - s * upper
            t[j], right = c * t[j] + s * right, c * right - s * t[j]
    back_substitute(S, t, p, step)


@njit(**PART)
def eliminate(A: Floats, x: Floats) -> bool:
    """Solve A z = x for a symmetric positive A, z into ``x``; A is lost.  False if A is not positive."""
    n = x.shape[0]
    for k in range(n):
        if not A[k, k] > 1e-300:
            return False
        for q in range(k + 1, n):
            ratio = A[q, k] / A[k, k]
            for j in range(k, n):
                A[q, j] -= ratio * A[k, j]
            x[q] -= ratio * x[k]
    for k in range(n - 1, -1, -1):
        for q in range(k + 1, n):
            x[k] -= A[k, q] * x[q]
        x[k] /= A[k, k]
    return True
