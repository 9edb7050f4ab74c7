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
from ...fit.kernels.interpreter import forward
from ...fit.kernels.least_squares import back_substitute, dot, orthogonal, orthogonalise, project_out
from ...fit.kernels.levenberg import BRIEF, FIRST_DAMPING, LOSS, N_TRIALS, Starts, compete
from ...fit.kernels.projection import Data, Program, fill, stride_of
from ...fit.kernels.refer import hold, refer
from .genome import CONST, KINDS, LONGEST, ONCE, PART, POW, Genome, Ints, is_plain, n_rare, new_genome, size_of
from .program import build
from .terms import MOST_TERMS, N_CODE, N_UNKNOWNS, Plan, bake, most_registers, new_plan

_TOL = 1e-7
_SEEN, _APART = 1e-6, 1e-8  # shares of y and of a column below which a Gram matrix cannot tell what is left


class Desk(NamedTuple):
    """Scratch memory of one island at work; ``held`` are coefficients that are not fitted (nan: they are)."""

    plan: Plan
    work: Floats
    table: Floats  # the same memory, a register in each row
    Q: Floats
    R: Floats
    z: Floats
    c: Floats
    r: Floats
    held: Floats
    coefficients: Floats
    kept: Floats
    ones: Floats
    child: Genome
    baked: Genome
    spare: Genome
    masks: Ints


class Scale(NamedTuple):
    """What losses are measured with: total weight, the loss that is rounding, and ln of the number of rows."""

    mass: float
    floor: float
    n_rows: int
    free: bool  # may a formula have coefficients and a summand
    max_size: int


