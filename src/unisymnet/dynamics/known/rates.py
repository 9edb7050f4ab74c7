"""What the user knows about each rate: units, constraints, a form known in part; the rooms of `knowledge` do the work.

The rate of a state has the state's unit over the time's.  Terms that contradict what is known are not proposed, and a
system with a rate that does is never chosen while another is left.  Does not fit anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import DataError
from ...formula import Formula
from ...knowledge.shape.check import VIOLATED, check
from ...knowledge.shape.rules import Between, Parity, Rule, Uses
from ...knowledge.shape.shapes import Shapes, make_shapes
from ...knowledge.units.system import TOKENS_A_UNIT, UnitSystem, make_units
from ...knowledge.units.unit import Unit
from ...symbolic.expr import Const, Expr, product
from ..course import Course
from ..equations.system import rate_name
from .form import KnownForm, read_form

ANY = 1.2345  # stands for a coefficient that is not fitted yet
MAX_ROWS = 400


@dataclass(frozen=True)
class Known:
    """The parameters of the estimator, as given."""

    units: Mapping[str, str] | None = None
    constants: Mapping[str, str | float] | None = None
    constraints: Sequence[str] | Mapping[str, Sequence[str] | str] | None = None
    template: Mapping[str, str] | None = None

    def of(self, course: Course) -> KnownSystem:
        """For these runs; a DataError says what does not fit them."""
        names, states = course.names, course.names[: course.n_states]
        units = _with_velocities(dict(self.units or {}), course)
        rules = _by_state(self.constraints, states)
        forms = dict(self.template or {})
        _only_states(forms, states, "template")
        rows = np.concatenate(course.tables)
        kept = np.unique(np.linspace(0, len(rows) - 1, MAX_ROWS).astype(int))
        found = []
        for k, state in enumerate(states):
            target = rate_name(state)
            own = dict(units)
            if state in units and course.runs.time in units:
                own[target] = f"({units[state] or 1})/({units[course.runs.time] or 1})"
            shapes = None
            if rules[state]:
                slopes = np.concatenate(
                    [course.states_at(s, grid, 1)[:, k] for s, grid in zip(course.smooths, course.grids)]
                )
                shapes = make_shapes(rules[state], rows[kept], slopes[kept], names, target)
            form = read_form(forms[state], names, state) if state in forms else None
            found.append(KnownRate(make_units(own, self.constants, names, target), shapes, form))
        return KnownSystem(tuple(found), course.runs.time, tuple(states))


@dataclass(frozen=True)
class KnownRate:
    """What is known about one equation; nothing by default."""

    units: UnitSystem | None = None
    shapes: Shapes | None = None
    form: KnownForm | None = None

    def takes(self, term: Expr) -> bool:
        """May this term, with some coefficient, stand in the rate?"""
        if self.units and not self.units.read(product([Const(ANY), term])).fits:
            return False
        rules = () if self.shapes is None else tuple(filter(_holds_for_terms, self.shapes.rules))
        return all(check(term, rule, self.shapes.box, quick=True).kind != VIOLATED for rule in rules if self.shapes)

    def allows(self, expr: Expr) -> bool:
        """May this be the rate?"""
        if self.units and not self.units.read(expr).fits:
            return False
        if self.form and not self.form.is_in(expr):
            return False
        return self.shapes is None or self.shapes.allows(expr)

    def tokens(self, expr: Expr, time: str) -> int:
        """What the units of constants cost: those that are no power of the time have to be explained."""
        if not self.units:
            return 0
        base = self.units.columns[self.units.names.index(time)]
        reading = self.units.read(expr)
        free = sum(not unit.is_number and not (base and _is_power(unit, base)) for unit in reading.constants)
        return min(TOKENS_A_UNIT * (free + reading.n_odd), self.units.price(reading))


@dataclass(frozen=True)
class KnownSystem:
    """What is known about every rate."""

    rates: tuple[KnownRate, ...] = ()
    time: str = "t"
    states: tuple[str, ...] = ()

    def of(self, k: int) -> KnownRate:
        return self.rates[k] if k < len(self.rates) else KnownRate()

    def allows(self, exprs: Sequence[Expr]) -> bool:
        return all(self.of(k).allows(expr) for k, expr in enumerate(exprs))

    def tokens(self, exprs: Sequence[Expr]) -> int:
        return sum(self.of(k).tokens(expr, self.time) for k, expr in enumerate(exprs))

    def units_of(self, exprs: Sequence[Expr]) -> tuple[Unit, ...] | None:
        """Units of all constants in reading order; None where no units were given."""
        if not any(rate.units for rate in self.rates):
            return None
        found: list[Unit] = []
        for k, expr in enumerate(exprs):
            units = self.of(k).units
            found += units.read(expr).constants if units else ()
        return tuple(found)

    def dressed(self, formula: Formula, k: int) -> Formula:
        units = self.of(k).units
        return units.dressed(formula) if units else formula

    def notes(self, exprs: Sequence[Expr]) -> list[str]:
        """What became of what is known."""
        found: dict[str, None] = {}
        for k, expr in enumerate(exprs):
            rate = self.of(k)
            if rate.units:
                found.update(dict.fromkeys(rate.units.notes()))
            if rate.shapes:
                name = rate_name(self.states[k])
                every = all(name in rule.text for rule in rate.shapes.rules)
                sentence = rate.shapes.sentence(expr)
                found[sentence if every else sentence.replace("constraints", f"constraints of {name}", 1)] = None
                if not rate.shapes.allows(expr):
                    found[f"no {name} that keeps its constraints fits the data: check the constraints"] = None
            if rate.form and not rate.form.is_in(expr):
                found[f"no rate of the form {rate.form.text} could be integrated along the data"] = None
        return list(found)


def _holds_for_terms(rule: Rule) -> bool:
    """Rules that a sum keeps for certain if each of its terms does, and that terms can be chosen by."""
    if isinstance(rule, Between):
        return rule.is_equality and rule.low == 0.0
    return isinstance(rule, Parity) or (isinstance(rule, Uses) and not rule.wanted)


def _is_power(unit: Unit, base: Unit) -> bool:
    """Is a unit a power of another, as 1/s is of s?"""
    place = next((i for i, power in enumerate(base.powers) if power), None)
    if place is None:
        return False
    return unit.same(base ** (unit.powers[place] / base.powers[place]))


def _with_velocities(units: dict[str, str], course: Course) -> dict[str, str]:
    """Of a system of second order the velocities have units, too."""
    time = units.get(course.runs.time)
    if course.order == 2 and time is not None:
        for name in course.runs.states:
            if name in units:
                units.setdefault(f"{name}_dot", f"({units[name] or 1})/({time or 1})")
    return units


def _only_states(given: Mapping[str, Any], states: Sequence[str], what: str) -> None:
    unknown = [name for name in given if name not in states]
    if unknown:
        raise DataError(f"{what}: there is no state {', '.join(unknown)}; the states are {', '.join(states)}")


def _by_state(
    given: Sequence[str] | Mapping[str, Sequence[str] | str] | None, states: Sequence[str]
) -> dict[str, list[str]]:
    """Which constraint is about which rate: the one that it names, else all."""
    found: dict[str, list[str]] = {state: [] for state in states}
    if isinstance(given, Mapping):
        _only_states(given, states, "constraints")
        for state, texts in given.items():
            found[state] += [texts] if isinstance(texts, str) else list(texts)
        return found
    for text in [given] if isinstance(given, str) else given or ():
        if not isinstance(text, str):
            raise DataError(f'a constraint must be text such as "x\'(x=0) >= 0", got {text!r}')
        named = [state for state in states if rate_name(state) in text]
        head, colon, rest = text.partition(":")
        if colon and head.strip() in [rate_name(state) for state in states]:
            named, text = [state for state in states if rate_name(state) == head.strip()], rest.strip()
        longest = [s for s in named if not any(s != other and rate_name(s) in rate_name(other) for other in named)]
        for state in longest or states:
            found[state].append(text)
    return found
