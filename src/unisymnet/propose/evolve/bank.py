"""Parts that are solved for: what a part of a formula would have to be, and which of many units comes nearest.

Everything on the way from the output to a part is undone, row by row: for y to be x0*sin(P) + x1 the part P must be
asin((y - x1)/x0), on the branch next to its present values.  One pass over the bank, a thousand units with their
values, finds the unit u with P = a + b*u as nearly as possible, so that a move need not guess (ADR 23).  Knows no
population.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import int64, njit
from numpy.typing import NDArray

from ...arrays import Floats
from ...fit.kernels.least_squares import PART as SUMS
from ...fit.kernels.projection import Data, stride_of
from .births import Rules
from .genome import (
    ABS,
    ADD,
    CONST,
    COS,
    EXP,
    KIND,
    LN,
    LONGEST,
    MUL,
    NEG,
    ONCE,
    PART,
    POW,
    SIN,
    SUB,
    TAN,
    TANH,
    Genome,
    Ints,
    arity,
    begin_of,
    below,
    copy,
    emit,
    uniform,
)

LONGEST_UNIT = 24  # tokens
LEAST_ROWS = 0.6  # of all, on which a part must be able to do what is wanted
MOST_WEIGHT = 30.0  # of a row, over the (geometric) mean
CHOICES = 4  # the best units among which chance decides
SAME = 1e-5  # a summand below this share of the unit's spread is none, a factor this near to 1 is 1
_TINY = np.float32(1e-6)


class Bank(NamedTuple):
    """Units as genomes and their values, mean 0 and spread 1; ``filled`` is how many there are."""

    tokens: Ints
    values: Floats
    lengths: Ints
    columns: NDArray[np.float32]
    means: Floats
    spreads: Floats
    filled: Ints
    target: Floats  # scratch: what is wanted, and by how much it moves where y moves by 1
    slope: Floats
    heavy: NDArray[np.float32]
    aim: NDArray[np.float32]
    explained: NDArray[np.float32]


def new_bank(n_units: int, n_rows: int) -> Bank:
    return Bank(
        tokens=np.zeros((n_units, LONGEST_UNIT), dtype=np.int64),
        values=np.zeros((n_units, LONGEST_UNIT)),
        lengths=np.zeros(n_units, dtype=np.int64),
        columns=np.zeros((n_units, n_rows), dtype=np.float32),
        means=np.zeros(n_units),
        spreads=np.zeros(n_units),
        filled=np.zeros(1, dtype=np.int64),
        target=np.zeros(n_rows),
        slope=np.zeros(n_rows),
        heavy=np.zeros(n_rows, dtype=np.float32),
        aim=np.zeros(n_rows, dtype=np.float32),
        explained=np.zeros(n_units, dtype=np.float32),
    )


@njit(**PART)
def store(bank: Bank, genome: Genome, work: Floats, place: int, n: int) -> None:
    """Add a unit whose values begin at ``work[place]``, if it is defined on all rows and varies."""
    k, length, columns = bank.filled[0], genome.length[0], bank.columns
    if k >= bank.lengths.shape[0] or length > LONGEST_UNIT:
        return
    mean, largest = 0.0, 0.0
    for i in range(n):
        mean += work[place + i]
        largest = max(largest, abs(work[place + i]))
    mean /= n
    if not abs(mean) < 1e100:
        return
    spread = 0.0
    for i in range(n):
        spread += (work[place + i] - mean) ** 2
    spread = math.sqrt(spread / n)
    if not 1e-9 * largest < spread < 1e9:
        return
    for i in range(n):
        columns[k, i] = np.float32((work[place + i] - mean) / spread)
    for i in range(length):
        bank.tokens[k, i], bank.values[k, i] = genome.tokens[i], genome.values[i]
    bank.lengths[k], bank.means[k], bank.spreads[k] = length, mean, spread
    bank.filled[0] = k + 1


@njit(**PART)
def _root(t: float, exponent: float, now: float) -> float:
    """The base of a power; an even one keeps its sign."""
    if exponent == 0.0:
        return np.nan
    base = abs(t) ** (1.0 / exponent)
    if exponent == np.floor(exponent):
        if exponent % 2.0 == 0.0:
            return (base if now > 0.0 else -base) if t > 0.0 else np.nan
        return base if t > 0.0 else -base
    return base if t > 0.0 else np.nan


@njit(**PART)
def _arc(t: float, now: float) -> float:
    """The angle next to ``now`` whose sine is t."""
    base = math.asin(t)
    turn = 2.0 * math.pi
    a = base + turn * np.floor((now - base) / turn + 0.5)
    b = math.pi - base
    b += turn * np.floor((now - b) / turn + 0.5)
    return a if abs(a - now) <= abs(b - now) else b


@njit(**PART)
def _undo_function(kind: int, exponent: float, t: float, now: float) -> tuple[float, float]:
    """The argument that gives t, next to ``now``, and by how much it moves with t; nan where there is none."""
    if kind == NEG:
        return -t, 1.0
    if kind == POW:
        base = _root(t, exponent, now)
        return base, abs(base / (exponent * t))
    if kind == EXP:
        return (math.log(t), 1.0 / t) if t > 0.0 else (np.nan, 1.0)
    if kind == LN:
        return (math.exp(t), math.exp(t)) if t < 300.0 else (np.nan, 1.0)
    if kind == ABS:
        return (t if now > 0.0 else -t, 1.0) if t >= 0.0 else (np.nan, 1.0)
    if kind == SIN or kind == COS:
        if not abs(t) < 1.0:
            return np.nan, 1.0
        shift = 0.5 * math.pi if kind == COS else 0.0
        return _arc(t, now + shift) - shift, 1.0 / math.sqrt(1.0 - t * t)
    if kind == TANH:
        return (math.atanh(t), 1.0 / (1.0 - t * t)) if abs(t) < 1.0 else (np.nan, 1.0)
    if kind == TAN:
        base = math.atan(t)
        return base + math.pi * np.floor((now - base) / math.pi + 0.5), 1.0 / (1.0 + t * t)
    return np.nan, 1.0


@njit(**PART)
def _undo_operator(kind: int, right: bool, work: Floats, other: int, bank: Bank, n: int) -> None:
    """What the left or right argument has to be where the other is what it is."""
    t, s = bank.target, bank.slope
    if kind == ADD:
        for i in range(n):
            t[i] -= work[other + i]
    elif kind == SUB:
        for i in range(n):
            t[i] = work[other + i] - t[i] if right else t[i] + work[other + i]
    elif kind == MUL:
        for i in range(n):
            t[i] /= work[other + i]
            s[i] /= abs(work[other + i])
    elif right:
        for i in range(n):
            s[i] *= abs(work[other + i]) / (t[i] * t[i])
            t[i] = work[other + i] / t[i]
    else:
        for i in range(n):
            t[i] *= work[other + i]
            s[i] *= abs(work[other + i])


@njit(**PART)
def want(genome: Genome, registers: Ints, work: Floats, place: int, data: Data, bank: Bank) -> None:
    """Of the part that ends with token ``place``: the values it would have to have into ``bank.target``."""
    n = data.y.shape[0]
    stride, at = stride_of(n), genome.length[0] - 1
    t, s, y = bank.target, bank.slope, data.y
    for i in range(n):
        t[i], s[i] = y[i], 1.0
    while at != place:
        kind = genome.tokens[at] & KIND
        if arity(genome.tokens[at]) == 2:
            left = begin_of(genome.tokens, at - 1) - 1
            goes_right = place > left
            other = left if goes_right else at - 1
            _undo_operator(kind, goes_right, work, registers[LONGEST + other] * stride, bank, n)
            at = at - 1 if goes_right else left
        else:
            exponent, now = genome.values[at], registers[LONGEST + at - 1] * stride
            for i in range(n):
                t[i], moved = _undo_function(kind, exponent, t[i], work[now + i])
                s[i] *= abs(moved)
            at -= 1


@njit(**SUMS)
def _moments(columns: Any, k: int, heavy: Any, aim: Any, n: int) -> Any:
    """Sums over rows of weight * u, aim * u and weight * u**2; nothing is stored here, so their order is fixed."""
    mean, shared, square = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for i in range(n):
        u = columns[k, i]
        mean += heavy[i] * u
        shared += aim[i] * u
        square += heavy[i] * u * u
    return mean, shared, square


@njit(**PART)
def _weigh(bank: Bank, root: Floats, n: int) -> tuple[float, float]:
    """Rows weighted as errors of y would be; mean and spread of the target, or a spread of 0 where it will not do."""
    t, s = bank.target, bank.slope
    good, logs = 0, 0.0
    for i in range(n):
        weight = (root[i] if root.shape[0] > 0 else 1.0) / s[i]
        s[i] = weight if 0.0 < weight < 1e100 and abs(t[i]) < 1e100 else 0.0
        if s[i] > 0.0:
            good += 1
            logs += math.log(s[i])
    if good < LEAST_ROWS * n:
        return 0.0, 0.0
    most, mass = MOST_WEIGHT * math.exp(logs / good), 0.0
    for i in range(n):
        s[i] = min(s[i], most) ** 2
        mass += s[i]
    mean, spread = 0.0, 0.0
    for i in range(n):
        s[i] /= mass
        t[i] = t[i] if s[i] > 0.0 else 0.0
        mean += s[i] * t[i]
    for i in range(n):
        spread += s[i] * (t[i] - mean) ** 2
    return mean, math.sqrt(spread)


@njit(**PART)
def _nearest(bank: Bank, n: int, state: Any) -> int:
    """One of the best units for the target, -1 if none helps."""
    for k in range(bank.filled[0]):
        mean, shared, square = _moments(bank.columns, k, bank.heavy, bank.aim, n)
        bank.explained[k] = shared * shared / max(square - mean * mean, _TINY)
    chosen, wanted = int64(-1), 0
    while wanted < CHOICES - 1 and uniform(state) < 0.5:
        wanted += 1
    for _ in range(wanted + 1):
        best = -1
        for k in range(bank.filled[0]):
            if bank.explained[k] > 0.0 and (best < 0 or bank.explained[k] > bank.explained[best]):
                best = k
        if best < 0:
            return chosen
        chosen = best
        bank.explained[best] = -1.0
    return chosen


@njit(**ONCE)
def solved(
    child: Genome, genome: Genome, registers: Ints, work: Floats, data: Data, bank: Bank, rules: Rules, state: Any
) -> bool:
    """The formula with a random part replaced by, increased by or multiplied with the unit that helps most.

    ``registers`` say where in ``work`` the values of the parts of ``genome`` are.
    """
    n, t, s, heavy, aim = data.y.shape[0], bank.target, bank.slope, bank.heavy, bank.aim
    place, kind = below(state, genome.length[0]), below(state, int64(3))
    if bank.filled[0] == 0 or (kind == 1 and not rules.can_add) or (kind == 2 and not rules.can_multiply):
        return False
    want(genome, registers, work, place, data, bank)
    now = registers[LONGEST + place] * stride_of(n)
    if kind == 1:
        for i in range(n):
            t[i] -= work[now + i]
    elif kind == 2:
        for i in range(n):
            t[i] /= work[now + i]
            s[i] /= abs(work[now + i])
    mean, spread = _weigh(bank, data.root, n)
    if not (0.0 < spread < 1e100):
        return False
    for i in range(n):
        heavy[i] = np.float32(s[i])
        aim[i] = np.float32(s[i] * ((t[i] - mean) / spread))
    k = _nearest(bank, n, state)
    if k < 0:
        return False
    middle, shared, square = _moments(bank.columns, k, heavy, aim, n)
    factor = spread * float(shared) / max(float(square) - float(middle) ** 2, 1e-6)
    summand = mean - factor * (float(middle) + bank.means[k] / bank.spreads[k])
    _write(child, genome, place, kind, bank, k, factor, summand, rules)
    return True


@njit(**PART)
def _write(
    child: Genome,
    genome: Genome,
    place: int,
    kind: int,
    bank: Bank,
    k: int,
    factor: float,
    summand: float,
    rules: Rules,
) -> None:
    child.length[0] = 0
    copy(child, genome, int64(0), begin_of(genome.tokens, place) if kind == 0 else place + 1)
    for i in range(bank.lengths[k]):
        emit(child, bank.tokens[k, i], bank.values[k, i])
    slope = factor / bank.spreads[k]
    if rules.can_multiply and abs(slope - 1.0) > SAME:
        emit(child, CONST, slope)
        emit(child, MUL, 0.0)
    if rules.can_add and abs(summand) > SAME * abs(factor):
        emit(child, CONST, summand)
        emit(child, ADD, 0.0)
    if kind > 0:
        emit(child, ADD if kind == 1 else MUL, 0.0)
    copy(child, genome, place + 1, genome.length[0])
