"""A unit of measurement as numbers: exponents of the seven SI base units, and how many of those make one.

`km/h` is a speed, m¹ s⁻¹, of 0.2778.  Exponents are fractions, so that the root of a length is a unit too.  Does not
know how units are spelled (spelling.py) or formulas.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

BASES = ("m", "kg", "s", "A", "K", "mol", "cd")
MAX_DENOMINATOR = 12
SAME_SCALE = 1e-9  # in ln

_POWERS = tuple(Fraction(n, d) for n, d in ((1, 1), (-1, 1), (1, 2), (-1, 2), (2, 1), (-2, 1)))
# Units with a name of their own, tried when a unit is written out; the simplest spelling wins.
_DERIVED: dict[str, tuple[int, ...]] = {
    "N": (1, 1, -2, 0, 0, 0, 0),
    "J": (2, 1, -2, 0, 0, 0, 0),
    "W": (2, 1, -3, 0, 0, 0, 0),
    "Pa": (-1, 1, -2, 0, 0, 0, 0),
    "C": (0, 0, 1, 1, 0, 0, 0),
    "V": (2, 1, -3, -1, 0, 0, 0),
    "Ω": (2, 1, -3, -2, 0, 0, 0),
    "F": (-2, -1, 4, 2, 0, 0, 0),
    "T": (0, 1, -2, -1, 0, 0, 0),
    "H": (2, 1, -2, -2, 0, 0, 0),
}


@dataclass(frozen=True)
class Unit:
    """`scale` times a product of powers of the base units; `Unit()` is the number one."""

    powers: tuple[Fraction, ...] = (Fraction(0),) * len(BASES)
    scale: float = 1.0

    def __mul__(self, other: Unit) -> Unit:
        return Unit(tuple(a + b for a, b in zip(self.powers, other.powers, strict=True)), self.scale * other.scale)

    def __truediv__(self, other: Unit) -> Unit:
        return self * other**-1

    def __pow__(self, exponent: Fraction | int | float) -> Unit:
        power = as_fraction(exponent)
        return Unit(tuple(a * power for a in self.powers), self.scale ** float(power))

    @property
    def is_number(self) -> bool:
        """Without a dimension; percent and degrees are numbers, too."""
        return not any(self.powers)

    @property
    def is_one(self) -> bool:
        return self.is_number and abs(math.log(self.scale)) < SAME_SCALE

    def same(self, other: Unit) -> bool:
        return self.powers == other.powers and abs(math.log(self.scale / other.scale)) < SAME_SCALE

    def __str__(self) -> str:
        return unit_text(self)


def as_fraction(value: Fraction | int | float) -> Fraction:
    """A simple fraction where the number is one, up to rounding."""
    if isinstance(value, Fraction):
        return value
    simple = Fraction(value).limit_denominator(MAX_DENOMINATOR)
    return simple if abs(float(simple) - value) < 1e-6 else Fraction(value).limit_denominator(10_000)


def unit_text(unit: Unit, preferred: dict[str, Unit] | None = None) -> str:
    """`kg m/s²` written with signs that all fonts have: "kg*m/s^2"; "1" for a plain number.

    `preferred` are units that the user writes (cm, h): they are used where they give the right size.
    """
    if unit.is_one:
        return "1"
    spellings = list(map(powers_text, _spelled_by(unit, preferred))) if preferred else []
    if abs(math.log(unit.scale)) < SAME_SCALE:
        spellings += [powers_text(zip(BASES, unit.powers, strict=True)), *_with_derived(unit, preferred or {})]
    if spellings:
        return min(spellings, key=lambda text: (len(text), text))
    plain = unit_text(Unit(unit.powers))
    if plain == "1":
        return _number_text(unit, preferred or {})
    return f"{unit.scale:.6g}*{plain}"


def _number_text(unit: Unit, preferred: dict[str, Unit]) -> str:
    """Percent, degrees, and what turns them into plain numbers."""
    for name, one in preferred.items():
        for shown, power in ((name, 1), (f"1/{name}", -1)):
            if one.is_number and (one**power).same(unit):
                return shown
    return f"{unit.scale:.6g}"


def _with_derived(unit: Unit, preferred: dict[str, Unit]) -> list[str]:
    """Spellings with one derived unit, to the power one or minus one.

    An acceleration is m/s^2 and not N/kg: a base that the unit does not have is brought in only by a name that the user
    writes, as in J/(kg*K).
    """
    found = []
    for name, powers in _DERIVED.items():
        for sign in (1, -1):
            rest = [a - sign * b for a, b in zip(unit.powers, powers, strict=True)]
            strange = any(b and not a for a, b in zip(unit.powers, rest, strict=True)) and name not in preferred
            if not strange and sum(map(abs, rest)) < sum(map(abs, unit.powers)):
                found.append(powers_text([(name, Fraction(sign)), *zip(BASES, rest, strict=True)]))
    return found


def _spelled_by(unit: Unit, preferred: dict[str, Unit]) -> Iterator[list[tuple[str, Fraction]]]:
    """Products of powers of the user's units that have the same size: km/h, eV/Angstrom, eV^(1/2)."""
    many = [(name, one) for name, one in preferred.items() if name.isalpha() and sum(map(abs, one.powers)) > 1]
    powered = [(name, one, power) for name, one in many for power in _POWERS]
    for some in ((), *((one,) for one in powered), *itertools.combinations(powered, 2)):
        rest = unit
        for _, one, power in some:
            rest = rest / one**power
        single = _by_bases(rest, preferred)
        if single is not None and len({name for name, *_ in some}) == len(some):
            yield [*((name, power) for name, _, power in some), *single]


def _by_bases(unit: Unit, preferred: dict[str, Unit]) -> list[tuple[str, Fraction]] | None:
    """As a product of the user's units of one base each, if that has the same size; a plain one is an empty product."""
    of_base: dict[int, tuple[str, Unit]] = {}
    for name, one in preferred.items():
        places = [i for i, power in enumerate(one.powers) if power]
        if len(places) == 1 and one.powers[places[0]] == 1:
            of_base.setdefault(places[0], (name, one))
    made, powers = Unit(), []
    for place, power in enumerate(unit.powers):
        if power:
            name, one = of_base.get(place, (BASES[place], _base(place)))
            made = made * one**power
            powers.append((name, power))
    return powers if made.same(unit) else None


def _base(place: int) -> Unit:
    return Unit(tuple(Fraction(int(i == place)) for i in range(len(BASES))))


def powers_text(powers: Iterable[tuple[str, Fraction]]) -> str:
    """A product of powers: "v*t/x", "1/s"."""
    pairs = list(powers)
    above = [_power(name, power) for name, power in pairs if power > 0]
    below = [_power(name, -power) for name, power in pairs if power < 0]
    text = "*".join(above) or "1"
    if not below:
        return text
    return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'*'.join(below)})"


def _power(name: str, power: Fraction) -> str:
    if power == 1:
        return name
    if power.denominator == 1:
        return f"{name}^{power}"
    return f"{name}^({power})" if power.denominator <= MAX_DENOMINATOR else f"{name}^{float(power):.4g}"
