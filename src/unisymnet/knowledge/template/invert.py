"""What an unknown function would have to be on every row: the known form around it, solved for it step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...symbolic.expr import Call, Const, Expr, evaluate, variables

Floats = NDArray[np.float64]

_INVERSES: dict[str, Callable[[Any], Any]] = {
    "neg": np.negative,
    "exp": np.log,
    "ln": np.exp,
    "sqrt": np.square,
    "square": np.sqrt,
    "inv": lambda y: 1.0 / y,
    "sinh": np.arcsinh,
    "cosh": np.arccosh,
    "tanh": np.arctanh,
    "sin": np.arcsin,
    "cos": np.arccos,
    "tan": np.arctan,
    "asin": np.sin,
    "acos": np.cos,
    "atan": np.tan,
}
PERIODIC = {"sin", "cos", "tan"}


def wanted(outer: Expr, hole: int, table: Floats, y: Floats) -> Floats | None:
    """Values of column `hole` for which the form gives y; nan where none does, None where it cannot be solved.

    `table` holds the other columns.  The hole must stand in the form once.
    """
    node, values = outer, np.asarray(y, dtype=np.float64)
    with np.errstate(all="ignore"):
        while isinstance(node, Call):
            places = [i for i, arg in enumerate(node.args) if hole in variables(arg)]
            if len(places) != 1:
                return None
            step = _step(node, places[0], table, values)
            if step is None:
                return None
            node, values = node.args[places[0]], step
    return values


def _step(node: Call, place: int, table: Floats, y: Floats) -> Floats | None:
    others = [evaluate(arg, table) for i, arg in enumerate(node.args) if i != place]
    if node.op == "add":
        return np.asarray(y - sum(others))
    if node.op == "sub":
        return y + others[0] if place == 0 else others[0] - y
    if node.op == "mul":
        return np.asarray(y / np.prod(others, axis=0))
    if node.op == "div":
        return y * others[0] if place == 0 else others[0] / y
    if node.op == "pow":
        if place == 1:
            return np.asarray(np.log(y) / np.log(others[0]))
        exponent = node.args[1]
        if isinstance(exponent, Const) and exponent.value % 2 == 1:
            return np.asarray(np.sign(y) * np.abs(y) ** (1.0 / exponent.value))
        return np.asarray(y ** (1.0 / others[0]))
    inverse = _INVERSES.get(node.op)
    return None if inverse is None else np.asarray(inverse(y))
