"""The one compiled interpreter: runs any tape over blocks of rows, forwards for values, backwards for derivatives.

``work`` is one flat array; register r of row i lies at ``r * stride + i``, so every instruction is a loop over
neighbouring numbers that the compiler vectorises.  Offsets are unsigned, because signed ones would be checked for
wrap-around on every access.  Knows nothing of fitting; levenberg.py and kernels.py call it.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import cfunc, int64, njit, types, uint64
from numba.extending import intrinsic
from numpy.typing import NDArray

from .elementary import PART, SIN_LIMIT, STRICT, exp, ln, sin_cos
from .tape import (
    ABS,
    ACOS,
    ADD,
    ASIN,
    ATAN,
    COSH,
    DIV,
    EXP,
    FIRST_FUNCTION,
    INV,
    LN,
    MUL,
    NEG,
    POW,
    SINCOS,
    SINH,
    SQRT,
    SQUARE,
    SUB,
    TAN,
    TANH,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Offset = Any  # np.uint64 inside the kernels

BLOCK = 256  # rows per instruction: long enough to hide the dispatch, short enough for the first-level cache


@njit(**PART)
def _arithmetic(op: int, work: Floats, o: Offset, a: Offset, b: Offset, n: Offset) -> None:
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


@njit(**PART)
def _function(op: int, work: Floats, o: Offset, a: Offset, n: Offset) -> None:
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
            work[o + i] = math.tanh(work[a + i])
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


@njit(**PART)
def _sine_and_cosine(work: Floats, o: Offset, c: Offset, a: Offset, n: Offset) -> None:
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


@njit(**PART)
def _power(work: Floats, o: Offset, logs: Offset, a: Offset, b: Offset, n: Offset) -> None:
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


def _forward(code: Ints, work: Floats, first: int, last: int, stride: int, start: int, stop: int) -> None:
    n = uint64(stop - start)
    for k in range(4 * first, 4 * last, 4):
        op = code[k]
        o = uint64(code[k + 1] * stride + start)
        a = uint64(code[k + 2] * stride + start)
        b = uint64(code[k + 3] * stride + start)
        if op < FIRST_FUNCTION:
            _arithmetic(op, work, o, a, b, n)
        elif op == SINCOS:
            _sine_and_cosine(work, o, o + uint64(stride), a, n)
        elif op == POW:
            _power(work, o, o + uint64(stride), a, b, n)
        else:
            _function(op, work, o, a, n)


@njit(**PART)
def _binary_back(
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


@njit(**PART)
def _simple_back(op: int, work: Floats, adj: Floats, o: Offset, a: Offset, n: Offset) -> None:
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


@njit(**PART)
def _function_back(op: int, work: Floats, adj: Floats, o: Offset, a: Offset, n: Offset) -> None:
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


@njit(**PART)
def _sine_and_cosine_back(work: Floats, adj: Floats, o: Offset, c: Offset, a: Offset, n: Offset) -> None:
    for i in range(n):
        adj[a + i] += adj[o + i] * work[c + i] - adj[c + i] * work[o + i]


@njit(**PART)
def _power_back(
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


def _backward(
    code: Ints, work: Floats, adj: Floats, first: int, last: int, moving: int, stride: int, start: int, stop: int
) -> None:
    n = uint64(stop - start)
    for k in range(4 * (last - 1), 4 * first - 1, -4):
        op = code[k]
        o = uint64(code[k + 1] * stride + start)
        a = uint64(code[k + 2] * stride + start)
        b = uint64(code[k + 3] * stride + start)
        by_a = code[k + 2] >= moving
        by_b = code[k + 3] >= moving
        if op <= DIV:
            _binary_back(op, work, adj, o, a, b, n, by_a, by_b)
        elif op <= ABS or op == EXP or op == LN:
            _simple_back(op, work, adj, o, a, n)
        elif op == SINCOS:
            _sine_and_cosine_back(work, adj, o, o + uint64(stride), a, n)
        elif op == POW:
            _power_back(work, adj, o, o + uint64(stride), a, b, n, by_a, by_b)
        else:
            _function_back(op, work, adj, o, a, n)


# Both interpreters are compiled once as C functions and called through their addresses: linked into every kernel
# that uses them they would be optimised again each time, which is most of the compile time.
_Numbers, _Reals = types.CPointer(types.int64), types.CPointer(types.float64)
_FORWARD = types.void(_Numbers, _Reals, *[types.int64] * 5)
_BACKWARD = types.void(_Numbers, _Reals, _Reals, *[types.int64] * 6)


@cache
def _compiled() -> tuple[Any, Any]:
    """Compiles the interpreters or loads them from the disk; the cache keeps their code alive."""
    return cfunc(_FORWARD, **STRICT)(_forward), cfunc(_BACKWARD, **STRICT)(_backward)


def addresses() -> tuple[int, int]:
    """Where the two interpreters are in this process."""
    run, differentiate = _compiled()
    return run.address, differentiate.address


def _caller(n_pointers: int, n_integers: int) -> Any:
    """An intrinsic that calls the C function at an address."""
    kinds = [types.int64] * (1 + n_pointers + n_integers)

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        pointers = [ir.IntType(64).as_pointer()] + [ir.DoubleType().as_pointer()] * (n_pointers - 1)
        function = ir.FunctionType(ir.VoidType(), pointers + [ir.IntType(64)] * n_integers)
        given = [builder.inttoptr(value, kind) for value, kind in zip(args[1:], pointers, strict=False)]
        builder.call(builder.inttoptr(args[0], function.as_pointer()), [*given, *args[1 + n_pointers :]])
        return _context.get_dummy_value()

    return types.void(*kinds), generate


@intrinsic  # type: ignore[untyped-decorator]
def _call_forward(_context, address, code, work, first, last, stride, start, stop):  # type: ignore[no-untyped-def]
    return _caller(2, 5)


@intrinsic  # type: ignore[untyped-decorator]
def _call_backward(  # type: ignore[no-untyped-def]
    _context, address, code, work, adj, first, last, moving, stride, start, stop
):
    return _caller(3, 6)


@njit(**PART)
def forward(address: int, code: Ints, first: int, last: int, work: Floats, stride: int, n: int) -> None:
    """Run steps ``first`` to ``last`` on rows 0 to n, block by block."""
    steps, registers = int64(code.ctypes.data), int64(work.ctypes.data)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        _call_forward(address, steps, registers, int64(first), int64(last), stride, start, stop)


@njit(**PART)
def backward(address: int, code: Ints, first: int, moving: int, work: Floats, adj: Floats, stride: int, n: int) -> None:
    """Push the seeds in ``adj`` down to the registers from ``moving`` on, from the last step to ``first``."""
    steps, registers, adjoints = int64(code.ctypes.data), int64(work.ctypes.data), int64(adj.ctypes.data)
    for start in range(0, n, BLOCK):
        stop, last = min(start + BLOCK, n), code.shape[0]
        _call_backward(address, steps, registers, adjoints, first, last, moving, stride, start, stop)
