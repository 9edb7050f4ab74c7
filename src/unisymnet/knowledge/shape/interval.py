"""Interval arithmetic: bounds of a formula on many boxes at once.

Every bound is rounded outwards.  Where a formula is undefined on part of a box, its bounds are those of the part on
which it is defined; where it is defined nowhere, they are nan.  Does not know constraints.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...symbolic.expr import Call, Const, Expr, Var, walk
from ...symbolic.operators import OPERATORS

Floats = NDArray[np.float64]
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
            found = _square(found) if arg == same and len(node.args) == 2 else _times(found, other)
        return found
    if op == "div":
        return _times(args[0], _inverse(args[1]))
    if op == "pow":
        exponent = node.args[1]
        if isinstance(exponent, Const):
            return _raised(args[0], exponent.value)
        return _exp(_times(_ln(args[0]), args[1]))
    if op in ("min", "max"):
        lower, upper = (OPERATORS[op].apply(args[0][end], args[1][end]) for end in (0, 1))
        return lower, upper
    return _UNARY[op](args[0])


def _times(a: Bounds, b: Bounds) -> Bounds:
    # 0·inf is 0 here: an infinite bound is a bound of finite values.
    corners = np.stack([np.nan_to_num(x * y, nan=0.0, posinf=np.inf, neginf=-np.inf) for x in a for y in b])
    undefined = np.isnan(a[0]) | np.isnan(b[0])
    return np.where(undefined, np.nan, corners.min(axis=0)), np.where(undefined, np.nan, corners.max(axis=0))


def _inverse(a: Bounds) -> Bounds:
    low, high = a
    inside = (low < 0.0) & (high > 0.0)
    lower = np.where(high == 0.0, -np.inf, 1.0 / high)
    upper = np.where(low == 0.0, np.inf, 1.0 / low)
    return np.where(inside, -np.inf, lower), np.where(inside, np.inf, upper)


def _square(a: Bounds) -> Bounds:
    low, high = a
    least = np.where((low <= 0.0) & (high >= 0.0), 0.0, np.minimum(low * low, high * high))
    return np.where(np.isnan(low), np.nan, least), np.maximum(low * low, high * high)


def _raised(a: Bounds, exponent: float) -> Bounds:
    low, high = a
    if exponent == round(exponent):
        whole = round(exponent)
        if whole < 0:
            return _inverse(_raised(a, -exponent))
        if whole % 2 == 0:
            least, most = _square(a)
            return least ** (whole // 2), most ** (whole // 2)
        return low**whole, high**whole
    if exponent < 0:
        return _inverse(_raised(a, -exponent))
    return _monotone(lambda x: np.power(x, exponent), 0.0, math.inf)(a)


def _monotone(
    function: Callable[[Floats], Floats], least: float = -math.inf, most: float = math.inf
) -> Callable[[Bounds], Bounds]:
    """A rising function that is defined from `least` to `most`."""

    def applied(a: Bounds) -> Bounds:
        low, high = a
        nowhere = (high < least) | (low > most) | np.isnan(low)
        lower, upper = function(np.clip(low, least, most)), function(np.clip(high, least, most))
        return np.where(nowhere, np.nan, lower), np.where(nowhere, np.nan, upper)

    return applied


def _falling(a: Bounds) -> Bounds:
    return -a[1], -a[0]


def _wave(a: Bounds, shift: float) -> Bounds:
    """cos(x + shift) has its tops at multiples of 2π."""
    low, high = a[0] + shift, a[1] + shift
    top = np.floor(high / (2 * math.pi)) >= np.ceil(low / (2 * math.pi))
    bottom = np.floor((high - math.pi) / (2 * math.pi)) >= np.ceil((low - math.pi) / (2 * math.pi))
    unknown = ~np.isfinite(low) | ~np.isfinite(high)
    ends = np.cos(low), np.cos(high)
    upper = np.where(top | unknown, 1.0, np.maximum(*ends))
    lower = np.where(bottom | unknown, -1.0, np.minimum(*ends))
    return np.where(np.isnan(a[0]), np.nan, lower), np.where(np.isnan(a[0]), np.nan, upper)


def _tan(a: Bounds) -> Bounds:
    low, high = a
    branch = np.floor(low / math.pi + 0.5) == np.floor(high / math.pi + 0.5)
    return np.where(branch, np.tan(low), -np.inf), np.where(branch, np.tan(high), np.inf)


def _abs(a: Bounds) -> Bounds:
    low, high = a
    least = np.where((low <= 0.0) & (high >= 0.0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return np.where(np.isnan(low), np.nan, least), np.maximum(np.abs(low), np.abs(high))


_exp = _monotone(np.exp)
_ln = _monotone(np.log, 0.0)
_UNARY: dict[str, Callable[[Bounds], Bounds]] = {
    "neg": _falling,
    "sin": lambda a: _wave(a, -math.pi / 2),
    "cos": lambda a: _wave(a, 0.0),
    "exp": _exp,
    "ln": _ln,
    "sqrt": _monotone(np.sqrt, 0.0),
    "square": _square,
    "inv": _inverse,
    "abs": _abs,
    "sinh": _monotone(np.sinh),
    "cosh": lambda a: _monotone(np.cosh)(_abs(a)),
    "tanh": _monotone(np.tanh),
    "tan": _tan,
    "asin": _monotone(np.arcsin, -1.0, 1.0),
    "acos": lambda a: _falling(_monotone(lambda x: -np.arccos(x), -1.0, 1.0)(a)),
    "atan": _monotone(np.arctan),
    "erf": _monotone(OPERATORS["erf"].apply),
    "step": _monotone(OPERATORS["step"].apply),
}
