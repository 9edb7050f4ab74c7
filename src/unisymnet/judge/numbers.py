"""What it costs to write a number down, in nats: small fractions little, many digits much.

Half of the belief is in numbers as public expressions have them, half in a code for any fraction or decimal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

MAX_DENOMINATOR = 12
LARGEST_FRACTION = 1e4
SAME = 4e-15  # relative: the same number up to the last bits
MAX_DIGITS = 12
KEY_DIGITS = 6
# Nats more than the fraction beside it.
IRRATIONAL = ((math.pi, 4.0), (math.pi**2, 5.0), (math.sqrt(2.0), 6.0), (math.sqrt(math.pi), 7.0), (math.e, 8.0))


@lru_cache(maxsize=4096)
def written_nats(value: float) -> float:
    """The cheapest way to write the size of the number; inf where only all its digits would do."""
    size = abs(value)
    if size == 0.0 or not math.isfinite(size):
        return math.inf
    found = [_fraction_nats(size), _decimal_nats(size)]
    for factor, more in IRRATIONAL:
        found += [_fraction_nats(size / factor) + more, _fraction_nats(size * factor) + more]
    return min(found)


def number_nats(value: float, counted: Mapping[str, float]) -> float:
    """``written_nats`` mixed with the shares of numbers in public expressions."""
    own = math.exp(-written_nats(value))
    share = own if not counted else 0.5 * own + 0.5 * counted.get(number_key(value), 0.0)
    return -math.log(share) if share > 0.0 else math.inf


def number_key(value: float) -> str:
    """How the table names the size of a number: "2", "1/2", "9.81", "3.14159".

    Six digits name an irrational number; with fewer the number is just that: 0.9999997 is not 1, nor as cheap.
    """
    size = abs(value)
    ratio = simple_fraction(size)
    if ratio is not None:
        return str(ratio)
    short = f"{size:.{KEY_DIGITS}g}"
    whole = len(Decimal(short).normalize().as_tuple().digits) < KEY_DIGITS
    return repr(size) if whole and abs(float(short) - size) > SAME * size else short


def simple_fraction(size: float) -> Fraction | None:
    """p/q with a small q if the number is that to its last bits."""
    if not 0.0 < size < LARGEST_FRACTION:
        return None
    for q in range(1, MAX_DENOMINATOR + 1):  # the smallest comes first; Fraction's own search is ten times slower
        p = round(size * q)
        if p and abs(p / q - size) <= SAME * size:
            return Fraction(p, q)
    return None


def _fraction_nats(size: float) -> float:
    ratio = simple_fraction(size)
    if ratio is None:
        return math.inf
    p, q = ratio.numerator, ratio.denominator
    return math.log(2.0) + math.log(p * (p + 1)) + math.log(q * (q + 1))


def _decimal_nats(size: float) -> float:
    parts = Decimal(f"{size:.{MAX_DIGITS}g}").normalize().as_tuple()
    digits = int("".join(map(str, parts.digits)))
    if len(parts.digits) >= MAX_DIGITS or not isinstance(parts.exponent, int):
        return math.inf
    places = abs(parts.exponent)
    return math.log(digits * (digits + 1.0)) + math.log(3.0) + math.log((places + 1) * (places + 2))
