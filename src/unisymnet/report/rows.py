"""The rows a report is drawn from, checked, and slices of a formula through them.

A slice moves one or two columns and holds the others at their medians. Knows neither SVG nor matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..errors import DataError
from ..formula import Formula
from ..formula.constants import free
from ..formula.derivative import value_and_jacobian
from ..symbolic.expr import evaluate, variables

MARGIN = 0.35  # how far a slice goes beyond the data, in widths of the data
N_POINTS = 161
MAX_FEW_ROWS = 5000
NORMAL_95 = 1.96
MAX_REMEMBERED, MAX_CELLS = 1000, 200_000


@dataclass(frozen=True)
class Rows:
    """Finite rows: columns in the order of the formula's names, the target, and the group of each row."""

    X: Floats
    y: Floats
    n_left_out: int = 0
    labels: tuple[str, ...] | None = None

    def of(self, formula: Formula) -> Rows:
        """As a formula sees them: its constants for each row's group stand behind the columns."""
        if formula.groups is None or self.labels is None:
            return self
        return Rows(formula.groups.filled(self.X, self.labels, self.X.shape[1]), self.y, self.n_left_out)

    @cached_property
    def centre(self) -> Floats:
        return np.median(self.X, axis=0)

    @cached_property
    def low(self) -> Floats:
        return self.X.min(axis=0)

    @cached_property
    def high(self) -> Floats:
        return self.X.max(axis=0)

    @cached_property
    def few(self) -> Rows:
        """Some of the rows, evenly spaced, for what is only drawn or estimated."""
        chosen = thin(len(self.y), MAX_FEW_ROWS)
        return Rows(self.X[chosen], self.y[chosen])


@dataclass(frozen=True)
class Slice:
    """A formula along one column: `x`, `value`, the ends of the band, and the range of the data.

    `near` says for every row of `Rows.few` how close it lies to the slice, from 1 (on it) to 0.
    """

    column: int
    x: Floats
    value: Floats
    below: Floats
    above: Floats
    low: float
    high: float
    near: Floats


@dataclass(frozen=True)
class Field:
    """A formula over two columns: `value[i, j]` at y-coordinate `v[i]` and x-coordinate `u[j]`."""

    columns: tuple[int, int]
    u: Floats
    v: Floats
    value: Floats


def rows_to_draw(model: Any, X: Any, y: Any) -> Rows | None:
    """The caller's rows, or those that a model fitted in this process remembers, or None."""
    if not hasattr(model, "front_"):
        raise DataError(f"a picture needs a fitted model, got {type(model).__name__}; call fit first")
    if X is None and y is None:
        X, y = getattr(model, "_drawn", None) or (None, None)
    formula = model.formula_
    return read_rows(formula.inputs, X, y, None if formula.groups is None else formula.groups.column)


