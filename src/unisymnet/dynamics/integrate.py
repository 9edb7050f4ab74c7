"""The compiled integrator: Dormand and Prince's method of order 5 with steps of its own choice and sensitivities.

Every segment starts from its own state and is carried to each of its times; with it go the derivatives of the states
by that start and by the constants, which solve linear equations along the trajectory.  Columns that are not
integrated (inputs, or states that a smoother knows) are read from a table by cubic interpolation.  A segment that
blows up or needs too many steps gets nan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import int64, njit

from ..arrays import Floats, Ints
from ..deadline import now
from ..fit.kernels.elementary import PART, STRICT
from ..fit.kernels.interpreter import backward, forward
from .program import Program

HUGE = 1e12  # times the scale of a state: the trajectory is lost


# Coefficients of Dormand and Prince (1980).
_C = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
_A = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0],
        [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
_E = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])


class Cut(NamedTuple):
    """Segments: the rows [first, last) of each and the lane that it lies in."""

    firsts: Ints
    lasts: Ints
    lanes: Ints


class Lanes(NamedTuple):
    """Columns that are not integrated, one lane after the other: values and slopes on even times, where each lane
    begins and how many rows it has, start and step of its times."""

    table: Floats
    slopes: Floats
    firsts: Ints
    sizes: Ints
    grids: Floats


class Accuracy(NamedTuple):
    """Typical sizes of the states, the error that a step may have beside them, and the most steps of a segment."""

    scales: Floats
    tolerance: float
    max_steps: int = 20_000


class _Drive(NamedTuple):
    """The lane of one segment."""

    table: Floats
    slopes: Floats
    grid: Floats


class _Room(NamedTuple):
    """What a kernel computes in: registers and their adjoints, derivatives of one rate, the stages of a step."""

    work: Floats
    adj: Floats
    jac: Floats
    k: Floats


@njit(**PART)
def _rates(
    now: float, z: Floats, out: Floats, n_wide: int, place: Ints, program: Program, drive: _Drive, room: _Room
) -> None:
    """Rates of the states, and with ``n_wide`` > 0 of their derivatives by starts and constants."""
    n_states, code, results, work, adj, jac = len(place), program.code, program.results, room.work, room.adj, room.jac
    table, slopes, grid = drive.table, drive.slopes, drive.grid
    n_columns = table.shape[1]
    spot = (now - grid[0]) / grid[1]
    k = int(spot)
    k = 0 if k < 0 else (table.shape[0] - 2 if k > table.shape[0] - 2 else k)
    s = spot - k
    h00, h10 = (1.0 + 2.0 * s) * (1.0 - s) ** 2, s * (1.0 - s) ** 2
    h01, h11 = s * s * (3.0 - 2.0 * s), s * s * (s - 1.0)
    for c in range(n_columns):
        work[c] = h00 * table[k, c] + h01 * table[k + 1, c] + grid[1] * (h10 * slopes[k, c] + h11 * slopes[k + 1, c])
    for e in range(n_states):
        work[place[e]] = z[e]
    forward(program.addresses[0], code, int64(0), code.shape[0], work, int64(1), int64(1))
    for e in range(n_states):
        out[e] = work[results[e]]
    if n_wide == 0:
        return
    for e in range(n_states):
        for c in range(n_columns):
            adj[c] = 0.0
        for r in range(program.first_register[e], program.first_register[e + 1]):
            adj[r] = 0.0
        adj[results[e]] = 1.0
        steps = code[program.first_step[e] : program.first_step[e + 1]]
        backward(program.addresses[1], steps, int64(0), int64(0), work, adj, int64(1), int64(1))
        for j in range(n_states):
            jac[j] = adj[place[j]]
        for q in range(n_wide):
            total = 0.0
            for j in range(n_states):
                total += jac[j] * z[n_states + j * n_wide + q]
            out[n_states + e * n_wide + q] = total
        for i in range(program.theta_first[e], program.theta_first[e + 1]):
            out[n_states + e * n_wide + n_states + program.thetas[i, 1]] += adj[program.thetas[i, 0]]


@njit(**PART)
def _error(h: float, z: Floats, y: Floats, k: Floats, scales: Floats, tolerance: float) -> float:
    """The error of a step over what is tolerated; inf where the trajectory is lost."""
    worst = 0.0
    for j in range(len(scales)):
        error = 0.0
        for b in range(7):
            error += _E[b] * k[b, j]
        bound = tolerance * (scales[j] + max(abs(z[j]), abs(y[j])))
        worst = max(worst, abs(h * error) / bound)
        if not abs(y[j]) < HUGE * scales[j]:
            worst = np.inf
    return worst


@njit(**PART)
def _segment(
    times: Floats,
    start: Floats,
    states: Floats,
    wide: Floats,
    n_wide: int,
    accuracy: Accuracy,
    place: Ints,
    program: Program,
    drive: _Drive,
    room: _Room,
) -> int:
    """Carry one start through ``times``; the number of steps, or -1 if the trajectory is lost."""
    d = len(start)
    size, k = d * (1 + n_wide), room.k
    z, y = np.zeros(size), np.zeros(size)
    z[:d] = start
    if n_wide:
        for e in range(d):
            z[d + e * n_wide + e] = 1.0
    states[0] = start
    if n_wide:
        wide[0] = z[d:].reshape(d, n_wide)
    now = times[0]
    _rates(now, z, k[0], n_wide, place, program, drive, room)
    step = times[1] - times[0] if len(times) > 1 else 0.0
    count = 0
    for i in range(1, len(times)):
        while now < times[i]:
            count += 1
            if count > accuracy.max_steps:
                return -1
            left = times[i] - now
            last = step >= left * (1.0 - 1e-10)
            # Two equal steps rather than a long and a tiny one.
            h = left if last else (0.5 * left if step > 0.5 * left else step)
            for stage in range(1, 7):
                for j in range(size):
                    total = 0.0
                    for b in range(stage):
                        total += _A[stage, b] * k[b, j]
                    y[j] = z[j] + h * total
                _rates(now + _C[stage] * h, y, k[stage], n_wide, place, program, drive, room)
            worst = _error(h, z, y, k, accuracy.scales, accuracy.tolerance)
            if worst <= 1.0:
                now = times[i] if last else now + h
                z[:] = y
                k[0] = k[6]
                grow = 5.0 if worst < 1e-4 else min(5.0, 0.9 * worst**-0.2)
                if not last or h >= 0.5 * step:
                    step = h * max(grow, 0.2)
            else:
                shrink = 0.1 if not worst < np.inf else max(0.1, 0.9 * worst**-0.2)
                step = h * shrink
                if step < 1e-13 * max(abs(now), times[-1] - times[0]):
                    return -1
        states[i] = z[:d]
        if n_wide:
            wide[i] = z[d:].reshape(d, n_wide)
    return count


@njit(**STRICT)
def _all_segments(
    cut: Cut,
    lanes: Lanes,
    times: Floats,
    starts: Floats,
    params: Floats,
    accuracy: Accuracy,
    place: Ints,
    program: Program,
    states: Floats,
    wide: Floats,
    n_wide: int,
) -> int:
    """All segments; returns how many were lost (their rows are nan)."""
    d = starts.shape[1]
    work = program.constants.copy()
    for i in range(len(program.thetas)):
        work[program.thetas[i, 0]] = params[program.thetas[i, 1]]
    room = _Room(work, np.zeros_like(work), np.empty(d), np.zeros((7, d * (1 + n_wide))))
    lost = 0
    for m in range(len(cut.firsts)):
        a, b, lane = cut.firsts[m], cut.lasts[m], cut.lanes[m]
        first, last = lanes.firsts[lane], lanes.firsts[lane] + lanes.sizes[lane]
        drive = _Drive(lanes.table[first:last], lanes.slopes[first:last], lanes.grids[lane])
        used = _segment(times[a:b], starts[m], states[a:b], wide[a:b], n_wide, accuracy, place, program, drive, room)
        if used < 0:
            lost += 1
            states[a:b] = np.nan
    return lost


def make_lanes(tables: Sequence[Floats], slopes: Sequence[Floats], grids: Sequence[tuple[float, float]]) -> Lanes:
    """From the columns of every lane, their slopes, and start and step of its times."""
    sizes = np.array([len(table) for table in tables], dtype=np.int64)
    return Lanes(
        np.ascontiguousarray(np.concatenate(tables)),
        np.ascontiguousarray(np.concatenate(slopes)),
        np.cumsum(sizes) - sizes,
        sizes,
        np.array(grids, dtype=np.float64),
    )


def integrate(
    program: Program,
    params: Floats,
    place: Ints,
    lanes: Lanes,
    cut: Cut,
    times: Floats,
    starts: Floats,
    accuracy: Accuracy,
    *,
    sensitivities: bool = True,
) -> tuple[Floats, Floats, int]:
    """States (n, d), their derivatives (n, d, d + p) by segment start and constants, and how many were lost."""
    d = starts.shape[1]
    n_wide = d + program.n_params if sensitivities else 0
    states, wide = np.full((len(times), d), np.nan), np.zeros((len(times), d, max(n_wide, 1)))
    starts, params = np.ascontiguousarray(starts), np.asarray(params, dtype=np.float64)
    lost = _all_segments(cut, lanes, times, starts, params, accuracy, place, program, states, wide, n_wide)
    return states, wide, int(lost)


def warm_up() -> float:
    """Compile the kernel or load it from the disk; the seconds of a compilation, which no time limit counts."""
    from ..symbolic.expr import Param, Var
    from .program import compile_system

    program = compile_system([Var(0) * Param(0)], 2, 1)
    lanes = make_lanes([np.zeros((2, 2))], [np.zeros((2, 2))], [(0.0, 1.0)])
    none, accuracy = np.array([0]), Accuracy(np.ones(1), 1e-3)
    times, start = np.array([0.0, 1.0]), np.array([[1.0]])
    began, compiled = now(), sum(_all_segments.stats.cache_misses.values())
    integrate(program, np.array([0.1]), none, lanes, Cut(none, none + 2, none), times, start, accuracy)
    return now() - began if sum(_all_segments.stats.cache_misses.values()) > compiled else 0.0
