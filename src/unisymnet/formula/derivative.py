"""Derivatives of a formula by its unknown constants, from the partials in the operator table.

One backward pass over the shared nodes, elementwise over the rows. Plain numpy: a Formula must work where no
compiler has run, so it does not use the kernels of the search, which are for thousands of fits a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Floats
from ..symbolic.expr import Call, Const, Expr, Param, Var, children, walk
from ..symbolic.operators import OPERATORS


def value_and_jacobian(expr: Expr, X: Floats, params: Sequence[float]) -> tuple[Floats, Floats]:
    """Values (n,) and derivatives (n, k) by the k parameters; nan or inf outside the domain."""
    values: dict[Expr, Any] = {}
    with np.errstate(all="ignore"):
        for node in walk(expr):
            if node not in values:
                values[node] = _value(node, X, params, values)
        slopes = _backward(expr, values)
        n, k = len(X), len(params)
        jacobian = np.zeros((n, k))
        for node, slope in slopes.items():
            if isinstance(node, Param):
                jacobian[:, node.index] = slope
    return np.broadcast_to(np.asarray(values[expr], dtype=np.float64), n).copy(), jacobian


def _value(node: Expr, X: Floats, params: Sequence[float], values: dict[Expr, Any]) -> Any:
    if isinstance(node, Call):
        return OPERATORS[node.op].apply(*(values[a] for a in node.args))
    if isinstance(node, Const):
        return np.float64(node.value)
    if isinstance(node, Var):
        return X[:, node.index]
    assert isinstance(node, Param)
    return np.float64(params[node.index])


def _backward(root: Expr, values: dict[Expr, Any]) -> dict[Expr, Any]:
    """Derivative of the root by every node on a path to a parameter."""
    matters: dict[Expr, bool] = {}
    for node in walk(root):
        matters[node] = isinstance(node, Param) or any(matters[a] for a in children(node))
    slopes: dict[Expr, Any] = {root: np.float64(1.0)}
    # A dict keeps the order of first insertion, children before parents: backwards, parents come first.
    for node in reversed(values):
        if not isinstance(node, Call) or not matters[node] or node not in slopes:
            continue
        partials = OPERATORS[node.op].partials(tuple(values[a] for a in node.args), values[node])
        for arg, partial in zip(node.args, partials, strict=True):
            if matters[arg]:
                slopes[arg] = slopes.get(arg, 0.0) + slopes[node] * partial
    return slopes


def independent(jacobian: Floats, order: Sequence[int], least: float) -> list[int]:
    """The columns, taken in this order, of which those before leave more than a share ``least``: constants that the
    others cannot stand in for."""
    basis = np.empty((len(jacobian), 0))
    kept = []
    for place in order:
        column = jacobian[:, place]
        size = float(np.linalg.norm(column))
        if size == 0.0 or basis.shape[1] >= len(jacobian):
            continue
        column = column / size
        for _ in range(2):  # twice is enough for orthogonality
            column = column - basis @ (basis.T @ column)
        left = float(np.linalg.norm(column))
        if left > least:
            basis = np.column_stack([basis, column / left])
            kept.append(place)
    return kept
