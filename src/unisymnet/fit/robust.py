"""Huber and quantile losses on top of weighted least squares, by majorisation: each round replaces the loss by a
parabola that touches it at the present residuals and lies above it elsewhere, then takes a few damped steps.  A step
that lowers the parabola lowers the loss (Hunter & Lange 2000 for quantiles).  Knows no starts and no Python objects.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .least_squares import SUMS
from .levenberg import FIRST_DAMPING, descend
from .projection import N_LINEAR, N_THETA, Data, Program, move, new_space, predict, prepare

Floats = NDArray[np.float64]

SQUARES, HUBER, QUANTILE = 0, 1, 2
_MAX_ROUNDS = 200
_STEPS = 3  # damped steps per round; more would polish a parabola that is about to change


@njit(**SUMS)
def mean_loss(kind: int, parameter: float, r: Floats, root: Floats) -> float:
    """Weighted mean of the loss over residuals ``r``."""
    total, mass = 0.0, 0.0
    for i in range(r.shape[0]):
        w = root[i] * root[i] if root.shape[0] > 0 else 1.0
        size = abs(r[i])
        if kind == SQUARES:
            value = size * size
        elif kind == HUBER:
            value = 0.5 * size * size if size <= parameter else parameter * (size - 0.5 * parameter)
        else:
            value = parameter * size if r[i] >= 0.0 else (1.0 - parameter) * size
        total += w * value
        mass += w
    return total / mass


@njit(**SUMS)
def _touch(kind: int, parameter: float, edge: float, data: Data, r: Floats, y: Floats, root: Floats) -> None:
    """Target and root weights of the parabola that touches the loss at residuals ``r``."""
    for i in range(r.shape[0]):
        size = abs(r[i])
        if kind == HUBER:
            y[i] = data.y[i]
            weight = 1.0 if size <= parameter else parameter / size
        else:
            y[i] = data.y[i] + (2.0 * parameter - 1.0) * (size + edge)
            weight = 1.0 / (size + edge)
        root[i] = np.sqrt(weight) * (data.root[i] if data.root.shape[0] > 0 else 1.0)


@njit(**SUMS)
def refine(program: Program, data: Data, kind: int, parameter: float, tol: float, params: Floats) -> float:
    """Improve theta and c (one after the other in ``params``) for the robust loss; returns the mean loss."""
    n, p, m = data.y.shape[0], program.layout[N_THETA], program.layout[N_LINEAR]
    space, progress = new_space(program, n), np.empty(3)
    theta, c, r = params[:p].copy(), params[p : p + m].copy(), np.empty(n)
    y, root = np.empty(n), np.empty(n)
    inner = Data(data.X, y, root)
    prepare(program, data, space)
    best, edge = np.inf, 0.0
    for round_ in range(_MAX_ROUNDS):
        move(program, theta, space.work, n)
        predict(program, c, space.work, r)
        for i in range(n):
            r[i] = data.y[i] - r[i]
        loss = mean_loss(kind, parameter, r, data.root)
        if not loss < best:
            break
        params[:p], params[p : p + m] = theta, c
        if best - loss <= tol * best and round_ > 0:
            best = loss
            break
        best = loss
        # The parabola of |r| needs a smallest width; a small part of the loss itself vanishes with it.
        edge = 1e-5 * loss
        _touch(kind, parameter, edge, data, r, y, root)
        n_done = prepare(program, inner, space)
        progress[1], progress[2] = FIRST_DAMPING, 0.0
        descend(program, inner, n_done, space, 0.0, 1e-3, _STEPS, theta, c, progress)
    return best
