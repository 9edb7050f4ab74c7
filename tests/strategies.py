"""Hypothesis strategies for formulas, points and parameters, shared by all tests.

``expressions()`` draws any formula of the operator table; its size is bounded, its shape and constants are not
tame: zeros, ones, halves, huge and tiny numbers all occur.  ``tame=True`` leaves out constants near the limits of
floating point, for laws that compare values.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from unisymnet.symbolic.expr import Call, Const, Expr, Param, Var
from unisymnet.symbolic.operators import OPERATORS

# The usual run draws the same examples every time, so a fifth of them says nearly as much; exploring draws all.
EXPLORING = os.environ.get("HYPOTHESIS_PROFILE") == "random"


def many(n_examples: int) -> settings:
    """So many examples when exploring, and at least a hundred otherwise."""
    return settings(max_examples=n_examples if EXPLORING else max(100, n_examples // 5), deadline=None)


UNARY = tuple(name for name, row in OPERATORS.items() if row.arity == 1)
BINARY = tuple(name for name, row in OPERATORS.items() if row.arity == 2)
VARIADIC = tuple(name for name, row in OPERATORS.items() if row.arity < 0)

NICE = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, 4.0, 10.0, 0.1, 0.2, 0.3, 1.5, 1 / 3, 2 / 3, np.pi, np.e, 0.333)
ROUGH = (1e16, 1e-16, 123456789.0, -1e-7, 1e7, 1 + 2**-52, 1.0000001, 99.99)
NASTY = (1e-300, -1e-300, 1e300, -1e300, 1e200, 1e-200, 5e-324, 1e22, 709.0, -745.0, 1e15)
EXPONENTS = (-3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 1 / 3, 2 / 3, 0.3)


_SMOOTH = tuple(round(0.37 * k - 9.9, 2) for k in range(54))  # a spread of everyday numbers, -9.9 to 9.71
_TAME = (*NICE, *NICE, *ROUGH, *_SMOOTH)
_ANY = (*NICE, *NICE, *ROUGH, *NASTY, *_SMOOTH)


def constants(*, tame: bool = False) -> st.SearchStrategy[Const]:
    """Numbers as leaves; any float at all unless ``tame``."""
    if tame:
        return st.sampled_from(_TAME).map(Const)
    return st.one_of(st.sampled_from(_ANY), st.floats(allow_nan=False, allow_infinity=False)).map(Const)


def expressions(
    n_features: int = 3,
    *,
    n_params: int = 0,
    max_leaves: int = 10,
    operators: Sequence[str] = tuple(OPERATORS),
    tame: bool = False,
) -> st.SearchStrategy[Expr]:
    """Random formulas in ``n_features`` columns and ``n_params`` free constants.

    Drawn as a string of bytes, the program of a small stack machine: one draw is much faster than a recursive
    strategy, and a shorter program with smaller bytes, to which hypothesis shrinks, is a simpler formula.
    """
    machine = _Machine(n_features, n_params, tuple(operators), tame)
    return st.binary(min_size=1, max_size=4 * max_leaves).map(machine.run)


class _Machine:
    def __init__(self, n_features: int, n_params: int, operators: tuple[str, ...], tame: bool) -> None:
        self.n_features, self.n_params, self.tame = n_features, n_params, tame
        self.unary = [op for op in UNARY if op in operators]
        self.binary = [op for op in BINARY if op in operators]
        self.variadic = [op for op in VARIADIC if op in operators]
        self.powers = "pow" in operators
        self.joiner = (self.variadic or self.binary or self.unary)[0]

    def run(self, program: bytes) -> Expr:
        stack: list[Expr] = []
        code = iter(program)
        for byte in code:
            if byte < 60:
                stack.append(Var(byte % self.n_features))
            elif byte < 100:
                stack.append(self.number(code))
            elif byte < 115:
                stack.append(Param(byte % self.n_params) if self.n_params else Var(byte % self.n_features))
            else:
                self.operate(byte, code, stack)
        while len(stack) > 1:
            right = stack.pop()
            args = (stack.pop(),) if OPERATORS[self.joiner].arity == 1 else (stack.pop(), right)
            stack.append(Call(self.joiner, args))
        return stack[0] if stack else Var(0)

    def operate(self, byte: int, code: Iterator[int], stack: list[Expr]) -> None:
        if byte < 165 and self.unary:
            op, n_args = self.unary[byte % len(self.unary)], 1
        elif byte < 190 and self.powers:
            op, n_args = "pow", 2
            stack.extend([Var(0)] if not stack else [])
            stack.append(Const(EXPONENTS[next(code, 0) % len(EXPONENTS)]))
        elif byte < 215 and self.binary:
            op, n_args = self.binary[byte % len(self.binary)], 2
        elif self.variadic:
            op, n_args = self.variadic[byte % len(self.variadic)], 2 + byte // 2 % 3
        else:
            return
        while len(stack) < n_args:
            stack.append(Var(len(stack) % self.n_features))
        stack[-n_args:] = [Call(op, stack[-n_args:])]

    def number(self, code: Iterator[int]) -> Const:
        pick = next(code, 0)
        if not self.tame and pick >= 240:
            value = struct.unpack("<d", bytes(next(code, 0) for _ in range(8)))[0]
            return Const(value if math.isfinite(value) else 0.0)
        table = _TAME if self.tame else _ANY
        return Const(table[pick % len(table)])


def points(n_features: int = 3, n_rows: int = 16) -> st.SearchStrategy[np.ndarray]:
    """A table of inputs: random reals of both signs, and a few rows of small whole numbers and zeros."""

    def table(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        X = rng.uniform(-3, 3, (n_rows, n_features))
        whole = n_rows // 4
        X[:whole] = rng.integers(-2, 4, (whole, n_features))
        X[whole : 2 * whole] = np.abs(X[whole : 2 * whole])
        return X

    return st.integers(0, 10_000).map(table)


def parameters(n_params: int) -> st.SearchStrategy[np.ndarray]:
    """Values for free constants, of both signs, never very small."""
    value = st.floats(0.2, 3.0).flatmap(lambda v: st.sampled_from((v, -v)))
    return st.lists(value, min_size=n_params, max_size=n_params).map(np.array)
