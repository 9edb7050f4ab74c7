"""The result of a PDE search: equations that print, save, load and can be simulated on a periodic grid."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from ..errors import CheckpointError, DataError
from ..formula import Formula, stored
from ..symbolic.expr import variables
from ..symbolic.parse import parse
from ..symbolic.writers.latex import latex_name, latex_number
from .spectral import Flow, evolve
from .terms import Term, written

_KIND, _VERSION = "unisymnet pde", 1


@dataclass(frozen=True)
class Equation:
    """∂_t (or ∂_tt) of one field: terms, coefficients, their standard errors, and the share of the rate explained."""

    field: str
    terms: tuple[Term, ...]
    coefficients: tuple[float, ...]
    errors: tuple[float, ...]
    r2: float


@dataclass(frozen=True)
class PDESystem:
    """Equations for fields over axes of space; ``order`` is that of the time derivative on the left.

    Fields without an equation are given: they may stand on the right.
    """

    fields: tuple[str, ...]
    space: tuple[str, ...]
    time: str
    equations: tuple[Equation, ...]
    order: int = 1
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, digits: int = 4) -> list[str]:
        """One line for every equation, first derivatives of products written out."""
        marks = self.time * self.order
        lines = []
        for equation in self.equations:
            pairs = zip(equation.terms, equation.coefficients, strict=True)
            parts = [written(term, number, self.fields, self.space, digits) for term, number in pairs]
            lines.append(f"{equation.field}_{marks} = " + (" + ".join(parts).replace("+ -", "- ") or "0"))
        return lines

    def latex(self, digits: int = 4) -> str:
        """The equations as LaTeX, one a line, terms as they were fitted."""
        rows = []
        dots = rf"\partial_{{{self.time}}}" if self.order == 1 else rf"\partial_{{{self.time}{self.time}}}"
        for equation in self.equations:
            text = ""
            for term, number in zip(equation.terms, equation.coefficients, strict=True):
                text += (" - " if number < 0 else " + ") + self._latex_term(term, abs(number), digits)
            rows.append(rf"{dots} {latex_name(equation.field)} = {text.removeprefix(' + ').strip() or '0'}")
        return " \\\\\n".join(rows)

    def _latex_term(self, term: Term, number: float, digits: int) -> str:
        marks = "".join(axis * order for axis, order in zip(self.space, term.orders, strict=True))
        powers = zip(self.fields, term.powers, strict=True)
        product = r" \, ".join(latex_name(f) + (f"^{{{p}}}" if p > 1 else "") for f, p in powers if p)
        if term.function:
            product = Formula(parse(term.function), self.fields, "f").latex(digits)
        body = product
        if marks:
            body = rf"\partial_{{{marks}}} " + (product if term.degree == 1 else rf"\left({product}\right)")
        return rf"{latex_number(number, digits)} \, {body}" if body else latex_number(number, digits)

    def simulate(self, start: Mapping[str, ArrayLike] | ArrayLike, axes: Mapping[str, ArrayLike]) -> dict[str, Floats]:
        """The fields from their values at the first time on, over the axes given, on a grid that repeats itself.

        ``start`` holds one array for each field (for second-order equations also ``name_t``, the rate at the start).
        The last node of an axis is one step before the first comes again.
        """
        if len(self.equations) < len(self.fields):
            known = {equation.field for equation in self.equations}
            lacking = ", ".join(name for name in self.fields if name not in known)
            raise DataError(f"there is no equation for {lacking}, so the system cannot be simulated; fit all fields")
        nodes = [np.asarray(axes[name], dtype=float) for name in self.space]
        times = np.asarray(axes[self.time], dtype=float)
        given = dict(start) if isinstance(start, Mapping) else {self.fields[0]: start}
        wanted = [*self.fields, *(f"{f}_{self.time}" for f in self.fields if self.order == 2)]
        missing = [name for name in wanted if name not in given]
        if missing:
            raise DataError(f"the start needs {', '.join(missing)}; it has {', '.join(given)}")
        first = np.stack([np.asarray(given[name], dtype=float) for name in wanted])
        if first.shape[1:] != tuple(map(len, nodes)):
            raise DataError(f"the start has shape {first.shape[1:]}, but the axes {tuple(map(len, nodes))} nodes")
        lengths = [float(len(x) * (x[1] - x[0])) for x in nodes]
        found = evolve(self.flow(), first, lengths, times)
        return {name: found[i] for i, name in enumerate(self.fields)}

    def flow(self) -> Flow:
        """The equations as rates of first order; rates of second order become fields of their own."""
        n = len(self.fields)
        if self.order == 1:
            return Flow(tuple(e.terms for e in self.equations), tuple(e.coefficients for e in self.equations))
        rates = [Term((0,) * len(self.space), tuple(int(j == n + i) for j in range(2 * n))) for i in range(n)]
        longer = [tuple(Term(t.orders, (*t.powers, *(0,) * n), t.function) for t in e.terms) for e in self.equations]
        numbers = [e.coefficients for e in self.equations]
        return Flow((*((rate,) for rate in rates), *longer), (*((1.0,) for _ in rates), *numbers))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `save` writes them."""
        equations = [
            {
                "field": e.field, "r2": e.r2, "coefficients": list(e.coefficients), "errors": list(e.errors),
                "terms": [
                    {"orders": list(t.orders), "powers": list(t.powers), **({"of": t.function} if t.function else {})}
                    for t in e.terms
                ],
            }
            for e in self.equations
        ]  # fmt: skip
        return {
            "kind": _KIND, "version": _VERSION, "fields": list(self.fields), "space": list(self.space),
            "time": self.time, "order": self.order, "notes": list(self.notes), "equations": equations,
        }  # fmt: skip

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> PDESystem:
        """What `to_dict` gave; raises CheckpointError for anything else."""
        what = "this saved system of PDEs"
        if not isinstance(data, Mapping) or data.get("kind") != _KIND or data.get("version") != _VERSION:
            raise CheckpointError(f"this is not a saved system of PDEs (version {_VERSION}); save it again")
        with stored.reading(what):
            fields, space = stored.words(data["fields"]), stored.words(data["space"])
            equations = tuple(_equation(one, len(fields), len(space)) for one in stored.listed(data["equations"]))
            order, time, told = data["order"], stored.word(data["time"]), [equation.field for equation in equations]
            if len(set(told)) < len(told) or not set(told) <= set(fields) or order not in (1, 2):
                raise ValueError("its equations do not fit its fields")
            if not 1 <= len(space) <= 2 or len({*fields, *space, time}) < len(fields) + len(space) + 1:
                raise ValueError("its axes and fields do not fit together")
            return PDESystem(fields, space, time, equations, order, stored.words(data["notes"]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the system as JSON."""
        from ..regressor.checkpoint import write_atomically

        write_atomically(Path(path), json.dumps(self.to_dict(), indent=1))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> PDESystem:
        """Read what `save` wrote."""
        return PDESystem.from_dict(stored.read_file(path, "a system of PDEs"))


def _function(text: Any, n_fields: int) -> str:
    """A saved function, read by our own parser, of fields that exist."""
    if not text:
        return ""
    used = variables(parse(stored.word(text)))
    if any(i >= n_fields for i in used):
        raise ValueError("a function has more fields than there are")
    return stored.word(text)


def _equation(data: Mapping[str, Any], n_fields: int, n_space: int) -> Equation:
    terms = tuple(
        Term(_counts(t["orders"]), _counts(t["powers"]), _function(t.get("of", ""), n_fields))
        for t in stored.listed(data["terms"])
    )
    numbers, errors = (tuple(map(stored.number, stored.listed(data[key]))) for key in ("coefficients", "errors"))
    fits = all(len(t.orders) == n_space and len(t.powers) == n_fields for t in terms)
    small = all(0 <= v <= 8 for t in terms for v in (*t.orders, *t.powers))
    if not (fits and small and len(terms) == len(numbers) == len(errors)):
        raise ValueError("a term does not fit its fields")
    return Equation(stored.word(data["field"]), terms, numbers, errors, stored.number(data["r2"]))


def _counts(values: Any) -> tuple[int, ...]:
    return tuple(map(stored.whole, stored.listed(values)))
