"""`plot`: the front, prediction, residuals and the strongest response as one matplotlib figure.

matplotlib is an extra, loaded here and only when a figure is asked for. Opens no window: the figure is returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..formula import Formula
from .charts import error_share
from .rows import Rows, influence, predictions, rows_to_draw, slice_of, thin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_DOTS = 5000
_DATA, _LINE = "#1f5fbf", "#b5371f"


def plot(model: Any, X: Any = None, y: Any = None, index: int | None = None) -> Figure:
    """A figure about a fitted model: front, prediction, residuals, strongest response; behind `model.plot`.

    Without `X` and `y` it shows the rows that a model fitted in this process remembers, and of a loaded model the
    front only.

    `index` is a formula of the table, the picked one if None. The figure belongs to no window and no pyplot state:
    a notebook shows it, `figure.savefig("fit.pdf")` writes it.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'unisymnet[plot]'") from error
    rows = rows_to_draw(model, X, y)
    formula = model.formula_ if index is None else model[index]
    chosen = model.picked_ if index is None else range(len(model.front_))[index]
    if rows is None:
        figure = Figure(figsize=(6.0, 4.2), layout="constrained")
        _front(figure.subplots(), model, chosen)
        return figure
    rows = rows.of(formula)
    figure = Figure(figsize=(10.0, 7.6), layout="constrained")
    places = figure.subplots(2, 2)
    _front(places[0, 0], model, chosen)
    _prediction(places[0, 1], formula, rows)
    _residuals(places[1, 0], formula, rows)
    _response(places[1, 1], formula, rows)
    text = formula.text(4)
    text = text if len(text) <= 90 else text[:89] + "…"
    figure.suptitle(f"{formula.target} = {text}", parse_math=False)
    return figure


def _front(place: Any, model: Any, chosen: int) -> None:
    sizes = [entry.complexity for entry in model.front_]
    place.plot(sizes, [error_share(entry.r2) for entry in model.front_], "o-", color=_DATA, label="all rows")
    held = [(entry.complexity, error_share(entry.r2_valid)) for entry in model.front_ if entry.r2_valid is not None]
    if held:
        place.plot(*zip(*held), "x", color="#777777", label="rows kept back")
    picked = model.front_[chosen]
    place.plot(
        picked.complexity, error_share(picked.r2), "o", ms=12, mfc="none", mec=_LINE, mew=2, label="this formula"
    )
    place.set_yscale("log")
    place.set(xlabel="size of the formula", ylabel="error, sqrt(1 − R²)", title="Front")
    place.legend()


def _prediction(place: Any, formula: Formula, rows: Rows) -> None:
    chosen = thin(len(rows.y), MAX_DOTS)
    place.plot(rows.y[chosen], predictions(formula, rows.X[chosen]), ".", color=_DATA, alpha=0.6)
    ends = [rows.y.min(), rows.y.max()]
    place.plot(ends, ends, "--", color="#777777", lw=1)
    place.set_xlabel(f"true {formula.target}", parse_math=False)
    place.set_ylabel(f"predicted {formula.target}", parse_math=False)
    place.set_title("Predicted against true")


def _residuals(place: Any, formula: Formula, rows: Rows) -> None:
    chosen = thin(len(rows.y), MAX_DOTS)
    found = predictions(formula, rows.X[chosen])
    place.plot(found, rows.y[chosen] - found, ".", color=_DATA, alpha=0.6)
    place.axhline(0.0, ls="--", color="#777777", lw=1)
    place.set_xlabel(f"predicted {formula.target}", parse_math=False)
    place.set(ylabel="true − predicted", title="Residuals")


def _response(place: Any, formula: Formula, rows: Rows) -> None:
    """Along the column that matters most; outside the data the ground is grey."""
    columns = influence(formula, rows)
    if not columns:
        place.text(0.5, 0.5, "the formula is a constant", ha="center", transform=place.transAxes)
        place.set_axis_off()
        return
    piece = slice_of(formula, rows, columns[0])
    shades = np.clip(piece.near, 0.08, 0.8)
    place.scatter(rows.few.X[:, piece.column], rows.few.y, s=10, color=_DATA, alpha=shades, lw=0)
    place.plot(piece.x, piece.value, color=_LINE)
    place.fill_between(piece.x, piece.below, piece.above, color=_LINE, alpha=0.15, lw=0)
    for start, end in ((piece.x[0], piece.low), (piece.high, piece.x[-1])):
        place.axvspan(start, end, color="#888888", alpha=0.15, lw=0)
    width = float(np.ptp(rows.y)) or 1.0
    inside = piece.value[(piece.x >= piece.low) & (piece.x <= piece.high) & np.isfinite(piece.value)]
    both = np.clip(np.concatenate([rows.y, inside]), rows.y.min() - width, rows.y.max() + width)
    place.set_ylim(both.min() - 0.25 * width, both.max() + 0.25 * width)
    place.set_xlim(piece.x[0], piece.x[-1])
    name = formula.names[piece.column]
    place.set_xlabel(name, parse_math=False)
    place.set_ylabel(formula.target, parse_math=False)
    place.set_title("Response (grey: outside the data)")
