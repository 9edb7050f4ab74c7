"""Which columns a search sees: constant and repeated ones go, and of many only those the target depends on.

Dependence is measured by tables/screen.py. What is left out is always said. Does not know formulas.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, evenly
from ..deadline import Deadline
from .screen import screen_columns

LOOKED_AT = 64  # rows


@dataclass(frozen=True)
class Columns:
    """Indices of the columns to search on, and a sentence for every kind of column left out."""

    kept: tuple[int, ...]
    notes: tuple[str, ...] = ()


def choose_columns(
    X: Floats,
    y: Floats,
    weights: Floats,
    names: Sequence[str],
    *,
    max_columns: int,
    wanted: Collection[int] = (),
    seed: int = 0,
    deadline: Deadline | None = None,
    places: NDArray[np.intp] | None = None,
) -> Columns:
    """At most `max_columns` columns, those in `wanted` (a guess of the user needs them) always among them.

    `places` are the rows of X that y belongs to; None: all of them.
    """
    notes: list[str] = []
    alike: dict[bytes, list[int]] = {}  # columns that agree in a few rows; only these are compared in all
    rows = slice(None) if places is None else places
    some = evenly(len(y), LOOKED_AT)
    few = X[some if places is None else places[some]]
    constant: list[int] = []
    repeated: list[tuple[int, int]] = []
    kept: list[int] = []
    for index in range(X.shape[1]):
        mine = few[:, index]
        if index not in wanted and (mine == mine[0]).all() and (X[rows, index] == mine[0]).all():
            constant.append(index)
            continue
        others = alike.setdefault((mine + 0.0).tobytes(), [])  # + 0.0: minus zero is zero
        same = next((other for other in others if np.array_equal(X[rows, index], X[rows, other])), None)
        if same is not None and index not in wanted:
            repeated.append((index, same))
        else:
            others.append(index)
            kept.append(index)
    if constant and len(y) > 1:
        notes.append(f"constant columns not used: {_listed(names, constant)}")
    if repeated:
        pairs = ", ".join(f"{names[i]} (the same as {names[j]})" for i, j in repeated)
        notes.append(f"repeated columns not used: {pairs}")
    if len(kept) > max_columns:
        screened = screen_columns(
            X,
            y,
            weights,
            most=max_columns,
            rng=np.random.default_rng(seed),
            deadline=deadline or Deadline.never(),
            places=places,
            columns=kept,
        )
        chosen = [kept[i] for i in screened.columns]
        relevant = sorted({*chosen, *(i for i in kept if i in wanted)})
        dropped = [i for i in kept if i not in relevant]
        many = f"the search uses {len(relevant)} of {len(kept)} columns: {_listed(names, relevant)}"
        notes.append(f"{many}; not used, because y hardly depends on them: {_listed(names, dropped)}")
        if not screened.complete:
            notes.append("there was no time to look at every combination of columns; a longer max_time may keep others")
        kept = relevant
    return Columns(tuple(kept) or (0,), tuple(notes))


def _listed(names: Sequence[str], indices: Sequence[int], most: int = 12) -> str:
    shown = ", ".join(names[i] for i in indices[:most])
    return shown if len(indices) <= most else f"{shown} and {len(indices) - most} more"
