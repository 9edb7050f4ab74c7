"""`sin(f(x1, x2)) + g(x3)`: which parts are unknown functions, of which columns, and how a formula is put together.

An unknown function is any name that is no operator, followed by columns in brackets.  `D(f, x1)` is its derivative.
Other names that are no column are constants to fit.  Does not search.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...errors import DataError
from ...symbolic.constants import moved_params
from ...symbolic.expr import Expr, Var, n_params, rebuild, variables
from ...symbolic.operators import ALIASES, OPERATORS
from ...symbolic.parse import Own, parse
from ..shape.differ import derivative

_CALL = re.compile(r"([^\W\d]\w*)\s*\(([^()]*)\)")
_OTHER = {"log10", "log2", "sec", "csc", "cot", "D"}


@dataclass(frozen=True)
class Slot:
    """One place in the template: the function `name` of columns, or its derivative by one of them (`by`)."""

    name: str
    columns: tuple[int, ...]
    by: int | None = None


@dataclass(frozen=True)
class Template:
    """The known part `outer`, in which Var(n_columns + k) stands for slot k."""

    text: str
    outer: Expr
    n_columns: int
    slots: tuple[Slot, ...]
    functions: dict[str, tuple[int, ...]]  # columns of each unknown function, as it is first written

    def whole(self, parts: Mapping[str, Expr]) -> Expr:
        """The formula with these functions in it; parameters of parts and template are numbered one after the other."""
        start = n_params(self.outer)
        placed: dict[str, Expr] = {}
        for name in self.functions:
            placed[name] = moved_params(parts[name], start)
            start += n_params(parts[name])

        def filled(node: Expr) -> Expr:
            if not isinstance(node, Var) or node.index < self.n_columns:
                return node
            slot = self.slots[node.index - self.n_columns]
            part = placed[slot.name]
            if slot.by is not None:
                part = derivative(part, slot.by)
            return with_columns(part, dict(zip(self.functions[slot.name], slot.columns, strict=True)))

        return rebuild(self.outer, filled)

    def restricted(self, kept: Sequence[int]) -> Template:
        """For a search in some of the columns, which all of the template's must be among."""
        place = {column: index for index, column in enumerate(kept)}
        moved = {self.n_columns + k: len(kept) + k for k in range(len(self.slots))} | place
        return Template(
            self.text,
            rebuild(self.outer, lambda n: Var(moved[n.index]) if isinstance(n, Var) else n),
            len(kept),
            tuple(
                Slot(s.name, tuple(place[i] for i in s.columns), None if s.by is None else place[s.by])
                for s in self.slots
            ),
            {name: tuple(place[i] for i in columns) for name, columns in self.functions.items()},
        )

    @property
    def columns(self) -> set[int]:
        """All columns that the template names."""
        return {i for i in variables(self.outer) if i < self.n_columns} | {i for s in self.slots for i in s.columns}


def read_template(text: str, names: Sequence[str], own: Own | None = None, target: str = "") -> Template:
    """A template from its text, with the user's own operators; a DataError says what is wrong with it."""
    if not isinstance(text, str) or not text.strip():
        raise DataError(f'template must be text such as "sin(f(x1, x2)) + g(x3)", got {text!r}')
    known = {str(name): i for i, name in enumerate(names)}
    functions: dict[str, tuple[int, ...]] = {}
    slots: list[Slot] = []
    derived: list[tuple[str, str, int]] = []

    def taken(match: re.Match[str]) -> str:
        name, inside = match[1], [part.strip().strip("`") for part in match[2].split(",")]
        if name == "D" and name not in known:
            derived.append((inside[0], inside[-1], len(slots)))
            slots.append(Slot(inside[0], (), None))
            return f"{_HOLE}{len(slots) - 1}"
        if _is_known(name) or name in known or (own and name in own):
            return match[0]
        missing = [part for part in inside if part not in known]
        if missing:
            raise DataError(
                f"template: {name}({match[2]}) should be a function of columns, but {missing[0]!r} is none; "
                f"the columns are {', '.join(known)}"
            )
        columns = tuple(known[part] for part in inside)
        if len(functions.setdefault(name, columns)) != len(columns) or len(set(columns)) != len(columns):
            raise DataError(f"template: {name} must always have the same number of different columns")
        slots.append(Slot(name, columns))
        return f"{_HOLE}{len(slots) - 1}"

    if text.count("(") != text.count(")"):
        raise DataError(f"the template {text!r} has {text.count('(')} opening and {text.count(')')} closing brackets")
    written = _CALL.sub(taken, text)
    for name, by, place in derived:
        if name == by:
            raise DataError(f"template: D({name}) must name a column to differentiate by, as in D(f, x1)")
        if name not in functions or known.get(by, -1) not in functions[name]:
            raise DataError(f"template: D({name}, {by}) needs {name} as a function of {by} elsewhere in the template")
        slots[place] = Slot(name, functions[name], known[by])
    if not functions:
        raise DataError(f"the template {text!r} has no unknown function such as f(x1); fit_formula fits constants")
    _refuse_nested(written, known, own or {}, text)
    holes = [f"{_HOLE}{k}" for k in range(len(slots))]
    if target and target not in known and re.search(rf"(?<![\w`]){re.escape(target)}(?![\w`])", written):
        raise DataError(f"the template {text!r} holds the target {target!r}; write only what it is equal to")
    outer = parse(written, [*known, *holes], free=True, own=own)
    return Template(text, outer, len(known), tuple(slots), functions)


_HOLE = "unknown__"


def _refuse_nested(written: str, known: Collection[str], own: Collection[str], text: str) -> None:
    """A call that is left, of no known function, holds more than columns: f(g(x1)*x2)."""
    for match in re.finditer(r"([^\W\d]\w*)\s*\(", written):
        name = match[1]
        if not _is_known(name) and name not in own and name not in known:
            raise DataError(
                f"template: {name}(…) in {text!r} holds another unknown function; "
                f"an unknown function can be of columns only, such as {name}({', '.join(known)})"
            )


def _is_known(name: str) -> bool:
    return ALIASES.get(name.lower(), name.lower()) in OPERATORS or name in _OTHER


def with_columns(expr: Expr, given: Mapping[int, int]) -> Expr:
    """The formula with other columns in the places of its own."""
    return rebuild(expr, lambda n: Var(given.get(n.index, n.index)) if isinstance(n, Var) else n)


def holes_of(template: Template, name: str) -> list[int]:
    """The slots of one function, as columns of the outer form."""
    used = variables(template.outer)
    return [
        template.n_columns + k
        for k, slot in enumerate(template.slots)
        if slot.name == name and template.n_columns + k in used
    ]
