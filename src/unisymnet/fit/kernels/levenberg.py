"""Levenberg-Marquardt over a tape, many starts in one call, without returning to Python.

Damping follows Nielsen, scaling MINPACK, the linear constants are projected out (projection.py).  Non-finite
trials are rejected steps; a start that is undefined fails.  Starts race in heats: all of a heat go a few steps,
the better half some more, the best few to the end.  Knows no losses but weighted squares and no Python objects.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cfunc, float64, int64, njit, typeof
from numba.extending import intrinsic
from numpy.typing import NDArray

from ...arrays import Floats
from .least_squares import ONCE, PART, SUMS, damped_step
from .projection import Data, Program, Space, linearise, new_space, prepare, solve
from .refer import Ref, hold, refer, through

Ints = NDArray[np.int64]

# States of a start.
RUNNING, SETTLED, FAILED, EXACT = 0, 1, 2, 3
BRIEF = 4  # set by a caller who does not ask, after the last step, whether it has settled

# Columns of ``progress``: one row per start.
LOSS, DAMPING, N_TRIALS, TURN = 0, 1, 2, 3

FIRST_DAMPING = 1e-2
_MAX_DAMPING = 1e16
_REACH = 1.0


class Starts(NamedTuple):
    """Where fits begin, one row each, and what becomes of them."""

    thetas: Floats
    cs: Floats
    progress: Floats
    states: Ints


@njit(**PART)
def _copy(source: Floats, into: Floats) -> None:
    # A slice assignment would compile numba's shape checks and their messages with it.
    for k in range(into.shape[0]):
        into[k] = source[k]


@njit(**ONCE)
def _propose(space: Space, damping: float, theta: Floats, trial: Floats, step: Floats) -> float:
    """Set ``trial`` by a damped and bounded step; returns how much the linear model hopes to gain."""
    p, S, g = theta.shape[0], space.S, space.g
    damped_step(S, g, damping, space.scale, space.T, space.t, step)
    worst = 0.0
    for k in range(p):
        worst = max(worst, abs(step[k]) / (0.3 + abs(theta[k])))
    shorten = _REACH / worst if worst > _REACH else 1.0
    for k in range(p):
        step[k] *= shorten
        trial[k] = theta[k] + step[k]
    gain = 0.0
    for j in range(p):
        along = 0.0
        for k in range(j, p):
            along += S[j, k] * step[k]
        gain += along * (2.0 * g[j] - along)
    return gain


@njit(**PART)
def _descend(
    program: Program,
    data: Data,
    n_done: int,
    space: Space,
    floor: float,
    tol: float,
    max_steps: int,
    theta: Floats,
    c: Floats,
    progress: Floats,
    asked: bool,
) -> int:
    """Improve ``theta`` in place for at most ``max_steps`` trials; returns the state.

    ``c`` and ``progress`` are kept up to date; a sum of squares of at most ``floor`` counts as exact.  Without
    ``asked`` there are no slopes after the last trial, which only tell whether the start has settled.
    """
    trial, step = space.trial, space.step
    loss, damping, rise, hoped, slow = np.inf, progress[DAMPING], 2.0, 0.0, 0
    _copy(theta, trial)
    for k in range(theta.shape[0]):
        space.scale[k] = 0.0
    for trials in range(max_steps + 1):
        found = solve(program, data, n_done, trial, space)
        if found < loss:
            if trials > 0:
                ratio = (loss - found) / hoped if hoped > 0.0 else 1.0
                slow = slow + 1 if loss - found <= tol * loss else 0
                damping, rise = damping * max(0.1, 1.0 - (2.0 * ratio - 1.0) ** 3), 2.0
            loss = found
            _copy(trial, theta)
            _copy(space.c, c)
            if loss <= floor:
                slow = 2
            elif (asked or trials < max_steps) and linearise(program, data, c, space) <= tol * tol * loss:
                slow = 2
        elif trials == 0:
            return FAILED
        else:
            damping, rise = max(damping, 1e-12) * rise, rise * 2.0
            if damping > _MAX_DAMPING or hoped <= 1e-15 * loss:
                slow = 2
        progress[LOSS], progress[DAMPING] = loss, damping
        progress[N_TRIALS] += 1.0
        if slow >= 2:
            return EXACT if loss <= floor else SETTLED
        if trials < max_steps:
            hoped = _propose(space, damping, theta, trial, step)
    return RUNNING


@njit(**PART)
def _chosen(progress: Floats, states: Ints, i: int, keep: int) -> bool:
    """Is start i among the ``keep`` best?  Ties go to the earlier one."""
    better = 0
    for j in range(states.shape[0]):
        lower = progress[j, LOSS] < progress[i, LOSS] or (progress[j, LOSS] == progress[i, LOSS] and j < i)
        better += 1 if states[j] != FAILED and lower else 0
    return states[i] != FAILED and better < keep


@njit(**ONCE)
def _in_laps(
    program: Program, data: Data, space: Space, starts: Starts, floor: float, tol: float, max_steps: int
) -> int:
    """All starts a few steps, the better half some more, the best few to the end."""
    thetas, cs, progress, states = starts.thetas, starts.cs, starts.progress, starts.states
    n = thetas.shape[0]
    n_done = prepare(program, data, space)
    best, used = -1, 0
    for lap in range(2 if n <= 2 else 0, 3):
        # Early laps only sort the starts, so they stop sooner; the last one finishes what they settled.
        last = lap == 2
        budget = min(max_steps - used, max_steps if last else (8 if lap == 0 else 12))
        keep = n if lap == 0 else ((n + 1) // 2 if lap == 1 else max(2, n // 4))
        if n_done < 0 or (used > 0 and budget == 0):
            break
        for i in range(n):
            turn = _chosen(progress, states, i, keep) and (last or states[i] == RUNNING)
            progress[i, TURN] = 1.0 if turn else 0.0
        for i in range(n):
            if progress[i, TURN] == 0.0:
                continue
            states[i] = _descend(
                program,
                data,
                n_done,
                space,
                floor,
                tol if last else math.sqrt(tol),
                budget,
                thetas[i],
                cs[i],
                progress[i],
                states[i] != BRIEF,
            )
            if states[i] != FAILED and (best < 0 or progress[i, LOSS] < progress[best, LOSS]):
                best = i
            if states[i] == EXACT:
                return best
        used += budget
    return best


def _compete(program: Program, data: Data, starts: Starts, floor: float, tol: float, max_steps: int) -> int:
    space = new_space(program, data.y.shape[0])
    best = _in_laps(program, data, refer(space), starts, floor, tol, max_steps)
    hold(space)
    return best


# Compiled once, as a C function that other kernels call through its address, like the interpreters.
_TABLE, _ROW, _INTS = np.empty((0, 0)), np.empty(0), np.empty(0, dtype=np.int64)
_PROGRAM = Ref(typeof(Program(0, 0, np.empty((0, 4), dtype=np.int64), _INTS, _ROW, _INTS)))
_DATA, _STARTS = Ref(typeof(Data(_TABLE, _ROW, _ROW))), Ref(typeof(Starts(_TABLE, _TABLE, _TABLE, _INTS)))
_COMPETE = int64(_PROGRAM, _DATA, _STARTS, float64, float64, int64)


@cache
def _compiled() -> Any:
    """Compiles the fits or loads them from the disk; the cache keeps their code alive."""
    return cfunc(_COMPETE, **SUMS)(_compete)


def fitter() -> int:
    """Where ``compete`` is in this process."""
    address: int = _compiled().address
    return address


@intrinsic
def compete(_context, address, program, data, starts, floor, tol, max_steps):  # type: ignore[no-untyped-def]
    """``race`` for a kernel that has everything by reference."""
    return through(_COMPETE)


@njit(**SUMS)
def race(address: int, program: Program, data: Data, starts: Starts, floor: float, tol: float, max_steps: int) -> int:
    """Fit from every row of ``starts.thetas``, in place; the best start, -1 if all failed."""
    return compete(address, refer(program), refer(data), refer(starts), floor, tol, max_steps)
