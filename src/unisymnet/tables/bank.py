"""The shapes that one column can enter a formula by: powers, logarithms, kinks, soft steps, bumps.

Inner constants lie on quantiles of the column and are rounded to the digits that tell one from the next, so that a
formula stays readable. A shape is offered only where it is defined with room to spare: rows to predict lie beside
those seen. Does not know the target.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..metrics import complexity
from ..symbolic.expr import Call, Const, Expr, Var

FEW_LEVELS = 7
KNOTS = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9)
STEPS = (0.25, 0.5, 0.75)
ROOM = 0.05  # of a column's range by which a positive column must stay away from zero for ln and 1/x


@dataclass(frozen=True)
class Shape:
    """A short formula and its values; `plain` ones may be multiplied with those of other columns."""

    expr: Expr
    values: Floats
    plain: bool = True

    @property
    def size(self) -> int:
        """What a formula grows by: the shape, its coefficient, a product and a sum."""
        return complexity(self.expr) + 3


def shapes_of_column(x: Floats, column: int, allowed: frozenset[str]) -> list[Shape]:
    """Every shape of one column, the column itself first."""
    return [Shape(expr, values, plain) for expr, values, plain in _shapes(x, Var(column), allowed)]


def _shapes(x: Floats, v: Expr, allowed: frozenset[str]) -> Iterator[tuple[Expr, Floats, bool]]:
    yield v, x, True
    levels = np.unique(x)
    if len(levels) <= 2:
        return
    if _may(allowed, "square"):
        yield Call("square", (v,)), x * x, True
    if len(levels) <= FEW_LEVELS:
        if _may(allowed, "abs", "sub"):
            for a in levels[1:-1]:
                yield Call("abs", (_moved(v, float(a)),)), np.abs(x - a), True
        yield from _cases(x, v, levels, allowed)
        return
    low, high = float(levels[0]), float(levels[-1])
    if low >= 0.0:
        if _may(allowed, "sqrt"):
            yield Call("sqrt", (v,)), np.sqrt(x), True
        shift = 0.0 if low > ROOM * float(np.median(x)) and low > 0.0 else 1.0
        if _may(allowed, "ln") and (shift == 0.0 or high > 10.0):
            yield Call("ln", (v + Const(shift) if shift else v,)), np.log(x + shift), True
        if _may(allowed, "div") and (shift == 0.0 or high > 10.0):
            yield Const(1.0) / (v + Const(shift) if shift else v), 1.0 / (x + shift), True
    elif _may(allowed, "pow") and len(levels) > FEW_LEVELS:
        yield v ** Const(3.0), x**3, False
    yield from _bent(x, v, allowed)


def _cases(x: Floats, v: Expr, levels: Floats, allowed: frozenset[str]) -> Iterator[tuple[Expr, Floats, bool]]:
    """Whether a column of few levels has one of them: 1 or 0.  Numbers may be names of kinds."""
    if not _may(allowed, "step", "abs", "sub"):
        return
    half = short(float(np.diff(levels).min()) / 2.0, float(np.diff(levels).min()))
    for a in levels:
        is_there = (np.abs(x - a) < half).astype(np.float64)
        yield Call("step", (Const(half) - Call("abs", (_moved(v, float(a)),)),)), is_there, True


def _bent(x: Floats, v: Expr, allowed: frozenset[str]) -> Iterator[tuple[Expr, Floats, bool]]:
    """Kinks, soft steps and bumps at quantiles."""
    spread = float(np.subtract(*np.quantile(x, (0.9, 0.1)))) or float(np.ptp(x))
    if _may(allowed, "abs", "sub"):
        for a in knots(x, KNOTS):
            yield Call("abs", (_moved(v, a),)), np.abs(x - a), True
    width = short(spread / 8.0, spread / 8.0)
    if _may(allowed, "tanh", "sub", "div"):
        for a in knots(x, STEPS):
            yield Call("tanh", (_moved(v, a) / Const(width),)), np.tanh((x - a) / width), True
    if _may(allowed, "step", "sub"):
        for a in knots(x, STEPS):
            yield Call("step", (_moved(v, a),)), np.heaviside(x - a, 0.0), False
    if _may(allowed, "exp", "sub", "div", "square", "neg"):
        for a in knots(x, STEPS):
            inner = Call("square", (_moved(v, a) / Const(2.0 * width),))
            yield Call("exp", (-inner,)), np.exp(-(((x - a) / (2.0 * width)) ** 2)), False


def knots(x: Floats, shares: tuple[float, ...]) -> list[float]:
    """Different quantiles, rounded to a tenth of the distance between two, strictly inside the range."""
    low, high = float(x.min()), float(x.max())
    step = (high - low) / 10.0
    found = {short(float(q), step) for q in np.quantile(x, shares)}
    return sorted(a for a in found if low < a < high)


def short(value: float, step: float) -> float:
    """The value with as few digits as keep it within a tenth of the step."""
    if step <= 0.0 or not math.isfinite(step):
        return value
    digits = -math.floor(math.log10(step / 10.0)) - 1
    return round(value, digits) or round(value, digits + 1)


def _moved(v: Expr, a: float) -> Expr:
    if a == 0.0:
        return v
    return v - Const(a) if a > 0.0 else v + Const(-a)


def _may(allowed: frozenset[str], *operators: str) -> bool:
    return not allowed or all(op in allowed for op in operators)
