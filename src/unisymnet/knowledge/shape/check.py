"""Does a formula keep a constraint?  A quick look at points during the search; a proof, or 20,000 points, afterwards.

Inequalities are proved by interval arithmetic: a box on which the bounds say nothing is cut in two, along its longest
side, until all boxes are settled or the time is up.  The rest is proved by algebra where that suffices.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...formula.constants import free
from ...symbolic.expr import Const, Expr, Var, evaluate, rebuild, variables
from ...symbolic.rewrite.simplify import simplify
from .differ import derivative
from .interval import bounds
from .rules import Between, Constants, Exchange, Limit, Parity, Rule, Uses

PROVED, HELD, VIOLATED = "proved", "held", "violated"
QUICK_POINTS, FINAL_POINTS = 256, 20_000
MAX_BOXES, BOXES_AT_ONCE = 60_000, 4000
SECONDS = 0.15  # for the proof of one constraint
TOLERANCE = 1e-7  # of a usual value: rounding is no violation
FAR = (1e3, 1e5, 1e7)  # in units of the range, to see a limit
CLOSE = (1e-3, 1e-5, 1e-7)
NEAR_LIMIT = 1e-2  # of the spread of y


@dataclass(frozen=True)
class Verdict:
    """What is known: proved, held at so many points, or violated at a point."""

    kind: str
    where: str = ""

    def __str__(self) -> str:
        if self.kind == HELD:
            return f"held at {FINAL_POINTS:,} points"
        return f"violated{f' at {self.where}' if self.where else ''}" if self.kind == VIOLATED else self.kind


@dataclass(frozen=True)
class Box:
    """Where constraints must hold unless they say otherwise: the ranges of the columns, twice as long.

    Columns that are never negative stay so.  `spread` is that of y.
    """

    low: Floats
    high: Floats
    spread: float
    names: tuple[str, ...]

    @classmethod
    def around(cls, X: Floats, y: Floats, names: Sequence[str]) -> Box:
        low, high = X.min(axis=0), X.max(axis=0)
        half = 0.5 * (high - low)
        wide = np.where(low > 0.0, np.maximum(low - half, 0.1 * low), np.where(low == 0.0, 0.0, low - half))
        wide_high = np.where(high < 0.0, np.minimum(high + half, 0.1 * high), np.where(high == 0.0, 0.0, high + half))
        return cls(wide, wide_high, float(np.std(y)) or 1.0, tuple(names))

    def region(self, rule: Rule) -> tuple[Floats, Floats]:
        low, high = self.low.copy(), self.high.copy()
        for column, start, end in getattr(rule, "region", ()):
            low[column] = start if math.isfinite(start) else min(self.low[column], end - self.length(column))
            high[column] = end if math.isfinite(end) else max(self.high[column], start + self.length(column))
        return low, high

    def length(self, column: int) -> float:
        """Of the range of a column, 1 where it has none."""
        return float(self.high[column] - self.low[column]) or 1.0

    def points(self, rule: Rule, n: int, seed: int = 0) -> Floats:
        """Random points of the region; a part of them on its faces, where extremes are."""
        low, high = self.region(rule)
        rng = np.random.default_rng(seed)
        unit = rng.random((n, len(low)))
        faces = rng.random((n, len(low))) < 0.3
        unit = np.where(faces & (np.arange(n) % 2 == 0)[:, None], np.round(unit), unit)
        return np.asarray(low + unit * (high - low))

    def text(self, point: Floats, used: Sequence[int]) -> str:
        return ", ".join(f"{self.names[i]} = {point[i]:.4g}" for i in used) or "every point"


def check(expr: Expr, rule: Rule, box: Box, *, quick: bool = False) -> Verdict:
    """The verdict on one formula; `quick` looks at few points and proves nothing."""
    n = QUICK_POINTS if quick else FINAL_POINTS
    if isinstance(rule, Uses):
        fine = (rule.column in variables(expr)) == rule.wanted
        return Verdict(PROVED if fine else VIOLATED)
    if isinstance(rule, Constants):
        fine = all(rule.low <= value <= rule.high for value in free(expr)[1])
        return Verdict(PROVED if fine else VIOLATED)
    if isinstance(rule, Limit):
        return _limit(expr, rule, box, n)
    if isinstance(rule, Parity | Exchange):
        return _same(expr, _mirrored(expr, rule), rule, box, n, quick)
    assert isinstance(rule, Between)
    quantity = quantity_of(expr, rule)
    if rule.is_equality:
        return _same(quantity, Const(rule.low), rule, box, n, quick)
    found = _at_points(quantity, rule, box, n)
    if quick or found.kind == VIOLATED:
        return found
    return Verdict(PROVED) if proves(quantity, rule, box) else found


def quantity_of(expr: Expr, rule: Between) -> Expr:
    """What a constraint is about: y or a derivative of it, at its point if it has one."""
    for column, order in rule.by:
        expr = derivative(expr, column, order)
    points = rule.points
    if not points:
        return expr
    fixed = rebuild(
        expr, lambda node: Const(points[node.index]) if isinstance(node, Var) and node.index in points else node
    )
    try:
        return simplify(fixed)
    except (ValueError, ZeroDivisionError, OverflowError):
        return expr  # 1/0: the region without width gives the same value


def shortfall(values: Floats, rule: Between) -> Floats:
    """By how much values leave the range of a constraint."""
    return np.maximum(np.maximum(rule.low - values, values - rule.high), 0.0)


def _at_points(quantity: Expr, rule: Between, box: Box, n: int) -> Verdict:
    X = box.points(rule, n)
    values = evaluate(quantity, X)
    finite = np.isfinite(values)
    if not finite.any():
        return Verdict(VIOLATED, "every point: it is not defined there")
    short = np.where(finite, shortfall(values, rule), 0.0)
    worst = int(np.argmax(short))
    # Of a usual value: what a pole makes of the largest would excuse every violation elsewhere.
    sizes = np.abs(values[finite & (values != 0.0)])
    if short[worst] > TOLERANCE * max(float(np.median(sizes)) if len(sizes) else 0.0, 1e-300):
        return Verdict(VIOLATED, box.text(X[worst], variables(quantity)))
    return Verdict(HELD)


def proves(quantity: Expr, rule: Between, box: Box, seconds: float = SECONDS) -> bool:
    """Is `low <= quantity <= high` certain on the whole region?"""
    low, high = box.region(rule)
    used = list(variables(quantity))
    slopes = {i: derivative(quantity, i) for i in used} if len(used) <= 6 else {}
    ends = time.monotonic() + seconds
    lows, highs = low[None, :].copy(), high[None, :].copy()
    n_seen = 0
    middle = evaluate(quantity, 0.5 * (lows + highs))
    slack = 1e-9 * max(float(np.abs(middle[0])) if np.isfinite(middle[0]) else 0.0, box.spread * 1e-3)
    widths = np.where(high > low, high - low, 1.0)
    while len(lows):
        n_seen += len(lows)
        if n_seen > MAX_BOXES or time.monotonic() > ends:
            return False
        bottom, top = _tight(quantity, slopes, lows[:BOXES_AT_ONCE], highs[:BOXES_AT_ONCE])
        settled = (bottom >= rule.low - slack) & (top <= rule.high + slack) | np.isnan(bottom)
        left, right = lows[:BOXES_AT_ONCE][~settled], highs[:BOXES_AT_ONCE][~settled]
        rest = lows[BOXES_AT_ONCE:], highs[BOXES_AT_ONCE:]
        if not len(left):
            lows, highs = rest
            continue
        if not used:
            return False
        sides = ((right - left) / widths)[:, used]
        if float(sides.max(axis=1).min()) < 1e-6:
            return False
        cut = np.array(used)[np.argmax(sides, axis=1)]
        rows = np.arange(len(left))
        half = 0.5 * (left[rows, cut] + right[rows, cut])
        first, second = right.copy(), left.copy()
        first[rows, cut], second[rows, cut] = half, half
        lows, highs = np.concatenate([left, second, rest[0]]), np.concatenate([first, right, rest[1]])
    return True


def _tight(quantity: Expr, slopes: dict[int, Expr], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bounds, the better of the plain ones and those of the mean value theorem."""
    bottom, top = bounds(quantity, low, high)
    if not slopes:
        return bottom, top
    middle = 0.5 * (low + high)
    centre = evaluate(quantity, middle)
    reach_down, reach_up = centre.copy(), centre.copy()
    with np.errstate(all="ignore"):
        for index, slope in slopes.items():
            steep = bounds(slope, low, high)
            half = 0.5 * (high[:, index] - low[:, index])
            most = np.where(half > 0.0, np.maximum(np.abs(steep[0]), np.abs(steep[1])) * half, 0.0)
            reach_down, reach_up = reach_down - most, reach_up + most
    usable = np.isfinite(reach_down) & np.isfinite(reach_up) & np.isfinite(bottom) & np.isfinite(top)
    return np.where(usable, np.maximum(bottom, reach_down), bottom), np.where(usable, np.minimum(top, reach_up), top)


