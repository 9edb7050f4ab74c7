"""`show`, `predict` and `export`: what can be done with a finished fit, without its data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ..errors import CheckpointError, DataError
from ..formula import Formula
from ..formula.formula import LANGUAGES
from ..regressor import UniSymNetRegressor
from ..regressor.saved import _finite, model_dict
from ..regressor.table import chosen_text
from .heads import without_units
from .screen import print_result
from .tables import read_frame


def load_run(run: str) -> UniSymNetRegressor:
    """The model of a folder that `fit` wrote, or of the file itself."""
    path = Path(run)
    path = path / "model.json" if path.is_dir() else path
    if not path.is_file():
        raise CheckpointError(f"there is no finished fit in {run!r}; `unisymnet fit DATA --out {run}` makes one")
    return UniSymNetRegressor.load(path)


def picked_formula(model: UniSymNetRegressor, pick: int | None) -> Formula:
    try:
        return model.formula_ if pick is None else model[pick]
    except IndexError as error:
        raise DataError(str(error)) from error


def show_run(run: str, pick: int | None, as_json: bool) -> None:
    model = load_run(run)
    formula = picked_formula(model, pick)
    if as_json:
        shown = _finite(model_dict(model)) if pick is None else formula.to_dict()
        print(json.dumps(shown, ensure_ascii=False, indent=2))
    elif pick is None:
        print_result(model)
    else:
        print(chosen_text(model.front_[pick]))


def with_predictions(formula: Formula, frame: Any) -> tuple[Any, Any]:
    """The table with one more column, and the values in it."""
    known = any(name not in frame.columns for name in formula.columns)
    try:
        values = formula.predict(without_units(frame).frame if known else frame)
    except (TypeError, ValueError) as error:
        raise DataError(str(error)) from error
    return frame.assign(**{f"{formula.target}_predicted": values}), values


def predict_rows(run: str, data: str, pick: int | None, out: str | None, delimiter: str | None) -> None:
    formula = picked_formula(load_run(run), pick)
    frame, _ = read_frame(data, delimiter)
    result, values = with_predictions(formula, frame)
    try:
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
    print(picked_formula(load_run(run), pick).to(to).rstrip("\n"))
