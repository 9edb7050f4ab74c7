"""Formulas that bend as a given one does: near zero 1 + s, exp(s), 1/(1 - s), 1/sqrt(1 - 2*s) and others are one curve.

Under noise a search finds one of them, often not the one that is shorter to write: x*exp(0.57*(v/c)**2) for
x/sqrt(1 - (v/c)**2).  Each can be had from another by hand, with constants to start a fit from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...arrays import Floats
from ...symbolic.expr import Call, Const, Expr, evaluate, variables
from ...symbolic.rewrite.simplify import simplify

# Powers p of the curves (1 + s/p)**p, which have value and slope in common at s = 0; exp is what they tend to.
POWERS = (1.0, -1.0, -0.5, 0.5, 2.0, -2.0)
NEAREST = 0.05  # to a pole: a start that goes beyond one is moved back to here
ONE = 2.0  # times or part of it: a factor that may be none at all, as in 1 - (v/c)**2


def relatives(expr: Expr, X: Floats) -> Iterator[Expr]:
    """The formula with one bend as each of the other curves."""
    if not isinstance(expr, Call) or not variables(expr):
        return
    bend = _bend(expr)
    if bend is not None:
        level, s = bend
        with np.errstate(all="ignore"):
            values = evaluate(s, X)
        if np.isfinite(values).all():
            yield from (simplify(Call("mul", (Const(level), curve))) for curve in _curves(s, values))
    for place, child in enumerate(expr.args):
        if bend is not None and expr.op == "pow" and place == 0:
            continue  # the sum below the power is this bend
        for new in relatives(child, X):
            yield simplify(Call(expr.op, (*expr.args[:place], new, *expr.args[place + 1 :])))


def _curves(s: Expr, values: Floats) -> Iterator[Expr]:
    yield Call("exp", (s,))
    for power in POWERS:
        # Beyond 1 + s/p = 0 the curve ends; the start keeps away from there.
        least = float(np.min(values / power))
        shrunk = 1.0 if least > NEAREST - 1.0 else (NEAREST - 1.0) / least
        for term in _terms(simplify(Call("mul", (Const(shrunk / power), s)))):
            base = Call("add", (Const(1.0), term))
            yield base if power == 1.0 else Call("pow", (base, Const(power)))


def _terms(term: Expr) -> Iterator[Expr]:
    """The term, and without its factor if that is about one."""
    yield term
    if isinstance(term, Call) and term.op == "mul":
        factor = next((part.value for part in term.args if isinstance(part, Const)), 1.0)
        if factor != 1.0 and 1.0 / ONE <= abs(factor) <= ONE:
            yield Call("mul", (Const(math.copysign(1.0, factor)), *(p for p in term.args if not isinstance(p, Const))))


def _bend(expr: Call) -> tuple[float, Expr] | None:
    """Level and s of a formula level*(1 + s + …): an exponential, a sum with a constant, or a power of one."""
    if expr.op == "exp":
        return None if _constant(expr.args[0]) else (1.0, expr.args[0])
    power = expr.args[1].value if expr.op == "pow" and isinstance(expr.args[1], Const) else 1.0
    total = expr.args[0] if expr.op == "pow" else expr
    if expr.op not in ("pow", "add") or not isinstance(total, Call):
        return None
    constant = _constant(total)
    if constant == 0.0 or (constant < 0.0 and not float(power).is_integer()):
        return None
    rest = [Call("mul", (Const(power / constant), part)) for part in total.args if not isinstance(part, Const)]
    return constant**power, Call("add", rest) if len(rest) > 1 else rest[0]


def _constant(expr: Expr) -> float:
    """The constant of a sum, 0 without one."""
    parts = expr.args if isinstance(expr, Call) and expr.op == "add" else ()
    return sum(part.value for part in parts if isinstance(part, Const))
