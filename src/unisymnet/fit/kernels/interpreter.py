"""The one compiled interpreter: runs any tape over blocks of rows, forwards for values, backwards for derivatives.

``work`` is one flat array; register r of row i lies at ``r * stride + i``, so every instruction is a loop over
neighbouring numbers (instructions.py).  Offsets are unsigned, because signed ones would be checked for
wrap-around on every access.  Knows nothing of fitting; levenberg.py and kernels.py call it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import cfunc, int64, njit, types, uint64
from numba.extending import intrinsic
from numpy.typing import NDArray

from ...arrays import Floats
from .elementary import PART, STRICT
from .instructions import (
    arithmetic,
    binary_back,
    choice,
    choice_back,
    function,
    function_back,
    power,
    power_back,
    simple_back,
    sine_and_cosine,
    sine_and_cosine_back,
)
from .tape import ABS, DIV, EXP, FIRST_FUNCTION, LN, MIN, POW, SINCOS

Ints = NDArray[np.int64]

BLOCK = 256  # rows per instruction: long enough to hide the dispatch, short enough for the first-level cache


def _forward(code: Ints, work: Floats, first: int, last: int, stride: int, start: int, stop: int) -> None:
    n = uint64(stop - start)
    for k in range(4 * first, 4 * last, 4):
        op = code[k]
        o = uint64(code[k + 1] * stride + start)
        a = uint64(code[k + 2] * stride + start)
        b = uint64(code[k + 3] * stride + start)
        if op < FIRST_FUNCTION:
            arithmetic(op, work, o, a, b, n)
        elif op == SINCOS:
            sine_and_cosine(work, o, o + uint64(stride), a, n)
        elif op == POW:
            power(work, o, o + uint64(stride), a, b, n)
        elif op >= MIN:
            choice(op, work, o, a, b, n)
        else:
            function(op, work, o, a, n)


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
            binary_back(op, work, adj, o, a, b, n, by_a, by_b)
        elif op <= ABS or op == EXP or op == LN:
            simple_back(op, work, adj, o, a, n)
        elif op == SINCOS:
            sine_and_cosine_back(work, adj, o, o + uint64(stride), a, n)
        elif op == POW:
            power_back(work, adj, o, o + uint64(stride), a, b, n, by_a, by_b)
        elif op >= MIN:
            choice_back(op, work, adj, o, a, b, n, by_a, by_b)
        else:
            function_back(op, work, adj, o, a, n)


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


@intrinsic
def _call_forward(_context, address, code, work, first, last, stride, start, stop):  # type: ignore[no-untyped-def]
    return _caller(2, 5)


@intrinsic
def _call_backward(  # type: ignore[no-untyped-def]
    _context, address, code, work, adj, first, last, moving, stride, start, stop
):
    return _caller(3, 6)


@njit(**PART)
def forward(address: int, code: Ints, first: int, last: int, work: Floats, stride: int, n: int, row: int = 0) -> None:
    """Run steps ``first`` to ``last`` on rows ``row`` to n, block by block."""
    steps, registers = int64(code.ctypes.data), int64(work.ctypes.data)
    for start in range(row, n, BLOCK):
        stop = min(start + BLOCK, n)
        _call_forward(address, steps, registers, int64(first), int64(last), stride, start, stop)


@njit(**PART)
def backward(address: int, code: Ints, first: int, moving: int, work: Floats, adj: Floats, stride: int, n: int) -> None:
    """Push the seeds in ``adj`` down to the registers from ``moving`` on, from the last step to ``first``."""
    steps, registers, adjoints = int64(code.ctypes.data), int64(work.ctypes.data), int64(adj.ctypes.data)
    for start in range(0, n, BLOCK):
        stop, last = min(start + BLOCK, n), code.shape[0]
        _call_backward(address, steps, registers, adjoints, first, last, moving, stride, start, stop)
