"""Columns called "v [m/s]" or "mass (kg)": the name, the unit, and a table with the names alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..knowledge.units.spelling import read_head

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Heads:
    """A table whose columns have names without units, the units by these names, and which names were changed."""

    frame: pd.DataFrame
    units: dict[str, str]
    renamed: dict[str, str]

    def short(self, name: str | None) -> str | None:
        """A column as the user may call it, with its unit or without."""
        return name if name is None else self.renamed.get(name, name)


def without_units(frame: pd.DataFrame, row: Sequence[str] = ()) -> Heads:
    """Names and units of the columns apart; a name that would then stand twice stays as it is.

    `row` are units that stand in a row below the names.
    """
    names = [str(name) for name in frame.columns]
    read = {name: read_head(name) for name in names}
    taken = Counter(short for short, _ in read.values())
    known = {name: (short, unit) for name, (short, unit) in read.items() if unit is not None and taken[short] == 1}
    renamed = {name: short for name, (short, _) in known.items()}
    units = {short: str(unit) for short, unit in known.values()}
    if len(row) == len(names):
        spelled = {renamed.get(name, name): read_head(f"x [{unit}]")[1] for name, unit in zip(names, row)}
        units = {name: unit for name, unit in spelled.items() if unit is not None} | units
    return Heads(frame.rename(columns=renamed) if renamed else frame, units, renamed)
