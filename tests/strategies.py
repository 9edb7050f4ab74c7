"""Hypothesis strategies for formulas, points and parameters, shared by all tests.

``expressions()`` draws any formula of the operator table; its size is bounded, its shape and constants are not
tame: zeros, ones, halves, huge and tiny numbers all occur.  ``tame=True`` leaves out constants near the limits of
floating point, for laws that compare values.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from hypothesis import strategies as st

from unisymnet.symbolic.expr import Call, Const, Expr, Param, Var
from unisymnet.symbolic.operators import OPERATORS

UNARY = tuple(name for name, row in OPERATORS.items() if row.arity == 1)
BINARY = tuple(name for name, row in OPERATORS.items() if row.arity == 2)
VARIADIC = tuple(name for name, row in OPERATORS.items() if row.arity < 0)

NICE = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, 4.0, 10.0, 0.1, 0.2, 0.3, 1.5, 1 / 3, 2 / 3, np.pi, np.e, 0.333)
ROUGH = (1e16, 1e-16, 123456789.0, -1e-7, 1e7, 1 + 2**-52, 1.0000001, 99.99)
NASTY = (1e-300, -1e-300, 1e300, -1e300, 1e200, 1e-200, 5e-324, 1e22, 709.0, -745.0, 1e15)
EXPONENTS = (-3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 1 / 3, 2 / 3, 0.3)


def constants(*, tame: bool = False) -> st.SearchStrategy[Const]:
    """Numbers as leaves; any float at all unless ``tame``."""
    nice = st.sampled_from((*NICE, *NICE, *ROUGH))
    smooth = st.floats(-10, 10, allow_subnormal=False).map(lambda v: round(v, 3))
    if tame:
        return st.one_of(nice, smooth).map(Const)
    wild = st.floats(allow_nan=False, allow_infinity=False)
    return st.one_of(nice, smooth, st.sampled_from(NASTY), wild).map(Const)


@cache
def expressions(
    n_features: int = 3,
    *,
    n_params: int = 0,
    max_leaves: int = 10,
    operators: Sequence[str] = tuple(OPERATORS),
    tame: bool = False,
) -> st.SearchStrategy[Expr]:
    """Random formulas in ``n_features`` columns and ``n_params`` free constants."""
    leaves: list[st.SearchStrategy[Expr]] = [
        st.integers(0, n_features - 1).map(Var),
        st.integers(0, n_features - 1).map(Var),
        constants(tame=tame),
    ]
    if n_params:
        leaves.append(st.integers(0, n_params - 1).map(Param))
    unary = [op for op in UNARY if op in operators]
    binary = [op for op in BINARY if op in operators]
    variadic = [op for op in VARIADIC if op in operators]

    def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        options: list[st.SearchStrategy[Expr]] = []
        if unary:
            options.append(st.builds(lambda op, a: Call(op, (a,)), st.sampled_from(unary), inner))
        if binary:
            options.append(st.builds(lambda op, a, b: Call(op, (a, b)), st.sampled_from(binary), inner, inner))
        if variadic:
            many = st.lists(inner, min_size=2, max_size=4)
            options.extend([st.builds(Call, st.sampled_from(variadic), many)] * 2)
        if "pow" in operators:
            powers = st.sampled_from(EXPONENTS).map(Const)
            options.append(st.builds(lambda a, b: Call("pow", (a, b)), inner, powers))
        return st.one_of(options)

    return st.recursive(st.one_of(leaves), grow, max_leaves=max_leaves)


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
