"""How a sum of features is written: a constant, and each feature with its coefficient."""

from __future__ import annotations

from collections.abc import Sequence

from ..symbolic.expr import Call, Const, Expr, product


def sum_of(intercept: float, coefficients: Sequence[float], features: Sequence[Expr]) -> Expr:
    """The sum; a feature without weight is left out."""
    terms = [_term(c, expr) for c, expr in zip(coefficients, features, strict=True) if c != 0.0]
    return Call("add", (Const(intercept), *terms)) if terms else Const(intercept)


def term_of(part: Expr) -> Expr:
    """The feature of a part of such a sum, its coefficient as 1."""
    if isinstance(part, Call) and part.op == "div":
        top, bottom = part.args
        return Const(1.0) / bottom if isinstance(top, Const) else term_of(top) / bottom
    if isinstance(part, Call) and part.op == "mul" and isinstance(part.args[0], Const):
        rest = part.args[1:]
        return rest[0] if len(rest) == 1 else Call("mul", rest)
    return part


def _term(coefficient: float, expr: Expr) -> Expr:
    if isinstance(expr, Call) and expr.op == "div":
        top, bottom = expr.args
        if isinstance(top, Const):
            return Const(coefficient * top.value) / bottom
        return product([Const(coefficient), top]) / bottom
    return product([Const(coefficient), expr])
