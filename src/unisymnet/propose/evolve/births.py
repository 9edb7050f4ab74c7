"""Children: the moves of evolution on genomes, compiled.

A move picks a part of the parent and writes the child as what stands before it, something made of the part, and what
stands after it: a unit added or multiplied, an operator changed or dropped, an input re-wired, a part of a donor taken
over.  ``Rules`` say what a formula may contain.  Knows no data and no fits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numba import int64, njit

from ...arrays import Floats
from .genome import (
    ADD,
    COLUMN,
    CONST,
    DIV,
    KIND,
    KINDS,
    LONGEST,
    MUL,
    PART,
    POW,
    SUB,
    Genome,
    Ints,
    arity,
    begin_of,
    below,
    copy,
    emit,
    normal,
    uniform,
)

# How often each move is made, in the order of ``_written``: add, scale, drop, wrap, change an operator, re-wire,
# split, a fresh unit, and a part of the donor; then other numbers in the same formula.
_UP_TO = (2.0, 4.0, 5.5, 6.5, 8.0, 9.5, 10.5, 11.5, 13.5, 14.5)
_ADD, _SCALE, _DROP, _WRAP, _CHANGE, _REWIRE, _SPLIT, _FRESH, _SWAP, _JITTER = range(10)
_ATTEMPTS = 20  # to hit a part of the wanted kind
_GIVEN = 0.3  # of the units are given ones, where there are any
_FREE = 0.08  # of the exponents are free


class Rules(NamedTuple):
    """What a formula may contain: inputs, functions, exponents, sums, products, quotients, free exponents.

    ``tokens``, ``values`` and ``lengths`` are units that somebody holds for likely.
    """

    n_columns: int
    functions: Ints
    exponents: Floats
    can_add: bool
    can_multiply: bool
    can_divide: bool
    can_power: bool
    tokens: Ints
    values: Floats
    lengths: Ints


@njit(**PART)
def number(state: Any) -> float:
    """A start value: the sign is even odds, the size log-uniform around 1."""
    value = math.exp(normal(state))
    return value if uniform(state) < 0.5 else -value


@njit(**PART)
def _sum(child: Genome, rules: Rules) -> None:
    emit(child, ADD if rules.can_add else MUL, 0.0)


@njit(**PART)
def _product(child: Genome, rules: Rules) -> None:
    emit(child, MUL if rules.can_multiply else ADD, 0.0)


@njit(**PART)
def _power(child: Genome, rules: Rules, state: Any) -> None:
    """A power of what was written last."""
    if rules.can_power and uniform(state) < _FREE:
        emit(child, POW, math.exp(0.5 * normal(state)))
    elif rules.exponents.shape[0] > 0:
        emit(child, POW, rules.exponents[below(state, rules.exponents.shape[0])])


@njit(**PART)
def _function(child: Genome, rules: Rules, state: Any) -> None:
    if rules.functions.shape[0] > 0:
        emit(child, rules.functions[below(state, rules.functions.shape[0])], 0.0)


@njit(**PART)
def unit(child: Genome, rules: Rules, state: Any) -> None:
    """A small random formula: a power product of one or two inputs, plain or inside a function, or a given one."""
    if rules.lengths.shape[0] > 0 and uniform(state) < _GIVEN:
        k = below(state, rules.lengths.shape[0])
        for i in range(rules.lengths[k]):
            emit(child, rules.tokens[k, i], rules.values[k, i])
        return
    n_factors = 1 if rules.n_columns == 1 or uniform(state) < 0.6 else 2
    first = below(state, rules.n_columns)
    for k in range(n_factors):
        column = first if k == 0 else (first + 1 + below(state, rules.n_columns - 1)) % rules.n_columns
        emit(child, COLUMN + KINDS * column, 0.0)
        if uniform(state) >= 0.6:
            _power(child, rules, state)
    if n_factors == 2:
        _product(child, rules)
    if rules.functions.shape[0] == 0 or uniform(state) < 0.45:
        return
    if uniform(state) >= 0.4:
        emit(child, CONST, number(state))
        _product(child, rules)
    if uniform(state) < 0.3:
        emit(child, CONST, number(state))
        _sum(child, rules)
    _function(child, rules, state)


@njit(**PART)
def _place(parent: Genome, kind: int, state: Any) -> int:
    """The last token of the part to change, -1 if none of the wanted kind was hit."""
    n = parent.length[0]
    root = 0.5 if kind == _ADD else (0.3 if kind == _SCALE else 0.0)
    if uniform(state) < root:
        return n - 1
    for _ in range(_ATTEMPTS):
        i = below(state, n)
        has_arguments = arity(parent.tokens[i]) > 0
        if kind == _REWIRE and has_arguments:
            continue
        if (kind == _DROP or kind == _CHANGE) and not has_arguments:
            continue
        return i
    return -1


@njit(**PART)
def _wrap(child: Genome, rules: Rules, state: Any) -> None:
    if rules.functions.shape[0] == 0 or uniform(state) < 0.3:
        _power(child, rules, state)
        return
    if uniform(state) < 0.4:
        emit(child, CONST, number(state))
        _product(child, rules)
    _function(child, rules, state)


@njit(**PART)
def _change(child: Genome, parent: Genome, first: int, last: int, rules: Rules, state: Any) -> None:
    """Another operator over the same arguments."""
    kind = parent.tokens[last] & KIND
    copy(child, parent, first, last)
    if kind == ADD:
        _product(child, rules)
    elif kind == MUL:
        if rules.can_divide and uniform(state) < 0.5:
            emit(child, DIV, 0.0)
        else:
            _sum(child, rules)
    elif kind == SUB:
        emit(child, DIV if rules.can_divide else SUB, 0.0)
    elif kind == DIV:
        if uniform(state) < 0.5:
            _product(child, rules)
        else:
            emit(child, SUB if rules.can_add else DIV, 0.0)
    elif kind == POW:
        _power(child, rules, state)
    else:
        _function(child, rules, state)


@njit(**PART)
def _leaf(child: Genome, parent: Genome, place: int, rules: Rules, state: Any) -> None:
    """An input edge moves to another column, or gets an offset."""
    if parent.tokens[place] & KIND == COLUMN and (rules.n_columns == 1 or uniform(state) < 0.4):
        emit(child, parent.tokens[place], 0.0)
        emit(child, CONST, number(state))
        _sum(child, rules)
    else:
        emit(child, COLUMN + KINDS * below(state, rules.n_columns), 0.0)


@njit(**PART)
def _jittered(child: Genome, parent: Genome, state: Any) -> None:
    """The same formula with one other number, or all a little different."""
    n = parent.length[0]
    all_of_them, chosen = uniform(state) < 0.3, below(state, n)
    copy(child, parent, int64(0), n)
    for k in range(n):
        i = (chosen + k) % n
        kind = child.tokens[i] & KIND
        if kind == CONST:
            child.values[i] *= math.exp((0.3 if all_of_them else 1.0) * normal(state))
            if not all_of_them:
                if uniform(state) < 0.25:
                    child.values[i] = -child.values[i]
                return


@njit(**PART)
def _written(
    kind: int, child: Genome, parent: Genome, first: int, last: int, donor: Genome, rules: Rules, state: Any
) -> None:
    """What comes into the place of tokens ``first`` to ``last``."""
    if kind == _DROP:
        right = begin_of(parent.tokens, last - 1)
        if arity(parent.tokens[last]) == 2 and uniform(state) < 0.5:
            copy(child, parent, first, right)
        else:
            copy(child, parent, right, last)
    elif kind == _CHANGE:
        _change(child, parent, first, last, rules, state)
    elif kind == _REWIRE:
        _leaf(child, parent, last, rules, state)
    elif kind == _SWAP:
        end = below(state, donor.length[0])
        copy(child, donor, begin_of(donor.tokens, end), end + 1)
    elif kind == _WRAP:
        copy(child, parent, first, last + 1)
        _wrap(child, rules, state)
    else:
        if kind != _FRESH:
            copy(child, parent, first, last + 1)
        unit(child, rules, state)
        if kind == _SPLIT or kind == _ADD:
            emit(child, CONST, number(state))
            summed = rules.can_add if kind == _SPLIT else not rules.can_multiply
            emit(child, ADD if summed else MUL, 0.0)
        if kind == _ADD:
            _sum(child, rules)
        elif kind == _SCALE and rules.can_divide and uniform(state) < 0.4:
            emit(child, DIV, 0.0)
        elif kind != _FRESH:
            _product(child, rules)


@njit(**PART)
def mutate(child: Genome, parent: Genome, donor: Genome, rules: Rules, state: Any) -> None:
    """One random move; the child has LONGEST + 1 tokens if it did not work."""
    child.length[0] = 0
    draw, kind = uniform(state) * _UP_TO[9], 0
    while draw > _UP_TO[kind]:
        kind += 1
    if kind == _JITTER:
        _jittered(child, parent, state)
        return
    last = _place(parent, kind, state)
    if last < 0:
        child.length[0] = LONGEST + 1
        return
    first = begin_of(parent.tokens, last)
    copy(child, parent, int64(0), first)
    _written(kind, child, parent, first, last, donor, rules, state)
    copy(child, parent, last + 1, parent.length[0])
