"""Interval arithmetic: bounds of a formula on many boxes at once.

Every bound is rounded outwards.  Where a formula is undefined on part of a box, its bounds are those of the part on
which it is defined; where it is defined nowhere, they are nan.  Does not know constraints.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from ...symbolic.expr import Call, Const, Expr, Var, walk
from ...symbolic.operators import OPERATORS
from ...symbolic.spans import increasing

Bounds = tuple[Floats, Floats]

ULPS = 4e-16  # relative, by which a bound is moved outwards
LEAST = 1e-300


def bounds(expr: Expr, low: Floats, high: Floats) -> Bounds:
    """Lower and upper bounds (n,) of the formula on n boxes with corners (n, d)."""
    known: dict[Expr, Bounds] = {}
    n = len(low)
    with np.errstate(all="ignore"):
        for node in walk(expr):
            if node in known:
                continue
            if isinstance(node, Const):
                known[node] = np.full(n, node.value), np.full(n, node.value)
            elif isinstance(node, Var):
                known[node] = low[:, node.index], high[:, node.index]
            else:
                assert isinstance(node, Call)
                known[node] = _outwards(_apply(node, [known[arg] for arg in node.args]))
    return known[expr]


def _outwards(pair: Bounds) -> Bounds:
    low, high = pair
    return low - ULPS * np.abs(low) - LEAST, high + ULPS * np.abs(high) + LEAST


def _apply(node: Call, args: list[Bounds]) -> Bounds:
    op = node.op
    if op == "add":
        return sum(a[0] for a in args), sum(a[1] for a in args)  # type: ignore[return-value]
    if op == "sub":
        return args[0][0] - args[1][1], args[0][1] - args[1][0]
    if op == "mul":
        found = args[0]
        same = node.args[0]
        for arg, other in zip(node.args[1:], args[1:], strict=True):
            found = _on("square", found) if arg == same and len(node.args) == 2 else _times(found, other)
        return found
    if op == "div":
        return _times(args[0], _on("inv", args[1]))
    if op == "pow":
        exponent = node.args[1]
        if isinstance(exponent, Const):
            return _raised(args[0], exponent.value)
        return _on("exp", _times(_on("ln", args[0]), args[1]))
    if op in ("min", "max"):
        lower, upper = (OPERATORS[op].apply(args[0][end], args[1][end]) for end in (0, 1))
        return lower, upper
    return _on(op, args[0])


def _on(op: str, a: Bounds) -> Bounds:
    """The rule of the table."""
    span = OPERATORS[op].span
    assert span is not None
    return span(*a)


def _times(a: Bounds, b: Bounds) -> Bounds:
    # 0·inf is 0 here: an infinite bound is a bound of finite values.
    corners = np.stack([np.nan_to_num(x * y, nan=0.0, posinf=np.inf, neginf=-np.inf) for x in a for y in b])
    undefined = np.isnan(a[0]) | np.isnan(b[0])
    return np.where(undefined, np.nan, corners.min(axis=0)), np.where(undefined, np.nan, corners.max(axis=0))


def _raised(a: Bounds, exponent: float) -> Bounds:
    low, high = a
    if exponent == round(exponent):
        whole = round(exponent)
        if whole < 0:
            return _on("inv", _raised(a, -exponent))
        if whole % 2 == 0:
            least, most = _on("square", a)
            return least ** (whole // 2), most ** (whole // 2)
        return low**whole, high**whole
    if exponent < 0:
        return _on("inv", _raised(a, -exponent))
    return increasing(lambda x: np.power(x, exponent), 0.0)(low, high)
