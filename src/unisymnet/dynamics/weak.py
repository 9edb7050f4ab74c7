"""Weak rows: ∫ φ f(x) dt = −∫ φ' x dt for bumps φ, so that a rate is compared with data that are not differentiated.

The left side takes the curves, the right side the raw data (WSINDy finds spurious terms for certain where the states
in f are not smoothed).  Rows are whitened by the covariance that the noise gives them.  Bumps are (1 − τ²)⁴, as wide
as the turning points of the states allow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline

from ..arrays import Floats
from ..symbolic.expr import Expr, evaluate
from .course import Course

POWER = 4  # of the bumps
MAX_ROWS, MIN_ROWS = 120, 16  # in one piece
LEAST_SHARE = 1e-4  # of the largest variance: below it errors other than the noise of the data decide


@dataclass(frozen=True)
class WeakRows:
    """Rows of one equation: ``bumps`` (rows, grid) and ``whitening`` of every piece, and the whitened left sides."""

    bumps: tuple[Floats, ...]
    whitenings: tuple[Floats, ...]
    target: Floats

    def columns(self, terms: Sequence[Expr], tables: Sequence[Floats]) -> Floats:
        """What every term would contribute to every row, with coefficient one."""
        parts = []
        for bump, whitening, table in zip(self.bumps, self.whitenings, tables):
            values = np.column_stack([evaluate(term, table) for term in terms])
            parts.append(whitening @ (bump @ values))
        return np.concatenate(parts)


def bump(tau: Floats, derivative: int = 0) -> Floats:
    """(1 − τ²)⁴ on [−1, 1], or its first or second derivative by τ."""
    inside = np.clip(1.0 - tau**2, 0.0, None)
    if derivative == 0:
        return np.asarray(inside**POWER)
    if derivative == 1:
        return np.asarray(-2.0 * POWER * tau * inside ** (POWER - 1))
    return np.asarray(-2.0 * POWER * inside ** (POWER - 2) * (inside - 2.0 * (POWER - 1) * tau**2))


def weak_rows(course: Course, state: int) -> WeakRows:
    """Rows for the rate of one state.  The rate of a velocity uses −∫ φ' v = ∫ φ'' x."""
    n_measured = len(course.runs.states)
    measured, order = state % n_measured, 1 + (state >= n_measured)
    bumps, whitenings, targets = [], [], []
    for smooth, grid, table in zip(course.smooths, course.grids, course.tables):
        curve = smooth.curves[measured]
        half = _half_width(grid, table[:, : course.n_states], len(curve.t))
        centres = _centres(grid, half)
        step = grid[1] - grid[0]
        tau = (grid - centres[:, None]) / half
        phi = bump(tau) * step
        slope = bump(tau, order) * step / half**order * (-1.0) ** order
        degree = min(5 if course.noises[measured].clean else 3, len(curve.t) - 1)
        degree -= 1 - degree % 2
        between = make_interp_spline(curve.t, np.eye(len(curve.t)), k=max(degree, 1))(
            np.clip(grid, curve.t[0], curve.t[-1])
        )
        operator = slope @ between
        deviation = course.noises[measured].deviation(curve.value(curve.t))
        whitening = _whitening(operator * deviation)
        bumps.append(phi)
        whitenings.append(whitening)
        targets.append(whitening @ (operator @ curve.x))
    return WeakRows(tuple(bumps), tuple(whitenings), np.concatenate(targets))


def _half_width(grid: Floats, states: Floats, n_points: int) -> float:
    span = float(grid[-1] - grid[0])
    bends = np.sum(np.diff(np.sign(np.diff(states, axis=0)), axis=0) != 0, axis=0)
    half = span / (1.0 + float(np.max(bends)))
    return float(np.clip(half, 4.0 * span / max(n_points, 9), 0.3 * span))


def _centres(grid: Floats, half: float) -> Floats:
    room = float(grid[-1] - grid[0]) - 2.0 * half
    count = int(np.clip(math.ceil(5.0 * room / half), MIN_ROWS, MAX_ROWS))
    return np.linspace(grid[0] + half, grid[-1] - half, count)


def _whitening(spread: Floats) -> Floats:
    """W with W C Wᵀ = 1 for the covariance C = spread spreadᵀ, its smallest directions held up."""
    covariance = spread @ spread.T
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, LEAST_SHARE * values[-1])
    if not values[-1] > 0.0:
        return np.eye(len(covariance))
    return np.asarray((vectors / np.sqrt(values)).T)
