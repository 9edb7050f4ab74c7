"""Best subset regression: the few columns out of many whose sum explains y, found from below by a beam.

Forward selection with a beam and exchanges, on the triangle of a QR factorisation: columns that hardly differ (a
trajectory is a curve, so all its monomials are nearly collinear) are told apart down to rounding, which normal
equations could not do.  Elimination from the full basis fails there because the full basis is singular.  Thresholds
are not used: every size has its best subset, and the caller chooses by description length.  Knows only arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats

DEPENDENT = 1e-10  # share of a column's norm that the chosen ones must leave for it to be a new direction
FLOOR = 1e-28  # share of the sum of squares below which what is left is rounding


@dataclass(frozen=True)
class Subset:
    """Columns (ascending), what multiplies them, and the sum of squares that they leave."""

    columns: tuple[int, ...]
    coefficients: Floats
    loss: float

    @property
    def size(self) -> int:
        return len(self.columns)


def best_subsets(
    columns: Floats,
    y: Floats,
    *,
    max_size: int = 10,
    beam: int = 25,
    keep: int = 3,
    always: Sequence[int] = (),
    shrink: bool = False,
) -> list[Subset]:
    """The ``keep`` best subsets of every size up to ``max_size``, small ones first, the best of a size first.

    ``columns`` is (n, p); rows should already be weighted or whitened.  Columns ``always`` belong to every subset.
    With ``shrink``, good subsets less one column are tried, too: growing may pass a small one by.
    The search ends early when what is left is rounding, or when no independent column remains.

    >>> x = np.linspace(-1.0, 1.0, 30)
    >>> table = np.column_stack([np.ones(30), x, x**2, x**3])
    >>> best_subsets(table, 2.0 * x - 0.5 * x**3, max_size=2, keep=1)[-1].columns
    (1, 3)
    """
    table, target, scales = _triangle(columns, y)
    n_columns = table.shape[1]
    whole = float(target @ target)
    start = _State(frozenset(), np.column_stack([table, target])[None], whole)
    states = [start]
    for column in always:
        states = [state for old in states for state in _extended(old, [int(column)])]
    if not states:
        raise ValueError(f"the columns {list(always)} that must be used depend on each other")
    found: dict[int, dict[frozenset[int], float]] = {}
    for _ in range(len(states[0].chosen), min(max_size, n_columns)):
        states = _grown(states, beam)
        if not states:
            break
        ranked = {state.chosen: state.loss for state in states}
        states = _exchanged(states, start, set(always), ranked, beam)
        found[len(states[0].chosen)] = {state.chosen: state.loss for state in states}
        if states[0].loss <= FLOOR * whole:
            break
    if shrink:
        _shrunk(found, table, target, set(always), keep)
    subsets: list[Subset] = []
    for size in sorted(found):
        best = sorted(found[size], key=lambda chosen: (found[size][chosen], sorted(chosen)))[:keep]
        subsets += [_solved(table, target, scales, tuple(sorted(chosen))) for chosen in best]
    return subsets


def _shrunk(
    found: dict[int, dict[frozenset[int], float]], table: Floats, target: Floats, always: set[int], keep: int
) -> None:
    """The best subsets of every size, less one column, join those of the size below; from the largest down."""
    for size in sorted(found, reverse=True):
        below = found.get(size - 1)
        if below is None:
            return
        for chosen in sorted(found[size], key=lambda one: (found[size][one], sorted(one)))[:keep]:
            for fewer in (chosen - {column} for column in sorted(chosen - always)):
                if fewer not in below:
                    part = table[:, sorted(fewer)]
                    left = target - part @ np.linalg.lstsq(part, target, rcond=None)[0]
                    below[fewer] = float(left @ left)


def subset_codelength(loss: float, n_rows: float, size: int, n_columns: int, *, floor: float = 0.0) -> float:
    """Nats that say y by a subset: what is left (unknown variance, at least ``floor``), constants, which columns.

    ``n_rows`` is the number of independent rows: less than the length of y where errors are correlated.
    """
    left = max(loss, floor, 1e-300)
    which = math.lgamma(n_columns + 1) - math.lgamma(size + 1) - math.lgamma(n_columns - size + 1)
    return 0.5 * n_rows * math.log(left / n_rows) + 0.5 * size * math.log(max(n_rows, 2.0)) + which


def by_codelength(subsets: Sequence[Subset], n_rows: float, n_columns: int, *, floor: float = 0.0) -> list[Subset]:
    """The subsets, the shortest description first."""
    lengths = [subset_codelength(s.loss, n_rows, s.size, n_columns, floor=floor) for s in subsets]
    return [subsets[i] for i in np.argsort(lengths, kind="stable")]


@dataclass(frozen=True)
class _State:
    """A subset of the beam; ``rest`` (1, q, p + 1) holds all columns and y without what the chosen explain."""

    chosen: frozenset[int]
    rest: Floats
    loss: float


def _triangle(columns: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Columns of norm one and y, turned so that only as many rows are left as there are columns."""
    table = np.asarray(columns, dtype=np.float64)
    target = np.asarray(y, dtype=np.float64)
    if table.ndim != 2 or target.shape != (len(table),):
        raise ValueError(f"columns must be (n, p) and y (n,), got {table.shape} and {target.shape}")
    scales = np.linalg.norm(table, axis=0)
    scales = np.where((scales > 0.0) & np.isfinite(scales), scales, np.inf)
    table = np.where(np.isfinite(scales), table, 0.0) / scales
    if len(table) > table.shape[1] + 1:
        both = np.asarray(np.linalg.qr(np.column_stack([table, target]), mode="r"))
        table, target = both[:, :-1], both[:, -1]
    return table, target, scales


