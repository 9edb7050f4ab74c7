"""A rate that is known in part: "a*x - f(x, y)", with names for constants and for functions to be found.

The rate must be linear in every unknown function, so that terms for it can be chosen by regression; constants inside
(the K of x/(K + x)) start at a few values and are fitted in the trajectories.  Without an unknown function only
constants are fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product as every

from ...errors import DataError
from ...formula.constants import free
from ...knowledge.shape.differ import derivative
from ...knowledge.template.text import read_template
from ...symbolic.expr import Call, Const, Expr, Param, Var, bind, n_params, product, rebuild, variables, walk
from ...symbolic.parse import parse
from ...symbolic.rewrite.simplify import simplify
from ..library import Library, libraries
from ..rate import terms_of

STARTS = (1.0371, 0.1037, 10.371)  # of constants inside; none of them is a number that would be part of the form
MAX_INNER = 2  # constants inside that take all of these


@dataclass(frozen=True)
class KnownForm:
    """The known part ``rest`` and, for every unknown function, what multiplies it and its columns."""

    text: str
    rest: Expr
    unknown: tuple[tuple[Expr, tuple[int, ...]], ...]

    def libraries(self, ranges: dict[int, tuple[float, float]]) -> list[Library]:
        """Known terms, which every rate has, and terms for the unknown functions."""
        found: list[Library] = []
        for number, values in enumerate(self._starts()):
            always = tuple(term for _, term in terms_of(simplify(bind(self.rest, values))))
            factors = [(bind(factor, values), columns) for factor, columns in self.unknown]
            if not factors:
                found.append(Library(f"form {number}", always, (), len(always)))
            parts = [libraries(columns, ranges) for _, columns in factors]
            for name in dict.fromkeys(library.name for part in parts for library in part):
                terms: list[Expr] = [*always]
                groups: list[tuple[Expr, ...]] = []
                for (factor, _), part in zip(factors, parts):
                    own = next((library for library in part if library.name == name), part[0])
                    terms += [_times(factor, term) for term in own.terms]
                    groups += [tuple(_times(factor, term) for term in group) for group in own.groups]
                different = tuple(dict.fromkeys(terms))
                found.append(Library(f"{name} {number}" if number else name, different, tuple(groups), len(always)))
        return found

    def factors(self, time: int) -> list[Expr]:
        """What waves of the time may be multiplied by: the factors of unknown functions of it, and their columns."""
        found: list[Expr] = []
        for factor, columns in self.unknown:
            if time in columns:
                known = bind(factor, self._starts()[0])
                found += [_times(known, Const(1.0)), *(_times(known, Var(c)) for c in columns if c != time)]
        return list(dict.fromkeys(found))

    def is_in(self, expr: Expr) -> bool:
        """Does a rate hold all known terms, whatever their constants?"""
        return self._forms() <= {free(term)[0] for _, term in terms_of(expr)}

    def holds(self, term: Expr) -> bool:
        """Is a term one of the known ones?"""
        return free(term)[0] in self._forms()

    def _forms(self) -> set[Expr]:
        return {free(term)[0] for _, term in terms_of(simplify(bind(self.rest, self._starts()[0])))}

    def _starts(self) -> list[tuple[float, ...]]:
        parts = [self.rest, *(factor for factor, _ in self.unknown)]
        count = max((n_params(part) for part in parts), default=0)
        inner = sorted({i for part in parts for i in _inner(part)})[:MAX_INNER]
        found = []
        for chosen in every(STARTS, repeat=len(inner)):
            values = [STARTS[0]] * count
            for i, value in zip(inner, chosen):
                values[i] = value
            found.append(tuple(values))
        return found


def read_form(text: str, names: Sequence[str], state: str) -> KnownForm:
    """From text; a DataError says what cannot be used."""
    if not isinstance(text, str):
        raise DataError(f'template of {state}: expected text such as "a*x - f(x, y)", got {text!r}')
    try:
        template = read_template(text, names)
    except DataError as error:
        if "no unknown function" not in str(error):
            raise
        return KnownForm(text, parse(text, list(names), free=True), ())
    n = len(names)
    if any(slot.by is not None for slot in template.slots):
        raise DataError(f"template of {state}: derivatives of unknown functions cannot be used in a rate")
    unknown = []
    for place, slot in enumerate(template.slots):
        factor = derivative(template.outer, n + place)
        if any(i >= n for i in variables(factor)):
            raise DataError(
                f"template of {state}: {slot.name} must stand alone or be multiplied by something known, in {text!r}"
            )
        unknown.append((factor, slot.columns))
    rest = rebuild(template.outer, lambda node: Const(0.0) if isinstance(node, Var) and node.index >= n else node)
    return KnownForm(text, simplify(rest), tuple(unknown))


def _inner(expr: Expr) -> set[int]:
    """Parameters that are no factors of terms."""
    found: set[int] = set()
    for node in walk(expr):
        if isinstance(node, Call) and node.op not in ("add", "sub", "mul", "neg"):
            found |= {leaf.index for leaf in walk(node) if isinstance(leaf, Param)}
    return found


def _times(factor: Expr, term: Expr) -> Expr:
    """Their product without the number that stands for an unknown constant."""
    return terms_of(simplify(product([factor, term])))[0][1]
