"""A genome as a sum of terms, y = c_0 + sum_k c_k term_k(theta).

``cut`` takes the top of the formula apart and drops every constant that a coefficient c_k can stand for; ``bake`` puts
terms, fitted numbers and coefficients together again as one genome.  Knows no data (program.py writes the terms as
instructions).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int64, njit

from ...arrays import Floats
from .genome import (
    ADD,
    CONST,
    DIV,
    EXP,
    KIND,
    LONGEST,
    MUL,
    NEG,
    PART,
    POW,
    SUB,
    Genome,
    Ints,
    begin_of,
    clear,
    copy,
    emit,
)

MOST_TERMS = 12
STEPS = 7  # instructions of one token at most

# Of a part whose constants went into the coefficient: something is left, a factor 1, a summand 0.
_LEFT, _ONE, _ZERO = 0, 1, 2


class Plan(NamedTuple):
    """Terms of one formula and their program; the arrays are used again for every child."""

    bare: Genome  # the terms one after the other, without coefficients
    ends: Ints  # the last token of each
    code: Ints  # instructions, those that depend on no unknown first
    late: Ints  # the others, while the program is written
    layout: Ints  # as in fit.projection
    phi: Ints  # registers of 1 and of the terms
    theta: Floats  # numbers inside the terms
    spots: Ints  # the tokens they belong to
    counts: Ints  # terms, instructions, late ones, next free registers (fixed and moving), unknowns
    stack: Ints
    marks: Ints
    hashes: Any


N_TERMS, N_CODE, N_LATE, NEXT_FIXED, NEXT_MOVING, N_UNKNOWNS = range(6)


def new_plan() -> Plan:
    return Plan(
        bare=Genome(np.zeros(LONGEST, dtype=np.int64), np.zeros(LONGEST), np.zeros(1, dtype=np.int64)),
        ends=np.zeros(LONGEST, dtype=np.int64),
        code=np.zeros((LONGEST * STEPS, 4), dtype=np.int64),
        late=np.zeros((LONGEST * STEPS, 4), dtype=np.int64),
        layout=np.zeros(7, dtype=np.int64),
        phi=np.zeros(MOST_TERMS + 1, dtype=np.int64),
        theta=np.zeros(LONGEST),
        spots=np.zeros(LONGEST, dtype=np.int64),
        counts=np.zeros(6, dtype=np.int64),
        stack=np.zeros(2 * LONGEST, dtype=np.int64),
        marks=np.zeros(2 * LONGEST, dtype=np.int64),
        hashes=np.zeros(LONGEST, dtype=np.uint64),
    )


def most_registers(n_columns: int) -> int:
    return n_columns + 1 + 2 * STEPS * LONGEST


@njit(**PART)
def cut(genome: Genome, plan: Plan, free: bool) -> bool:
    """The terms into ``plan.bare``; without ``free`` coefficients the whole formula is one.  False: too many."""
    tokens, stack, bare = genome.tokens, plan.stack, plan.bare
    clear(bare)
    plan.counts[N_TERMS] = 0
    if not free:
        copy(bare, genome, int64(0), genome.length[0])
        plan.counts[N_TERMS], plan.ends[0] = 1, bare.length[0] - 1
        return True
    top = 1
    stack[0] = genome.length[0] - 1
    while top > 0:
        top -= 1
        last = stack[top]
        kind = tokens[last] & KIND
        if kind == ADD or kind == SUB:
            stack[top + 1] = last - 1
            stack[top] = begin_of(tokens, last - 1) - 1
            top += 2
        elif kind == NEG:
            stack[top] = last - 1
            top += 1
        else:
            before, first = bare.length[0], begin_of(tokens, last)
            _mark(genome, plan, first, last, top)
            _strip(genome, plan, first, last + 1)
            if bare.length[0] > before:
                if plan.counts[N_TERMS] == MOST_TERMS or bare.length[0] > LONGEST:
                    return False
                plan.ends[plan.counts[N_TERMS]] = bare.length[0] - 1
                plan.counts[N_TERMS] += 1
    return plan.counts[N_TERMS] > 0


@njit(**PART)
def _mark(genome: Genome, plan: Plan, first: int, last: int, bottom: int) -> None:
    """Which constants of the term a coefficient stands for: factors, also of powers, and summands of an exponent."""
    tokens, stack, marks = genome.tokens, plan.stack, plan.marks
    for i in range(first, last + 1):
        marks[i] = _LEFT
    top, outer = bottom + 1, bottom  # what is below belongs to other terms
    stack[bottom] = 2 * last  # twice the place, plus 1 where only positive factors can be taken out
    while top > outer:
        top -= 1
        i, picky = stack[top] // 2, stack[top] % 2
        kind = tokens[i] & KIND
        if kind == CONST:
            if not picky or genome.values[i] > 0.0:
                marks[i] = _ONE
        elif kind == MUL:
            stack[top] = 2 * (begin_of(tokens, i - 1) - 1) + picky
            stack[top + 1] = 2 * (i - 1) + picky
            top += 2
        elif kind == DIV:
            right = begin_of(tokens, i - 1)
            if tokens[i - 1] == CONST and (not picky or genome.values[i - 1] > 0.0):
                marks[i - 1] = _ONE
            stack[top] = 2 * (right - 1) + picky
            top += 1
        elif kind == POW:
            whole = genome.values[i] == np.floor(genome.values[i])
            stack[top] = 2 * (i - 1) + (picky if whole else 1)
            top += 1
        elif kind == EXP:
            _mark_summands(genome, marks, i - 1)


@njit(**PART)
def _mark_summands(genome: Genome, marks: Ints, last: int) -> None:
    """Constants in the sum that ends with token ``last``, down one side of it."""
    tokens, i = genome.tokens, last
    while tokens[i] == ADD or tokens[i] == SUB:
        left = begin_of(tokens, i - 1) - 1
        if tokens[i - 1] == CONST:
            marks[i - 1] = _ZERO
            i = left
        elif tokens[left] == CONST:
            marks[left] = _ZERO
            i = i - 1
        else:
            return


@njit(**PART)
def _strip(genome: Genome, plan: Plan, first: int, last: int) -> None:
    """Copy a term without the constants that are marked."""
    tokens, marks, bare = genome.tokens, plan.marks, plan.bare
    top = LONGEST  # what is left of every part read so far, above the marks
    for i in range(first, last):
        kind = tokens[i] & KIND
        if kind <= CONST:
            left = marks[i]
            if left == _LEFT:
                emit(bare, tokens[i], genome.values[i])
            marks[top] = left
            top += 1
        elif kind <= DIV:
            top -= 1
            a, b = marks[top - 1], marks[top]
            if a == _LEFT and b == _LEFT:
                emit(bare, tokens[i], genome.values[i])
            elif b == _LEFT and kind == DIV:
                emit(bare, POW, -1.0)
            elif b == _LEFT and kind == SUB:
                emit(bare, NEG, 0.0)
            marks[top - 1] = _LEFT if a == _LEFT or b == _LEFT else a
        elif marks[top - 1] == _LEFT:
            emit(bare, tokens[i], genome.values[i])
        else:
            marks[top - 1] = _ONE


@njit(**PART)
def bake(plan: Plan, coefficients: Floats, free: bool, into: Genome) -> None:
    """One genome of the terms with these coefficients (the first is the summand) and ``plan.theta``."""
    bare = plan.bare
    for k in range(plan.counts[N_UNKNOWNS]):
        bare.values[plan.spots[k]] = plan.theta[k]
    clear(into)
    if not free:
        copy(into, bare, int64(0), bare.length[0])
        return
    begin, n = int64(0), 0
    for k in range(plan.counts[N_TERMS]):
        end, c = plan.ends[k] + 1, coefficients[k + 1]
        if c != 0.0:
            copy(into, bare, begin, end)
            if c == -1.0 and n == 0:
                emit(into, NEG, 0.0)
            elif abs(c) != 1.0:
                emit(into, CONST, c)
                emit(into, MUL, 0.0)
            if n > 0:
                emit(into, SUB if c == -1.0 else ADD, 0.0)
            n += 1
        begin = end
    if coefficients[0] != 0.0 or n == 0:
        emit(into, CONST, coefficients[0])
        if n > 0:
            emit(into, ADD, 0.0)
