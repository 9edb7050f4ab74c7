"""Exponents of a signomial by variable projection: the numba loop under signomial.py.

Numbers only: logs of inputs, signs of terms, a weighted target.  Coefficients are eliminated by an orthonormal
basis of the terms in every step, so they need no start.  Loops are written out: numba's ``@`` and
``solve`` take ten seconds to compile.
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit

from ...arrays import Floats
from .least_squares import ONCE, PART, SUMS, dot, eliminate, subtract

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


@njit(**PART)
def _take_out(of, k, basis, n_basis, n):  # type: ignore[no-untyped-def]
    """Make row k orthogonal to the first orthonormal rows of a basis, in place."""
    for j in range(n_basis):
        subtract(of, k, dot(of, k, basis, j, n), basis, j, n)


@njit(**PART)
def _project(logs, signs, target, weights, exponents, beside, terms, basis, coefficients, residual):  # type: ignore[no-untyped-def]
    """Terms, their orthonormal basis, coefficients and residual; the residual sum of squares."""
    n, d = logs.shape
    count = exponents.shape[0]
    upper, zero = np.zeros((count, count)), int64(0)
    for k in range(count):
        for r in range(n):
            s = 0.0
            for i in range(d):
                s += logs[r, i] * exponents[k, i]
            terms[k, r] = signs[k, r] * weights[r] * np.exp(s)
            basis[k, r] = terms[k, r]
        # Gram–Schmidt, twice, for full precision.
        for _ in range(2):
            _take_out(basis, k, beside, beside.shape[0], n)
            for j in range(k):
                share = dot(basis, k, basis, j, n)
                subtract(basis, k, share, basis, j, n)
                upper[j, k] += share
        norm = np.sqrt(dot(basis, k, basis, k, n))
        upper[k, k] = norm
        if not (norm > 1e-200):
            return np.inf
        for r in range(n):
            basis[k, r] /= norm
    for r in range(n):
        residual[0, r] = target[r]
    for k in range(count):
        coefficients[k] = dot(residual, zero, basis, k, n)
        subtract(residual, zero, coefficients[k], basis, k, n)
    for k in range(count - 1, -1, -1):
        for j in range(k + 1, count):
            coefficients[k] -= upper[k, j] * coefficients[j]
        coefficients[k] /= upper[k, k]
    return dot(residual, zero, residual, zero, n)


@njit(**ONCE)
def _normal_equations(logs, terms, basis, beside, coefficients, residual, slopes, gram, slope):  # type: ignore[no-untyped-def]
    """JᵀJ and Jᵀr of the projected model; row k·d + i of ``slopes`` is the derivative by exponent i of term k."""
    n, d = logs.shape
    count = terms.shape[0]
    for j in range(count * d):
        k, i = j // d, j % d
        for r in range(n):
            slopes[j, r] = coefficients[k] * terms[k, r] * logs[r, i]
        _take_out(slopes, j, basis, count, n)
        _take_out(slopes, j, beside, beside.shape[0], n)
        slope[j] = dot(slopes, j, residual, int64(0), n)
        for i in range(j + 1):
            gram[j, i] = dot(slopes, j, slopes, i, n)
            gram[i, j] = gram[j, i]


@njit(**ONCE)
def _moved(exponents, step, trial):  # type: ignore[no-untyped-def]
    """The exponents after a step into ``trial``; are they within bounds?"""
    within = True
    for k in range(trial.shape[0]):
        for i in range(trial.shape[1]):
            trial[k, i] = exponents[k, i] + step[k * trial.shape[1] + i]
            within = within and abs(trial[k, i]) < LARGEST
    return within


@njit(**SUMS)
def _loop(logs, signs, target, weights, start, beside, steps):  # type: ignore[no-untyped-def]
    n, d = logs.shape
    count = start.shape[0]
    size = count * d
    exponents, trial = start.copy(), np.empty((count, d))
    terms, basis = np.empty((count, n)), np.empty((count, n))
    coefficients, residual = np.zeros(count), np.empty((1, n))
    gram, system, slope, step = np.empty((size, size)), np.empty((size, size)), np.empty(size), np.empty(size)
    rss = _project(logs, signs, target, weights, exponents, beside, terms, basis, coefficients, residual)
    if not rss < np.inf:
        return exponents, np.inf
    damping = 1e-2
    slopes = np.empty((size, n))
    stalled = 0
    for _ in range(steps):
        _normal_equations(logs, terms, basis, beside, coefficients, residual, slopes, gram, slope)
        gained = False
        new_rss = rss
        for _try in range(6):
            for j in range(size):
                step[j] = slope[j]
                for i in range(size):
                    system[j, i] = gram[j, i]
                system[j, j] += damping * gram[j, j] + 1e-14
            if eliminate(system, step) and _moved(exponents, step, trial):
                new_rss = _project(logs, signs, target, weights, trial, beside, terms, basis, coefficients, residual)
                if new_rss < rss:
                    gained = True
                    exponents, trial = trial, exponents
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
