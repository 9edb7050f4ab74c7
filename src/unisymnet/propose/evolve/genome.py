"""A formula as two short arrays: tokens in postfix order, and the number that belongs to each.

A token is an operator, or a column (COLUMN + KINDS * index); a constant and a power carry their number in ``values``.
Everything evolution does to formulas without looking at data is arithmetic on these arrays: building them, finding
where a part begins, counting their size as ``metrics.complexity`` does, telling equal ones.  Knows no moves, no data.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int64, njit, uint64
from numpy.typing import NDArray

from ...arrays import Floats
from ...fit.kernels.elementary import CAN_CACHE

Ints = NDArray[np.int64]

# No "reassoc" here: a sum that the compiler may reorder could come out otherwise in its last bit.
STRICT: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "nogil": True, "cache": CAN_CACHE}
PART: dict[str, Any] = STRICT | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

ONCE: dict[str, Any] = PART | {"inline": "always"}

COLUMN, CONST, ADD, SUB, MUL, DIV = range(6)
NEG, POW, SIN, COS, EXP, LN, TANH, ABS, SINH, COSH, TAN, ASIN, ACOS, ATAN = range(6, 20)
KINDS = 32  # more than there are operators, and a power of two
KIND = KINDS - 1  # the bits of a token that say which
LONGEST = 64  # tokens of a genome
LARGEST_POWER = 6.0  # that is written as squares and products

# Functions from here on are seldom (candidate.py prices them).
FIRST_RARE = TANH


class Genome(NamedTuple):
    """One formula; ``length`` is an array of one number, LONGEST + 1 for a formula that had no room."""

    tokens: Ints
    values: Floats
    length: Ints


def new_genome(longest: int = LONGEST) -> Genome:
    """An empty one."""
    return Genome(np.zeros(longest, dtype=np.int64), np.zeros(longest), np.zeros(1, dtype=np.int64))


@njit(**PART)
def arity(token: int) -> int:
    kind = token & KIND
    if kind <= CONST:
        return 0
    return 2 if kind <= DIV else 1


@njit(**PART)
def emit(genome: Genome, token: int, value: float) -> None:
    """One more token."""
    n = genome.length[0]
    if n < genome.tokens.shape[0]:
        genome.tokens[n], genome.values[n] = token, value
        genome.length[0] = n + 1
    else:
        genome.length[0] = LONGEST + 1


@njit(**PART)
def copy(genome: Genome, source: Genome, first: int, last: int) -> None:
    """Tokens ``first`` to ``last`` of another genome."""
    n = genome.length[0]
    if n + last - first > genome.tokens.shape[0]:
        genome.length[0] = LONGEST + 1
        return
    for i in range(first, last):
        genome.tokens[n + i - first], genome.values[n + i - first] = source.tokens[i], source.values[i]
    genome.length[0] = n + last - first


@njit(**PART)
def clear(genome: Genome) -> None:
    genome.length[0] = 0


@njit(**PART)
def fits(genome: Genome) -> bool:
    return 0 < genome.length[0] <= genome.tokens.shape[0]


@njit(**PART)
def begin_of(tokens: Ints, last: int) -> int:
    """Where the part begins that ends with token ``last``."""
    missing, i = 1, last
    while missing > 0:
        missing += arity(tokens[i]) - 1
        i -= 1
    return i + 1


@njit(**PART)
def size_of(tokens: Ints, values: Floats, first: int, last: int) -> int:
    """Operators, columns and constants of the part, as ``metrics.complexity`` counts the formula it is written as."""
    total = 0
    for i in range(first, last):
        kind = tokens[i] & KIND
        if kind != POW or values[i] != 1.0:
            total += 2 if kind == POW else 1
        # A quotient is one operator however it is built, a sign in front of a number is free.
        if kind == POW and values[i] == -1.0 and i + 1 < last and tokens[i + 1] == MUL:
            total -= 2
    return total


@njit(**PART)
def is_plain(exponent: float) -> bool:
    """A power of which nothing is to be fitted."""
    return abs(exponent) <= LARGEST_POWER and 2.0 * exponent == np.floor(2.0 * exponent)


@njit(**PART)
def n_rare(tokens: Ints, n: int, masks: Ints) -> int:
    """Rare functions, and functions inside one of their own family; ``masks`` is scratch."""
    found, top = 0, 1
    masks[0] = 0  # families above the part that is read next, parents first
    for i in range(n - 1, -1, -1):
        top -= 1
        above = masks[top]
        kind = tokens[i] & KIND
        family = 0
        if kind == SIN or kind == COS or kind == TAN:
            family = 1
        elif kind == EXP or kind == LN:
            family = 2
        found += 1 if kind >= FIRST_RARE else 0
        found += 1 if family & above else 0
        for _ in range(arity(tokens[i])):
            masks[top] = above | family
            top += 1
    return found


@njit(**PART)
def mixed(h: Any) -> Any:
    """The bits of a number, well stirred (splitmix64)."""
    h = uint64(h) + uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> uint64(27))) * uint64(0x94D049BB133111EB)
    return h ^ (h >> uint64(31))


@njit(**PART)
def hash_of(genome: Genome, first: int, last: int, marks: Any) -> tuple[Any, int]:
    """The same for parts that differ only in their constants and in the order of sums and products; and how many
    numbers there are to be fitted.  Plain powers count with their exponent; ``marks`` (uint64) is scratch.
    """
    top, numbers = 0, 0
    for i in range(first, last):
        token = genome.tokens[i]
        kind = token & KIND
        if kind <= CONST:
            marks[top] = mixed(token)
            top += 1
            numbers += 1 if kind == CONST else 0
        elif kind == ADD or kind == MUL:
            top -= 1
            marks[top - 1] = mixed(marks[top - 1] + marks[top] + uint64(kind))
        elif kind <= DIV:
            top -= 1
            marks[top - 1] = mixed(marks[top - 1] + uint64(3) * marks[top] + uint64(kind))
        else:
            plain = kind != POW or is_plain(genome.values[i])
            twice = int64(round(2.0 * genome.values[i])) if kind == POW and plain else 0
            marks[top - 1] = mixed(marks[top - 1] + uint64(kind + KINDS * (twice + 64)))
            numbers += 0 if plain else 1
    return marks[0], numbers


@njit(**PART)
def drawn(state: Any) -> Any:
    """The next 64 random bits (xorshift64*); ``state`` is an array of one number that is not 0."""
    x = state[0]
    x ^= x >> uint64(12)
    x ^= x << uint64(25)
    x ^= x >> uint64(27)
    state[0] = x
    return x * uint64(0x2545F4914F6CDD1D)


@njit(**PART)
def uniform(state: Any) -> float:
    """Between 0 and 1."""
    return float(drawn(state) >> uint64(11)) * (1.0 / 9007199254740992.0)


@njit(**PART)
def below(state: Any, n: int) -> int:
    """A whole number from 0 to n - 1."""
    return min(int64(uniform(state) * n), n - 1)


@njit(**PART)
def normal(state: Any) -> float:
    """About normal: the sum of twelve uniform numbers less 6, which needs no function of libm."""
    total = -6.0
    for _ in range(12):
        total += uniform(state)
    return total
