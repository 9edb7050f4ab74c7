"""Simple numbers near a fitted one: integers, fractions, short decimals, multiples and powers of pi, e, sqrt 2.

Only arithmetic: whether a simple number may replace the fitted one is for snap.py to judge from the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ..symbolic.text import number_text

PLAIN_COST = 2.0  # numbers up to this cost are what a person would guess first: small integers and halves
MAX_DIGITS = 8


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
    window = min(window, 0.75 * abs(value) if abs(value) < 1.0 else max(0.5, 0.25 * abs(value)))
    found: dict[float, SimpleNumber] = {}
    for number in [*_fractions(value, window), *_decimals(value, window), *_multiples(value, window)]:
        kept = found.get(number.value)
        if number.value != 0.0 and (kept is None or number.cost < kept.cost):
            found[number.value] = number
    return sorted(found.values(), key=lambda n: (n.cost, abs(n.value - value)))


def is_plain(value: float) -> bool:
    """Is it a small integer, a half or a third already?"""
    return any(abs(value * q - round(value * q)) < 1e-12 and abs(value) <= 12 for q in (1, 2, 3))


def _fractions(value: float, window: float, *, most: int = 12) -> list[SimpleNumber]:
    out = []
    for q in range(1, most + 1):
        p = round(value * q)
        if p == 0 or math.gcd(p, q) != 1 or abs(p) > 1000 or abs(p / q - value) > window:
            continue
        # 1, 2, ½ cost least; larger numerators and denominators cost their number of bits.
        cost = 0.5 * math.log2(abs(p)) + (0.0 if q == 1 else 0.7 * math.log2(q) + 0.3)
        out.append(SimpleNumber(p / q, str(Fraction(p, q)), cost, 1.0 / (q * q)))
    return out


def _decimals(value: float, window: float) -> list[SimpleNumber]:
    out = []
    magnitude = math.floor(math.log10(abs(value)))
    for digits in range(1, MAX_DIGITS + 1):
        rounded = float(f"{value:.{digits - 1}e}")
        if abs(rounded - value) <= window:
            spacing = 10.0 ** (magnitude - digits + 1)
            cost = 1.2 * digits + (0.5 * abs(magnitude) if abs(magnitude) > 2 else 0.6)
            out.append(SimpleNumber(rounded, number_text(rounded), cost, spacing))
            break  # more digits only repeat it
    return out


def _multiples(value: float, window: float) -> list[SimpleNumber]:
    out = []
    for factor, text, below, cost in _FACTORS:
        for number in _fractions(value / factor, window / factor, most=8):
            if abs(number.value) > 64:
                continue
            # All factors and fractions together lie dense: the families share one line.
            spacing = number.spacing * factor / len(_FACTORS)
            name = _named(Fraction(number.text), text, below)
            out.append(SimpleNumber(number.value * factor, name, number.cost + cost + 1.0, spacing))
    return out


def _named(fraction: Fraction, factor: str, below: bool) -> str:
    """3*pi/2, 1/(2*pi): a fraction times a named factor, as a person writes it."""
    p, q = fraction.numerator, fraction.denominator
    if below:
        return f"{p}/{factor}" if q == 1 else f"{p}/({q}*{factor})"
    top = factor if p == 1 else f"-{factor}" if p == -1 else f"{p}*{factor}"
    return top if q == 1 else f"{top}/{q}"
