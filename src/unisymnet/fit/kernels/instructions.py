"""What each instruction of a tape does to a block of rows: values forwards, derivatives backwards.

Every function here is a loop over neighbouring numbers, which the compiler vectorises.  ``work`` holds values, ``adj``
the derivatives of the result by them; o, a, b are where results and arguments begin.  interpreter.py calls them.
numba's cache does not see a change in this file: delete the caches (*.nbi, *.nbc).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from ...arrays import Floats
from .elementary import ONCE, SIN_LIMIT, exp, ln, sin_cos, tanh
from .tape import (
    ABS,
    ACOS,
    ADD,
    ASIN,
    ATAN,
    COSH,
    DIV,
    ERF,
    EXP,
    INV,
    LN,
    MIN,
    MUL,
    NEG,
    SINH,
    SQRT,
    SQUARE,
    STEP,
    SUB,
    TAN,
    TANH,
)

Offset = Any  # np.uint64 inside the kernels

TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)


@njit(**ONCE)
def arithmetic(op: int, work: Floats, o: Offset, a: Offset, b: Offset, n: Offset) -> None:
    if op == ADD:
        for i in range(n):
            work[o + i] = work[a + i] + work[b + i]
    elif op == SUB:
        for i in range(n):
            work[o + i] = work[a + i] - work[b + i]
    elif op == MUL:
        for i in range(n):
            work[o + i] = work[a + i] * work[b + i]
    elif op == DIV:
        for i in range(n):
            work[o + i] = work[a + i] / work[b + i]
    elif op == NEG:
        for i in range(n):
            work[o + i] = -work[a + i]
    elif op == SQUARE:
        for i in range(n):
            work[o + i] = work[a + i] * work[a + i]
    elif op == INV:
        for i in range(n):
            work[o + i] = 1.0 / work[a + i]
    elif op == SQRT:
        for i in range(n):
            work[o + i] = math.sqrt(work[a + i])
    elif op == ABS:
        for i in range(n):
            work[o + i] = abs(work[a + i])


@njit(**ONCE)
def function(op: int, work: Floats, o: Offset, a: Offset, n: Offset) -> None:
    if op == EXP:
        for i in range(n):
            work[o + i] = exp(work[a + i])
    elif op == LN:
        for i in range(n):
            work[o + i] = ln(work[a + i])
    elif op == SINH:
        for i in range(n):
            work[o + i] = math.sinh(work[a + i])
    elif op == COSH:
        for i in range(n):
            work[o + i] = math.cosh(work[a + i])
    elif op == TANH:
        for i in range(n):
            work[o + i] = tanh(work[a + i])
    elif op == TAN:
        for i in range(n):
            work[o + i] = math.tan(work[a + i])
    elif op == ASIN:
        for i in range(n):
            work[o + i] = math.asin(work[a + i])
    elif op == ACOS:
        for i in range(n):
            work[o + i] = math.acos(work[a + i])
    elif op == ATAN:
        for i in range(n):
            work[o + i] = math.atan(work[a + i])
    elif op == ERF:
        for i in range(n):
            work[o + i] = math.erf(work[a + i])
    elif op == STEP:
        for i in range(n):
            x = work[a + i]
            work[o + i] = 1.0 if x > 0.0 else (0.0 if x <= 0.0 else x)


@njit(**ONCE)
def choice(op: int, work: Floats, o: Offset, a: Offset, b: Offset, n: Offset) -> None:
    """The smaller or the larger of two; nan where either is."""
    for i in range(n):
        x, y = work[a + i], work[b + i]
        first = x <= y if op == MIN else x >= y
        work[o + i] = x + y if (x != x) | (y != y) else (x if first else y)


@njit(**ONCE)
def sine_and_cosine(work: Floats, o: Offset, c: Offset, a: Offset, n: Offset) -> None:
    large = 0
    for i in range(n):
        large += 1 if abs(work[a + i]) > SIN_LIMIT else 0
    if large == 0:
        for i in range(n):
            work[o + i], work[c + i] = sin_cos(work[a + i])
    else:
        for i in range(n):
            work[o + i] = math.sin(work[a + i])
            work[c + i] = math.cos(work[a + i])


@njit(**ONCE)
def power(work: Floats, o: Offset, logs: Offset, a: Offset, b: Offset, n: Offset) -> None:
    """The general power; ``logs`` receives ln(base), or 0 where the base is not positive."""
    awkward = 0
    for i in range(n):
        awkward += 0 if (work[a + i] > 0.0) & (work[a + i] < np.inf) else 1
    if awkward == 0:
        for i in range(n):
            work[logs + i] = ln(work[a + i])
        for i in range(n):
            work[o + i] = exp(work[b + i] * work[logs + i])
    else:
        for i in range(n):
            work[o + i] = work[a + i] ** work[b + i]
            work[logs + i] = math.log(work[a + i]) if work[a + i] > 0.0 else 0.0


@njit(**ONCE)
def binary_back(
    op: int, work: Floats, adj: Floats, o: Offset, a: Offset, b: Offset, n: Offset, by_a: bool, by_b: bool
) -> None:
    if op == MUL:
        if by_a:
            for i in range(n):
                adj[a + i] += adj[o + i] * work[b + i]
        if by_b:
            for i in range(n):
                adj[b + i] += adj[o + i] * work[a + i]
    elif op == DIV:
        if by_a:
            for i in range(n):
                adj[a + i] += adj[o + i] / work[b + i]
        if by_b:
            for i in range(n):
                adj[b + i] -= adj[o + i] * work[o + i] / work[b + i]
    else:
        if by_a:
            for i in range(n):
                adj[a + i] += adj[o + i]
        if by_b and op == ADD:
            for i in range(n):
                adj[b + i] += adj[o + i]
        elif by_b:
            for i in range(n):
                adj[b + i] -= adj[o + i]


@njit(**ONCE)
def simple_back(op: int, work: Floats, adj: Floats, o: Offset, a: Offset, n: Offset) -> None:
    """Functions whose derivative needs only arithmetic on argument and value."""
    if op == NEG:
        for i in range(n):
            adj[a + i] -= adj[o + i]
    elif op == SQUARE:
        for i in range(n):
            adj[a + i] += adj[o + i] * (2.0 * work[a + i])
    elif op == INV:
        for i in range(n):
            adj[a + i] -= adj[o + i] * (work[o + i] * work[o + i])
    elif op == SQRT:
        for i in range(n):
            adj[a + i] += adj[o + i] * (0.5 / work[o + i])
    elif op == ABS:
        for i in range(n):
            x = work[a + i]
            sign = 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x)
            adj[a + i] += adj[o + i] * sign
    elif op == EXP:
        for i in range(n):
            adj[a + i] += adj[o + i] * work[o + i]
    elif op == LN:
        for i in range(n):
            adj[a + i] += adj[o + i] / work[a + i]


@njit(**ONCE)
def function_back(op: int, work: Floats, adj: Floats, o: Offset, a: Offset, n: Offset) -> None:
    if op == SINH:
        for i in range(n):
            adj[a + i] += adj[o + i] * math.cosh(work[a + i])
    elif op == COSH:
        for i in range(n):
            adj[a + i] += adj[o + i] * math.sinh(work[a + i])
    elif op == TANH:
        for i in range(n):
            adj[a + i] += adj[o + i] * (1.0 - work[o + i] * work[o + i])
    elif op == TAN:
        for i in range(n):
            adj[a + i] += adj[o + i] * (1.0 + work[o + i] * work[o + i])
    elif op == ASIN:
        for i in range(n):
            adj[a + i] += adj[o + i] / math.sqrt(1.0 - work[a + i] * work[a + i])
    elif op == ACOS:
        for i in range(n):
            adj[a + i] -= adj[o + i] / math.sqrt(1.0 - work[a + i] * work[a + i])
    elif op == ATAN:
        for i in range(n):
            adj[a + i] += adj[o + i] / (1.0 + work[a + i] * work[a + i])
    elif op == ERF:
        for i in range(n):
            adj[a + i] += adj[o + i] * (TWO_OVER_ROOT_PI * exp(-work[a + i] * work[a + i]))


@njit(**ONCE)
def choice_back(
    op: int, work: Floats, adj: Floats, o: Offset, a: Offset, b: Offset, n: Offset, by_a: bool, by_b: bool
) -> None:
    for i in range(n):
        first = work[a + i] <= work[b + i] if op == MIN else work[a + i] >= work[b + i]
        if first & by_a:
            adj[a + i] += adj[o + i]
        elif (not first) & by_b:
            adj[b + i] += adj[o + i]


@njit(**ONCE)
def sine_and_cosine_back(work: Floats, adj: Floats, o: Offset, c: Offset, a: Offset, n: Offset) -> None:
    for i in range(n):
        adj[a + i] += adj[o + i] * work[c + i] - adj[c + i] * work[o + i]


@njit(**ONCE)
def power_back(
    work: Floats, adj: Floats, o: Offset, logs: Offset, a: Offset, b: Offset, n: Offset, by_a: bool, by_b: bool
) -> None:
    if by_a:
        for i in range(n):
            x, e = work[a + i], work[b + i]
            slope = e * work[o + i] / x if x != 0.0 else e * 0.0 ** (e - 1.0)
            adj[a + i] += adj[o + i] * slope
    if by_b:
        for i in range(n):
            adj[b + i] += adj[o + i] * work[o + i] * work[logs + i]
