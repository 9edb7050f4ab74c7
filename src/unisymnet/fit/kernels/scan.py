"""Inner constants by variable projection: coarse grids on whole dictionaries, then Gauss–Newton on the best.

A term is  multiplier · u(κ·t [+ κ'·t'])  with u from the inner functions of inner.py; the linear coefficients and an
outer basis (given by orthonormal rows) are eliminated, so only the κ are searched.  The coarse part is numpy (its exp
and log are vectorised), the refinement is numba.  This file knows numbers only: no formulas, no views, no problem.

A term is four integers: row of the multiplier, inner function (-1: the multiplier alone), rows of t and of t' (-1:
none).  All rows index one table of arguments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numba
import numpy as np

from .inner import COLUMNS, OFFSET, Codes, Reals, inner, plain_slopes, rarer_slopes

__all__ = ["COLUMNS", "Codes", "OFFSET", "coarse", "inner", "refine", "refine_many"]

# A column that keeps less of its energy than this after projection is in the span of the others.
_SMALL = 1e-20


def coarse(columns: Sequence[Reals], outer: Reals, targets: Reals) -> Reals:
    """Share of each target (T, n) that each candidate explains beside the outer basis (rows of ``outer``).

    ``columns`` holds the first, second, … column of all candidates as arrays (M, n); the result is (M, T), -1 where
    a candidate is not finite or lies in the span of the outer basis.  The targets must be unit vectors orthogonal to
    the outer basis.
    """
    good = np.ones(len(columns[0]), dtype=bool)
    free: list[Reals] = []
    for column in columns:
        energy = np.einsum("ij,ij->i", column, column)
        # A sum of squares is finite only if every entry is.
        good &= np.isfinite(energy) & (energy > 0.0)
        column = np.where(good[:, None], column, 0.0) if not good.all() else column
        left = column - (column @ outer.T) @ outer
        for other in free:
            left -= np.einsum("ij,ij->i", left, other)[:, None] * other
        rest = np.einsum("ij,ij->i", left, left)
        with np.errstate(all="ignore"):
            good &= rest > 1e-9 * energy
            left *= np.where(good, 1.0 / np.sqrt(rest), 0.0)[:, None]
        free.append(left)
    explained = np.sum([np.square(left @ targets.T) for left in free], axis=0)
    return np.where(good[:, None], explained, explained.dtype.type(-1.0))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _columns(term, table, kappa, columns, slopes):  # type: ignore[no-untyped-def]
    """Columns (C, n) of a term and their slopes (C, 2, n) by its constants.  Returns C, or -1 if not finite."""
    multiplier, code, t, t2 = term[0], term[1], term[2], term[3]
    width = COLUMNS[code] if code >= 0 else 1
    f, g = np.ones(2), np.zeros(2)
    for i in range(table.shape[1]):
        by = table[multiplier, i]
        if code >= 0:
            s = OFFSET[code] + kappa[0] * table[t, i]
            if t2 >= 0:
                s += kappa[1] * table[t2, i]
            if code < 12:
                f[0], f[1], g[0], g[1] = plain_slopes(code, s)
            else:
                f[0], g[0] = rarer_slopes(code, s)
        for c in range(width):
            columns[c, i] = by * f[c]
            if not math.isfinite(columns[c, i]):
                return -1
            if t >= 0:
                slopes[c, 0, i] = by * g[c] * table[t, i]
            if t2 >= 0:
                slopes[c, 1, i] = by * g[c] * table[t2, i]
    return width


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _project(v, basis, n_basis):  # type: ignore[no-untyped-def]
    """Remove the span of the first orthonormal rows of ``basis`` from v, in place."""
    for q in range(n_basis):
        dot = 0.0
        for i in range(v.size):
            dot += v[i] * basis[q, i]
        for i in range(v.size):
            v[i] -= dot * basis[q, i]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _eliminate(columns, n_columns, outer, target, basis, residual, coefs):  # type: ignore[no-untyped-def]
    """Solve for the linear coefficients.  Returns the residual's energy, or 2 if the columns are dependent.

    ``basis`` gets the orthonormalised columns, ``coefs`` the coefficients, ``residual`` what is left of the target.
    """
    triangle = np.zeros((n_columns, n_columns))
    residual[:] = target
    dots = np.empty(n_columns)
    for c in range(n_columns):
        v = basis[c]
        v[:] = columns[c]
        energy = np.dot(v, v)
        _project(v, outer, outer.shape[0])
        for q in range(c):
            triangle[q, c] = np.dot(v, basis[q])
            v -= triangle[q, c] * basis[q]
        rest = np.dot(v, v)
        if not rest > _SMALL * energy:
            return 2.0
        triangle[c, c] = math.sqrt(rest)
        v /= triangle[c, c]
        dots[c] = np.dot(v, residual)
        residual -= dots[c] * v
    for c in range(n_columns - 1, -1, -1):
        coefs[c] = dots[c]
        for q in range(c + 1, n_columns):
            coefs[c] -= triangle[c, q] * coefs[q]
        coefs[c] /= triangle[c, c]
    return np.dot(residual, residual)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _normal_equations(columns_state, n_columns, n_kappa, outer, residual, normal, gradient):  # type: ignore[no-untyped-def]
    """JᵀJ and Jᵀr of the projected model (Kaufman's approximation of the Jacobian)."""
    slopes, basis, coefs = columns_state
    jacobian = np.zeros((n_kappa, residual.size))
    for c in range(n_columns):
        for k in range(n_kappa):
            jacobian[k] += coefs[c] * slopes[c, k]
    for k in range(n_kappa):
        _project(jacobian[k], outer, outer.shape[0])
        _project(jacobian[k], basis, n_columns)
        gradient[k] = np.dot(jacobian[k], residual)
        for q in range(k + 1):
            normal[k, q] = normal[q, k] = np.dot(jacobian[k], jacobian[q])


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _damped_step(normal, gradient, damping, step):  # type: ignore[no-untyped-def]
    """Solve (N + damping·diag N) step = gradient by elimination; False if that is impossible."""
    n = gradient.size
    a = normal.copy()
    for k in range(n):
        a[k, k] *= 1.0 + damping
        step[k] = gradient[k]
    for k in range(n):
        if not a[k, k] > 1e-300:
            return False
        for q in range(k + 1, n):
            ratio = a[q, k] / a[k, k]
            for j in range(k, n):
                a[q, j] -= ratio * a[k, j]
            step[q] -= ratio * step[k]
    for k in range(n - 1, -1, -1):
        for q in range(k + 1, n):
            step[k] -= a[k, q] * step[q]
        step[k] /= a[k, k]
    return True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def refine(term, table, kappa, outer, target, max_steps, tolerance):  # type: ignore[no-untyped-def]
    """Levenberg–Marquardt over the constants ``kappa`` (changed in place) of a term.

    Returns the energy of the residual (the target has energy 1), 2 if the start is outside the domain.
    """
    n, n_kappa = table.shape[1], kappa.size
    columns, slopes, basis = np.empty((2, n)), np.empty((2, 2, n)), np.empty((2, n))
    residual, coefs = np.empty(n), np.empty(2)
    normal, gradient, step = np.empty((n_kappa, n_kappa)), np.empty(n_kappa), np.empty(n_kappa)
    n_columns = _columns(term, table, kappa, columns, slopes)
    if n_columns < 0:
        return 2.0
    rss = _eliminate(columns, n_columns, outer, target, basis, residual, coefs)
    if n_kappa == 0:
        return rss
    damping = 1e-3
    fresh = True
    for _ in range(max_steps):
        if rss >= 2.0 or rss < tolerance:
            break
        if fresh:
            state = (slopes, basis, coefs)
            _normal_equations(state, n_columns, n_kappa, outer, residual, normal, gradient)
        if not _damped_step(normal, gradient, damping, step):
            break
        trial = kappa + step
        n_trial = _columns(term, table, trial, columns, slopes)
        new = 2.0
        if n_trial > 0:
            new = _eliminate(columns, n_columns, outer, target, basis, residual, coefs)
        fresh = new < rss
        if not fresh:
            damping = damping * 10.0 + 1e-6
            if damping > 1e6:
                break
            continue
        small = rss - new < 1e-4 * rss
        kappa[:] = trial
        rss = new
        damping *= 0.1
        if small:
            break
    return rss


@numba.njit(cache=True, nogil=True, error_model="numpy")
def refine_many(terms, table, kappas, outer, targets, which, max_steps, tolerance):  # type: ignore[no-untyped-def]
    """``refine`` for many candidates: terms (B, 4), kappas (B, P) changed in place, targets (T, n), which (B,).

    A candidate's constants fill the first places of its row of ``kappas``.  Returns the energies (B,).
    """
    rss = np.full(terms.shape[0], 2.0)
    for b in range(terms.shape[0]):
        n_kappa = (terms[b, 2] >= 0) + (terms[b, 3] >= 0)
        rss[b] = refine(terms[b], table, kappas[b, :n_kappa], outer, targets[which[b]], max_steps, tolerance)
    return rss
