"""A formula as nested lists that the page computes with: no source text, nothing to evaluate but known names.

["mul", ["p", 0], ["sin", ["x", 1]]]: constants that may move are ["p", number], others ["c", value], columns
["x", number].
"""

from __future__ import annotations

from typing import Any

from ..formula import Formula
from ..formula.constants import free
from ..symbolic.expr import Call, Const, Expr, Param, Var


def tree_of(formula: Formula) -> tuple[list[Any], list[float]]:
    """The tree and the values of its constants, in the order of `formula.constants`."""
    form, values = free(formula.expr)
    return _node(form), list(values)


def _node(expr: Expr) -> list[Any]:
    if isinstance(expr, Const):
        return ["c", expr.value]
    if isinstance(expr, Var):
        return ["x", expr.index]
    if isinstance(expr, Param):
        return ["p", expr.index]
    assert isinstance(expr, Call)
    return [expr.op, *map(_node, expr.args)]