def _mirrored(expr: Expr, rule: Parity | Exchange) -> Expr:
    if isinstance(rule, Exchange):
        order = rule.order
        return rebuild(expr, lambda n: Var(order[n.index]) if isinstance(n, Var) and n.index in order else n)
    turned = rebuild(expr, lambda n: -n if isinstance(n, Var) and n.index == rule.column else n)
    return turned if rule.sign > 0 else -turned


def _same(left: Expr, right: Expr, rule: Rule, box: Box, n: int, quick: bool) -> Verdict:
    """Two formulas that must agree: by algebra, or at points."""
    if not quick:
        try:
            if simplify(left - right) == Const(0.0):
                return Verdict(PROVED)
        except (ValueError, ZeroDivisionError, OverflowError):
            pass
    X = box.points(rule, n)
    a, b = evaluate(left, X), evaluate(right, X)
    both = np.isfinite(a) & np.isfinite(b)
    if not both.any():
        return Verdict(VIOLATED, "every point: it is not defined there")
    with np.errstate(all="ignore"):
        gap = np.where(both, np.abs(a - b) / (np.abs(a) + np.abs(b) + box.spread), 0.0)
    worst = int(np.argmax(gap))
    if gap[worst] > 10.0 * TOLERANCE:
        return Verdict(VIOLATED, box.text(X[worst], variables(left)))
    return Verdict(PROVED if not variables(left) and not variables(right) else HELD)


