"""The units of one table: of its columns, its target and of constants that are known by name and value.

Made from what the user wrote, or a DataError says what is wrong with it.  Judges formulas, gives their constants units,
and finds known constants again in the numbers of a formula.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import mul

from ...errors import DataError
from ...formula import Constant, Formula
from ...formula.constants import simple_name
from ...symbolic.expr import Expr
from .homogeneous import Reading, read_units
from .pi import Choice, choices, group_text
from .spelling import odd_unit, read_quantity, read_unit, unit_names
from .unit import Unit, unit_text

TARGET = "target"
SIMPLE_POWERS: tuple[Fraction | int, ...] = (0, 1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2), 3, -3)
RECOGNISED = 1e-6  # relative distance without a standard error
TOKENS_A_UNIT = 3  # what a constant with a unit costs beside itself: somebody must explain it


@dataclass(frozen=True)
class UnitSystem:
    """`columns[i]` is None where no unit was given: then it may be any."""

    names: tuple[str, ...]
    columns: tuple[Unit | None, ...]
    target: Unit | None
    texts: tuple[str, ...]  # as the user writes them, the target's last
    constants: tuple[tuple[str, float, Unit], ...] = ()

    @property
    def preferred(self) -> dict[str, Unit]:
        """What the user writes, whole and in its parts: km/h, km and h."""
        return {part: read_unit(part) for text in self.texts if text for part in (text, *unit_names(text))}

    def restricted(self, kept: Sequence[int]) -> UnitSystem:
        """For a search in some of the columns."""
        names, units = (tuple(of[i] for i in kept) for of in (self.names, self.columns))
        texts = (*(self.texts[i] for i in kept), self.texts[-1])
        return replace(self, names=names, columns=units, texts=texts)  # type: ignore[arg-type]

    def read(self, expr: Expr) -> Reading:
        return read_units(expr, self.columns, self.target)

    def price(self, reading: Reading) -> int:
        """Tokens that the units of the constants cost, those of known constants none."""
        return TOKENS_A_UNIT * self.n_unexplained(reading)

    def n_unexplained(self, reading: Reading) -> int:
        """Constants with a unit that no known constant has, and exponents that no simple fraction equals."""
        known = self._known_units()
        free = sum(not unit.is_number and unit.powers not in known for unit in reading.constants)
        return free + reading.n_odd

    def choices(self) -> list[Choice]:
        """Groups without a unit; known constants stand behind the columns."""
        if self.target is None:
            return []
        units = [*(unit or Unit() for unit in self.columns), *(unit for _, _, unit in self.constants)]
        fixed = range(len(self.columns), len(units))
        return choices(units, self.target, fixed=fixed)

    @property
    def values(self) -> tuple[float | None, ...]:
        """Values of the known constants behind a None for each column."""
        return (*(None for _ in self.columns), *(value for _, value, _ in self.constants))

    def dressed(self, formula: Formula) -> Formula:
        """The formula with the unit of every constant, and with known constants named."""
        reading = self.read(formula.expr)
        if not reading.fits or len(reading.constants) != len(formula.constants):
            return formula
        shown = tuple(map(self._with_unit, formula.constants, reading.constants))
        return replace(formula, constants=shown, units=self.texts)

    def _with_unit(self, constant: Constant, unit: Unit) -> Constant:
        if unit.is_one:
            return constant
        text, meaning = unit_text(unit, self.preferred), self.meaning(constant, unit)
        if meaning is None and text == f"{unit.scale:.6g}":  # it turns cm and km/h into SI, and that is no unit
            return replace(constant, meaning=f"{constant.value * unit.scale:.4g} in SI units")
        return replace(constant, unit=text, meaning=meaning)

    def meaning(self, constant: Constant, unit: Unit) -> str | None:
        """The constant as a simple number times powers of known constants: "2π/g^(1/2)"."""
        error = RECOGNISED * abs(constant.value)
        if constant.stderr is not None and constant.fitted is not None:
            error = max(error, 2.0 * constant.stderr)
        for powers in self._monomials():
            made = self._made(powers)
            if made.powers != unit.powers:
                continue
            size = math.prod(value ** float(power) for (_, value, _), power in zip(self.constants, powers, strict=True))
            ratio = constant.value / (size * made.scale / unit.scale)
            nearest = _nearest(ratio, error / abs(constant.value))
            if nearest is not None:
                names = [name for name, _, _ in self.constants]
                return _times(nearest, group_text(tuple(map(Fraction, powers)), names))
        return None

    def groups_text(self) -> list[str]:
        """What `check` prints about the groups of the simplest choice."""
        found = self.choices()
        names = [*self.names, *(name for name, _, _ in self.constants)]
        if not found:
            return []
        best = found[0]
        groups = ", ".join(group_text(group, names) for group in best.groups)
        if best.factor is None:
            unit = self.texts[-1]
            return [
                f"no product of powers of the columns has the unit {unit}: the law must contain a constant with a unit"
            ]
        factor = group_text(best.factor, names)
        every = [best.factor, *best.groups]
        out = [name for i, name in enumerate(self.names) if self.columns[i] and not any(p[i] for p in every)]
        lines = [f"the law is {factor} times {f'a function of {groups}' if groups else 'a number'}"]
        if out:
            lines.append(f"{', '.join(out)} cannot be in the law: nothing else has that dimension")
        if len(found) > 1:
            lines.append(f"{len(found)} choices of such groups are equally valid")
        return lines

    def notes(self) -> Iterator[str]:
        for name, text in zip((*self.names, TARGET), self.texts, strict=True):
            odd = odd_unit(text) if text else None
            if odd is not None:
                yield f"{name} {odd}"
        bare = [name for name, unit in zip(self.names, self.columns, strict=True) if unit is None]
        if bare:
            yield f"no unit given for {', '.join(bare)}: any unit is allowed"

    def _known_units(self) -> set[tuple[Fraction, ...]]:
        return {self._made(powers).powers for powers in self._monomials()}

    def _made(self, powers: Sequence[Fraction | int]) -> Unit:
        """The unit of a product of powers of the known constants."""
        return reduce(mul, (of**power for (_, _, of), power in zip(self.constants, powers, strict=True)), Unit())

    def _monomials(self) -> list[tuple[Fraction | int, ...]]:
        """Small exponents of the known constants, the simplest first, not all zero."""
        n = min(len(self.constants), 3)
        some: Iterator[tuple[Fraction | int, ...]] = itertools.product(SIMPLE_POWERS, repeat=n)
        padded = [(*powers, *(0,) * (len(self.constants) - n)) for powers in some if any(powers)]
        return sorted(padded, key=lambda powers: sum(abs(float(p)) for p in powers))


def make_units(
    units: Mapping[str, str] | None,
    constants: Mapping[str, str | float] | None,
    names: Sequence[str],
    target: str,
) -> UnitSystem | None:
    """The system that the parameters `units` and `constants` describe, or None without units."""
    if not units and not constants:
        return None
    given = dict(units or {})
    for key in given:
        if key not in names and key not in (target, TARGET):
            known = ", ".join([*names, target])
            raise DataError(
                f'units: there is no column {key!r}; the columns are {known} ("target" stands for the target)'
            )
    texts = tuple("" if name not in given else str(given[name]) for name in names)
    of_target = given.get(target, given.get(TARGET))
    columns = tuple(_read(name, given[name]) if name in given else None for name in names)
    found: list[tuple[str, float, Unit]] = []
    for name, value in (constants or {}).items():
        if name in (*names, target):
            raise DataError(f"constants: {name} is a column already; give the constant another name")
        try:
            found.append((str(name), *read_quantity(value)))
        except DataError as error:
            raise DataError(f"constants: {name}: {error}") from error
    return UnitSystem(
        tuple(names),
        columns,
        None if of_target is None else _read(target, of_target),
        (*texts, "" if of_target is None else str(of_target)),
        tuple(found),
    )


def _times(number: str, powers: str) -> str:
    """ "2π/g^(1/2)" rather than "2π*1/g^(1/2)"."""
    if number == "1":
        return powers
    return number + powers.removeprefix("1") if powers.startswith("1/") else f"{number}*{powers}"


def _read(name: str, text: str) -> Unit:
    try:
        return read_unit(text)
    except DataError as error:
        raise DataError(f"units: {name}: {error}") from error


def _nearest(ratio: float, relative: float) -> str | None:
    """A simple number near the ratio: 2, 1/2, 2π, …"""
    exact = simple_name(ratio)
    if exact is not None:
        return exact
    candidates = [Fraction(n, d) * sign for n in range(1, 13) for d in range(1, 7) for sign in (1, -1)]
    simple = {float(c) * f: (c, mark) for c in candidates for f, mark in ((1.0, ""), (math.pi, "π"))}
    near = [(len(f"{c}{mark}"), value) for value, (c, mark) in simple.items() if abs(ratio / value - 1.0) <= relative]
    return None if not near or relative > 0.05 else simple_name(min(near)[1])
