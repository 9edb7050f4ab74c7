"""Units as people write them: "kg m/s^2", "km/h", "J/(mol K)", "m s⁻¹", and columns called "v [m/s]" or "mass (kg)".

A small table of SI units, their prefixes and everyday units.  What it does not know is asked of pint, where that is
installed (extra `units`).  Nothing is ever executed.  Does not know data or formulas.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from typing import Any

from ...errors import DataError, quoted
from .unit import BASES, Unit

_PREFIXES = {
    "Y": 1e24, "Z": 1e21, "E": 1e18, "P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "h": 1e2, "da": 1e1,
    "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "a": 1e-18,
}  # fmt: skip
_LONG_PREFIXES = {
    "tera": 1e12, "giga": 1e9, "mega": 1e6, "kilo": 1e3, "hecto": 1e2, "deci": 1e-1, "centi": 1e-2, "milli": 1e-3,
    "micro": 1e-6, "nano": 1e-9, "pico": 1e-12, "femto": 1e-15,
}  # fmt: skip
# Symbol: size, exponents of m, kg, s, A, K, mol, cd.  Those of the first table take prefixes.
_SI: dict[str, tuple[float, tuple[int, ...]]] = {
    "m": (1, (1,)), "g": (1e-3, (0, 1)), "s": (1, (0, 0, 1)), "A": (1, (0, 0, 0, 1)), "K": (1, (0, 0, 0, 0, 1)),
    "mol": (1, (0, 0, 0, 0, 0, 1)), "cd": (1, (0, 0, 0, 0, 0, 0, 1)), "rad": (1, ()), "sr": (1, ()),
    "Hz": (1, (0, 0, -1)), "N": (1, (1, 1, -2)), "Pa": (1, (-1, 1, -2)), "J": (1, (2, 1, -2)), "W": (1, (2, 1, -3)),
    "C": (1, (0, 0, 1, 1)), "V": (1, (2, 1, -3, -1)), "F": (1, (-2, -1, 4, 2)), "ohm": (1, (2, 1, -3, -2)),
    "Ω": (1, (2, 1, -3, -2)), "S": (1, (-2, -1, 3, 2)), "Wb": (1, (2, 1, -2, -1)), "T": (1, (0, 1, -2, -1)),
    "H": (1, (2, 1, -2, -2)), "lm": (1, (0, 0, 0, 0, 0, 0, 1)), "lx": (1, (-2, 0, 0, 0, 0, 0, 1)),
    "Bq": (1, (0, 0, -1)), "Gy": (1, (2, 0, -2)), "Sv": (1, (2, 0, -2)), "kat": (1, (0, 0, -1, 0, 0, 1)),
    "L": (1e-3, (3,)), "l": (1e-3, (3,)), "t": (1e3, (0, 1)), "eV": (1.602176634e-19, (2, 1, -2)),
    "bar": (1e5, (-1, 1, -2)), "cal": (4.184, (2, 1, -2)), "pc": (3.0856775814913673e16, (1,)),
    "M": (1e3, (-3, 0, 0, 0, 0, 1)), "Wh": (3600.0, (2, 1, -2)), "u": (1.6605390666e-27, (0, 1)),
    "Da": (1.6605390666e-27, (0, 1)),
}  # fmt: skip
_OTHER: dict[str, tuple[float, tuple[int, ...]]] = {
    "min": (60.0, (0, 0, 1)), "h": (3600.0, (0, 0, 1)), "hr": (3600.0, (0, 0, 1)), "d": (86400.0, (0, 0, 1)),
    "day": (86400.0, (0, 0, 1)), "week": (604800.0, (0, 0, 1)), "yr": (31557600.0, (0, 0, 1)),
    "year": (31557600.0, (0, 0, 1)), "a": (31557600.0, (0, 0, 1)), "ha": (1e4, (2,)), "Å": (1e-10, (1,)),
    "angstrom": (1e-10, (1,)), "au": (149597870700.0, (1,)), "AU": (149597870700.0, (1,)),
    "ly": (9460730472580800.0, (1,)), "in": (0.0254, (1,)), "inch": (0.0254, (1,)), "ft": (0.3048, (1,)),
    "yd": (0.9144, (1,)), "mi": (1609.344, (1,)), "mile": (1609.344, (1,)), "nmi": (1852.0, (1,)),
    "lb": (0.45359237, (0, 1)), "oz": (0.028349523125, (0, 1)), "lbf": (4.4482216152605, (1, 1, -2)),
    "psi": (6894.757293168361, (-1, 1, -2)), "atm": (101325.0, (-1, 1, -2)), "Torr": (133.32236842105263, (-1, 1, -2)),
    "mmHg": (133.322387415, (-1, 1, -2)), "hp": (745.6998715822702, (2, 1, -3)), "mph": (0.44704, (1, 0, -1)),
    "kn": (1852.0 / 3600.0, (1, 0, -1)), "rpm": (1.0 / 60.0, (0, 0, -1)), "G": (1e-4, (0, 1, -2, -1)),
    "P": (0.1, (-1, 1, -1)), "°": (math.pi / 180.0, ()), "deg": (math.pi / 180.0, ()),
    "degree": (math.pi / 180.0, ()), "arcmin": (math.pi / 10800.0, ()), "arcsec": (math.pi / 648000.0, ()),
    "%": (0.01, ()), "percent": (0.01, ()), "‰": (1e-3, ()), "ppm": (1e-6, ()), "ppb": (1e-9, ()),
    "°C": (1, (0, 0, 0, 0, 1)), "degC": (1, (0, 0, 0, 0, 1)), "℃": (1, (0, 0, 0, 0, 1)),
    "°F": (5.0 / 9.0, (0, 0, 0, 0, 1)), "degF": (5.0 / 9.0, (0, 0, 0, 0, 1)), "dB": (1, ()), "pH": (1, ()),
}  # fmt: skip
_NAMES = {
    "metre": "m", "meter": "m", "gram": "g", "gramme": "g", "second": "s", "sec": "s", "ampere": "A", "amp": "A",
    "kelvin": "K", "mole": "mol", "candela": "cd", "radian": "rad", "hertz": "Hz", "newton": "N", "pascal": "Pa",
    "joule": "J", "watt": "W", "coulomb": "C", "volt": "V", "farad": "F", "siemens": "S", "tesla": "T", "henry": "H",
    "litre": "L", "liter": "L", "tonne": "t", "minute": "min", "hour": "h", "foot": "ft", "feet": "ft",
    "pound": "lb", "celsius": "°C", "parsec": "pc", "becquerel": "Bq", "weber": "Wb", "lumen": "lm", "lux": "lx",
    "electronvolt": "eV", "molar": "M",
}  # fmt: skip
_NOTHING = {"", "1", "-", "–", "none", "dimensionless", "unitless", "count", "counts", "number", "no unit"}
_ODD = {
    "°C": "is in °C, and most laws want kelvin: 273.15 more is tried, too",
    "°F": "is in °F, which has no absolute zero; most laws want kelvin",
    "dB": "is in dB, a logarithm; laws are simpler in the ratio itself, 10^(dB/10)",
    "pH": "is a pH, a logarithm; laws are simpler in the concentration, 10^(-pH)",
    "°": "is in degrees; sines and cosines need radians, so a constant π/180 will appear in the formula",
    "%": "is in percent; a constant 0.01 may appear in the formula",
}
_SAME_ODD = {
    "degC": "°C", "℃": "°C", "celsius": "°C", "degF": "°F", "deg": "°", "degree": "°", "degrees": "°", "percent": "%",
}  # fmt: skip
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|(?P<name>°[CF]?|[%‰]|[^\W\d_]+)"
    r"|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)|(?P<sign>\*\*|[-+*/^()·⋅×]))"
)
_SUFFIXES = {  # of names: angle_deg, T_degC
    "°": re.compile(r"(?:(?<=[^\W_])[_ ]deg(?:rees?)?|°)\Z", re.IGNORECASE),
    "°C": re.compile(r"(?:(?<=[^\W_])[_ ](?:deg_?c|celsius)|°c|℃|(?-i:\A[tT](?:emp(?:erature)?)?_C))\Z", re.IGNORECASE),
}
_HEAD = re.compile(r"(?P<name>.*?\S)\s*(?:\[(?P<square>[^\[\]]*)\]|\((?P<round>(?:[^()]|\([^()]*\))*)\))\s*\Z")
_QUANTITY = re.compile(r"\s*(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*\*?\s*(?P<unit>.*?)\s*\Z")


def read_unit(text: str) -> Unit:
    """The unit that a text names; a DataError says what is not known."""
    if not isinstance(text, str):
        raise DataError(f'a unit must be text such as "m/s^2", got {quoted(text)}')
    if text.strip().lower() in _NOTHING:
        return Unit()
    try:
        return _Reader(text).whole()
    except _Unknown as mistake:
        found = _from_pint(text)
        if found is not None:
            return found
        raise DataError(
            f"the unit {quoted(text)} is not known{mistake}; write SI units such as kg, m/s^2 or J/(mol K), or install "
            'more with pip install "unisymnet[units]"'
        ) from None


def read_quantity(value: str | float) -> tuple[float, Unit]:
    """A number with its unit: "9.81 m/s^2" or a bare number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max:
        return float(value), Unit()
    match = _QUANTITY.match(value) if isinstance(value, str) else None
    if match is None:
        raise DataError(f'a known constant must be a number with its unit, such as "9.81 m/s^2", got {quoted(value)}')
    number = float(match["number"])
    if not math.isfinite(number) or number == 0.0:
        raise DataError(f"a known constant must be a finite number other than 0, got {quoted(value)}")
    return number, read_unit(match["unit"])