def new_desk(n_columns: int, n_rows: int) -> Desk:
    stride = (((n_rows + 7) // 8) | 1) * 8
    m = MOST_TERMS + 1
    work = np.zeros(most_registers(n_columns) * stride)
    return Desk(
        plan=new_plan(),
        work=work,
        table=work.reshape(-1, stride),
        Q=np.zeros((m, stride)),
        R=np.zeros((m, m)),
        z=np.zeros(m),
        c=np.zeros(m),
        r=np.zeros((1, stride)),
        held=np.full(m, np.nan),
        coefficients=np.zeros(m),
        kept=np.zeros(m),
        ones=np.ones(1),
        child=new_genome(),
        baked=new_genome(),
        spare=new_genome(),
        masks=np.zeros(2 * LONGEST, dtype=np.int64),
    )


@njit(**PART)
def lay(desk: Desk, data: Data) -> None:
    """Columns and the number 1 into their registers, where they stay."""
    X, work = data.X, desk.work
    d, n = X.shape
    stride = stride_of(n)
    for j in range(d):
        for i in range(n):
            work[j * stride + i] = X[j, i]
    fill(work, d * stride, n, 1.0)


@njit(**PART)
def run(desk: Desk, data: Data, row: int, n: int, address: int) -> None:
    """The values of all parts at ``plan.theta`` on the rows from ``row`` to n."""
    plan, stride = desk.plan, stride_of(data.y.shape[0])
    for k in range(plan.counts[N_UNKNOWNS]):
        fill(desk.work, (plan.layout[2] + k) * stride + row, n - row, plan.theta[k])
    forward(address, plan.code, int64(0), plan.counts[N_CODE], desk.work, stride, n, row)


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
def glance(desk: Desk, data: Data, n: int) -> float:
    """What ``resolve`` would leave of n rows, sooner: from a Gram matrix, where that can tell."""
    plan, table, G, z, r = desk.plan, desk.table, desk.R, desk.z, desk.r
    if data.root.shape[0] > 0 or plan.layout[4] >= 0:
        return resolve(desk, data, n)
    zero = int64(0)
    for i in range(n):
        r[0, i] = data.y[i]
    whole = dot(r, zero, r, zero, n)
    left = whole
    for k in range(plan.layout[6]):
        own = dot(table, plan.phi[k], table, plan.phi[k], n)
        z[k] = dot(table, plan.phi[k], r, zero, n)
        rest = own
        for j in range(k):
            shared = dot(table, plan.phi[j], table, plan.phi[k], n)
            for i in range(j):
                shared -= G[i, j] * G[i, k]
            G[j, k] = shared / G[j, j]
            z[k] -= G[j, k] * z[j]
            rest -= G[j, k] * G[j, k]
        if not rest > _APART * own:
            return resolve(desk, data, n)
        G[k, k] = math.sqrt(rest)
        z[k] /= G[k, k]
        left -= z[k] * z[k]
    return left if left > _SEEN * whole else resolve(desk, data, n)


@njit(**PART)
def _subtract(r: Floats, factor: float, work: Floats, place: int, n: int) -> None:
    for i in range(n):
        r[0, i] -= factor * work[place + i]


@njit(**PART)
def release(desk: Desk) -> None:
    """All coefficients are to be fitted."""
    for k in range(desk.held.shape[0]):
        desk.held[k] = np.nan


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
def n_numbers(genome: Genome) -> int:
    """Free numbers of a baked formula."""
    found = 0
    for i in range(genome.length[0]):
        kind = genome.tokens[i] % KINDS
        found += 1 if kind == CONST or (kind == POW and not is_plain(genome.values[i])) else 0
    return found


@njit(**PART)
def score_of(genome: Genome, loss: float, scale: Scale, desk: Desk) -> float:
    """The description length: misfit, numbers, symbols, rare functions."""
    n = genome.length[0]
    size = size_of(genome.tokens, genome.values, int64(0), n)
    misfit = 0.5 * scale.n_rows * math.log(max(loss, scale.floor))
    numbers = 0.5 * n_numbers(genome) * math.log(float(scale.n_rows))
    return misfit + numbers + size * TOKEN_NATS + n_rare(genome.tokens, n, desk.masks) * RARE_NATS


@njit(**PART)
def _tried(desk: Desk, data: Data, scale: Scale, best: float) -> tuple[float, float]:
    """Loss and score with the coefficients held as they are now; inf unless better than ``best``."""
    loss = resolve(desk, data, data.y.shape[0]) / scale.mass
    if not loss < np.inf:
        return np.inf, np.inf
    bake(desk.plan, desk.coefficients, scale.free, desk.spare)
    score = score_of(desk.spare, loss, scale, desk)
    return (loss, score) if score < best else (np.inf, np.inf)


@njit(**ONCE)
def prune(desk: Desk, data: Data, scale: Scale, address: int, loss: float, score: float) -> tuple[float, float]:
    """Take out what does not pay: the summand, whole terms, coefficients next to 1, odd exponents.

    Loss and score of what is left; ``desk.coefficients`` and the plan are what ``bake`` then needs.
    """
    plan, n = desk.plan, data.y.shape[0]
    loss, score = _round_exponents(desk, data, scale, address, loss, score)
    run(desk, data, int64(0), n, address)
    resolve(desk, data, data.y.shape[0])
    m = plan.layout[6]
    for k in range(m):
        desk.kept[k] = desk.coefficients[k]
    for k in range(m):
        wanted = 1.0 if desk.kept[k] > 0.0 else -1.0
        for attempt in range(2):
            if attempt == 1 and (k == 0 or not 0.5 < abs(desk.kept[k]) < 2.0):
                continue
            desk.held[k] = 0.0 if attempt == 0 else wanted
            found, better = _tried(desk, data, scale, score)
            if better < score:
                loss, score = found, better
                break
            desk.held[k] = np.nan
    resolve(desk, data, data.y.shape[0])
    release(desk)
    return loss, score


@njit(**ONCE)
def _round_exponents(
    desk: Desk, data: Data, scale: Scale, address: int, loss: float, score: float
) -> tuple[float, float]:
    """Halves in place of the free exponents next to them, where that pays."""
    plan, n = desk.plan, data.y.shape[0]
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
    return loss, score
