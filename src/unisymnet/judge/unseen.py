"""Shapes that nobody has seen: a piece of a wave without a period, the flank of a peak without its other side, growth
towards a level that is nowhere near.

Any smooth curve can be followed by a piece of a sine or by one side of a Gaussian, and in measured data it nearly
always is that: a bend, not a wave or a peak.  An angle costs less: sin(x), cos(2*x - y) and sin(pi*x) have numbers that
nobody fitted, but without a period they are bends, too.  A wave that turns faster than the rows follow goes through
anything.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from ..arrays import Floats
from ..symbolic.expr import Call, Const, Expr, Var, evaluate, variables, walk
from ..symbolic.rewrite.collect import terms_of
from ..symbolic.rewrite.simplify import simplify
from .told import is_plain, is_told

WAVE_NATS, ANGLE_NATS, FLANK_NATS = 10.0, 4.0, 5.0
PERIOD, HALF_PERIOD = 2.0 * math.pi, math.pi
LEAST_SIDE = 0.1  # of the rows: so many must lie beyond the top of a peak
NEAREST = -2.0  # in c*exp(-b*exp(-k*x)), of the outer exponent: below it all rows are less than a seventh of the level
TWO = Const(2.0)


def unseen_nats(expr: Expr, X: Floats, degrees: Collection[int] = ()) -> float:
    """The price of waves that show less than a period or turn between the rows, of peaks that show one side, and of
    levels that no row comes near.  Columns in ``degrees`` are angles, so that a wave along them needs no period."""
    calls = [node for node in walk(expr) if isinstance(node, Call)]
    n_exponentials = sum(node.op == "exp" for node in calls)
    if not any(node.op in ("sin", "cos") or TWO in node.args for node in calls) and n_exponentials < 2:
        return 0.0
    calls = [node for node in walk(simplify(expr)) if isinstance(node, Call)]
    waves = {node.args[0] for node in calls if node.op in ("sin", "cos")}
    waves = {argument for argument in waves if variables(argument) and not is_told(argument, degrees)}
    wave_nats = sum(_wave_nats(argument, X) for argument in waves)
    tops = {top for node in calls for top in _tops(node)}
    n_flanks = sum(_is_flank(X[:, column], place) for column, place in tops)
    n_flanks += sum(_is_far_below(node, X) for node in calls if node.op == "exp" and n_exponentials > 1)
    return wave_nats + FLANK_NATS * n_flanks


def _wave_nats(argument: Expr, X: Floats) -> float:
    with np.errstate(all="ignore"):
        seen = np.unique(evaluate(argument, X))
    if len(seen) > 1 and float(np.median(np.diff(seen))) > HALF_PERIOD:
        return WAVE_NATS
    if len(seen) and float(seen[-1] - seen[0]) >= PERIOD:
        return 0.0
    return ANGLE_NATS if _is_angle(argument) else WAVE_NATS


def _is_far_below(node: Call, X: Floats) -> bool:
    """Is this the growth of Gompertz, seen only where it begins?"""
    inner = [core * Const(factor) for core, factor in terms_of(node.args[0]).items() if factor < 0.0 and _grows(core)]
    with np.errstate(all="ignore"):
        return any(float(np.max(evaluate(part, X))) < NEAREST for part in inner)


def _grows(core: Expr) -> bool:
    return isinstance(core, Call) and core.op == "exp" and bool(variables(core))


def _is_angle(argument: Expr) -> bool:
    """Are all its numbers plain ones, or plain parts of pi?"""
    numbers = [abs(node.value) for node in walk(argument) if isinstance(node, Const) and node.value]
    return all(is_plain(number) or is_plain(number / math.pi) for number in numbers)


def _tops(node: Call) -> list[tuple[int, float]]:
    """Column and place of the top of a Gaussian or Lorentzian: a square of x + c inside exp(…) or 1/(… + …)."""
    inner = node.args[0]
    lorentzian = node.op == "pow" and isinstance(node.args[1], Const) and node.args[1].value < 0.0
    if not (node.op == "exp" or (lorentzian and isinstance(inner, Call) and inner.op == "add")):
        return []
    found, terms = [], terms_of(inner)
    for core, factor in terms.items():
        if not (isinstance(core, Call) and core.op == "pow" and core.args[1] == TWO):
            continue
        base = core.args[0]
        if isinstance(base, Var) and base in terms:
            found.append((base.index, -0.5 * terms[base] / factor))
        elif isinstance(base, Call) and base.op == "add" and len(base.args) == 2:
            column, number = base.args
            if isinstance(column, Var) and isinstance(number, Const):
                found.append((column.index, -number.value))
    return found


def _is_flank(x: Floats, place: float) -> bool:
    below = float(np.mean(x < place))
    return min(below, 1.0 - below) < LEAST_SIDE
