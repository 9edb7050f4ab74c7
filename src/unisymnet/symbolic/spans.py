"""What values a function takes on an interval: the rules that the table of operators gives its rows.

A rule maps (low, high) to bounds that hold for every number between; parts of the interval outside the function's
domain are left out, and (nan, nan) says that nothing of it is inside.  Rounding is left to the caller, who widens.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Span = Callable[[float, float], tuple[float, float]]
Function = Callable[[Any], Any]

NOWHERE = (math.nan, math.nan)
EVERYWHERE = (-math.inf, math.inf)


def increasing(f: Function, least: float = -math.inf, most: float = math.inf) -> Span:
    """The rule of a function that rises from ``least`` to ``most``, where it is defined."""

    def span(low: float, high: float) -> tuple[float, float]:
        low, high = max(low, least), min(high, most)
        return NOWHERE if low > high else (_value(f, low), _value(f, high))

    return span


def decreasing(f: Function, least: float = -math.inf, most: float = math.inf) -> Span:
    """The rule of a function that falls from ``least`` to ``most``, where it is defined."""
    rising = increasing(f, least, most)

    def span(low: float, high: float) -> tuple[float, float]:
        first, last = rising(low, high)
        return last, first

    return span


def around_zero(f: Function) -> Span:
    """The rule of an even function that rises from its value at zero on both sides."""

    def span(low: float, high: float) -> tuple[float, float]:
        ends = _value(f, low), _value(f, high)
        return (_value(f, 0.0) if low <= 0.0 <= high else min(ends)), max(ends)

    return span


def periodic(f: Function, crest: float) -> Span:
    """The rule of a wave of period 2π between -1 and 1, whose crests are at ``crest`` periods and trough half-way."""

    def span(low: float, high: float) -> tuple[float, float]:
        if not (math.isfinite(low) and math.isfinite(high)) or high - low >= 2.0 * math.pi:
            return -1.0, 1.0
        ends = _value(f, low), _value(f, high)
        least = -1.0 if _meets(low, high, crest + 0.5) else min(ends)
        return least, 1.0 if _meets(low, high, crest) else max(ends)

    return span


def tangent(low: float, high: float) -> tuple[float, float]:
    """The rule of tan: everything where a pole lies between."""
    if not (math.isfinite(low) and math.isfinite(high)) or high - low >= math.pi:
        return EVERYWHERE
    if _meets(low, high, 0.25) or _meets(low, high, 0.75):
        return EVERYWHERE
    return math.tan(low), math.tan(high)


def _meets(low: float, high: float, phase: float) -> bool:
    """Is there a whole k with low <= 2π (phase + k) <= high?  Near misses count, for the sake of rounding."""
    turn = 2.0 * math.pi
    slack = 1e-12 * max(1.0, abs(low), abs(high))
    return math.floor((high + slack) / turn - phase) >= math.ceil((low - slack) / turn - phase)


def _value(f: Function, x: float) -> float:
    with np.errstate(all="ignore"):
        return float(f(np.float64(x)))
