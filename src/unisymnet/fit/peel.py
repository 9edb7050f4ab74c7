"""The same equation in a form that is easier to fit: known outer operations undone, denominators multiplied out.

y = x1 + 1/(c0*x0 + c1) is hopeless for least squares where it has poles, but 1/(y - x1) = c0*x0 + c1 is linear.
``peel`` gives E(x, y; c) with E = 0 exactly where y = f(x; c); its solution is a start for the fit of y itself, never
the answer, because E weights the rows in its own way.  ``unscaled`` takes out constants that only scale others, so that
more of the rest is linear.  Knows no data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..symbolic.expr import Call, Const, Expr, Param, Var, product, rebuild, total, walk

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
            scaled = _scaled_power(rest)
            return best if scaled is None else (_root(known, scaled[1]), scaled[0])
        if rest.op == "add":
            known, rest = known - total(outer), total(inner)
        elif rest.op == "mul" and outer:
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


def _scaled_power(expr: Call) -> tuple[Expr, float] | None:
    """c·b**p as (b times a constant, p): y = c·b**p is y**(1/p) = c'·b."""
    if expr.op != "mul" or len(expr.args) != 2:
        return None
    scale, power = sorted(expr.args, key=lambda arg: not isinstance(arg, Param))
    if not isinstance(scale, Param) or not isinstance(power, Call) or _power(power) in (0.0, 1.0):
        return None
    base = power.args[0]
    return (base if _has_scale(base) else product([scale, base])), _power(power)


def _root(known: Expr, power: float) -> Expr:
    inside = Call("abs", (known,)) if power % 2.0 == 0.0 else known
    return Call("pow", (inside, Const(1.0 / power)))


def unscaled(expr: Expr) -> Expr:
    """The same family of formulas with fewer constants; those left out count as 1.

    c0*(c1*x0 + c2)**-1 loses c0, c0*(c1*x0 + c2)**2 loses c1, and of two sums in a product one loses its first.
    """
    uses = Counter(node.index for node in walk(expr) if isinstance(node, Param))

    def change(node: Expr) -> Expr:
        if not isinstance(node, Call) or node.op != "mul":
            return node
        powers = [_base_and_power(arg) for arg in node.args]
        sums = [k for k, (base, p) in enumerate(powers) if p == round(p) and _has_scale(base)]
        scales = [k for k, arg in enumerate(node.args) if isinstance(arg, Param) and uses[arg.index] == 1]
        odd = [k for k in sums if powers[k][1] % 2.0 == 1.0]
        carrier = min(odd, key=lambda k: powers[k][1] != 1.0) if odd else -1
        dropped = scales[0] if scales and carrier >= 0 else -1
        args = list(node.args)
        for k in sums:
            if k != carrier and (carrier >= 0 or scales):
                base = _first_fixed(powers[k][0], uses)
                args[k] = base if powers[k][1] == 1.0 else Call("pow", (base, Const(powers[k][1])))
        return product([arg for k, arg in enumerate(args) if k != dropped])

    return rebuild(expr, change)


def _base_and_power(expr: Expr) -> tuple[Expr, float]:
    power = _power(expr) if isinstance(expr, Call) else 0.0
    return (expr.args[0], power) if isinstance(expr, Call) and power else (expr, 1.0)


def _has_scale(expr: Expr) -> bool:
    """A sum whose terms all have a constant of their own?"""
    return isinstance(expr, Call) and expr.op == "add" and all(_coefficient(term) is not None for term in expr.args)


def _coefficient(term: Expr) -> Param | None:
    if isinstance(term, Param):
        return term
    if isinstance(term, Call) and term.op == "mul":
        return next((arg for arg in term.args if isinstance(arg, Param)), None)
    return None


def _first_fixed(expr: Expr, uses: Counter[int]) -> Expr:
    """A sum with the first of its constants that stand nowhere else set to 1."""
    assert isinstance(expr, Call)
    for k, term in enumerate(expr.args):
        held = _coefficient(term)
        if held is not None and uses[held.index] == 1:
            left = [arg for arg in term.args if arg != held] if isinstance(term, Call) else []
            return total([*expr.args[:k], product(left) if left else Const(1.0), *expr.args[k + 1 :]])
    return expr


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
