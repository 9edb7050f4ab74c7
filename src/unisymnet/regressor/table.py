"""The table that a fit ends with: its rows and their scores; as people read it in text, as a DataFrame, as a list.

Loads nothing of the search, so that a saved model does without.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..formula import Formula

MAX_FORMULA = 88
MAX_NAMES = 8
MAX_CONSTANTS = 6
DIGITS = 5


@dataclass(frozen=True)
class Entry:
    """One row of the table: a formula and how well it does."""

    formula: Formula
    complexity: int
    loss: float
    r2: float
    r2_valid: float | None
    score: float
    source: str
    remarks: tuple[tuple[str, str], ...] = ()  # head and cell of further columns: units, constraints
    nats: float | None = None  # length of formula, constants and data; None where loss and size decide (no noise)
    formula_nats: float | None = None  # the part of it that is formula and constants
    noise: str = ""  # the noise model under which the constants were fitted


def gain(before: float, after: float, step: int) -> float:
    """ln of what the loss falls by, for each node more; 0 where there is none more, or where that says nothing."""
    fall = math.log(max(before, 1e-300)) - math.log(max(after, 1e-300))
    return fall / step if step and math.isfinite(fall) else 0.0


def scored(entries: Sequence[Entry], losses: Sequence[float] | None = None) -> tuple[Entry, ...]:
    """The rows, each with what it gains over the one before, by these losses or its own."""
    values = [entry.loss for entry in entries] if losses is None else losses
    found = [replace(entry, score=0.0) for entry in entries[:1]]
    for (loss, before), (other, entry) in itertools.pairwise(zip(values, entries, strict=True)):
        found.append(replace(entry, score=gain(loss, other, entry.complexity - before.complexity)))
    return tuple(found)


def front_text(entries: Sequence[Entry], picked: int) -> str:
    """The table: pick, size, R² on validation and training rows, score, formula."""
    rows = table_cells(entries, picked)
    for row in rows[1:]:
        row[-1] = row[-1] if len(row[-1]) <= MAX_FORMULA else row[-1][: MAX_FORMULA - 1] + "…"
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]) - 1)]
    lines = ["  ".join([*(cell.rjust(w) for cell, w in zip(row, widths)), row[-1]]) for row in rows]
    return "\n".join(f"  {line}" for line in lines)


def table_cells(entries: Sequence[Entry], picked: int) -> list[list[str]]:
    """The cells of the table, heads first, the formula last and whole."""
    valid = any(entry.r2_valid is not None for entry in entries)
    heads = list(dict.fromkeys(head for entry in entries for head, _ in entry.remarks))
    rows = [["pick", "size", *(["R² valid"] if valid else []), "R² train", "score", *heads, "formula"]]
    for index, entry in enumerate(entries):
        rows.append(
            [
                f">>> {index}" if index == picked else str(index),
                str(entry.complexity),
                *([r2_text(entry.r2_valid)] if valid else []),
                r2_text(entry.r2),
                f"{entry.score:.2f}",
                *(dict(entry.remarks).get(head, "") for head in heads),
                entry.formula.text(DIGITS),
            ]
        )
    return rows


def chosen_text(entry: Entry) -> str:
    """The chosen formula, its constants with ±, where it holds, and the columns it does without."""
    formula = entry.formula
    lines = [f"{formula.target} = {formula.text(DIGITS + 1)}"]
    shown = [constant for constant in formula.constants if constant.stderr is not None]
    if shown:
        more = f",  and {len(shown) - MAX_CONSTANTS} more" if len(shown) > MAX_CONSTANTS else ""
        lines.append("  constants: " + ",  ".join(map(str, shown[:MAX_CONSTANTS])) + more)
    if formula.groups is not None:
        lines += [f"  {line}" for line in str(formula.groups).splitlines()]
    if formula.domain:
        lines.append("  holds where " + " and ".join(formula.domain))
    own = () if formula.groups is None else formula.groups.names
    spare = [name for name in formula.names if name not in (*formula.columns, *own)]
    if spare:
        more = f" and {len(spare) - MAX_NAMES} more" if len(spare) > MAX_NAMES else ""
        lines.append(f"  not used: {', '.join(spare[:MAX_NAMES])}{more}")
    return "\n".join(lines)


def beside_text(entry: Entry) -> str:
    """A formula that fits but contradicts what is known, and in which way."""
    why = ", ".join(f"{head}: {cell}" for head, cell in entry.remarks)
    formula = entry.formula
    return f"  fits, but is ruled out ({why}), R² {r2_text(entry.r2)}: {formula.target} = {formula.text(DIGITS)}"


def ending(stopped: str, proven: bool) -> str:
    """Why a search ended, and how much that says about its pick."""
    if stopped == "exact":
        return stopped
    found = "nothing shorter was left to try" if proven else "best found, not proven best"
    return f"{stopped}: {found}"


def r2_text(value: float | None) -> str:
    """Four places; near 1 the distance from 1, which is what matters there."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        return "undef."
    if value > 0.9999:
        distance = 1.0 - value
        return "1" if distance < 1e-15 else f"1-{distance:.0e}"
    return f"{value:.4f}" if value > -10.0 else f"{value:.1e}"


def frame_rows(entries: Sequence[Entry], picked: int) -> list[dict[str, Any]]:
    """One dict per formula: the columns of `equations_`."""
    return [
        {
            "complexity": entry.complexity,
            "loss": entry.loss,
            "r2": entry.r2,
            "r2_valid": math.nan if entry.r2_valid is None else entry.r2_valid,
            "score": entry.score,
            "equation": str(entry.formula),
            "source": entry.source,
            "domain": ", ".join(entry.formula.domain) or "all",
            **dict(entry.remarks),
            "picked": index == picked,
        }
        for index, entry in enumerate(entries)
    ]


def entry_at(front: Sequence[Entry], place: Any) -> Entry:
    """Row `place` of the table."""
    if not hasattr(place, "__index__"):
        raise TypeError(f"a formula is chosen by a whole number, counted from 0, got {place!r}")
    if not -len(front) <= place < len(front):
        raise IndexError(f"there is no formula {place}; the table has {len(front)}, counted from 0")
    return front[place]


class ListOfFormulas:
    """A fitted model as the list of its formulas: `len(model)`, `model[0]`, `model[-1]`, `for formula in model`."""

    front_: tuple[Entry, ...]
    picked_: int

    def __len__(self) -> int:
        """How many formulas the table has."""
        check_is_fitted(self)
        return len(self.front_)

    def __getitem__(self, index: int) -> Formula:
        """Formula `index` of the table."""
        return self._formula(index)

    def __iter__(self) -> Iterator[Formula]:
        """The formulas of the table, from simple to exact."""
        check_is_fitted(self)
        return iter([entry.formula for entry in self.front_])

    def __bool__(self) -> bool:
        """True, before the fit too: `if estimator:` asks whether there is one, not how long its table is."""
        return True

    def _formula(self, index: int | None) -> Formula:
        check_is_fitted(self)
        return entry_at(self.front_, self.picked_ if index is None else index).formula