def read_head(head: str) -> tuple[str, str | None]:
    """Name and unit of a column: "v [m/s]" gives v and m/s; what stands in round brackets must be a unit."""
    match = _HEAD.match(head)
    if match is None:
        return head, None
    text = match["square"] if match["square"] is not None else match["round"]
    try:
        if not text.strip() or (match["square"] is None and text.strip().lower() in _NOTHING):
            return head, None
        read_unit(text)
    except DataError:
        return head, None
    return match["name"], text.strip()


def hiding_units(names: Sequence[str], given: Mapping[str, str]) -> dict[str, list[int]]:
    """The places of angles in degrees and of temperatures in °C: by the unit that is given, or else by the name."""
    found: dict[str, list[int]] = {unit: [] for unit in _SUFFIXES}
    for place, name in enumerate(names):
        unit = (given[name] if name in given else read_head(name)[1] or "").strip()
        for odd, suffix in _SUFFIXES.items():
            if _SAME_ODD.get(unit, unit) == odd or (not unit and suffix.search(name)):
                found[odd].append(place)
    return found


def unit_names(text: str) -> list[str]:
    """The single units that a text is made of: "km/h" of km and h; none for a text that only pint can read."""
    try:
        names = [value for kind, value in _Reader(text).tokens if kind == "name" and value != "per"]
        return [name for name in names if not _named(name).is_one]
    except _Unknown:
        return []


