"""What a part of a formula would have to be, and which of many units comes nearest to that.

Everything on the way from the output to a part is undone, row by row: for y to be x0*sin(P) + x1 the part P must be
asin((y - x1)/x0), on the branch next to its present values.  One pass over a library of units then finds the unit u
with P = a + b*u as nearly as possible, so that a move need not guess.  It does not know populations nor fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...symbolic.expr import Call, Const, Expr, children, evaluate_shared, product, size, total
from .moves import replaced

Floats = NDArray[np.float64]
Steps = tuple[Floats, Floats]  # wanted values, and by how much they move where the target moves by 1

LEAST_ROWS = 0.6  # of all, on which a part must be able to do what is wanted
MOST_WEIGHT = 30.0  # of a row, over the median
CHOICES = 4  # the best units among which chance decides
SAME = 1e-6  # an offset below this share of the unit's spread is none


def wanted(expr: Expr, place: int, X: Floats, y: Floats) -> tuple[Any, Floats, Floats] | None:
    """Of part number ``place`` (parents before children): its values, those it would have to have for the whole to be
    y, and how they move with y; None where an operator on the way cannot be undone."""
    known: dict[Expr, Any] = {}
    target, slope = y, np.ones(len(y))
    with np.errstate(all="ignore"):
        evaluate_shared(expr, X, known)
        while place:
            place -= 1
            k, args = 0, children(expr)
            while place >= size(args[k]):
                place -= size(args[k])
                k += 1
            assert isinstance(expr, Call)
            undone = _undone(expr, k, [known[a] for a in expr.args], target, slope)
            if undone is None:
                return None
            (target, slope), expr = undone, args[k]
    return known[expr], target, slope


def _undone(node: Call, k: int, args: Sequence[Any], t: Floats, s: Floats) -> Steps | None:
    """What argument ``k`` has to be where the node has to be ``t``."""
    if node.op == "add":
        return t - sum(a for i, a in enumerate(args) if i != k), s
    if node.op == "mul":
        others = math.prod(a for i, a in enumerate(args) if i != k)
        return t / others, s / np.abs(others)
    if node.op == "sub":
        return (t + args[1], s) if k == 0 else (args[0] - t, s)
    if node.op == "div":
        return (t * args[1], s * np.abs(args[1])) if k == 0 else (args[0] / t, s * np.abs(args[0]) / t**2)
    if node.op == "pow":
        if k == 1:
            return np.log(t) / np.log(args[0]), s / np.abs(t * np.log(args[0]))
        return _root(t, s, float(args[1]), args[0]) if isinstance(node.args[1], Const) else None
    undo = _INVERSES.get(node.op)
    return undo(t, s, args[0]) if undo is not None else None


def _root(t: Floats, s: Floats, power: float, now: Any) -> Steps:
    """The base of a power; an even one keeps its sign."""
    if power == 0.0:
        return np.full(len(t), np.nan), s
    bases = np.abs(t) ** (1.0 / power)
    if power == round(power):
        even = round(power) % 2 == 0
        bases = np.where(t > 0.0, bases * np.sign(now), np.nan) if even else bases * np.sign(t)
    else:
        bases = np.where(t > 0.0, bases, np.nan)
    return bases, s * np.abs(bases / (power * t))


def _sine(t: Floats, s: Floats, now: Any) -> Steps:
    base = np.arcsin(t)
    branches = [b + 2.0 * np.pi * np.round((now - b) / (2.0 * np.pi)) for b in (base, np.pi - base)]
    nearest = np.where(np.abs(branches[0] - now) <= np.abs(branches[1] - now), branches[0], branches[1])
    return nearest, s / np.sqrt(1.0 - t**2)


def _cosine(t: Floats, s: Floats, now: Any) -> Steps:
    values, slope = _sine(t, s, now + 0.5 * np.pi)
    return values - 0.5 * np.pi, slope


_INVERSES: dict[str, Callable[[Floats, Floats, Any], Steps]] = {
    "neg": lambda t, s, now: (-t, s),
    "exp": lambda t, s, now: (np.log(t), s / np.abs(t)),
    "ln": lambda t, s, now: (np.exp(t), s * np.exp(t)),
    "sqrt": lambda t, s, now: (np.where(t >= 0.0, t**2, np.nan), s * 2.0 * np.abs(t)),
    "square": lambda t, s, now: _root(t, s, 2.0, now),
    "inv": lambda t, s, now: (1.0 / t, s / t**2),
    "abs": lambda t, s, now: (np.where(t >= 0.0, t * np.sign(now), np.nan), s),
    "sin": _sine,
    "cos": _cosine,
    "tan": lambda t, s, now: (np.arctan(t) + np.pi * np.round((now - np.arctan(t)) / np.pi), s / (1.0 + t**2)),
    "tanh": lambda t, s, now: (np.arctanh(t), s / (1.0 - t**2)),
}


@dataclass(frozen=True)
class Library:
    """Units and their values on the rows (units, rows), mean 0 and spread 1, with their squares."""

    units: tuple[Expr, ...]
    values: NDArray[np.float32]
    squares: NDArray[np.float32]
    X: Floats
    y: Floats
    weights: Floats

    @staticmethod
    def of(units: Iterable[Expr], X: Floats, y: Floats, weights: Floats) -> Library:
        """Those of the units that are defined on all rows and vary, each once."""
        none = np.empty((0, len(y)), dtype=np.float32)
        return Library((), none, none, X, y, weights).extended(units)

    def extended(self, units: Iterable[Expr]) -> Library:
        """The library with more units."""
        known: dict[Expr, Any] = {}
        kept: dict[bytes, tuple[Expr, Floats]] = {}
        with np.errstate(all="ignore"):
            for unit in units:
                values = np.broadcast_to(evaluate_shared(unit, self.X, known), len(self.y))
                spread = float(np.std(values))
                if math.isfinite(spread) and 1e-9 * float(np.abs(values).max()) < spread < 1e9:
                    standard = (values - values.mean()) / spread
                    kept.setdefault(np.round(standard, 6).tobytes(), (unit, standard))
        if not kept:
            return self
        values = np.array([row for _, row in kept.values()], dtype=np.float32)
        return replace(
            self,
            units=(*self.units, *(unit for unit, _ in kept.values())),
            values=np.concatenate([self.values, values]),
            squares=np.concatenate([self.squares, values * values]),
        )

    def solved(self, expr: Expr, *, rng: np.random.Generator) -> Expr | None:
        """The formula with a random part replaced by, increased by or multiplied with the unit that helps most."""
        place = int(rng.integers(size(expr)))
        found = wanted(expr, place, self.X, self.y)
        if found is None or not self.units:
            return None
        now, target, slope = found
        kind = int(rng.integers(3))
        with np.errstate(all="ignore"):
            if kind == 1:
                target = target - now
            elif kind == 2:
                target, slope = target / now, slope / np.abs(now)
        fitted = self._nearest(np.broadcast_to(target, len(self.y)), np.broadcast_to(slope, len(self.y)), rng)
        if fitted is None:
            return None
        change: Callable[[Expr], Expr] = (
            lambda node: fitted,
            lambda node: total([node, fitted]),
            lambda node: product([node, fitted]),
        )[kind]
        return replaced(expr, place, change)

    def _nearest(self, target: Floats, slope: Floats, rng: np.random.Generator) -> Expr | None:
        """a + b*u for one of the best units u, by least squares with the rows weighted as errors of y would be."""
        with np.errstate(all="ignore"):
            weight = np.sqrt(self.weights) / slope
            good = np.isfinite(target) & np.isfinite(weight)
            if good.sum() < LEAST_ROWS * len(good):
                return None
            weight = np.where(good, np.minimum(weight, MOST_WEIGHT * np.median(weight[good])), 0.0) ** 2
            if not weight.sum() > 0.0:
                return None
            weight = weight / weight.sum()
            target = np.where(good, target, 0.0)
            mean = float(weight @ target)
            spread = math.sqrt(float(weight @ (target - mean) ** 2))
            if not (math.isfinite(spread) and spread > 0.0):
                return None
            heavy = weight.astype(np.float32)
            means = self.values @ heavy
            shared = self.values @ (weight * (target - mean) / spread).astype(np.float32)
            explained = shared**2 / np.maximum(self.squares @ heavy - means**2, 1e-6)
        best = np.argsort(-explained)[:CHOICES]
        return self._line(int(best[min(int(rng.geometric(0.5)) - 1, len(best) - 1)]), target, weight)

    def _line(self, place: int, target: Floats, weight: Floats) -> Expr | None:
        unit = self.units[place]
        with np.errstate(all="ignore"):
            values = np.broadcast_to(evaluate_shared(unit, self.X, {}), len(target))
            mean, middle = float(weight @ target), float(weight @ values)
            varies = float(weight @ (values - middle) ** 2)
            slope = float(weight @ ((values - middle) * (target - mean))) / max(varies, 1e-300)
            offset = mean - slope * middle
        if not (math.isfinite(slope) and math.isfinite(offset) and slope):
            return None
        scaled = product([Const(slope), unit])
        return scaled if abs(offset) <= SAME * abs(slope) * math.sqrt(varies) else total([scaled, Const(offset)])


__all__ = ["Library", "wanted"]
