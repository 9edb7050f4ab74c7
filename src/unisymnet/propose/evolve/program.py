"""The terms of a genome as a program for the kernels of fits: instructions, registers, unknowns.

Registers are numbered as in fit.kernels.tape: columns, the number 1, what depends on no unknown, the unknowns, and
what depends on them.  Knows no data.
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit

from ...fit.kernels import tape
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
    KIND,
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
    arity,
    is_plain,
)  # fmt: skip
from .terms import N_CODE, N_LATE, N_TERMS, N_UNKNOWNS, NEXT_FIXED, NEXT_MOVING, STEPS, Plan

_INSTRUCTIONS = np.zeros(KINDS, dtype=np.int64)
for _kind, _instruction in {
    ADD: tape.ADD, SUB: tape.SUB, MUL: tape.MUL, DIV: tape.DIV, NEG: tape.NEG, EXP: tape.EXP, LN: tape.LN,
    TANH: tape.TANH, ABS: tape.ABS, SINH: tape.SINH, COSH: tape.COSH, TAN: tape.TAN, ASIN: tape.ASIN,
    ACOS: tape.ACOS, ATAN: tape.ATAN, SIN: tape.SINCOS, COS: tape.SINCOS, POW: tape.POW,
}.items():  # fmt: skip
    _INSTRUCTIONS[_kind] = _instruction
# As int64: numba would compile a function again for every plain number that it is called with.
_SQUARE, _SQRT, _INV, _TIMES, _OVER, _SINCOS, _POWER = (
    np.int64(op) for op in (tape.SQUARE, tape.SQRT, tape.INV, tape.MUL, tape.DIV, tape.SINCOS, tape.POW)
)


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
        return _step(plan, _OVER, base, base, moving)  # to the power of 0
    return _step(plan, _INV, result, result, moving) if exponent < 0.0 else result


@njit(**PART)
def _unknowns(plan: Plan) -> int:
    """The numbers to be fitted; returns how many registers the parts without any need."""
    bare, marks = plan.bare, plan.marks
    top, needed, p = 0, 0, 0
    for i in range(bare.length[0]):
        kind = bare.tokens[i] & KIND
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
            needed += STEPS + 1 if kind == POW else 2
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
        kind, moving = token & KIND, plan.marks[i] == 1
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
