"""What to be careful about, in sentences: few rows, noise, doubtful constants, what lies beyond the data.

Reads one formula of the table and, if there are any, the rows. Judges nothing that the numbers do not show.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .rows import Rows, Slice, predictions

FEW_ROWS = 20
LONG = 30  # symbols
NOISY = 0.9  # R² below which what is left is worth a word: noise of a few percent is what everybody has
LOOSE = 0.3  # of a constant that its standard error may be
GAP = 2.0  # how many times worse on rows kept back
EXACT = 1e-20  # share of the variance that is rounding
FAR = 3.0  # widths of the target's range: what a slice beyond the data should not leave


def cautions(model: Any, entry: Any, rows: Rows | None, slices: list[Slice]) -> list[str]:
    """The sentences, most important first; the fit's own `notes_` are not repeated."""
    n_rows = len(rows.y) if rows is not None else model.n_train_ + model.n_valid_
    said = any(note.startswith("only") for note in model.notes_)  # the fit has already counted the rows
    found = [
        *_fit(entry, FEW_ROWS if said else n_rows),
        *_constants(entry),
        *(_beyond(entry, rows, slices) if rows is not None else ()),
    ]
    if model.interrupted_:
        found.append("The search was stopped early; a longer one might find a better formula.")
    if rows is not None and rows.n_left_out:
        found.append(f"{rows.n_left_out} rows were left out because a value is missing.")
    return found


def _fit(entry: Any, n_rows: int) -> list[str]:
    found = []
    if n_rows < FEW_ROWS:
        found.append(f"Only {n_rows} rows: another formula may fit as well by chance; more rows would settle it.")
    if entry.complexity > LONG:
        found.append(
            f"A formula of {entry.complexity} symbols describes these rows rather than a law; "
            "compare it with the shorter ones in the table."
        )
    rest = 1.0 - entry.r2
    if not math.isfinite(entry.r2):
        found.append("The formula is undefined on some of the rows.")
    elif entry.r2 < NOISY:
        share = math.sqrt(max(rest, 0.0))
        part = f"{100.0 * share:.2g} %" if share < 0.995 else "All"
        found.append(
            f"{part} of the target's spread is unexplained. If your measurements are more precise than that, a column "
            "is missing; repeated measurements would show it."
        )
    if entry.r2_valid is not None and math.isfinite(entry.r2_valid) and math.isfinite(entry.r2):
        held = 1.0 - entry.r2_valid
        if held > max(GAP**2 * rest, EXACT) and held > 1e-9:
            times = math.sqrt(held / max(rest, 1e-30))
            found.append(
                f"The error on the rows kept back is {times:.2g} times as large: the formula may be fitting noise."
            )
    return found


def _constants(entry: Any) -> list[str]:
    loose = [
        constant
        for constant in entry.formula.constants
        if None not in (constant.stderr, constant.fitted) and constant.stderr > LOOSE * abs(constant.fitted)
    ]
    if not loose or not entry.formula.columns:
        return []  # a mean near zero needs no other formula
    shown = ", ".join(f"{constant.value:.4g}" for constant in loose[:4])
    many = len(loose) > 1
    hint = "try a shorter formula, or measure over a wider range"
    return [f"The data hardly determine the constant{'s' if many else ''} {shown}: {hint}."]


def _beyond(entry: Any, rows: Rows, slices: list[Slice]) -> list[str]:
    """Outside the data: where the formula is undefined or runs away."""
    found = []
    names, width = entry.formula.names, float(np.ptp(rows.y)) or 1.0
    for piece in slices:
        outside = (piece.x < piece.low) | (piece.x > piece.high)
        values = piece.value[outside]
        if not np.isfinite(values).all():
            at = piece.x[outside][~np.isfinite(values)]
            if piece.low >= 0.0 and at.max() < 0.0:
                continue  # a length has no square root below zero, but there is no such length either
            side = "below" if at.max() < piece.low else "above" if at.min() > piece.high else "beside"
            found.append(f"The formula is undefined for some values of {names[piece.column]} {side} the data.")
        elif (values > rows.y.max() + FAR * width).any() or (values < rows.y.min() - FAR * width).any():
            found.append(f"Just outside the data the formula grows steeply with {names[piece.column]}.")
    inside = predictions(entry.formula, rows.X)
    if not np.isfinite(inside).all():
        found.append(f"{int((~np.isfinite(inside)).sum())} of {len(inside)} rows have no predicted value.")
    return found
