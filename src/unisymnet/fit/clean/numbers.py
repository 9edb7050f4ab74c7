"""Simple numbers near a fitted one: integers, fractions, short decimals, multiples and powers of pi, e, sqrt 2.

Only arithmetic: whether a simple number may replace the fitted one is for snap.py to judge from the data.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from ...symbolic.text import number_text

PLAIN_COST = 2.0  # numbers up to this cost are what a person would guess first: small integers and halves
MAX_DIGITS = 8
UNUSUAL = (7, 9, 11)  # denominators: 11/7 is more likely pi/2


@dataclass(frozen=True)
class SimpleNumber:
    """A candidate: its value, how a person writes it, and how special it is (lower is simpler).

    ``spacing`` is the typical distance between numbers of the same kind and cost near this value: a match closer
    than that by a wide margin is no accident.
    """

    value: float
    text: str
    cost: float
    spacing: float


# Irrational factors worth recognising: value, name, whether the name stands below the line, cost.
_FACTORS = (
    (math.pi, "pi", False, 2.0),
    (1.0 / math.pi, "pi", True, 2.0),
    (math.sqrt(2.0), "sqrt(2)", False, 2.5),
    (math.sqrt(3.0), "sqrt(3)", False, 3.0),
    (math.pi**2, "pi**2", False, 3.0),
    (1.0 / math.pi**2, "pi**2", True, 3.0),
    (math.sqrt(math.pi), "sqrt(pi)", False, 3.0),
    (1.0 / math.sqrt(math.pi), "sqrt(pi)", True, 3.0),
    (math.sqrt(2.0 * math.pi), "sqrt(2*pi)", False, 3.0),
    (1.0 / math.sqrt(2.0 * math.pi), "sqrt(2*pi)", True, 3.0),
    (math.e, "e", False, 3.0),
    (1.0 / math.e, "e", True, 3.0),
    (math.log(2.0), "ln(2)", False, 3.0),
)


def simple_numbers(value: float, window: float) -> list[SimpleNumber]:
    """Simple numbers within ``window`` of ``value``, simplest first; zero is never among them."""
    if not (math.isfinite(value) and math.isfinite(window)) or value == 0.0:
        return []
    size = abs(value)
    window = min(window, 0.75 * size if size < 1.0 else max(0.5, 0.25 * size))
    sign = math.copysign(1.0, value)
    table, places = _table()
    found: dict[float, SimpleNumber] = {}
    costs, width = _costs_near(size)
    for entry in table[bisect_left(places, size - window) : bisect_right(places, size + window)]:
        text = entry.text if sign > 0 else f"-{entry.text}"
        spacing = width / max(1, bisect_right(costs, entry.cost))  # between numbers at most this special
        found.setdefault(sign * entry.value, SimpleNumber(sign * entry.value, text, entry.cost, spacing))
    for number in (*_integers(value, window), *_decimals(value, window)):
        found.setdefault(number.value, number)
    return sorted(found.values(), key=lambda n: (n.cost, abs(n.value - value)))


def is_plain(value: float) -> bool:
    """Is it a small integer, a half or a third already?"""
    return any(abs(value * q - round(value * q)) < 1e-12 and abs(value) <= 12 for q in (1, 2, 3))


def plain(value: float) -> float:
    """The plain number that ``is_plain`` recognised, without its rounding error."""
    return next(round(value * q) / q for q in (1, 2, 3) if abs(value * q - round(value * q)) < 1e-12)


@cache
def _table() -> tuple[list[SimpleNumber], list[float]]:
    """All positive fractions and multiples of named factors, by value; the simplest spelling of each."""
    best: dict[float, SimpleNumber] = {}
    for p in range(1, 101):
        for q in range(1, 13):
            if math.gcd(p, q) != 1:
                continue
            cost = 0.5 * math.log2(p) + (0.0 if q == 1 else 0.7 * math.log2(q) + 0.3 + (q in UNUSUAL))
            best[p / q] = SimpleNumber(p / q, str(Fraction(p, q)), cost, 0.0)
            if p > 24 or q > 8:
                continue
            for factor, text, below, extra in _FACTORS:
                value, name = p / q * factor, _named(Fraction(p, q), text, below)
                known = best.get(value)
                if known is None or cost + extra + 1.0 < known.cost:
                    best[value] = SimpleNumber(value, name, cost + extra + 1.0, 0.0)
    table = sorted(best.values(), key=lambda n: n.value)
    return table, [n.value for n in table]


def _costs_near(size: float) -> tuple[list[float], float]:
    """Costs of the numbers around ``size``, sorted, and how wide that neighbourhood is."""
    table, places = _table()
    low, high = 0.8 * size, 1.25 * size
    near = table[bisect_left(places, low) : bisect_right(places, high)]
    return sorted(n.cost for n in near), high - low


def _integers(value: float, window: float) -> list[SimpleNumber]:
    """The nearest integer, of any size."""
    p = round(value)
    if p == 0 or abs(p - value) > window or abs(p) > 1e9:
        return []
    return [SimpleNumber(float(p), str(p), 0.5 * math.log2(abs(p)), 1.0)]


def _decimals(value: float, window: float) -> list[SimpleNumber]:
    """The shortest decimal in the window."""
    magnitude = math.floor(math.log10(abs(value)))
    for digits in range(1, MAX_DIGITS + 1):
        rounded = float(f"{value:.{digits - 1}e}")
        if abs(rounded - value) <= window:
            cost = PLAIN_COST + 1.2 * digits + (0.5 * abs(magnitude) if abs(magnitude) > 2 else 0.0)
            return [SimpleNumber(rounded, number_text(rounded), cost, 10.0 ** (magnitude - digits + 1))]
    return []


def _named(fraction: Fraction, factor: str, below: bool) -> str:
    """3*pi/2, 1/(2*pi): a fraction times a named factor, as a person writes it."""
    p, q = fraction.numerator, fraction.denominator
    if below:
        return f"{p}/{factor}" if q == 1 else f"{p}/({q}*{factor})"
    top = factor if p == 1 else f"{p}*{factor}"
    return top if q == 1 else f"{top}/{q}"
