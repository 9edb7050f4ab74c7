"""The desk of one island at work: its scratch memory, the values of a plan's parts, and what sums of them can tell.

Sums of products of columns, gathered row by row, say what the best coefficients would leave of y, several times sooner
than orthogonal columns do, and what is left without one column or another at the price of a few numbers.  They cannot
tell where little is left or columns are nearly the same.  Knows no population and no moves.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import int64, njit, uint64

from ...arrays import Floats
from ...fit.kernels.interpreter import forward
from ...fit.kernels.least_squares import PART as SUMS
from ...fit.kernels.projection import Data, fill, stride_of
from .genome import LONGEST, PART, Genome, Ints, new_genome
from .terms import MOST_TERMS, N_CODE, N_UNKNOWNS, Plan, most_registers, new_plan

_SEEN, _APART = 1e-6, 1e-8  # shares of y and of a column below which sums cannot tell what is left


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
    sums: Floats  # over rows, of products of columns; the last one is y
    fewer: Floats  # the same, without the columns whose coefficients are held


def new_desk(n_columns: int, n_rows: int) -> Desk:
    stride = (((n_rows + 7) // 8) | 1) * 8
    m = MOST_TERMS + 1
    work = np.zeros((most_registers(n_columns) + 1) * stride)
    return Desk(
        plan=new_plan(),
        work=work,
        table=work.reshape(-1, stride),
        Q=np.zeros((m, stride)),
        R=np.zeros((m + 1, m + 1)),
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
        sums=np.zeros((m + 1, m + 1)),
        fewer=np.zeros((m + 1, m + 1)),
    )


@njit(**PART)
def lay(desk: Desk, data: Data) -> None:
    """Columns, the number 1, and y behind all others, into their registers, where they stay."""
    X, work = data.X, desk.work
    d, n = X.shape
    stride = stride_of(n)
    for j in range(d):
        for i in range(n):
            work[j * stride + i] = X[j, i]
    fill(work, d * stride, n, 1.0)
    y, last = data.y, work.shape[0] - stride
    for i in range(n):
        work[last + i] = y[i]


@njit(**PART)
def run(desk: Desk, data: Data, row: int, n: int, address: int) -> None:
    """The values of all parts at ``plan.theta`` on the rows from ``row`` to n."""
    plan, stride = desk.plan, stride_of(data.y.shape[0])
    for k in range(plan.counts[N_UNKNOWNS]):
        fill(desk.work, (plan.layout[2] + k) * stride + row, n - row, plan.theta[k])
    forward(address, plan.code, int64(0), plan.counts[N_CODE], desk.work, stride, n, row)


@njit(**PART)
def release(desk: Desk) -> None:
    """All coefficients are to be fitted."""
    for k in range(desk.held.shape[0]):
        desk.held[k] = np.nan


@njit(**SUMS)
def _product(work: Floats, a: Any, b: Any, n: Any) -> float:
    """The sum over n rows from a and b on; nothing is stored here, so its order is fixed.

    Places are unsigned, because signed ones would be checked for wrap-around on every access.
    """
    total = 0.0
    for i in range(n):
        total += work[a + i] * work[b + i]
    return total


@njit(**PART)
def gather(desk: Desk, row: int, n: int) -> None:
    """Add the rows from ``row`` to n to the sums; the first row begins them anew."""
    phi, work, sums, stride = desk.plan.phi, desk.work, desk.sums, desk.table.shape[1]
    m, y, rows = desk.plan.layout[6], desk.table.shape[0] - 1, uint64(n - row)
    for k in range(m + 1):
        right = uint64((phi[k] if k < m else y) * stride + row)
        for j in range(k + 1):
            found = _product(work, uint64((phi[j] if j < m else y) * stride + row), right, rows)
            sums[j, k] = found if row == 0 else sums[j, k] + found


@njit(**PART)
def left_of(sums: Floats, G: Floats, m: int, least: float) -> float:
    """What m columns leave of the one behind them; inf where one is not finite, nan where it cannot be told.

    G is scratch: the Cholesky factor, with inverses on its diagonal.
    """
    rest = 0.0
    for k in range(m + 1):
        own = sums[k, k]
        rest = own
        for j in range(k):
            shared = sums[j, k]
            for i in range(j):
                shared -= G[i, j] * G[i, k]
            shared *= G[j, j]
            G[j, k] = shared
            rest -= shared * shared
        if not own < np.inf:
            return np.inf
        if not rest > (_APART * own if k < m else least):
            return np.nan
        G[k, k] = 1.0 / math.sqrt(rest)
    return rest


@njit(**PART)
def told(desk: Desk) -> float:
    """What the best coefficients leave of the rows that were gathered."""
    m = desk.plan.layout[6]
    return left_of(desk.sums, desk.R, m, _SEEN * desk.sums[m, m])


@njit(**PART)
def told_with_held(desk: Desk) -> float:
    """The same where some coefficients are held: y less their share, by the other columns."""
    sums, fewer, held, m = desk.sums, desk.fewer, desk.held, desk.plan.layout[6]
    b = int64(0)
    for k in range(m + 1):
        if k < m and held[k] == held[k]:
            continue
        a = 0
        for j in range(k + 1):
            if j == m or held[j] != held[j]:
                fewer[a, b] = sums[j, k]
                a += 1
        b += 1
    b -= 1  # y
    for h in range(m):
        if held[h] != held[h] or held[h] == 0.0:
            continue
        a = 0
        for j in range(m):
            if held[j] != held[j]:
                fewer[a, b] -= held[h] * sums[min(j, h), max(j, h)]
                a += 1
            elif held[j] != 0.0:
                fewer[b, b] += held[h] * held[j] * sums[min(j, h), max(j, h)]
        fewer[b, b] -= 2.0 * held[h] * sums[h, m]
    return left_of(fewer, desk.R, b, _SEEN * sums[m, m])
