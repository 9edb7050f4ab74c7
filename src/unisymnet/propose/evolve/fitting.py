"""Numbers for a genome: coefficients by projection, the numbers inside by a few steps, and idle ones taken out.

Everything goes through the kernels of fits: the interpreter for values, orthogonal columns for the coefficients,
``compete`` (Levenberg-Marquardt) for the rest.  Knows no population and no moves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import int64, njit

from ...arrays import Floats
from ...candidate import RARE_NATS, TOKEN_NATS
from ...fit.kernels.least_squares import back_substitute, dot, orthogonal, orthogonalise, project_out
from ...fit.kernels.levenberg import BRIEF, FIRST_DAMPING, LOSS, N_TRIALS, Starts, compete
from ...fit.kernels.projection import Data, Program, stride_of
from ...fit.kernels.refer import hold, refer
from .desk import Desk, gather, release, run, told, told_with_held
from .genome import CONST, KIND, ONCE, PART, POW, Genome, is_plain, n_rare, size_of
from .program import build
from .terms import N_CODE, N_UNKNOWNS, bake

_TOL = 1e-7
_DOUBT = 0.1  # nats by which sums may be wrong


class Scale(NamedTuple):
    """What losses are measured with: total weight, the loss that is rounding, and ln of the number of rows."""

    mass: float
    floor: float
    n_rows: int
    free: bool  # may a formula have coefficients and a summand
    max_size: int


@njit(**PART)
def resolve(desk: Desk, data: Data, n: int) -> float:
    """The best coefficients for the present values of n rows; the sum of squares that is left, inf if undefined."""
    plan, Q, r, work = desk.plan, desk.Q, desk.r, desk.work
    y, root, zero = data.y, data.root, int64(0)
    stride = stride_of(y.shape[0])
    for i in range(n):
        r[0, i] = y[i]
    if plan.layout[4] >= 0:
        _subtract(r, 1.0, work, plan.layout[4] * stride, n)
    m = zero
    for k in range(plan.layout[6]):
        place, held = plan.phi[k] * stride, desk.held[k]
        if held == held:
            if held != 0.0:
                _subtract(r, held, work, place, n)
        elif root.shape[0] > 0:
            for i in range(n):
                Q[m, i] = work[place + i] * root[i]
            m += 1
        elif orthogonal(desk.table, plan.phi[k], Q, desk.R, m, n):
            m += 1
        else:
            return np.inf
    if root.shape[0] > 0:
        for i in range(n):
            r[0, i] *= root[i]
        if not orthogonalise(Q, desk.R, zero, m, n):
            return np.inf
    project_out(Q, m, r, zero, desk.z, n)
    loss = dot(r, zero, r, zero, n)
    back_substitute(desk.R, desk.z, m, desk.c)
    m = 0
    for k in range(plan.layout[6]):
        held = desk.held[k]
        desk.coefficients[k] = held if held == held else desk.c[m]
        m += 0 if held == held else 1
        if not abs(desk.coefficients[k]) < 1e100:
            return np.inf
    return loss if loss < np.inf else np.inf


@njit(**PART)
def estimate(desk: Desk, data: Data, row: int, n: int) -> float:
    """What ``resolve`` would leave of n rows, sooner: from sums, to which rows are added from ``row`` on; else nan."""
    if data.root.shape[0] > 0 or desk.plan.layout[4] >= 0:
        return np.nan
    gather(desk, row, n)
    return told(desk)


@njit(**PART)
def _subtract(r: Floats, factor: float, work: Floats, place: int, n: int) -> None:
    for i in range(n):
        r[0, i] -= factor * work[place + i]


@njit(**ONCE)
def improve(desk: Desk, data: Data, scale: Scale, addresses: tuple[int, int, int], steps: int) -> tuple[float, int]:
    """A few steps for the numbers inside; the sum of squares, and how many trials it took."""
    plan = desk.plan
    p, m = plan.counts[N_UNKNOWNS], plan.layout[6]
    program = Program(
        addresses[0], addresses[1], plan.code[: plan.counts[N_CODE]], plan.layout, desk.ones, plan.phi[:m]
    )
    thetas, cs, progress, states = np.empty((1, p)), np.zeros((1, m)), np.zeros((1, 4)), np.full(1, BRIEF, np.int64)
    for k in range(p):
        thetas[0, k] = plan.theta[k]
    progress[0, 0], progress[0, 1] = np.inf, FIRST_DAMPING
    starts = Starts(thetas, cs, progress, states)
    best = compete(addresses[2], refer(program), data, refer(starts), scale.floor * scale.mass, _TOL, steps)
    hold(starts)
    if best < 0:
        return np.inf, 1
    for k in range(p):
        plan.theta[k] = thetas[0, k]
    for k in range(m):
        desk.coefficients[k] = cs[0, k]
    return progress[0, LOSS], int64(progress[0, N_TRIALS])


@njit(**PART)
def n_numbers(genome: Genome, first: int, last: int) -> int:
    """Numbers to be fitted in a part of a formula."""
    found = 0
    for i in range(first, last):
        kind = genome.tokens[i] & KIND
        found += 1 if kind == CONST or (kind == POW and not is_plain(genome.values[i])) else 0
    return found


@njit(**PART)
def misfit_of(loss: float, scale: Scale) -> float:
    return 0.5 * scale.n_rows * math.log(max(loss, scale.floor))


@njit(**PART)
def words_of(size: int, numbers: int, scale: Scale) -> float:
    return 0.5 * numbers * math.log(float(scale.n_rows)) + size * TOKEN_NATS


@njit(**PART)
def score_of(genome: Genome, size: int, loss: float, scale: Scale, desk: Desk) -> float:
    """The description length: misfit, numbers, symbols, rare functions."""
    n = genome.length[0]
    words = words_of(size, n_numbers(genome, int64(0), n), scale)
    return misfit_of(loss, scale) + words + n_rare(genome.tokens, n, desk.masks) * RARE_NATS


@njit(**PART)
def _tried(desk: Desk, data: Data, scale: Scale, best: float) -> tuple[float, float]:
    """Loss and score with the coefficients held as they are now; inf unless better than ``best``."""
    loss, spare = resolve(desk, data, data.y.shape[0]) / scale.mass, desk.spare
    if not loss < np.inf:
        return np.inf, np.inf
    bake(desk.plan, desk.coefficients, scale.free, spare)
    score = score_of(spare, size_of(spare.tokens, spare.values, int64(0), spare.length[0]), loss, scale, desk)
    return (loss, score) if score < best else (np.inf, np.inf)


@njit(**PART)
def _most_saved(desk: Desk, k: int, scale: Scale) -> float:
    """At most so many nats are saved without term k, or without its coefficient (0: without the summand)."""
    plan = desk.plan
    if k <= 0:
        return words_of(int64(2), int64(1), scale)
    first, last = plan.ends[k - 2] + 1 if k > 1 else int64(0), plan.ends[k - 1] + 1
    size = size_of(plan.bare.tokens, plan.bare.values, first, last) + 3
    rare = 0
    for i in range(first, last):
        rare += 1 if plan.bare.tokens[i] & KIND > POW else 0
    return words_of(size, n_numbers(plan.bare, first, last) + 1, scale) + rare * RARE_NATS


@njit(**ONCE)
def prune(
    desk: Desk, data: Data, scale: Scale, address: int, loss: float, score: float, fitted: bool
) -> tuple[float, float]:
    """Take out what does not pay: the summand, whole terms, coefficients next to 1, odd exponents.

    Loss and score of what is left; ``desk.coefficients`` and the plan are what ``bake`` then needs if it is better.
    ``fitted``: numbers inside have moved since the values and the sums were made.
    """
    n, before = data.y.shape[0], score
    loss, score, moved = _round_exponents(desk, data, scale, address, loss, score)
    if fitted or moved:
        run(desk, data, int64(0), n, address)
        estimate(desk, data, int64(0), n)
        resolve(desk, data, n)
    m = desk.plan.layout[6]
    for k in range(m):
        desk.kept[k] = desk.coefficients[k]
    for k in range(m):
        wanted = 1.0 if desk.kept[k] > 0.0 else -1.0
        for attempt in range(2):
            if attempt == 1 and (k == 0 or not 0.5 < abs(desk.kept[k]) < 2.0):
                continue
            desk.held[k] = 0.0 if attempt == 0 else wanted
            saved = _most_saved(desk, k if attempt == 0 else int64(0), scale)
            if data.root.shape[0] == 0 and _costs_more(desk, loss, saved, scale):
                desk.held[k] = np.nan
                continue
            found, better = _tried(desk, data, scale, score)
            if better < score:
                loss, score = found, better
                break
            desk.held[k] = np.nan
    if score < before:
        resolve(desk, data, n)
    release(desk)
    return loss, score


@njit(**PART)
def _costs_more(desk: Desk, loss: float, saved: float, scale: Scale) -> bool:
    """Does what is held now, by the sums, leave more than ``saved`` nats can pay for?"""
    return misfit_of(told_with_held(desk) / scale.mass, scale) - misfit_of(loss, scale) > saved + _DOUBT


@njit(**ONCE)
def _round_exponents(
    desk: Desk, data: Data, scale: Scale, address: int, loss: float, score: float
) -> tuple[float, float, bool]:
    """Halves in place of the free exponents next to them, where that pays; was any tried?"""
    plan, n, moved = desk.plan, data.y.shape[0], False
    bare = plan.bare
    for k in range(plan.counts[N_UNKNOWNS]):
        bare.values[plan.spots[k]] = plan.theta[k]
    for i in range(bare.length[0]):
        if bare.tokens[i] != POW or is_plain(bare.values[i]):
            continue
        before = bare.values[i]
        rounded = 0.5 * np.floor(2.0 * before + 0.5)
        if rounded == 0.0 or abs(rounded - before) > 0.1:
            continue
        moved = True
        for undo in range(2):
            bare.values[i] = before if undo else rounded
            build(plan, data.X.shape[0], scale.free)
            if undo:
                break
            run(desk, data, int64(0), n, address)
            found, better = _tried(desk, data, scale, score)
            if better < score:
                loss, score = found, better
                break
    return loss, score, moved