def odd_unit(text: str) -> str | None:
    """A sentence about a unit that laws are seldom written in, without its subject; None for all others."""
    plain = text.strip()
    return _ODD.get(_SAME_ODD.get(plain, plain))


class _Unknown(Exception):
    pass


class _Reader:
    """Recursive descent: factors side by side multiply; "/" divides by the next factor only, as in m/s/s."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                raise _Unknown(f": {text[at:].strip()[:1]!r} cannot be read")
            self.tokens.append((str(match.lastgroup), match.group(str(match.lastgroup))))
            at = match.end()
        self.next = 0

    def sign(self, *signs: str) -> bool:
        if self.next < len(self.tokens) and self.tokens[self.next] in [("sign", s) for s in signs]:
            self.next += 1
            return True
        return False

    def whole(self) -> Unit:
        unit = self.product()
        if self.next < len(self.tokens):
            raise _Unknown(f": {quoted(self.tokens[self.next][1])} was not expected")
        return unit

    def product(self) -> Unit:
        unit = self.factor()
        while self.next < len(self.tokens) and self.tokens[self.next] != ("sign", ")"):
            if self.sign("/"):
                unit = unit / self.factor()
            elif self.next < len(self.tokens) and self.tokens[self.next] == ("name", "per"):
                self.next += 1
                unit = unit / self.factor()
            else:
                self.sign("*", "·", "⋅", "×")
                unit = unit * self.factor()
        return unit

    def factor(self) -> Unit:
        if self.sign("("):
            unit = self.product()
            if not self.sign(")"):
                raise _Unknown(": a bracket is not closed")
        else:
            kind, value = self.tokens[self.next] if self.next < len(self.tokens) else ("end", "")
            self.next += 1
            if kind == "number":
                unit = Unit(scale=float(value) or 1.0)
            elif kind == "name":
                unit = _named(value)
            else:
                raise _Unknown(f": expected a unit at {quoted(value)}" if value else ": it ends too early")
        return unit ** self.exponent()

    def exponent(self) -> Fraction:
        kind, value = self.tokens[self.next] if self.next < len(self.tokens) else ("end", "")
        before = self.tokens[self.next - 1][0]
        if kind == "raised":
            self.next += 1
            return Fraction(int(value.translate(_SUPERSCRIPTS)))
        if self.sign("^", "**"):
            bracket = self.sign("(")
            power = self.signed()
            if bracket and self.sign("/"):
                power = power / self.signed()
            if bracket and not self.sign(")"):
                raise _Unknown(": a bracket is not closed")
            return power
        if before == "name" and (kind == "number" or (kind == "sign" and value == "-")):
            return self.signed()  # m2, s-1
        return Fraction(1)

    def signed(self) -> Fraction:
        minus = self.sign("-") or (self.sign("+") and False)
        kind, value = self.tokens[self.next] if self.next < len(self.tokens) else ("end", "")
        if kind != "number":
            raise _Unknown(": an exponent is missing")
        self.next += 1
        power = Fraction(value).limit_denominator(12)
        if power == 0 or abs(power) > 20:
            raise _Unknown(f": the exponent {value} makes no sense")
        return -power if minus else power


@cache
def _named(name: str) -> Unit:
    row = _SI.get(name) or _OTHER.get(name)
    if row is not None:
        return _made(*row)
    for prefix, factor in _PREFIXES.items():
        if name.startswith(prefix) and name[len(prefix) :] in _SI:
            return Unit(scale=factor) * _made(*_SI[name[len(prefix) :]])
    word = name.lower()
    for stem in (word, word.removesuffix("s")):
        symbol = _NAMES.get(stem, stem if stem in _OTHER and len(stem) > 2 else None)
        if symbol is not None:
            return _named(symbol)
        for prefix, factor in _LONG_PREFIXES.items():
            if stem.startswith(prefix) and stem[len(prefix) :] in _NAMES:
                return Unit(scale=factor) * _named(_NAMES[stem[len(prefix) :]])
    raise _Unknown(f" ({quoted(name)})")


def _made(size: float, powers: tuple[int, ...]) -> Unit:
    return Unit(tuple(Fraction(powers[i]) if i < len(powers) else Fraction(0) for i in range(len(BASES))), float(size))


def _from_pint(text: str) -> Unit | None:
    """The same from pint's larger table, or None where it is not installed or does not know it either."""
    if find_spec("pint") is None:
        return None
    try:
        one = _registry().Quantity(1.0, text).to_base_units()
    except Exception:  # whatever pint raises about a text that it cannot read
        return None
    places = {"meter": 0, "kilogram": 1, "second": 2, "ampere": 3, "kelvin": 4, "mole": 5, "candela": 6, "radian": None}
    powers = [Fraction(0)] * len(BASES)
    for name, power in dict(one.unit_items()).items():
        if name not in places:
            return None
        place = places[name]
        if place is not None:
            powers[place] += Fraction(power).limit_denominator(12)
    return Unit(tuple(powers), float(one.magnitude))


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry()
