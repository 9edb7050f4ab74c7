"""Inner constants by variable projection: coarse grids on whole dictionaries, then Gauss–Newton on the best.

A term is  multiplier · f1(κ·t) [· f2(κ'·t')]  with f from the inner functions of inner.py; the linear coefficients
and an outer basis (given by orthonormal rows) are eliminated, so only the κ are searched.  The coarse part is numpy
(its exp and log are vectorised), the refinement is numba.  This file knows numbers only: no formulas, no views, no
problem.

A term is seven integers: row of the multiplier, then (inner function, row of t, row of t') for up to two factors,
-1 for "none" (a multiplier of -1: no term at all).  All rows index one table of arguments.  A factor with t' has two
constants, f(κ·t + κ'·t').
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numba
import numpy as np

from ...arrays import Ints
from .inner import COLUMNS, OFFSET, Codes, Reals, inner, plain_slopes, rarer_slopes

__all__ = ["COLUMNS", "Codes", "OFFSET", "coarse", "inner", "n_constants", "refine", "refine_many", "term"]


TERM = 7

# A column that keeps less of its energy than this after projection is in the span of the others.
_SMALL = 1e-20


def term(multiplier: int, code: int, t: int, t2: int = -1, code_b: int = -1, u: int = -1, u2: int = -1) -> Ints:
    """The seven integers of a term."""
    return np.array([multiplier, code, t, t2, code_b, u, u2], dtype=np.int64)


def n_constants(terms: Ints) -> int:
    """Number of inner constants of some terms (…, 7)."""
    flat = terms.reshape(-1, TERM)
    present = flat[:, 0] >= 0
    return int(np.sum(flat[present][:, [2, 3, 5, 6]] >= 0))


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
def _factor(code, t, t2, kappa, k, table, f, g):  # type: ignore[no-untyped-def]
    """Columns f (2, n) and slopes g (2, n) of one factor; kappa[k] (and kappa[k + 1]) are its constants."""
    offset = OFFSET[code]
    for i in range(table.shape[1]):
        s = offset + kappa[k] * table[t, i]
        if t2 >= 0:
            s += kappa[k + 1] * table[t2, i]
        if code < 12:
            f[0, i], f[1, i], g[0, i], g[1, i] = plain_slopes(code, s)
        else:
            f[0, i], g[0, i] = rarer_slopes(code, s)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _columns(terms, table, kappa, columns, slopes, owner):  # type: ignore[no-untyped-def]
    """Columns (C, n), their slopes (C, 4, n) by the constants owner[c] onwards.  Returns C, or -1 if not finite."""
    n = table.shape[1]
    f, g = np.ones((2, 2, n)), np.zeros((2, 2, n))
    c = k = 0
    for m in range(terms.shape[0]):
        if terms[m, 0] < 0:
            continue
        first = k
        widths = (1, 1)
        f[:, 0, :] = 1.0
        g[:, 0, :] = 0.0
        for j in range(2):
            code, t, t2 = terms[m, 1 + 3 * j], terms[m, 2 + 3 * j], terms[m, 3 + 3 * j]
            if code < 0:
                break
            _factor(code, t, t2, kappa, k, table, f[j], g[j])
            widths = (COLUMNS[code], 1) if j == 0 else (widths[0], COLUMNS[code])
            k += 1 if t2 < 0 else 2
        for a in range(widths[0]):
            for b in range(widths[1]):
                owner[c, 0], owner[c, 1] = first, k - first
                at = 0
                for which in (2, 3, 5, 6):
                    if terms[m, which] < 0:
                        continue
                    for i in range(n):
                        by = g[0, a, i] * f[1, b, i] if which < 4 else f[0, a, i] * g[1, b, i]
                        slopes[c, at, i] = table[terms[m, 0], i] * by * table[terms[m, which], i]
                    at += 1
                for i in range(n):
                    columns[c, i] = table[terms[m, 0], i] * f[0, a, i] * f[1, b, i]
                    if not math.isfinite(columns[c, i]):
                        return -1
                c += 1
    return c


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
    slopes, owner, basis, coefs = columns_state
    jacobian = np.zeros((n_kappa, residual.size))
    for c in range(n_columns):
        for j in range(owner[c, 1]):
            jacobian[owner[c, 0] + j] += coefs[c] * slopes[c, j]
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
def refine(terms, table, kappa, outer, target, max_steps, tolerance):  # type: ignore[no-untyped-def]
    """Levenberg–Marquardt over the constants ``kappa`` (changed in place) of the terms (M, 7).

    Returns the energy of the residual (the target has energy 1), 2 if the start is outside the domain.
    """
    n, n_kappa = table.shape[1], kappa.size
    width = 4 * terms.shape[0]
    columns, slopes = np.empty((width, n)), np.empty((width, 4, n))
    owner, basis = np.zeros((width, 2), dtype=np.int64), np.empty((width, n))
    residual, coefs = np.empty(n), np.empty(width)
    normal, gradient, step = np.empty((n_kappa, n_kappa)), np.empty(n_kappa), np.empty(n_kappa)
    n_columns = _columns(terms, table, kappa, columns, slopes, owner)
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
            state = (slopes, owner, basis, coefs)
            _normal_equations(state, n_columns, n_kappa, outer, residual, normal, gradient)
        if not _damped_step(normal, gradient, damping, step):
            break
        trial = kappa + step
        n_trial = _columns(terms, table, trial, columns, slopes, owner)
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
    """``refine`` for many candidates: terms (B, M, 7), kappas (B, P) changed in place, targets (T, n), which (B,).

    A candidate's constants fill the first places of its row of ``kappas``.  Returns the energies (B,).
    """
    rss = np.full(terms.shape[0], 2.0)
    for b in range(terms.shape[0]):
        n_kappa = 0
        for m in range(terms.shape[1]):
            if terms[b, m, 0] >= 0:
                for place in (2, 3, 5, 6):
                    n_kappa += terms[b, m, place] >= 0
        rss[b] = refine(terms[b], table, kappas[b, :n_kappa], outer, targets[which[b]], max_steps, tolerance)
    return rss
