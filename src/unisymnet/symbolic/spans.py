"""What values a function takes on intervals: the rules that the table of operators gives its rows.

A rule maps lower and upper ends, one pair or arrays of them, to bounds that hold for every number between; parts of an
interval outside the function's domain are left out, and (nan, nan) says that nothing of it is inside.  Rounding is left
to the caller, who widens.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Span = Callable[[Any, Any], tuple[Any, Any]]
Function = Callable[[Any], Any]


def increasing(f: Function, least: float = -math.inf, most: float = math.inf) -> Span:
    """The rule of a function that rises from ``least`` to ``most``, where it is defined."""

    def span(low: Any, high: Any) -> tuple[Any, Any]:
        nowhere = (high < least) | (low > most) | np.isnan(low)
        with np.errstate(all="ignore"):
            lower, upper = (f(np.clip(end, least, most)) for end in (low, high))
        return np.where(nowhere, np.nan, lower), np.where(nowhere, np.nan, upper)

    return span


def decreasing(f: Function, least: float = -math.inf, most: float = math.inf) -> Span:
    """The rule of a function that falls from ``least`` to ``most``, where it is defined."""
    rising = increasing(f, least, most)
    return lambda low, high: rising(low, high)[::-1]


def around_zero(f: Function) -> Span:
    """The rule of an even function that rises from its value at zero on both sides."""

    def span(low: Any, high: Any) -> tuple[Any, Any]:
        with np.errstate(all="ignore"):
            ends, middle = (f(low), f(high)), f(np.float64(0.0))
        least = np.where((low <= 0.0) & (high >= 0.0), middle, np.minimum(*ends))
        return np.where(np.isnan(low), np.nan, least), np.maximum(*ends)

    return span


def periodic(f: Function, crest: float) -> Span:
    """The rule of a wave of period 2π between -1 and 1, whose crests are at ``crest`` periods and trough half-way."""

    def span(low: Any, high: Any) -> tuple[Any, Any]:
        with np.errstate(all="ignore"):
            unknown = ~np.isfinite(low) | ~np.isfinite(high) | (high - low >= 2.0 * math.pi)
            ends = f(low), f(high)
            least = np.where(unknown | _meets(low, high, crest + 0.5), -1.0, np.minimum(*ends))
            most = np.where(unknown | _meets(low, high, crest), 1.0, np.maximum(*ends))
        return np.where(np.isnan(low), np.nan, least), np.where(np.isnan(low), np.nan, most)

    return span


def tangent(low: Any, high: Any) -> tuple[Any, Any]:
    """The rule of tan: everything where a pole lies between."""
    with np.errstate(all="ignore"):
        unknown = ~np.isfinite(low) | ~np.isfinite(high) | (high - low >= math.pi)
        unknown = unknown | _meets(low, high, 0.25) | _meets(low, high, 0.75)
        return np.where(unknown, -np.inf, np.tan(low)), np.where(unknown, np.inf, np.tan(high))


def reciprocal(low: Any, high: Any) -> tuple[Any, Any]:
    """The rule of 1/x: everything where zero lies between, one side where it is an end."""
    inside = (low < 0.0) & (high > 0.0)
    with np.errstate(all="ignore"):
        lower = np.where(high == 0.0, -np.inf, np.divide(1.0, high))
        upper = np.where(low == 0.0, np.inf, np.divide(1.0, low))
    return np.where(inside, -np.inf, lower), np.where(inside, np.inf, upper)


def _meets(low: Any, high: Any, phase: float) -> Any:
    """Is there a whole k with low <= 2π (phase + k) <= high?  Near misses count, for the sake of rounding."""
    turn = 2.0 * math.pi
    slack = 1e-12 * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
    return np.floor((high + slack) / turn - phase) >= np.ceil((low - slack) / turn - phase)
