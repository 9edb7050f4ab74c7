"""Holes: a formula with one part taken out, and the values that would have to be in its place.

Everything between the output and the part is undone, row by row, as in bank.py, but on simplified formulas, whose sums
and products have many arguments: one of them may be taken out, or all but one, or one more may be put beside the whole.
Knows no genomes and nobody who could fill a hole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...symbolic.expr import Call, Const, Expr, evaluate, product, total, variables

Undo = Callable[[Floats, Floats], tuple[Floats, Floats]]

ONE, ZERO = Const(1.0), Const(0.0)


@dataclass(frozen=True)
class Hole:
    """What is there now, what is wanted there, and by how much that moves where y moves by 1; ``fill`` writes the
    whole formula with something else in the hole."""

    part: Expr
    now: Floats
    wanted: Floats
    slope: Floats
    inputs: frozenset[int]  # of the part, or of the whole formula where the hole is beside it
    fill: Callable[[Expr], Expr]


def holes(expr: Expr, X: Floats, y: Floats) -> Iterator[Hole]:
    """Every hole of a simplified formula: beside it, as a summand or a factor, and inside."""
    values, every = evaluate(expr, X), frozenset(range(X.shape[1]))
    one = np.ones_like(y)
    yield Hole(ZERO, 0.0 * y, y - values, one, every, lambda e: total([expr, e]))
    yield Hole(ONE, one, y / values, 1.0 / np.abs(values), every, lambda e: product([expr, e]))
    yield from _inside(expr, X, y, one, lambda e: e)


def _inside(node: Expr, X: Floats, t: Floats, s: Floats, fill: Callable[[Expr], Expr]) -> Iterator[Hole]:
    """Holes below a node that should have the values ``t``."""
    if not isinstance(node, Call):
        return
    if node.op in ("add", "mul"):
        yield from _one_of_many(node, X, t, s, fill)
        return
    undo = _UNDO.get(node.op)
    if node.op == "pow" and isinstance(node.args[1], Const) and node.args[1].value != 0.0:
        undo = _base_of(node.args[1].value)
    if undo is None:
        return
    part, rest = node.args[0], node.args[1:]
    now = evaluate(part, X)
    wanted, moved = undo(t, now)
    yield from _hole(part, X, now, wanted, s * np.abs(moved), lambda e: fill(Call(node.op, (e, *rest))))


def _one_of_many(node: Call, X: Floats, t: Floats, s: Floats, fill: Callable[[Expr], Expr]) -> Iterator[Hole]:
    """One argument of a sum or product, or all but one."""
    summed = node.op == "add"
    join = total if summed else product
    values = [evaluate(arg, X) for arg in node.args]
    for i, arg in enumerate(node.args):
        others = [*node.args[:i], *node.args[i + 1 :]]
        rest = np.array([v for k, v in enumerate(values) if k != i])
        beside: Floats = rest.sum(axis=0) if summed else rest.prod(axis=0)

        def put(e: Expr, others: list[Expr] = others) -> Expr:
            return fill(join([*others, e]))

        yield from _hole(arg, X, values[i], *_without(summed, t, s, beside), put)
        if len(others) > 1 and variables(arg):

            def replace(e: Expr, arg: Expr = arg) -> Expr:
                return fill(join([arg, e]))

            wanted, slope = _without(summed, t, s, values[i])
            inputs = frozenset(v for other in others for v in variables(other))
            if inputs:
                yield Hole(join(others), beside, wanted, slope, inputs, replace)


def _without(summed: bool, t: Floats, s: Floats, beside: Floats) -> tuple[Floats, Floats]:
    return (t - beside, s) if summed else (t / beside, s / np.abs(beside))


def _hole(
    part: Expr, X: Floats, now: Floats, wanted: Floats, slope: Floats, fill: Callable[[Expr], Expr]
) -> Iterator[Hole]:
    """The part as a hole, if it is a formula, and the holes inside it."""
    if isinstance(part, Call) and variables(part):
        yield Hole(part, now, wanted, slope, frozenset(variables(part)), fill)
        yield from _inside(part, X, wanted, slope, fill)


def _base_of(exponent: float) -> Undo:
    """The base of a power; an even one keeps its sign."""

    def undo(t: Floats, now: Floats) -> tuple[Floats, Floats]:
        base = np.abs(t) ** (1.0 / exponent)
        if exponent % 2.0 == 1.0:
            base = np.copysign(base, t)
        else:
            base = np.where(t > 0.0, base, np.nan)
            base = np.copysign(base, now) if exponent % 2.0 == 0.0 else base
        return base, base / (exponent * t)

    return undo


def _nearest(angle: Floats, now: Floats, turn: float) -> Floats:
    """The angle that is next to ``now`` among those that differ by whole turns."""
    return angle + turn * np.round((now - angle) / turn)


def _arc(t: Floats, now: Floats) -> tuple[Floats, Floats]:
    base, turn = np.arcsin(t), 2.0 * math.pi
    a, b = _nearest(base, now, turn), _nearest(math.pi - base, now, turn)
    return np.where(np.abs(a - now) <= np.abs(b - now), a, b), 1.0 / np.sqrt(1.0 - t * t)


def _arc_of_cos(t: Floats, now: Floats) -> tuple[Floats, Floats]:
    angle, moved = _arc(t, now + 0.5 * math.pi)
    return angle - 0.5 * math.pi, moved


_UNDO: dict[str, Undo] = {
    "neg": lambda t, now: (-t, np.ones_like(t)),
    "exp": lambda t, now: (np.log(t), 1.0 / t),
    "ln": lambda t, now: (np.exp(t), np.exp(t)),
    "abs": lambda t, now: (np.copysign(np.where(t >= 0.0, t, np.nan), now), np.ones_like(t)),
    "tanh": lambda t, now: (np.arctanh(t), 1.0 / (1.0 - t * t)),
    "tan": lambda t, now: (_nearest(np.arctan(t), now, math.pi), 1.0 / (1.0 + t * t)),
    "sin": _arc,
    "cos": _arc_of_cos,
    "sqrt": lambda t, now: (np.where(t >= 0.0, t * t, np.nan), 2.0 * t),
}
