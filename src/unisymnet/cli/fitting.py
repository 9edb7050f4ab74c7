"""`unisymnet fit`: read a table, fit, save the run, print the table, the formula and the Python that repeats it."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from ..errors import DataError, UniSymNetError
from ..files.table import LEAST_ROWS, Table, read_table
from ..formula import Formula
from ..regressor import UniSymNetRegressor
from ..regressor.own import OWN, add_formula
from ..regressor.table import frame_rows
from ..regressor.validation import NAMED_LOSSES, own_operators
from ..symbolic.parse import free_names
from ..tables.by_pieces import refit, score
from .folder import MODEL, prepare_folder, save_run
from .names import about_names
from .quiet import ours_alone
from .reporting import remember_data
from .screen import print_result

FOUND, INTERRUPTED = 0, 130
# What a request says about reading its table.
READING = (
    *("target", "features", "drop", "weights", "delimiter", "heads", "groups", "categories", "missing", "sigma"),
)


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    data: str
    target: str | None
    features: tuple[str, ...] | None
    drop: tuple[str, ...]
    weights: str | None
    delimiter: str | None
    guesses: tuple[str, ...]
    settings: dict[str, Any]
    heads: bool = True  # read units from heads such as "v [m/s]"
    groups: str | None = None
    categories: str | tuple[str, ...] | None = None
    missing: str | None = None
    sigma: str | None = None


def run_fit(request: Request, *, out: str | None, resume: bool, as_json: bool, quiet: bool) -> int:
    """Fit and print; the exit code."""
    table = read_request(request)
    stem = "stdin" if request.data == "-" else Path(request.data).stem
    folder = Path(f"{stem}-run" if out is None else out)
    if not as_json:
        _announce(request, table)
    with ours_alone(as_json):
        model, folder = fitted(folder, request, table, resume=resume, verbose=not (quiet or as_json))
    code = python_source(request, table)
    if as_json:
        print(json.dumps(_json(model, folder / "model.json", code, table.notes), ensure_ascii=False, indent=2))
    else:
        _report(model, folder, code)
    return INTERRUPTED if model.interrupted_ else FOUND


def read_request(request: Request) -> Table:
    """The table of a request, columns and rows chosen."""
    return read_table(request.data, **{name: getattr(request, name) for name in READING})


def fitted(
    folder: Path,
    request: Request,
    table: Table,
    *,
    resume: bool = False,
    verbose: bool = False,
    callback: Callable[[Any], Any] | None = None,
) -> tuple[UniSymNetRegressor, Path]:
    """Fit, and leave in the folder everything that the other commands need.

    The model, and the folder it is saved in: another one where this cannot be written, which a note says.
    """
    if len(table.y) < LEAST_ROWS:
        rows = f"only {len(table.y)} usable row{'' if len(table.y) == 1 else 's'}"
        raise DataError(f"{request.data} has {rows}; a law needs at least {LEAST_ROWS}")
    fronts = prepare_folder(folder, resume=resume)
    kept = own_formulas(folder) if resume else []
    settings = known_settings(request, table)
    try:
        model = UniSymNetRegressor(**settings, checkpoint=str(fronts), verbose=verbose, callback=callback)
        guesses = list(request.guesses) or None
        model.fit(table.X, table.y, table.weights, guesses, sigma=table.sigma, groups=table.groups)
    except (ValueError, TypeError) as error:
        raise DataError(str(error)) from error
    model.encoding_ = table.encoding
    if table.pieces is not None:
        use_all_rows(model, table)
    put_back(model, kept, table)
    where, fault = save_run(model, folder, lambda place: remember_data(place, request, table.columns))
    if fault is not None:
        model.notes_ = (*model.notes_, fault)
    return model, where


def own_formulas(folder: Path) -> list[Formula]:
    """What the user has put into the table of an earlier search in this folder."""
    try:
        entries = UniSymNetRegressor.load(folder / MODEL).front_
    except (UniSymNetError, OSError):
        return []
    return [entry.formula for entry in entries if entry.source == OWN and entry.formula.groups is None]


def put_back(model: UniSymNetRegressor, kept: Sequence[Formula], table: Table) -> None:
    """The user's own formulas join the new table, too: a front would drop those that are worse than others."""
    if table.groups is None:
        for formula in kept:
            if list(formula.inputs) == list(model.formula_.inputs):
                with np.errstate(all="ignore"):
                    add_formula(model, formula, table.X, table.y)


def use_all_rows(model: UniSymNetRegressor, table: Table) -> None:
    """Constants of the pick and scores of every formula from all rows of the pieces, in bounded memory."""
    parts, jobs = table.parts(), model.n_jobs
    picked = refit(model.front_[model.picked_].formula, parts, jobs)
    entries = [replace(e, formula=picked) if i == model.picked_ else e for i, e in enumerate(model.front_)]
    totals = score([entry.formula for entry in entries], parts, jobs)
    shown = zip(entries, totals.r2, totals.loss, strict=True)
    model.front_ = tuple(replace(entry, r2=r2, loss=loss) for entry, r2, loss in shown)
    gone = f"; {totals.n_left_out} rows with missing values left out" if totals.n_left_out else ""
    model.notes_ = (*model.notes_, f"the constants of the pick and every R² train use all {totals.n_rows} rows{gone}")


