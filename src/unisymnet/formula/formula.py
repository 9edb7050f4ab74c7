"""One formula as a user holds it: callable on arrays and tables, printable, exportable, storable as JSON.

Frozen, and free of the search, the kernels and the weights: a saved formula is read by our own parser and
computed by numpy, never by eval or pickle. It does not know how it was found; what the data say about its
constants is recorded in `constants`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats, power_of_two
from ..errors import DataError, quoted
from ..symbolic.expr import Call, Const, Expr, evaluate, n_params, rebuild, variables
from ..symbolic.parse import parse
from ..symbolic.text import to_text
from ..symbolic.writers.names import PYTHON_WORDS, identifiers
from ..symbolic.writers.source import DIALECTS, write_source
from . import constants as constants_of
from . import stored
from .band import Band
from .constants import ALL_DIGITS, SIMPLE_DIGITS, Constant, rounded, simple_name
from .domain import domain_notes
from .given import check_digits, check_level, numbers, truth_and_weights
from .grouped import GroupTable, of_group

SCHEMA = "unisymnet-formula"
VERSION = 1
LANGUAGES = (*DIALECTS, "latex", "sympy", "text", "json")


@dataclass(frozen=True)
class Formula:
    """`target = expr(names)`.

    >>> kinetic = Formula.parse("0.5*m*v**2", names=["m", "v"])
    >>> kinetic([[2.0, 3.0]])
    array([9.])
    >>> print(kinetic)
    0.5*m*v**2
    """

    expr: Expr
    names: tuple[str, ...] = ()
    target: str = "y"
    constants: tuple[Constant, ...] = ()
    units: tuple[str, ...] = ()  # of the columns and, last, of the target; "" where none was given
    groups: GroupTable | None = None  # values of constants that differ from group to group; `names` end with theirs
    band: Band | None = None  # noise and doubt, for `predict_interval`; None where the formula was found without noise

    def __post_init__(self) -> None:
        if n_params(self.expr):
            raise ValueError(f"a Formula needs numbers for its constants, got {self.expr}; fit them first")
        needed = max(variables(self.expr), default=-1) + 1
        given = tuple(str(name) for name in self.names)
        object.__setattr__(self, "names", given + tuple(f"x{i}" for i in range(len(given), needed)))
        if not self.constants:
            values = constants_of.free(self.expr)[1]
            plain = tuple(Constant(value, snapped_to=simple_name(value)) for value in values)
            object.__setattr__(self, "constants", plain)

    @staticmethod
    def parse(text: str, names: Sequence[str] | None = None, target: str = "y") -> Formula:
        """Read a formula; without `names` its columns are written x0, x1, …"""
        return Formula(parse(text, names), tuple(names or ()), target)

    def __str__(self) -> str:
        return to_text(self.expr, self.names)

    def __repr__(self) -> str:
        return f"<Formula {self.target} = {self.text(6)}>"

    def text(self, digits: int | None = None) -> str:
        """One line for reading: constants with as many digits as the data give them, or rounded to `digits`."""
        check_digits(digits)
        if digits is None:
            return to_text(self.expr, self.names)
        shown = rounded(self.expr, self.constants, ALL_DIGITS)
        if shown is None:
            return to_text(_fractions(self.expr), self.names, digits)
        return to_text(_fractions(shown), self.names, SIMPLE_DIGITS)

    @property
    def domain(self) -> tuple[str, ...]:
        """Conditions under which the formula is a finite number; empty when it always is."""
        return domain_notes(self.expr, self.names)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the formula uses."""
        return tuple(self.names[i] for i in variables(self.expr))

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the columns of the data; constants of groups are not among them."""
        return self.names if self.groups is None else self.names[: len(self.names) - len(self.groups.names)]

    @property
    def complexity(self) -> int:
        """Size: operators, columns and constants counted."""
        from ..metrics import complexity

        return complexity(self.expr)

    def __call__(self, X: Any) -> Floats:
        return self.predict(X)

    def predict(self, X: Any) -> Floats:
        """Values on the rows of `X`: an array with all columns in order, or a table or dict with names.

        A table may hold its columns in any order, and others too. Outside the domain the value is nan or inf.
        """
        return evaluate(self.expr, self._table(X))

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of the intervals in which new measurements fall with the probability `level`.

        They hold the noise of one measurement and the doubt about the constants, not the doubt about the form.
        """
        check_level(level)
        if self.band is None:
            raise DataError("nothing is known about the noise here: the formula is exact, was typed in, or has groups")
        return self.band.limits(self.expr, self._table(X), level)

    def of(self, group: Any) -> Formula:
        """The formula of one group of rows, its constants as numbers."""
        if self.groups is None:
            raise DataError("this formula is the same for all groups of rows")
        n = len(self.inputs)
        return Formula(of_group(self.expr, self.groups.of(group), n), self.names[:n], self.target)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """R² on these rows; -inf where the formula is undefined on one of them."""
        found = self.predict(X)
        truth, weights = truth_and_weights(y, sample_weight, len(found))
        if not len(truth) or not np.isfinite(found).all():
            return float("-inf")
        size = power_of_two(truth)  # squares of what is left can be stored
        truth, found = truth / size, found / size
        mean = np.average(truth, weights=weights)
        with np.errstate(over="ignore"):
            rest = float(np.average((truth - found) ** 2, weights=weights))
        spread = float(np.average((truth - mean) ** 2, weights=weights))
        return 1.0 - rest / spread if spread > 0.0 else float(rest == 0.0)

    def refit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Formula:
        """The same form with its constants fitted to these rows (least squares from the present values)."""
        if self.groups is not None:
            table, labels = self._group_table(X)
            truth, weights = truth_and_weights(y, sample_weight, len(table))
            new = self.groups.refitted(self.expr, table, truth, labels, weights)
            return replace(self, groups=new)
        table, truth, weights = self._rows(X, y, sample_weight)
        with np.errstate(all="ignore"):
            expr, found = constants_of.refit(self.expr, table, truth, weights)
        return replace(self, expr=expr, constants=found, band=None)

    def with_errors(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Formula:
        """The same formula; its `constants` say where these rows would put them, and ±."""
        table, truth, weights = self._rows(X, y, sample_weight)
        with np.errstate(all="ignore"):
            return replace(self, constants=constants_of.report(self.expr, table, truth, weights))

    def sympy(self) -> Any:
        """A sympy expression in symbols named after the columns."""
        from ..symbolic.writers.sympy_bridge import to_sympy

        return to_sympy(self.expr, self.names)

    def latex(self, digits: int | None = 4) -> str:
        """LaTeX of the right-hand side, constants rounded to `digits` (None: all digits)."""
        from ..symbolic.writers.latex import latex

        check_digits(digits)
        return latex(self.expr, self.names, digits)

    def to(self, language: str, cells: Sequence[str] | None = None) -> str:
        """Source text in one of `LANGUAGES`: "python", "c", "excel", "latex", …

        Columns get names that the language allows. For Excel, `cells` are the columns of your sheet, from A on;
        without them those of the fit are assumed.
        """
        if language in DIALECTS:
            return write_source(self.expr, self.names, self.target, language, cells, self.units_text())
        writers: dict[str, Callable[[], Any]] = {
            "latex": self.latex,
            "sympy": self._sympy_text,
            "text": self.__str__,
            "json": self.to_json,
        }
        if language not in writers:
            raise ValueError(f"cannot write a formula as {quoted(language)}; choose one of {', '.join(LANGUAGES)}")
        return str(writers[language]())

    def _sympy_text(self) -> str:
        """Text that sympy reads back, in symbols that mean nothing else to it."""
        from ..symbolic.writers.sympy_bridge import known_words, to_sympy

        return str(to_sympy(self.expr, identifiers(self.names, PYTHON_WORDS | known_words())))

    def units_text(self) -> str:
        """The units of the columns used and of the target, as far as given, in one line; empty where none are."""
        names = (*self.names, self.target)
        used = [*variables(self.expr), len(self.units) - 1] if self.units else []
        given = [f"{names[i]} in {self.units[i]}" for i in used if self.units[i]]
        return f"units: {', '.join(given)}" if given else ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the formula itself is text in x0, x1, …"""
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "expression": to_text(self.expr),
            "formula": str(self),
            "names": list(self.names),
            "target": self.target,
            "constants": [asdict(constant) for constant in self.constants],
            "domain": list(self.domain),
            **({"units": list(self.units)} if self.units else {}),
            **({"groups": self.groups.to_dict()} if self.groups is not None else {}),
            **({"band": self.band.to_dict()} if self.band is not None else {}),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Formula:
        """The inverse of `to_dict`; refuses what it does not know."""
        data = stored.expect(data, SCHEMA, VERSION, "a saved formula")
        with stored.reading("the saved formula"):
            found = tuple(_constant(row) for row in stored.listed(data["constants"]))
            names, units = stored.words(data["names"]), stored.words(data.get("units", []))
            expr = parse(stored.word(data["expression"]))
            groups = GroupTable.from_dict(data["groups"]) if data.get("groups") else None
            band = Band.from_dict(data["band"], len(constants_of.free(expr)[1])) if data.get("band") else None
            return Formula(expr, names, stored.word(data["target"]), found, units, groups, band)

    @staticmethod
    def from_json(text: str) -> Formula:
        return Formula.from_dict(stored.read_object(text, "the saved formula"))

    def _rows(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Floats, Floats, Floats | None]:
        table = self._table(X)
        return table, *truth_and_weights(y, sample_weight, len(table))

    def _group_table(self, X: Any) -> tuple[Floats, Any]:
        """The columns of a table without the constants of groups, and the group of each row."""
        assert self.groups is not None
        columns = list(X) if isinstance(X, Mapping) else getattr(X, "columns", ())
        if self.groups.column not in [str(name) for name in columns]:
            raise DataError(
                f"the formula has constants for each {self.groups.column!r}; give a table with that column, or use "
                "formula.of(group)"
            )
        n = len(self.inputs)
        unused = variables(of_group(self.expr, (1.0,) * len(self.groups.names), n))
        n_rows = len(X[self.groups.column])
        table = np.zeros((n_rows, n))
        for i in unused:
            if self.names[i] not in [str(name) for name in columns]:
                raise DataError(f"the formula needs the column {self.names[i]!r}; the table has {', '.join(columns)}")
            table[:, i] = numbers(X[self.names[i]], f"the column {self.names[i]!r}")
        return table, list(X[self.groups.column])

    def _table(self, X: Any) -> Floats:
        """All columns in order; of a table with names only the used ones are read."""
        if self.groups is not None and not isinstance(X, np.ndarray):
            table, labels = self._group_table(X)
            return self.groups.filled(table, labels, table.shape[1])
        columns = list(X) if isinstance(X, Mapping) else getattr(X, "columns", None)
        if columns is None or isinstance(X, np.ndarray):
            table = numbers(X, "X")
            if table.ndim != 2 or table.shape[1] < max(variables(self.expr), default=-1) + 1:
                wanted = ", ".join(self.names) or "any column"
                raise DataError(f"X must be a table with the columns {wanted}, got the shape {table.shape}")
            return table
        known = [str(column) for column in columns]
        missing = [name for name in self.columns if name not in known]
        if missing:
            raise DataError(f"the formula needs the column {missing[0]!r}; the table has {', '.join(known)}")
        places = {i: columns[known.index(self.names[i])] for i in variables(self.expr)}
        used = {i: numbers(X[place], f"the column {self.names[i]!r}") for i, place in places.items()}
        if len(shapes := {column.shape for column in used.values()}) > 1 or any(len(shape) != 1 for shape in shapes):
            raise DataError(f"columns must be of one length, each with a name of its own, got shapes {sorted(shapes)}")
        n_rows = len(next(iter(used.values()))) if used else len(X[columns[0]])
        table = np.zeros((n_rows, len(self.names)))
        for index, column in used.items():
            table[:, index] = column
        return table


def _constant(row: Any) -> Constant:
    row = stored.record(row, [field.name for field in fields(Constant)])
    fitted, stderr = (stored.number(row.get(name), missing=None) for name in ("fitted", "stderr"))
    name, unit, meaning = (stored.word(row.get(key), missing=None) for key in ("snapped_to", "unit", "meaning"))
    step = stored.number(row.get("step"), missing=None)  # not in files of version 0.1
    return Constant(stored.number(row["value"]), fitted, stderr, name, unit, meaning, step)


def _fractions(expr: Expr) -> Expr:
    """With thirds, sevenths and the like as fractions, whose digits have no end: x**(1/3), not x**0.333333333333."""

    def spelled(node: Expr) -> Expr:
        name = simple_name(node.value) if isinstance(node, Const) else None
        top, _, bottom = (name or "").partition("/")
        if not bottom.isdecimal() or not top.removeprefix("-").isdecimal() or 10**4 % int(bottom) == 0:
            return node
        return Call("div", (Const(float(top)), Const(float(bottom))))

    return rebuild(expr, spelled)
