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

import numpy as np
from numba import int64, njit

from ...arrays import Floats, Ints
from .elementary import PART as STRICT_PART
from .inner import COLUMNS, OFFSET, Codes, Reals, inner, plain_slopes, rarer_slopes
from .least_squares import ONCE, PART, SUMS, dot, eliminate, subtract

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


@njit(**STRICT_PART)
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


@njit(**PART)
def _project(of, k, basis, n_basis, n):  # type: ignore[no-untyped-def]
    """Remove the span of the first orthonormal rows of ``basis`` from row k, in place."""
    for q in range(n_basis):
        subtract(of, k, dot(of, k, basis, q, n), basis, q, n)


@njit(**PART)
def _eliminate(columns, n_columns, outer, target, basis, residual, coefs):  # type: ignore[no-untyped-def]
    """Solve for the linear coefficients.  Returns the residual's energy, or 2 if the columns are dependent.

    ``basis`` gets the orthonormalised columns, ``coefs`` the coefficients, ``residual`` what is left of the target.
    """
    n, zero = target.shape[0], int64(0)
    triangle, dots = np.zeros((n_columns, n_columns)), np.empty(n_columns)
    for i in range(n):
        residual[0, i] = target[i]
    for c in range(n_columns):
        for i in range(n):
            basis[c, i] = columns[c, i]
        energy = dot(basis, c, basis, c, n)
        _project(basis, c, outer, outer.shape[0], n)
        for q in range(c):
            triangle[q, c] = dot(basis, c, basis, q, n)
            subtract(basis, c, triangle[q, c], basis, q, n)
        rest = dot(basis, c, basis, c, n)
        if not rest > _SMALL * energy:
            return 2.0
        triangle[c, c] = math.sqrt(rest)
        for i in range(n):
            basis[c, i] /= triangle[c, c]
        dots[c] = dot(basis, c, residual, zero, n)
        subtract(residual, zero, dots[c], basis, c, n)
    for c in range(n_columns - 1, -1, -1):
        coefs[c] = dots[c]
        for q in range(c + 1, n_columns):
            coefs[c] -= triangle[c, q] * coefs[q]
        coefs[c] /= triangle[c, c]
    return dot(residual, zero, residual, zero, n)


@njit(**ONCE)
def _normal_equations(slopes, basis, coefs, n_columns, jacobian, outer, residual, normal, gradient):  # type: ignore[no-untyped-def]
    """JᵀJ and Jᵀr of the projected model (Kaufman's approximation of the Jacobian)."""
    n_kappa, n = jacobian.shape
    for k in range(n_kappa):
        for i in range(n):
            jacobian[k, i] = 0.0
        for c in range(n_columns):
            for i in range(n):
                jacobian[k, i] += coefs[c] * slopes[c, k, i]
        _project(jacobian, k, outer, outer.shape[0], n)
        _project(jacobian, k, basis, n_columns, n)
        gradient[k] = dot(jacobian, k, residual, int64(0), n)
        for q in range(k + 1):
            normal[k, q] = dot(jacobian, k, jacobian, q, n)
            normal[q, k] = normal[k, q]


@njit(**ONCE)
def _damped_step(normal, gradient, damping, system, step):  # type: ignore[no-untyped-def]
    """Solve (N + damping·diag N) step = gradient; False if that is impossible."""
    for k in range(step.shape[0]):
        step[k] = gradient[k]
        for q in range(step.shape[0]):
            system[k, q] = normal[k, q] * (1.0 + damping if k == q else 1.0)
    return eliminate(system, step)


def refine(
    term: Ints, table: Floats, kappa: Floats, outer: Floats, target: Floats, max_steps: int, tolerance: float
) -> float:
    """Levenberg–Marquardt over the constants ``kappa`` (changed in place) of a term.

    Returns the energy of the residual (the target has energy 1), 2 if the start is outside the domain.
    """
    kappas, which = kappa[None, :].copy(), np.zeros(1, dtype=np.int64)
    rss = refine_many(term[None, :], table, kappas, outer, target[None, :], which, max_steps, tolerance)
    kappa[:] = kappas[0]
    return float(rss[0])


@njit(**ONCE)
def _refine(term, table, kappa, outer, target, max_steps, tolerance):  # type: ignore[no-untyped-def]
    n, n_kappa = table.shape[1], kappa.shape[0]
    columns, slopes, basis = np.empty((2, n)), np.empty((2, 2, n)), np.empty((2, n))
    residual, coefs, jacobian = np.empty((1, n)), np.empty(2), np.empty((n_kappa, n))
    normal, system = np.empty((n_kappa, n_kappa)), np.empty((n_kappa, n_kappa))
    gradient, step, trial = np.empty(n_kappa), np.empty(n_kappa), np.empty(n_kappa)
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
            _normal_equations(slopes, basis, coefs, n_columns, jacobian, outer, residual, normal, gradient)
        if not _damped_step(normal, gradient, damping, system, step):
            break
        for k in range(n_kappa):
            trial[k] = kappa[k] + step[k]
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
        for k in range(n_kappa):
            kappa[k] = trial[k]
        rss = new
        damping *= 0.1
        if small:
            break
    return rss


@njit(**SUMS)
def refine_many(terms, table, kappas, outer, targets, which, max_steps, tolerance):  # type: ignore[no-untyped-def]
    """``refine`` for many candidates: terms (B, 4), kappas (B, P) changed in place, targets (T, n), which (B,).

    A candidate's constants fill the first places of its row of ``kappas``.  Returns the energies (B,).
    """
    rss = np.empty(terms.shape[0])
    for b in range(terms.shape[0]):
        n_kappa = (terms[b, 2] >= 0) + (terms[b, 3] >= 0)
        rss[b] = _refine(terms[b], table, kappas[b, :n_kappa], outer, targets[which[b]], max_steps, tolerance)
    return rss