def _gains(rest: Floats) -> Floats:
    """By how much each column (…, p) would lower the loss; 0 for columns without a direction of their own."""
    body, target = rest[..., :-1], rest[..., -1]
    norms = np.einsum("bij,bij->bj", body, body)
    shared = np.einsum("bij,bi->bj", body, target)
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.where(norms > DEPENDENT**2, shared**2 / norms, 0.0)
    return np.asarray(gains)


def _extended(state: _State, columns: Sequence[int]) -> list[_State]:
    """The state with each of some columns added."""
    found = []
    rest = state.rest[0]
    for column in columns:
        direction = rest[:, column]
        norm = float(np.linalg.norm(direction))
        if norm <= DEPENDENT:
            continue
        direction = direction / norm
        left = rest - np.outer(direction, direction @ rest)
        left[:, column] = 0.0
        found.append(_State(state.chosen | {column}, left[None], float(left[:, -1] @ left[:, -1])))
    return found


def _grown(states: list[_State], beam: int) -> list[_State]:
    """The best ``beam`` different subsets with one column more."""
    gains = _gains(np.concatenate([state.rest for state in states]))
    losses = np.array([state.loss for state in states])[:, None] - gains
    losses[gains <= 0.0] = np.inf
    found: dict[frozenset[int], tuple[int, int]] = {}
    for place in np.argsort(losses, axis=None, kind="stable"):
        row, column = divmod(int(place), losses.shape[1])
        if not np.isfinite(losses[row, column]) or len(found) >= beam:
            break
        found.setdefault(states[row].chosen | {column}, (row, column))
    grown = [state for row, column in found.values() for state in _extended(states[row], [column])]
    return sorted(grown, key=lambda state: (state.loss, sorted(state.chosen)))


def _exchanged(
    states: list[_State], start: _State, fixed: set[int], seen: dict[frozenset[int], float], beam: int
) -> list[_State]:
    """The best subset improved by replacing one column, as long as that helps; then the beam again."""
    best = states[0]
    if len(best.chosen) - len(fixed) < 2:
        return states
    for _ in range(3):
        tried = []
        for out in sorted(best.chosen - fixed):
            smaller = _reached(start, best.chosen - {out})
            if smaller is None:
                continue
            gains = _gains(smaller.rest)[0]
            gains[list(best.chosen)] = 0.0
            column = int(np.argmax(gains))
            if gains[column] > 0.0 and smaller.chosen | {column} not in seen:
                tried += _extended(smaller, [column])
        if not tried:
            break
        seen.update({state.chosen: state.loss for state in tried})
        states = sorted([*states, *tried], key=lambda state: (state.loss, sorted(state.chosen)))[:beam]
        if states[0].chosen == best.chosen:
            break
        best = states[0]
    return states


def _reached(start: _State, chosen: frozenset[int]) -> _State | None:
    state = start
    for column in sorted(chosen):
        following = _extended(state, [column])
        if not following:
            return None
        state = following[0]
    return state


def _solved(table: Floats, target: Floats, scales: Floats, chosen: tuple[int, ...]) -> Subset:
    part = table[:, list(chosen)]
    factors, triangle = np.linalg.qr(part)
    coefficients = np.linalg.solve(triangle, factors.T @ target)
    left = target - part @ coefficients
    return Subset(chosen, coefficients / scales[list(chosen)], float(left @ left))
