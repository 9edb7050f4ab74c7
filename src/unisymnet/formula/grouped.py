"""Constants that differ from group to group: which they are, their values with errors, and new groups.

A formula with such constants names them like columns (c1, c2); the table here gives their values for every group.  Does
not know the search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..arrays import Floats
from ..errors import DataError
from ..symbolic.expr import Const, Expr, Param, Var, bind, evaluate, rebuild
from .constants import fitted_constants, with_error
from .stored import finite

MAX_SHOWN = 12
MAX_STARTS = 8


@dataclass(frozen=True)
class GroupTable:
    """Values (one row a group) of the constants `names`, and their standard errors; `column` holds the groups."""

    column: str
    names: tuple[str, ...]
    labels: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    errors: tuple[tuple[float | None, ...], ...]

    def of(self, label: Any) -> tuple[float, ...]:
        if str(label) not in self.labels:
            shown = ", ".join(self.labels[:MAX_SHOWN])
            raise DataError(
                f"the group {str(label)!r} was not in the data of the fit, which has {shown}; "
                "formula.refit(X, y) fits the constants of new groups"
            )
        return self.values[self.labels.index(str(label))]

    def filled(self, table: Floats, labels: Sequence[Any], n_columns: int) -> Floats:
        """The table with the constants of each row's group behind its columns."""
        known = {label: self.of(label) for label in dict.fromkeys(map(str, labels))}
        constants = np.array([known[str(label)] for label in labels], dtype=np.float64)
        return np.hstack([table[:, :n_columns], constants.reshape(len(table), len(self.names))])

    def __str__(self) -> str:
        """One line a group: constants with ±."""
        lines = []
        for label, values, errors in zip(self.labels[:MAX_SHOWN], self.values, self.errors, strict=False):
            cells = [
                f"{name} = {with_error(value, error) if error is not None else f'{value:.6g}'}"
                for name, value, error in zip(self.names, values, errors, strict=True)
            ]
            lines.append(f"{self.column} {label}: {',  '.join(cells)}")
        more = len(self.labels) - MAX_SHOWN
        return "\n".join([*lines, *([f"and {more} more groups"] if more > 0 else [])])

    def to_dict(self) -> dict[str, Any]:
        return finite(asdict(self))

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> GroupTable:
        widths = {len(row) for row in (*data["values"], *data["errors"])}
        if widths != {len(data["names"])} or not len(data["values"]) == len(data["errors"]) == len(data["labels"]):
            raise ValueError("the table of groups does not fit together")
        return GroupTable(
            str(data["column"]),
            tuple(map(str, data["names"])),
            tuple(map(str, data["labels"])),
            tuple(tuple(float(v) for v in row) for row in data["values"]),
            tuple(tuple(None if v is None else float(v) for v in row) for row in data["errors"]),
        )

    def refitted(
        self, expr: Expr, table: Floats, y: Floats, labels: Sequence[Any], weights: Floats | None = None
    ) -> GroupTable:
        """A table for the groups of these rows, shared constants as they are; known groups give the starts."""
        n_columns = table.shape[1]
        form = rebuild(expr, lambda n: Param(n.index - n_columns) if isinstance(n, Var) and n.index >= n_columns else n)
        every = [str(label) for label in labels]
        found = {label: self._fitted(form, table, y, weights, every, label) for label in dict.fromkeys(every)}
        rows = tuple(found.values())
        return GroupTable(
            self.column, self.names, tuple(found), tuple(values for values, _ in rows), tuple(e for _, e in rows)
        )

    def _fitted(
        self, form: Expr, table: Floats, y: Floats, weights: Floats | None, every: list[str], label: str
    ) -> tuple[tuple[float, ...], tuple[float | None, ...]]:
        mine = np.array([one == label for one in every])
        middle = tuple(float(v) for v in np.median(np.array(self.values), axis=0))
        starts = [middle, *self.values[:MAX_STARTS]]
        own = None if weights is None else weights[mine]
        tries = [fitted_constants(form, start, table[mine], y[mine], own) for start in starts]

        def left(values: tuple[float, ...]) -> float:
            rest = evaluate(bind(form, values), table[mine]) - y[mine]
            return float(np.sum(rest**2)) if np.isfinite(rest).all() else float("inf")

        return min(tries, key=lambda pair: left(pair[0]))


def of_group(expr: Expr, values: Sequence[float], n_columns: int) -> Expr:
    """The formula of one group: its constants as numbers."""
    return rebuild(
        expr, lambda n: Const(values[n.index - n_columns]) if isinstance(n, Var) and n.index >= n_columns else n
    )
