"""Columns called "v [m/s]" or "mass (kg)": the name, the unit, and a table with the names alone; and `a=b` options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import DataError
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


def without_units(frame: pd.DataFrame) -> Heads:
    """Names and units of the columns apart; a name that would then stand twice stays as it is."""
    names = [str(name) for name in frame.columns]
    read = {name: read_head(name) for name in names}
    taken = Counter(short for short, _ in read.values())
    known = {name: (short, unit) for name, (short, unit) in read.items() if unit is not None and taken[short] == 1}
    renamed = {name: short for name, (short, _) in known.items()}
    units = {short: str(unit) for short, unit in known.values()}
    return Heads(frame.rename(columns=renamed) if renamed else frame, units, renamed)


def pairs(given: Sequence[str] | None, option: str, example: str) -> dict[str, str] | None:
    """`--units "m=kg, v=m/s"`, or the option repeated, as a dict; "none" is none."""
    found: dict[str, str] = {}
    for text in given or ():
        if text.strip().lower() == "none":
            continue
        for part in text.split(","):
            name, equals, value = part.partition("=")
            if not equals or not name.strip():
                raise DataError(f"{option}: {part.strip()!r} should be NAME=VALUE, as in {example}")
            found[name.strip()] = value.strip()
    return found or None