def rows_to_remember(X: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Few enough rows to keep beside a model, copied."""
    chosen = thin(len(y), min(MAX_REMEMBERED, max(50, MAX_CELLS // max(X.shape[1], 1))))
    return X[chosen], y[chosen]


def read_rows(names: Sequence[str], X: Any, y: Any, groups: str | None = None) -> Rows | None:
    """Check what the caller gave; None if nothing was given. Rows with missing values are left out."""
    if X is None and y is None:
        return None
    if X is None or y is None:
        raise DataError("a report on data needs both X and y; give both or neither")
    columns = getattr(X, "columns", None)
    try:
        if columns is not None:
            known = {str(name): name for name in columns}
            missing = [name for name in (*names, *([groups] if groups else [])) if name not in known]
            if missing:
                raise DataError(f"the model was fitted with the column {missing[0]!r}; X has {', '.join(known)}")
            table = np.column_stack([np.asarray(X[known[name]], dtype=np.float64) for name in names])
        else:
            table = np.asarray(X, dtype=np.float64)
        truth = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"X and y must be numbers: {error}") from error
    if table.ndim != 2 or table.shape[1] != len(names):
        raise DataError(f"X must have the {len(names)} columns of the fit, got the shape {table.shape}")
    if truth.shape != (len(table),):
        raise DataError(f"y must have one value per row, got shape {truth.shape} for {len(table)} rows")
    good = np.isfinite(table).all(axis=1) & np.isfinite(truth)
    if not good.any():
        raise DataError("X and y have no row in which every value is given")
    labels = None
    if groups is not None:
        if columns is None:
            raise DataError(f"the formula has constants for each {groups!r}; give a table with that column")
        labels = tuple(str(label) for label, keep in zip(X[known[groups]], good, strict=True) if keep)
    return Rows(table[good], truth[good], int((~good).sum()), labels)


def thin(n_rows: int, most: int) -> NDArray[np.intp]:
    """Indices of at most so many rows, evenly spaced."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.intp))


def predictions(formula: Formula, X: Floats) -> Floats:
    with np.errstate(all="ignore"):
        return evaluate(formula.expr, X)


def influence(formula: Formula, rows: Rows) -> list[int]:
    """The columns of the formula, those first along which it changes most."""
    moved = {}
    for column in variables(formula.expr):
        points = np.tile(rows.centre, (41, 1))
        points[:, column] = np.linspace(rows.low[column], rows.high[column], 41)
        values = predictions(formula, points)
        values = values[np.isfinite(values)]
        moved[column] = float(np.ptp(values)) if len(values) else 0.0
    return sorted(moved, key=lambda column: (-moved[column], column))


def slice_of(formula: Formula, rows: Rows, column: int, margin: float = MARGIN) -> Slice:
    """The formula along one column, the others at their medians, beyond the data on both sides."""
    low, high = float(rows.low[column]), float(rows.high[column])
    reach = margin * ((high - low) or abs(high) or 1.0)
    points = np.tile(rows.centre, (N_POINTS, 1))
    points[:, column] = np.linspace(low - reach, high + reach, N_POINTS)
    others = [c for c in variables(formula.expr) if c != column]
    value = predictions(formula, points)
    below, above = _band(formula, rows, points, value)
    return Slice(column, points[:, column], value, below, above, low, high, _near(rows, others))


def field_of(formula: Formula, rows: Rows, columns: tuple[int, int], n: int = 48) -> Field:
    """The formula over the range of two columns, the others at their medians."""
    u, v = (np.linspace(rows.low[c], rows.high[c], n) for c in columns)
    points = np.tile(rows.centre, (n * n, 1))
    points[:, columns[0]] = np.tile(u, n)
    points[:, columns[1]] = np.repeat(v, n)
    return Field(columns, u, v, predictions(formula, points).reshape(n, n))


def _near(rows: Rows, others: Sequence[int]) -> Floats:
    """1 for rows on the slice, falling with the distance of the other columns from where they are held."""
    if not others:
        return np.ones(len(rows.few.y))
    values = rows.few.X[:, others]
    unit = np.maximum(np.max(np.abs(values), axis=0), 1e-300)  # squares of 1e200 are beyond all numbers
    away = values / unit - rows.centre[others] / unit
    spread = np.std(values / unit, axis=0)
    distance = np.mean((away / np.where(spread > 0.0, spread, 1.0)) ** 2, axis=1)
    return np.exp(-2.0 * distance)


def _band(formula: Formula, rows: Rows, points: Floats, value: Floats) -> tuple[Floats, Floats]:
    """The band in which 95 of 100 new rows fall: scatter of the data and doubt of the constants."""
    if formula.band is not None:
        with np.errstate(all="ignore"):
            below, above = formula.band.limits(formula.expr, points, 0.95)
        return np.nan_to_num(below, neginf=-1e300), np.nan_to_num(above, posinf=1e300)
    half = _half_width(formula, rows, points)
    return value - half, value + half


def _half_width(formula: Formula, rows: Rows, points: Floats) -> Floats:
    form, values = free(formula.expr)
    few = rows.few
    found, jacobian = value_and_jacobian(form, few.X, values)
    spare = len(few.y) - len(values)
    if spare <= 0 or not np.isfinite(found).all():
        return np.zeros(len(points))
    variance = float(np.sum((found - few.y) ** 2)) / spare
    doubt = np.zeros(len(points))
    if values and np.isfinite(jacobian).all():
        with np.errstate(all="ignore"):
            size = np.linalg.norm(jacobian, axis=0)
            unit = np.where(size > 0.0, size, 1.0)
            covariance = np.linalg.pinv((jacobian / unit).T @ (jacobian / unit), rcond=1e-10, hermitian=True)
            _, slopes = value_and_jacobian(form, points, values)
            slopes = np.where(np.isfinite(slopes), slopes, 0.0) / unit
            doubt = np.nan_to_num(np.einsum("ij,jk,ik->i", slopes, covariance, slopes), posinf=1e300)
    return NORMAL_95 * np.sqrt(variance * (1.0 + np.maximum(doubt, 0.0)))
