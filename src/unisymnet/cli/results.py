"""`show`, `predict` and `export`: what can be done with a finished fit, without its data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from shlex import quote
from typing import Any

from ..errors import CheckpointError, DataError
from ..files.heads import without_units
from ..files.read import read_frame
from ..formula import Formula, stored
from ..formula.formula import LANGUAGES
from ..knowledge.units.spelling import read_head
from ..regressor import UniSymNetRegressor
from ..regressor.saved import model_dict
from ..regressor.table import chosen_text
from ..symbolic.expr import variables
from ..symbolic.text import printable_lines
from ..tables.encoding import Encoding
from .folder import remembered_columns
from .screen import print_result


def load_run(run: str) -> UniSymNetRegressor:
    """The model of a folder that `fit` wrote, or of the file itself."""
    path = Path(run)
    path = path / "model.json" if path.is_dir() else path
    if not path.is_file():
        made = f"`unisymnet fit DATA --out {quote(run)}` makes one"
        raise CheckpointError(f"there is no finished fit in {run!r}; {made}")
    return UniSymNetRegressor.load(path)


def picked_formula(model: UniSymNetRegressor, pick: int | None) -> Formula:
    """Rows of the table are counted from 0; there is none below."""
    if pick is not None and not 0 <= pick < len(model.front_):
        raise DataError(f"there is no formula {pick}; the table has 0 to {len(model.front_) - 1}")
    return model.formula_ if pick is None else model[pick]


def show_run(run: str, pick: int | None, as_json: bool) -> None:
    model = load_run(run)
    formula = picked_formula(model, pick)
    if as_json:
        shown = stored.finite(model_dict(model)) if pick is None else formula.to_dict()
        print(json.dumps(shown, ensure_ascii=False, indent=2))
    elif pick is None:
        print_result(model)
    else:
        print(chosen_text(model.front_[pick]))


def with_predictions(
    formula: Formula, frame: Any, encoding: Encoding | None = None, interval: float | None = None
) -> tuple[Any, Any]:
    """The table with one more column, or three with an interval, and the values in it."""
    known = any(name not in frame.columns for name in formula.columns)
    rows = without_units(frame).frame if known else frame
    try:
        rows = rows if encoding is None else encoding.apply(rows)
        values = formula.predict(rows)
        ends = () if interval is None else formula.predict_interval(rows, interval)
    except (TypeError, ValueError) as error:
        raise DataError(str(error)) from error
    added = {f"{formula.target}_predicted": values}
    added |= {f"{formula.target}_{name}": column for name, column in zip(("lower", "upper"), ends, strict=False)}
    return frame.assign(**added), values


def predict_rows(
    run: str, data: str, pick: int | None, out: str | None, delimiter: str | None, interval: float | None = None
) -> None:
    model = load_run(run)
    formula = picked_formula(model, pick)
    frame, _ = read_frame(data, delimiter)
    result, values = with_predictions(formula, frame, model.encoding_, interval)
    try:
        if out is None and sys.stdout.isatty():  # a cell of the file must not steer the terminal
            print(printable_lines(result.to_csv(index=False)), end="")
        else:
            result.to_csv(sys.stdout if out is None else out, index=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"cannot write to {out!r}: {error}") from error
    if out is not None:
        print(f"{len(values)} rows written to {out}, with the column {formula.target}_predicted")
    missing = int((~(abs(values) < float("inf"))).sum())
    if missing:
        holds = " and ".join(formula.domain) or "its inputs are given"
        print(f"note: {missing} of {len(values)} rows have no value; the formula holds where {holds}", file=sys.stderr)


def export_formula(run: str, to: str, pick: int | None) -> None:
    import typer

    if to not in LANGUAGES:
        raise typer.BadParameter(f"cannot write {to!r}; choose one of {', '.join(LANGUAGES)}")
    formula = picked_formula(load_run(run), pick)
    cells = _sheet(run, formula) if to == "excel" else None
    print(formula.to(to, cells).rstrip("\n"))


def _sheet(run: str, formula: Formula) -> list[str] | None:
    """The columns of the file of the fit, which is where the cells stand; what stands where is said on stderr."""
    from ..symbolic.writers.source import cell_places

    every = remembered_columns(run)
    cells = None if every is None else [name if name in formula.names else read_head(name)[0] for name in every]
    if cells is None or any(name not in cells for name in formula.columns):
        cells = list(formula.names)
        print("note: the columns of the sheet are not known; those of the fit are assumed", file=sys.stderr)
    places = cell_places(variables(formula.expr), formula.names, cells)
    shown = ", ".join(f"{place} is {formula.names[i]}" for i, place in places.items())
    print(f"note: for row 2, where {shown}" if shown else "note: no cell is used", file=sys.stderr)
    return cells
