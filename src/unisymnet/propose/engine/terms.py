"""A genome as a sum of terms, y = c_0 + sum_k c_k term_k(theta), and as a program for the kernels of fits.

``cut`` takes the top of the formula apart and drops every constant that a coefficient c_k can stand for; ``build``
writes the terms as instructions; ``bake`` puts terms, fitted numbers and coefficients together again as one genome.
Knows no data.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int64, njit

from ...fit import tape
from .genome import (
    ABS,
    ACOS,
    ADD,
    ASIN,
    ATAN,
    COLUMN,
    CONST,
    COS,
    COSH,
    DIV,
    EXP,
    KINDS,
    LN,
    LONGEST,
    MUL,
    NEG,
    PART,
    POW,
    SIN,
    SINH,
    SUB,
    TAN,
    TANH,
    Floats,
    Genome,
    Ints,
    arity,
    begin_of,
    clear,
    copy,
    emit,
    is_plain,
)

MOST_TERMS = 12
_STEPS = 7  # instructions of one token at most

# Of a part whose constants went into the coefficient: something is left, a factor 1, a summand 0.
_LEFT, _ONE, _ZERO = 0, 1, 2

_INSTRUCTIONS = np.zeros(KINDS, dtype=np.int64)
for _kind, _instruction in {
    ADD: tape.ADD, SUB: tape.SUB, MUL: tape.MUL, DIV: tape.DIV, NEG: tape.NEG, EXP: tape.EXP, LN: tape.LN,
    TANH: tape.TANH, ABS: tape.ABS, SINH: tape.SINH, COSH: tape.COSH, TAN: tape.TAN, ASIN: tape.ASIN,
    ACOS: tape.ACOS, ATAN: tape.ATAN, SIN: tape.SINCOS, COS: tape.SINCOS, POW: tape.POW,
}.items():  # fmt: skip
    _INSTRUCTIONS[_kind] = _instruction
_SQUARE, _SQRT, _INV, _TIMES, _SINCOS, _POWER = tape.SQUARE, tape.SQRT, tape.INV, tape.MUL, tape.SINCOS, tape.POW


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
        code=np.zeros((LONGEST * _STEPS, 4), dtype=np.int64),
        late=np.zeros((LONGEST * _STEPS, 4), dtype=np.int64),
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
    return n_columns + 1 + 2 * _STEPS * LONGEST


@njit(**PART)
def cut(genome: Genome, plan: Plan, free: bool) -> bool:
    """The terms into ``plan.bare``; without ``free`` coefficients the whole formula is one.  False: too many."""
    tokens, stack, bare = genome.tokens, plan.stack, plan.bare
    clear(bare)
    plan.counts[N_TERMS] = 0
    if not free:
        copy(bare, genome, 0, genome.length[0])
        plan.counts[N_TERMS], plan.ends[0] = 1, bare.length[0] - 1
        return True
    top = 1
    stack[0] = genome.length[0] - 1
    while top > 0:
        top -= 1
        last = stack[top]
        kind = tokens[last] % KINDS
        if kind == ADD or kind == SUB:
            stack[top + 1] = last - 1
            stack[top] = begin_of(tokens, last - 1) - 1
            top += 2
        elif kind == NEG:
            stack[top] = last - 1
            top += 1
        else:
            before = bare.length[0]
            _mark(genome, plan, last, top)
            _strip(genome, plan, begin_of(tokens, last), last + 1)
            if bare.length[0] > before:
                if plan.counts[N_TERMS] == MOST_TERMS or bare.length[0] > LONGEST:
                    return False
                plan.ends[plan.counts[N_TERMS]] = bare.length[0] - 1
                plan.counts[N_TERMS] += 1
    return plan.counts[N_TERMS] > 0


@njit(**PART)
def _mark(genome: Genome, plan: Plan, last: int, bottom: int) -> None:
    """Which constants of the term a coefficient stands for: factors, also of powers, and summands of an exponent."""
    tokens, stack, marks = genome.tokens, plan.stack, plan.marks
    for i in range(begin_of(tokens, last), last + 1):
        marks[i] = _LEFT
    top, outer = bottom + 1, bottom  # what is below belongs to other terms
    stack[bottom] = 2 * last  # twice the place, plus 1 where only positive factors can be taken out
    while top > outer:
        top -= 1
        i, picky = stack[top] // 2, stack[top] % 2
        kind = tokens[i] % KINDS
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
        kind = tokens[i] % KINDS
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
def _step(plan: Plan, op: int, a: int, b: int, moving: bool) -> int:
    """One more instruction; the register of its result."""
    counts = plan.counts
    width = 2 if op == _SINCOS or op == _POWER else 1
    if moving:
        out = counts[NEXT_MOVING]
        counts[NEXT_MOVING] += width
        line, k = plan.late, counts[N_LATE]
        counts[N_LATE] += 1
    else:
        out = counts[NEXT_FIXED]
        counts[NEXT_FIXED] += width
        line, k = plan.code, counts[N_CODE]
        counts[N_CODE] += 1
    line[k, 0], line[k, 1], line[k, 2], line[k, 3] = op, out, a, b
    return out


@njit(**PART)
def _power(plan: Plan, base: int, exponent: float, moving: bool) -> int:
    """A plain power by squares, products, a root and a quotient."""
    twice = int64(abs(2.0 * exponent))
    whole, half = twice // 2, twice % 2
    result = -1
    if whole > 0:
        result, bit = base, 1
        while 2 * bit <= whole:
            bit *= 2
        while bit > 1:
            bit //= 2
            result = _step(plan, _SQUARE, result, result, moving)
            if whole & bit:
                result = _step(plan, _TIMES, result, base, moving)
    if half:
        root = _step(plan, _SQRT, base, base, moving)
        result = root if result < 0 else _step(plan, _TIMES, result, root, moving)
    if result < 0:
        return _step(plan, tape.DIV, base, base, moving)  # to the power of 0
    return _step(plan, _INV, result, result, moving) if exponent < 0.0 else result


@njit(**PART)
def _unknowns(plan: Plan) -> int:
    """The numbers to be fitted; returns how many registers the parts without any need."""
    bare, marks = plan.bare, plan.marks
    top, needed, p = 0, 0, 0
    for i in range(bare.length[0]):
        kind = bare.tokens[i] % KINDS
        unknown = kind == CONST or (kind == POW and not is_plain(bare.values[i]))
        if unknown:
            plan.theta[p], plan.spots[p] = bare.values[i], i
            p += 1
        moving = 1 if unknown else 0
        for _ in range(arity(bare.tokens[i])):
            top -= 1
            moving |= marks[LONGEST + top]
        marks[LONGEST + top] = moving
        top += 1
        marks[i] = moving
        if kind > CONST and not moving:
            needed += _STEPS + 1 if kind == POW else 2
    plan.counts[N_UNKNOWNS] = p
    return needed


@njit(**PART)
def build(plan: Plan, n_columns: int, free: bool) -> None:
    """The program of the terms; ``plan.stack`` has the register of every token afterwards (LONGEST + its place)."""
    bare, counts, stack = plan.bare, plan.counts, plan.stack
    first_theta = n_columns + 1 + _unknowns(plan)
    counts[N_CODE], counts[N_LATE], counts[NEXT_FIXED] = 0, 0, n_columns + 1
    counts[NEXT_MOVING] = first_theta + counts[N_UNKNOWNS]
    top, p = 0, 0
    for i in range(bare.length[0]):
        token = bare.tokens[i]
        kind, moving = token % KINDS, plan.marks[i] == 1
        if kind == COLUMN:
            out = token // KINDS
        elif kind == CONST:
            out = first_theta + p
            p += 1
        elif kind <= DIV:
            top -= 2
            out = _step(plan, _INSTRUCTIONS[kind], stack[top], stack[top + 1], moving)
        else:
            top -= 1
            if kind != POW:
                out = _step(plan, _INSTRUCTIONS[kind], stack[top], stack[top], moving)
                out += 1 if kind == COS else 0
            elif is_plain(bare.values[i]):
                out = _power(plan, stack[top], bare.values[i], moving)
            else:
                out = _step(plan, _POWER, stack[top], first_theta + p, moving)
                p += 1
        stack[top] = out
        stack[LONGEST + i] = out
        top += 1
    _laid_out(plan, n_columns, first_theta, free)


@njit(**PART)
def _laid_out(plan: Plan, n_columns: int, first_theta: int, free: bool) -> None:
    counts, layout = plan.counts, plan.layout
    n_fixed = counts[N_CODE]
    for k in range(counts[N_LATE]):
        for j in range(4):
            plan.code[n_fixed + k, j] = plan.late[k, j]
    counts[N_CODE] += counts[N_LATE]
    n_linear = counts[N_TERMS] + 1 if free else 0
    plan.phi[0] = n_columns  # the register of 1
    for k in range(counts[N_TERMS]):
        plan.phi[k + 1] = plan.stack[LONGEST + plan.ends[k]]
    layout[0], layout[1], layout[2], layout[3] = n_columns, counts[NEXT_MOVING], first_theta, n_fixed
    layout[4] = -1 if free else plan.phi[1]
    layout[5], layout[6] = counts[N_UNKNOWNS], n_linear


@njit(**PART)
def bake(plan: Plan, coefficients: Floats, free: bool, into: Genome) -> None:
    """One genome of the terms with these coefficients (the first is the summand) and ``plan.theta``."""
    bare = plan.bare
    for k in range(plan.counts[N_UNKNOWNS]):
        bare.values[plan.spots[k]] = plan.theta[k]
    clear(into)
    if not free:
        copy(into, bare, 0, bare.length[0])
        return
    begin, n = 0, 0
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
