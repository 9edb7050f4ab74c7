"""Derivatives of a formula by its columns, as formulas.  Plain algebra on trees; does not know data."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...symbolic.expr import Call, Const, Expr, Var, call, product, total, variables
from ...symbolic.rewrite.simplify import simplify

ONE = Const(1.0)


def derivative(expr: Expr, index: int, order: int = 1) -> Expr:
    """d^order(expr)/dx_index^order, simplified."""
    for _ in range(order):
        expr = simplify(_slope(expr, index))
    return expr


def _slope(expr: Expr, index: int) -> Expr:
    if isinstance(expr, Var):
        return Const(1.0 if expr.index == index else 0.0)
    if not isinstance(expr, Call) or index not in variables(expr):
        return Const(0.0)
    op, args = expr.op, expr.args
    if op in ("add", "sub"):
        inner = [_slope(arg, index) for arg in args]
        return total(inner) if op == "add" else inner[0] - inner[1]
    if op == "mul":
        terms = [product([_slope(a, index), *args[:i], *args[i + 1 :]]) for i, a in enumerate(args)]
        return total([term for term, a in zip(terms, args, strict=True) if index in variables(a)])
    if op == "div":
        above, below = args
        slope = _slope(above, index) / below
        return slope if index not in variables(below) else slope - above * _slope(below, index) / below**2
    if op in ("min", "max"):
        smaller = call("step", args[1] - args[0])  # 1 where the first is the smaller
        first, second = (_slope(arg, index) for arg in (args if op == "min" else args[::-1]))
        return smaller * first + (ONE - smaller) * second
    if op == "pow":
        return _power_slope(expr, index)
    return _OUTER[op](args[0], expr) * _slope(args[0], index)


def _power_slope(expr: Call, index: int) -> Expr:
    base, exponent = expr.args
    by_base = exponent * base ** (exponent - ONE) * _slope(base, index)
    if isinstance(exponent, Const):
        return Const(exponent.value) * base ** Const(exponent.value - 1.0) * _slope(base, index)
    by_exponent = expr * call("ln", base) * _slope(exponent, index)
    return by_exponent if index not in variables(base) else by_base + by_exponent


# f'(x) from x and f(x).
_OUTER: dict[str, Callable[[Expr, Expr], Expr]] = {
    "neg": lambda x, f: Const(-1.0),
    "sin": lambda x, f: call("cos", x),
    "cos": lambda x, f: -call("sin", x),
    "exp": lambda x, f: f,
    "ln": lambda x, f: ONE / x,
    "sqrt": lambda x, f: Const(0.5) / f,
    "square": lambda x, f: Const(2.0) * x,
    "inv": lambda x, f: -(ONE / x ** Const(2.0)),
    "abs": lambda x, f: x / f,
    "sinh": lambda x, f: call("cosh", x),
    "cosh": lambda x, f: call("sinh", x),
    "tanh": lambda x, f: ONE - f ** Const(2.0),
    "tan": lambda x, f: ONE + f ** Const(2.0),
    "asin": lambda x, f: ONE / call("sqrt", ONE - x ** Const(2.0)),
    "acos": lambda x, f: -(ONE / call("sqrt", ONE - x ** Const(2.0))),
    "atan": lambda x, f: ONE / (ONE + x ** Const(2.0)),
    "erf": lambda x, f: Const(2.0 / math.sqrt(math.pi)) * call("exp", -(x ** Const(2.0))),
    "step": lambda x, f: Const(0.0),
}
