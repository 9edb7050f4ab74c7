"""The same equation in a form that is easier to fit: known outer operations undone, denominators multiplied out.

y = x1 + 1/(c0*x0 + c1) is hopeless for least squares where it has poles, but 1/(y - x1) = c0*x0 + c1 is linear.
``peel`` gives E(x, y; c) with E = 0 exactly where y = f(x; c); its solution is a start for the fit of y itself, never
the answer, because E weights the rows in its own way.  Knows no data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..symbolic.expr import Call, Const, Expr, Param, Var, product, total, walk

_INVERSES = {"exp": "ln", "ln": "exp", "sqrt": "square", "inv": "inv", "asin": "sin", "atan": "tan"}
_MAX_POWER = 4


@dataclass(frozen=True)
class Peeled:
    """``equation`` = 0 with y as one more column; ``known`` is the part of it that replaces y (free of unknowns)."""

    equation: Expr
    known: Expr


def peel(expr: Expr, y: Var) -> Peeled | None:
    """The easier form of y = expr, or None where there is none."""
    if _free(expr):
        return None
    known, rest = _undo(y, expr)
    above, below = _ratio(rest)
    if rest is expr and below is None:
        return None
    return Peeled(above - (known if below is None else known * below), known)


def _free(expr: Expr) -> bool:
    return not any(isinstance(node, Param) for node in walk(expr))


def _undo(known: Expr, rest: Expr) -> tuple[Expr, Expr]:
    """Undo the outer operations on the one part with unknowns, down to the last that is worth it.

    Sums and products alone are not: least squares handles them, and dividing would only spoil the weights.
    """
    best = known, rest
    while isinstance(rest, Call):
        args = rest.args
        inner = [a for a in args if not _free(a)]
        outer = [a for a in args if _free(a)]
        if len(inner) > 1 and not (outer and rest.op in ("add", "mul")):
            break
        if rest.op == "add":
            known, rest = known - total(outer), total(inner)
        elif rest.op == "mul":
            known, rest = known / product(outer), product(inner)
        elif rest.op == "neg":
            known, rest = -known, args[0]
        elif rest.op == "sub":
            known, rest = (args[0] - known if inner[0] is args[1] else known + args[1]), inner[0]
        elif rest.op == "div" and inner[0] is args[0]:
            known, rest = known * args[1], args[0]
        elif rest.op == "div":
            known, rest = args[0] / known, args[1]
            best = known, rest
        elif rest.op in _INVERSES:
            known, rest = Call(_INVERSES[rest.op], (known,)), args[0]
            best = known, rest
        elif _power(rest) != 0.0:
            known, rest = Call("pow", (known, Const(1.0 / _power(rest)))), args[0]
            best = known, rest
        else:
            break
    return best


_Ratio = tuple[Expr, Expr | None]  # numerator, and denominator if that holds unknowns


def _ratio(expr: Expr) -> _Ratio:
    """``expr`` over one denominator that holds unknowns."""
    if not isinstance(expr, Call) or _free(expr):
        return expr, None
    if expr.op in ("add", "sub", "neg"):
        parts = [_ratio(a) for a in expr.args]
        if expr.op == "neg" or expr.op == "sub":
            parts[-1] = (-parts[-1][0], parts[-1][1])
        belows = list(dict.fromkeys(below for _, below in parts if below is not None))
        terms = [product([above, *(other for other in belows if other != below)]) for above, below in parts]
        return total(terms), _joined(belows)
    if expr.op == "mul":
        parts = [_ratio(a) for a in expr.args]
        return product([above for above, _ in parts]), _joined([below for _, below in parts])
    if expr.op in ("div", "inv"):
        above, below = _ratio(expr.args[0]) if expr.op == "div" else (Const(1.0), None)
        inner, outer = _ratio(expr.args[-1])
        if outer is not None:
            above = above * outer
        return (above / inner, below) if _free(inner) else (above, _joined([below, inner]))
    power = _power(expr)
    if power == round(power) and 0 < abs(power) <= _MAX_POWER:
        above, below = _ratio(expr.args[0])
        if power < 0:
            above, below = below if below is not None else Const(1.0), above
        return above ** abs(power), None if below is None else below ** abs(power)
    return expr, None


def _power(expr: Call) -> float:
    """The fixed exponent of a power, 0 for anything else."""
    if expr.op == "pow" and isinstance(expr.args[1], Const):
        return expr.args[1].value
    return 2.0 if expr.op == "square" else 0.0


def _joined(factors: Sequence[Expr | None]) -> Expr | None:
    found = [f for f in factors if f is not None]
    return product(found) if found else None
