"""`unisymnet report`: one HTML page about a finished fit, with the data that `fit` read if they are still there.

A run remembers where its table lies and which columns were taken, never the data themselves.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError
from .results import load_run
from .tables import Table, load_table

if TYPE_CHECKING:
    from .fitting import Request

NAME = "data.json"


def remember_data(folder: Path, request: Request) -> None:
    """Note in the run where the table lies; a table from stdin cannot be found again."""
    if request.data == "-":
        (folder / NAME).unlink(missing_ok=True)  # left by an earlier fit into the same folder
        return
    path = Path(request.data).resolve()
    state = path.stat()
    kept: dict[str, Any] = {"path": str(path), "size": state.st_size, "time": state.st_mtime}
    kept |= {"weights": request.weights, "delimiter": request.delimiter}
    (folder / NAME).write_text(json.dumps(kept, ensure_ascii=False, indent=2), encoding="utf-8")


def write_report(run: str, data: str | None, out: str, delimiter: str | None) -> None:
    from ..report import report_html

    model = load_run(run)
    formula = model.formula_
    table = None
    if data is not None:
        table = load_table(data, target=formula.target, features=formula.names, delimiter=delimiter)
    else:
        table = _remembered(Path(run), formula.target, formula.names)
    page = report_html(model) if table is None else report_html(model, table.X, table.y)
    try:
        Path(out).write_text(page, encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write the report to {out!r}: {error}") from error
    print(f"written to {out}")


def _remembered(run: Path, target: str, names: tuple[str, ...]) -> Table | None:
    """The table of the fit, or None with a word on stderr."""
    file = (run if run.is_dir() else run.parent) / NAME
    try:
        kept = json.loads(file.read_text("utf-8"))
        path, size, time = Path(kept["path"]), kept["size"], kept["time"]
        state = path.stat()
        table = load_table(str(path), target=target, features=names, delimiter=kept["delimiter"])
    except (OSError, ValueError, KeyError, TypeError, DataError) as error:
        reason = f"the data of the fit are not at hand ({error})"
        print(f"note: {reason}; for all pictures: unisymnet report {run} DATA", file=sys.stderr)
        return None
    if (state.st_size, state.st_mtime) != (size, time):
        print(f"note: {path} has changed since the fit; the pictures show it as it is now", file=sys.stderr)
    return table
