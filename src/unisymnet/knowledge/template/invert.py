"""What an unknown function would have to be on every row: the known form around it, solved for it.

Step by step where every step has one answer, else by Newton's method from a smooth function that is nearly right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...arrays import Floats
from ...symbolic.expr import Call, Const, Expr, Param, Var, evaluate, rebuild, total, variables
from ..shape.differ import derivative
from .smooth import Smooth, slot_values
from .text import Template, holes_of

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
AMBIGUOUS = {"sin", "cos", "tan", "square", "cosh", "abs", "min", "max"}
NEWTON_STEPS = 12
FOLD = 8.0  # 2 would be the edge itself
SOLVED = 1e-13  # of the spread of y


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


def is_single_valued(expr: Expr, hole: int) -> bool:
    """Has y one function behind it?  Not inside a sine or an even power."""
    if not isinstance(expr, Call) or hole not in variables(expr):
        return True
    even = expr.op == "pow" and isinstance(expr.args[1], Const) and expr.args[1].value % 2 == 0
    return not even and expr.op not in AMBIGUOUS and all(is_single_valued(arg, hole) for arg in expr.args)


def smooth_table(template: Template, smooth: Smooth, others: Mapping[str, Expr], X: Floats) -> Floats:
    """Columns, the values of all slots, and the constants of the template."""
    columns = [
        slot_values(template, slot, others[slot.name], X) if slot.name in others else smooth.values(slot, X)
        for slot in template.slots
    ]
    return np.column_stack([X, *columns, np.tile(smooth.constants, (len(X), 1))])


def slope_of(template: Template, name: str, table: Floats) -> Floats:
    """How much y changes with the function, row by row."""
    slopes = [derivative(_outer(template), hole) for hole in holes_of(template, name)]
    with np.errstate(all="ignore"):
        return np.asarray(evaluate(total(slopes), table))


def near_a_fold(template: Template, name: str, table: Floats, error: float) -> Floats:
    """Rows on which an error of y as large as this may belong to another branch: the form hardly changes there, as
    a square does near 0."""
    holes, outer = holes_of(template, name), _outer(template)
    slope = total([derivative(outer, hole) for hole in holes])
    bend = total([derivative(slope, hole) for hole in holes])
    with np.errstate(all="ignore"):
        return np.asarray(evaluate(slope, table) ** 2 < FOLD * error * np.abs(evaluate(bend, table)))


def solved(template: Template, name: str, table: Floats, y: Floats, *, exact: bool) -> Floats:
    """Values of a function, the same in all its places, for which the form gives y; `table` holds values that are
    nearly right.  Under noise one step is enough, and where the form cannot give y, there is no more."""
    holes, outer = holes_of(template, name), _outer(template)
    slope = total([derivative(outer, hole) for hole in holes])
    table = table.copy()
    start = table[:, holes[0]].copy()
    with np.errstate(all="ignore"):
        first = start + (y - evaluate(outer, table)) / evaluate(slope, table)
        if not exact:
            return np.asarray(first)
        values, size = start, SOLVED * float(np.std(y))
        for _ in range(NEWTON_STEPS):
            table[:, holes] = values[:, None]
            rest = y - evaluate(outer, table)
            values = np.where(np.abs(rest) > size, values + rest / evaluate(slope, table), values)
        table[:, holes] = values[:, None]
        done = np.abs(y - evaluate(outer, table)) <= 1e3 * size
    return np.asarray(np.where(done & (np.abs(values - start) <= 0.1 * np.ptp(start)), values, first))


def _outer(template: Template) -> Expr:
    """The known form with its constants as columns behind the slots."""
    n = template.n_columns + len(template.slots)
    return rebuild(template.outer, lambda node: Var(n + node.index) if isinstance(node, Param) else node)


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
