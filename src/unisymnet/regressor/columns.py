"""Which columns a search sees: constant and repeated ones go, and of many only those the target depends on.

Dependence is measured twice. A forest of randomised trees beside shuffled copies of the columns sees any kind of it,
if it is strong: a column that helps no more than a shuffled one is noise. Polynomials see weak but smooth dependence. A
column goes if neither needs it. What is left out is always said. Does not know formulas.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..problem import make_problem
from ..propose.smaller.relevant import relevant_inputs

Floats = NDArray[np.float64]

MAX_SCREENED_ROWS = 2000
N_TREES = 60
ROWS_A_COLUMN = 8  # that polynomials need
CHANCE = 1e-3  # with which a column of noise is kept


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
) -> Columns:
    """At most `max_columns` columns, those in `wanted` (a guess of the user needs them) always among them."""
    notes: list[str] = []
    first: dict[bytes, int] = {}
    constant: list[int] = []
    repeated: list[tuple[int, int]] = []
    kept: list[int] = []
    for index, column in enumerate(X.T):
        if index not in wanted and (column == column[0]).all():
            constant.append(index)
            continue
        same = first.setdefault(np.ascontiguousarray(column).tobytes(), index)
        if same != index and index not in wanted:
            repeated.append((index, same))
        else:
            kept.append(index)
    if constant and len(X) > 1:
        notes.append(f"constant columns not used: {_listed(names, constant)}")
    if repeated:
        pairs = ", ".join(f"{names[i]} (the same as {names[j]})" for i, j in repeated)
        notes.append(f"repeated columns not used: {pairs}")
    if len(kept) > max_columns:
        chosen = _screen(X[:, kept], y, weights, max_columns, seed)
        relevant = sorted({kept[i] for i in chosen} | {i for i in kept if i in wanted})
        dropped = [i for i in kept if i not in relevant]
        notes.append(f"columns that y hardly depends on, not used: {_listed(names, dropped)}")
        kept = relevant
    return Columns(tuple(kept) or (0,), tuple(notes))


def _screen(X: Floats, y: Floats, weights: Floats, max_columns: int, seed: int) -> list[int]:
    """The columns that matter more than shuffled ones, best first, at most `max_columns` and at least one."""
    from sklearn.ensemble import ExtraTreesRegressor

    rng = np.random.default_rng(seed)
    if len(y) > MAX_SCREENED_ROWS:
        rows = rng.choice(len(y), MAX_SCREENED_ROWS, replace=False)
        X, y, weights = X[rows], y[rows], weights[rows]
    shuffled = rng.permuted(X, axis=0)
    # Trees only compare, so ranks carry all they use and no magnitude can overflow them.
    ranks = np.argsort(np.argsort(np.hstack([X, shuffled]), axis=0), axis=0).astype(np.float32)
    unit = float(np.max(np.abs(y))) or 1.0
    leaf = 1 if len(y) < 100 else 3
    forest = ExtraTreesRegressor(N_TREES, max_features=0.5, min_samples_leaf=leaf, random_state=seed)
    forest.fit(ranks, y / unit, sample_weight=weights)
    importance, noise = np.split(forest.feature_importances_, 2)
    order = np.argsort(-importance, kind="stable")
    some = [int(i) for i in order[: max(max_columns, len(y) // ROWS_A_COLUMN)]]
    with np.errstate(all="ignore"):
        smooth = relevant_inputs(make_problem(X[:, some], y, weights=weights), chance=CHANCE)
    needed = {some[i] for i in smooth} | {int(i) for i in order if importance[i] > noise.max()}
    return [int(i) for i in order if i in needed][:max_columns]


def _listed(names: Sequence[str], indices: Sequence[int], most: int = 12) -> str:
    shown = ", ".join(names[i] for i in indices[:most])
    return shown if len(indices) <= most else f"{shown} and {len(indices) - most} more"