def on_the_way(rule: Limit, box: Box, n: int, farther: float = 1.0) -> list[Floats]:
    """Points nearer and nearer to where a limit is taken; `farther` goes on so many times."""
    X = box.points(rule, n)
    steps, start, sign = CLOSE, rule.where, -1.0 if box.high[rule.column] <= rule.where else 1.0
    farther = 1.0 / farther
    if math.isinf(rule.where):
        steps, start, sign, farther = FAR, 0.0, math.copysign(1.0, rule.where), 1.0 / farther
    found = []
    for step in (farther * step for step in steps):
        X = X.copy()
        X[:, rule.column] = start + sign * step * box.length(rule.column)
        found.append(X)
    return found


def _limit(expr: Expr, rule: Limit, box: Box, n: int) -> Verdict:
    gaps = []
    way = on_the_way(rule, box, n)
    for X in way:
        values = evaluate(expr, X)
        if math.isinf(rule.value):
            gaps.append(-math.copysign(1.0, rule.value) * values / box.spread)
        else:
            gaps.append(np.abs(values - rule.value) / box.spread)
    last = gaps[-1]
    far = -1e2 if math.isinf(rule.value) else NEAR_LIMIT
    fine = (last <= far) & (gaps[-1] <= gaps[0] + NEAR_LIMIT) | np.isneginf(last)
    if fine.all():
        return Verdict(HELD)
    worst = int(np.argmin(fine))
    return Verdict(VIOLATED, box.text(way[-1][worst], variables(expr)))
