"""`unisymnet fit`: read a table, fit, save the run, print the table, the formula and the Python that repeats it."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..regressor import UniSymNetRegressor
from ..regressor.table import frame_rows
from .reporting import remember_data
from .screen import print_result
from .tables import Table, load_table

FOUND, INTERRUPTED = 0, 130


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


def run_fit(request: Request, *, out: str | None, resume: bool, as_json: bool, quiet: bool) -> int:
    """Fit and print; the exit code."""
    table = read_request(request)
    folder = Path(out) if out is not None else Path(f"{_stem(request.data)}-run")
    if not as_json:
        _announce(request, table)
    model = fit_into(folder, request, table, resume=resume, verbose=not (quiet or as_json))
    code = python_source(request, table)
    if as_json:
        print(json.dumps(_json(model, folder / "model.json", code, table.notes), ensure_ascii=False, indent=2))
    else:
        _report(model, folder, code)
    return INTERRUPTED if model.interrupted_ else FOUND


def read_request(request: Request) -> Table:
    """The table of a request, columns and rows chosen."""
    return load_table(
        request.data,
        target=request.target,
        features=request.features,
        drop=request.drop,
        weights=request.weights,
        delimiter=request.delimiter,
        heads=request.heads,
    )


def fit_into(
    folder: Path,
    request: Request,
    table: Table,
    *,
    resume: bool = False,
    verbose: bool = False,
    callback: Callable[[Any], Any] | None = None,
) -> UniSymNetRegressor:
    """Fit, and leave in the folder everything that the other commands need."""
    saved = folder / "checkpoint"
    if saved.exists() and not resume:
        shutil.rmtree(saved)
    settings = known_settings(request, table)
    try:
        model = UniSymNetRegressor(**settings, checkpoint=str(saved), verbose=verbose, callback=callback)
        model.fit(table.X, table.y, sample_weight=table.weights, guesses=list(request.guesses) or None)
    except (ValueError, TypeError) as error:
        raise DataError(str(error)) from error
    model.save(folder / "model.json")
    model.equations_.to_csv(folder / "equations.csv", index=False)
    remember_data(folder, request)
    return model


def known_settings(request: Request, table: Table) -> dict[str, Any]:
    """The settings with units from the heads of the table, which those that were asked for replace."""
    units = {**table.units, **(request.settings.get("units") or {})}
    return {**request.settings, **({"units": units} if units else {})}


def loss_option(text: str) -> str | tuple[str, float]:
    """`huber:2.5` as the estimator takes it."""
    name, colon, number = text.partition(":")
    if not colon:
        return name
    try:
        return name, float(number)
    except ValueError as error:
        raise DataError(f"--loss: {number!r} is not a number; write huber:2.5 or quantile:0.9") from error


def python_source(request: Request, table: Table) -> str:
    """The Python that does the same."""
    defaults = UniSymNetRegressor().get_params()
    settings_of = known_settings(request, table)
    shown = {k: v for k, v in settings_of.items() if v != defaults[k] or k in ("max_time", "random_state")}
    settings = ", ".join(f"{name}={value!r}" for name, value in shown.items())
    fit = ["X", "y"]
    if table.weights is not None:
        fit.append(f"sample_weight=table[{table.weights.name!r}]")
    if request.guesses:
        fit.append(f"guesses={list(request.guesses)!r}")
    lines = [
        *(["import sys", ""] if request.data == "-" else []),
        "import pandas as pd",
        "from unisymnet import UniSymNetRegressor",
        "",
        f"table = {_read_source(request.data, table)}",
        *([f"table = table.rename(columns={table.renamed!r})"] if table.renamed else []),
        f"X, y = table[{list(table.X.columns)!r}], table[{table.y.name!r}]",
        f"model = UniSymNetRegressor({settings}).fit({', '.join(fit)})",
        "print(model)",
    ]
    return "\n".join(lines)


def _read_source(data: str, table: Table) -> str:
    source = "sys.stdin" if data == "-" else repr(data)
    suffix = Path(data).suffix.lower()
    if table.dialect is None:
        reader = "read_parquet" if suffix in (".parquet", ".pq") else "read_excel"
        return f"pd.{reader}({source})"
    options = ""
    if table.dialect.delimiter != ",":
        sign = r"\s+" if table.dialect.delimiter == " " else table.dialect.delimiter
        options += f", sep={sign!r}"
    if table.dialect.decimal != ".":
        options += f", decimal={table.dialect.decimal!r}"
    if table.dialect.encoding not in ("utf-8", "utf-8-sig"):
        options += f", encoding={table.dialect.encoding!r}"
    if not table.dialect.header:
        options += f", header=None, names={[f'x{i}' for i in range(table.X.shape[1] + 1)]!r}"
    return f"pd.read_csv({source}{options})"


def _announce(request: Request, table: Table) -> None:
    names = ", ".join(map(str, table.X.columns[:8])) + (", …" if table.X.shape[1] > 8 else "")
    limit = request.settings["max_time"]
    print(f"{request.data}: {len(table.y)} rows, {table.y.name} from {names}; at most {limit:g} s", file=sys.stderr)
    for note in table.notes:
        print(f"  note: {note}", file=sys.stderr)


def _report(model: UniSymNetRegressor, folder: Path, code: str) -> None:
    print_result(model)
    if model.interrupted_:
        print("\nStopped early; this is the best so far.")
    print("\nThe same in Python:\n")
    print("\n".join(f"  {line}" for line in code.splitlines()))
    print(f"\nSaved in {folder}. Next: unisymnet export {folder} --to latex, or unisymnet report {folder}")


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


def _stem(data: str) -> str:
    return "stdin" if data == "-" else Path(data).stem