def known_settings(request: Request, table: Table) -> dict[str, Any]:
    """The settings with units from the heads of the table, which those that were asked for replace."""
    units = {**table.units, **(request.settings.get("units") or {})}
    return {**request.settings, **({"units": units} if units else {})}


def loss_option(text: str) -> str | tuple[str, float]:
    """`huber:2.5` as the estimator takes it."""
    name, colon, number = text.partition(":")
    if name not in NAMED_LOSSES:
        raise DataError(f"--loss: {text!r} is not known; write {', '.join(NAMED_LOSSES)}, huber:2.5 or quantile:0.9")
    if not colon:
        return name
    try:
        return name, float(number)
    except ValueError as error:
        raise DataError(f"--loss: {number!r} is not a number; write huber:2.5 or quantile:0.9") from error


def python_source(request: Request, table: Table) -> str:
    """The Python that does the same: it reads with the same reader, so that no row or column is treated otherwise."""
    defaults = UniSymNetRegressor().get_params()
    settings_of = known_settings(request, table)
    shown = {k: v for k, v in settings_of.items() if v != defaults[k] or k in ("max_time", "random_state")}
    # Infinity has no name in Python; for the estimator None is the same.
    settings = ", ".join(f"{name}={None if value == math.inf else value!r}" for name, value in shown.items())
    options = {
        "target": table.y.name,
        "features": None if request.features is None else _asked(table),
        "drop": list(request.drop) or None,
        "weights": None if table.weights is None else table.weights.name,
        "delimiter": request.delimiter,
        "heads": None if request.heads else False,
        "groups": request.groups,
        "categories": list(request.categories) if isinstance(request.categories, tuple) else request.categories,
        "missing": request.missing,
        "sigma": request.sigma,
    }
    reading = "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)
    fit = ["table.X", "table.y"]
    for name, column in (("sample_weight", "weights"), ("groups", "groups"), ("sigma", "sigma")):
        if getattr(table, column) is not None:
            fit.append(f"{name}=table.{column}")
    if request.guesses:
        fit.append(f"guesses={list(request.guesses)!r}")
    lines = [
        "from unisymnet import UniSymNetRegressor, read_table",
        "",
        f"table = read_table({request.data!r}{reading})",
        f"model = UniSymNetRegressor({settings}).fit({', '.join(fit)})",
        "print(model)",
    ]
    return "\n".join(lines)


def _asked(table: Table) -> list[str]:
    """The columns of the file that are used."""
    names = map(str, table.X.columns)
    return list(dict.fromkeys(names if table.encoding is None else map(table.encoding.source, names)))


def _announce(request: Request, table: Table) -> None:
    names = ", ".join(map(str, table.X.columns[:8])) + (", …" if table.X.shape[1] > 8 else "")
    limit = request.settings["max_time"]
    rows = "1 row" if len(table.y) == 1 else f"{len(table.y)} rows"
    ends = f"at most {limit:g} s" if math.isfinite(limit) else "no time limit"
    print(f"{request.data}: {rows}, {table.y.name} from {names}; {ends}", file=sys.stderr)
    for note in table.notes:
        print(f"  note: {note}", file=sys.stderr)
    for guess in request.guesses:
        for line in _about_guess(guess, request, table):
            print(f"  {line}", file=sys.stderr)


def _about_guess(guess: str, request: Request, table: Table) -> list[str]:
    """Which names of a guess are constants; a guess that cannot be read is refused by the fit, in its words."""
    try:
        own = {operator.name: operator for operator in own_operators(request.settings.get("operators"))}
        unknown = free_names(guess, [str(name) for name in table.X.columns], own)
    except ValueError:
        return []
    return about_names(guess, unknown, table).splitlines() if unknown else []


def _report(model: UniSymNetRegressor, folder: Path, code: str) -> None:
    print_result(model)
    if model.interrupted_:
        print("\nStopped early; this is the best so far.")
    print("\nThe same in Python:\n")
    print("\n".join(f"  {line}" for line in code.splitlines()))
    run = quote(str(folder))
    print(f"\nSaved in {folder}. Next: unisymnet export {run} --to latex, or unisymnet report {run}")


def _json(model: UniSymNetRegressor, path: Path, code: str, notes: Sequence[str]) -> dict[str, Any]:
    rows = frame_rows(model.front_, model.picked_)
    for row in rows:
        row |= {
            key: None for key in ("r2", "r2_valid", "loss") if row[key] != row[key] or abs(row[key]) == float("inf")
        }
    return {
        "formula": model.formula_.to_dict() | {"latex": model.formula_.latex()},
        "picked": model.picked_,
        "equations": rows,
        "notes": [*notes, *model.notes_],
        "stopped": model.stopped_,
        "interrupted": model.interrupted_,
        "seconds": round(model.seconds_, 3),
        "run": str(path.parent),
        "python": code,
    }


def number_or_word(text: str | None) -> float | str | None:
    """What an option means that takes a number or a name."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
