"""Exponents of a signomial by variable projection: the numba loop under signomial.py.

Numbers only: logs of inputs, signs of terms, a weighted target.  Coefficients are eliminated by an orthonormal
basis of the terms in every step, so they need no start.
"""

from __future__ import annotations

import numba
import numpy as np

from ...arrays import Floats

__all__ = ["fit_exponents"]


LARGEST = 9.0  # of an exponent; beyond it a start is lost


def fit_exponents(
    logs: Floats,
    signs: Floats,
    target: Floats,
    weights: Floats,
    start: Floats,
    steps: int,
    beside: Floats | None = None,
) -> tuple[Floats, float]:
    """Exponents (K, d) and the residual sum of squares after up to ``steps`` Levenberg–Marquardt steps.

    ``logs`` (n, d), ``signs`` (K, n), ``target`` already weighted, ``weights`` (n,) multiply the terms.  ``beside``
    (F, n) are orthonormal rows that the sum may hold besides its terms; the target must be orthogonal to them.
    """
    exponents, rss = _loop(
        np.ascontiguousarray(logs),
        np.ascontiguousarray(signs),
        np.ascontiguousarray(target),
        np.ascontiguousarray(weights),
        np.ascontiguousarray(start, dtype=np.float64),
        np.empty((0, len(logs))) if beside is None else np.ascontiguousarray(beside),
        steps,
    )
    return exponents, float(rss)


@numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _take_out(vector, unit):  # type: ignore[no-untyped-def]
    """Make a vector orthogonal to a unit vector, in place; how much of it there was."""
    dot = 0.0
    for r in range(len(vector)):
        dot += unit[r] * vector[r]
    for r in range(len(vector)):
        vector[r] -= dot * unit[r]
    return dot


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _project(logs, signs, target, weights, exponents, beside, terms, basis, coefficients, residual):  # type: ignore[no-untyped-def]
    """Terms, their orthonormal basis, coefficients and residual; the residual sum of squares."""
    n, d = logs.shape
    count = exponents.shape[0]
    upper = np.zeros((count, count))
    for k in range(count):
        for r in range(n):
            s = 0.0
            for i in range(d):
                s += logs[r, i] * exponents[k, i]
            terms[k, r] = signs[k, r] * weights[r] * np.exp(s)
            basis[k, r] = terms[k, r]
        # Gram–Schmidt, twice, for full precision.
        for _ in range(2):
            for j in range(beside.shape[0]):
                _take_out(basis[k], beside[j])
            for j in range(k):
                upper[j, k] += _take_out(basis[k], basis[j])
        norm = 0.0
        for r in range(n):
            norm += basis[k, r] * basis[k, r]
        norm = np.sqrt(norm)
        upper[k, k] = norm
        if not (norm > 1e-200):
            return np.inf
        for r in range(n):
            basis[k, r] /= norm
    for r in range(n):
        residual[r] = target[r]
    shares = np.zeros(count)
    for k in range(count):
        shares[k] = _take_out(residual, basis[k])
    for k in range(count - 1, -1, -1):
        s = shares[k]
        for j in range(k + 1, count):
            s -= upper[k, j] * coefficients[j]
        coefficients[k] = s / upper[k, k]
    rss = 0.0
    for r in range(n):
        rss += residual[r] * residual[r]
    return rss


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _loop(logs, signs, target, weights, start, beside, steps):  # type: ignore[no-untyped-def]
    n, d = logs.shape
    count = start.shape[0]
    size = count * d
    exponents = start.copy()
    terms, basis = np.empty((count, n)), np.empty((count, n))
    coefficients, residual = np.zeros(count), np.empty(n)
    rss = _project(logs, signs, target, weights, exponents, beside, terms, basis, coefficients, residual)
    if not np.isfinite(rss):
        return exponents, np.inf
    damping = 1e-2
    slopes = np.empty((n, size))
    stalled = 0
    for _ in range(steps):
        for k in range(count):
            for i in range(d):
                column = k * d + i
                for r in range(n):
                    slopes[r, column] = coefficients[k] * terms[k, r] * logs[r, i]
        slopes -= basis.T @ (basis @ slopes)
        slopes -= beside.T @ (beside @ slopes)
        gram = slopes.T @ slopes
        slope = slopes.T @ residual
        gained = False
        new_rss = rss
        for _try in range(6):
            system = gram.copy()
            for j in range(size):
                system[j, j] += damping * gram[j, j] + 1e-14
            step = np.linalg.solve(system, slope)
            trial = exponents + step.reshape(count, d)
            if np.isfinite(step).all() and np.max(np.abs(trial)) < LARGEST:
                new_rss = _project(logs, signs, target, weights, trial, beside, terms, basis, coefficients, residual)
                if np.isfinite(new_rss) and new_rss < rss:
                    gained = True
                    exponents = trial
                    break
            damping *= 8.0
        if not gained:
            break
        damping = max(damping * 0.2, 1e-12)
        stalled = stalled + 1 if new_rss > 0.97 * rss else 0
        rss = new_rss
        if rss < 1e-26 or stalled >= 6:
            break
    return exponents, rss
