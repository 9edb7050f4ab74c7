"""Levenberg-Marquardt over a tape, many starts in one call, without returning to Python.

Damping follows Nielsen, scaling MINPACK, the linear constants are projected out (projection.py).  Non-finite
trials are rejected steps; a start that is undefined fails.  Starts race in heats: all of a heat go a few steps,
the better half some more, the best few to the end.  Knows no losses but weighted squares and no Python objects.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .least_squares import SUMS, damped_step
from .projection import N_LINEAR, N_THETA, Data, Program, Space, linearise, new_space, prepare, solve

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# States of a start.
RUNNING, SETTLED, FAILED, EXACT = 0, 1, 2, 3

FIRST_DAMPING = 1e-3
_MAX_DAMPING = 1e16
_REACH = 3.0


@njit(**SUMS)
def _limit(theta: Floats, step: Floats, reach: float) -> None:
    """Shorten the step so that no unknown moves by more than ``reach`` times (1 + its size)."""
    worst = 0.0
    for k in range(step.shape[0]):
        worst = max(worst, abs(step[k]) / (1.0 + abs(theta[k])))
    if worst > reach:
        for k in range(step.shape[0]):
            step[k] *= reach / worst


@njit(**SUMS)
def _predicted(S: Floats, g: Floats, step: Floats) -> float:
    """How much the linear model says the step takes off the sum of squares."""
    gain = 0.0
    for j in range(step.shape[0]):
        along = 0.0
        for k in range(j, step.shape[0]):
            along += S[j, k] * step[k]
        gain += along * (2.0 * g[j] - along)
    return gain


@njit(**SUMS)
def descend(
    program: Program, data: Data, n_done: int, space: Space, floor: float, tol: float, max_steps: int,
    theta: Floats, c: Floats, progress: Floats,
) -> int:  # fmt: skip
    """Improve ``theta`` in place for at most ``max_steps`` trials; returns the state.

    ``progress`` is (loss, damping, trials so far) and is kept up to date, as is ``c``.
    """
    p = theta.shape[0]
    trial, step, damping, t = np.empty(p), np.empty(p), np.empty(p), np.empty(p)
    triangle = np.empty((p, p))
    loss, mu, rise = solve(program, data, n_done, theta, space), progress[1], 2.0
    progress[0] = loss
    c[:] = space.c
    if not loss < np.inf:
        return FAILED
    space.scale[:] = 0.0
    fresh, slow, gain = True, 0, 0.0
    for _ in range(max_steps):
        if loss <= floor:
            return EXACT
        if fresh:
            gain = linearise(program, data, c, space)
            if gain <= tol * tol * loss:
                return SETTLED
        for k in range(p):
            damping[k] = np.sqrt(mu) * (space.scale[k] if space.scale[k] > 0.0 else 1.0)
        damped_step(space.S, space.g, damping, triangle, t, step)
        _limit(theta, step, _REACH)
        hoped = _predicted(space.S, space.g, step)
        for k in range(p):
            trial[k] = theta[k] + step[k]
        found = solve(program, data, n_done, trial, space)
        progress[2] += 1.0
        fresh = found < loss
        if fresh:
            ratio = (loss - found) / hoped if hoped > 0.0 else 1.0
            slow = slow + 1 if loss - found <= tol * loss else 0
            mu, rise = mu * max(0.1, 1.0 - (2.0 * ratio - 1.0) ** 3), 2.0
            theta[:] = trial
            c[:] = space.c
            loss = found
            progress[0], progress[1] = loss, mu
        else:
            mu, rise = max(mu, 1e-12) * rise, rise * 2.0
        if slow >= 2 or mu > _MAX_DAMPING or (not fresh and hoped <= 1e-15 * loss):
            return EXACT if loss <= floor else SETTLED
    return EXACT if loss <= floor else RUNNING


@njit(**SUMS)
def _chosen(progress: Floats, states: Ints, keep: int) -> NDArray[np.bool_]:
    """Running starts among the ``keep`` best; ties go to the earlier one."""
    n = states.shape[0]
    chosen = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        better = 0
        for j in range(n):
            lower = progress[j, 0] < progress[i, 0] or (progress[j, 0] == progress[i, 0] and j < i)
            better += 1 if states[j] != FAILED and lower else 0
        chosen[i] = states[i] == RUNNING and better < keep
    return chosen


@njit(**SUMS)
def race(
    program: Program, data: Data, floor: float, tol: float, max_steps: int, starts: Floats, params: Floats,
    result: Floats,
) -> int:  # fmt: skip
    """Fit from every row of ``starts``; the best theta and c into ``params``, (loss, trials) into ``result``.

    Returns the state of the best start.
    """
    n_starts, p, m = starts.shape[0], program.layout[N_THETA], program.layout[N_LINEAR]
    space = new_space(program, data.y.shape[0])
    n_done = prepare(program, data, space)
    thetas, cs = starts.copy(), np.zeros((n_starts, m))
    progress, states = np.zeros((n_starts, 3)), np.zeros(n_starts, dtype=np.int64)
    progress[:, 0] = np.inf
    progress[:, 1] = FIRST_DAMPING
    result[0], result[1] = np.inf, 0.0
    if n_done < 0:
        return FAILED
    best, used = -1, 0
    for lap in range(3):
        budget = (min(8, max_steps), min(12, max_steps - used), max_steps - used)[lap]
        keep = (n_starts, (n_starts + 1) // 2, max(2, n_starts // 4))[lap]
        chosen = _chosen(progress, states, keep)
        for i in range(n_starts):
            if chosen[i] and budget > 0:
                states[i] = descend(
                    program, data, n_done, space, floor, tol, budget, thetas[i], cs[i], progress[i]
                )
                if states[i] != FAILED and (best < 0 or progress[i, 0] < progress[best, 0]):
                    best = i
                if states[i] == EXACT:
                    break
        used += budget
        if best >= 0 and states[best] == EXACT:
            break
    for i in range(n_starts):
        result[1] += progress[i, 2]
    if best < 0:
        return FAILED
    params[:p] = thetas[best]
    params[p:] = cs[best]
    result[0] = progress[best, 0]
    return states[best]
