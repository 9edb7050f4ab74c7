"""`unisymnet report`: one HTML page about a finished fit, with the data that `fit` read if they are still there.

A run remembers where its table lies and which columns were taken, never the data themselves.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError
from ..files.table import Table, read_table
from ..regressor.checkpoint import write_atomically
from .results import load_run

if TYPE_CHECKING:
    from .fitting import Request

NAME = "data.json"


def remember_data(folder: Path, request: Request, columns: Sequence[str] = ()) -> None:
    """Note in the run where the table lies and which columns it has; a table from stdin cannot be found again."""
    kept: dict[str, Any] = {"path": None, "size": None, "time": None}
    if request.data != "-":
        path = Path(request.data).resolve()
        with suppress(OSError):  # it was deleted meanwhile
            state = path.stat()
            kept = {"path": str(path), "size": state.st_size, "time": state.st_mtime}
    kept |= {"weights": request.weights, "delimiter": request.delimiter, "columns": list(columns)}
    write_atomically(folder / NAME, json.dumps(kept, ensure_ascii=False, indent=2))


def write_report(run: str, data: str | None, out: str, delimiter: str | None) -> None:
    from ..report import report_html

    model = load_run(run)
    formula = model.formula_
    table = None
    groups = None if formula.groups is None else formula.groups.column
    wanted: dict[str, Any] = {"target": formula.target, "features": formula.inputs, "groups": groups}
    wanted["encoding"] = model.encoding_
    if data is not None:
        table = read_table(data, **wanted, delimiter=delimiter)
    else:
        table = _remembered(Path(run), wanted)
    page = report_html(model) if table is None else report_html(model, table.with_groups, table.y)
    try:
        write_atomically(Path(out), page)
    except OSError as error:
        raise DataError(f"cannot write the report to {out!r}: {error}") from error
    print(f"written to {out}")


def _remembered(run: Path, wanted: dict[str, Any]) -> Table | None:
    """The table of the fit, or None with a word on stderr."""
    file = (run if run.is_dir() else run.parent) / NAME
    try:
        kept = json.loads(file.read_text("utf-8"))
        path, size, time = Path(kept["path"]), kept["size"], kept["time"]  # None for a table from stdin
        state = path.stat()
        table = read_table(str(path), **wanted, delimiter=kept["delimiter"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError, DataError) as error:
        reason = f"the data of the fit cannot be found ({error})"
        print(f"note: {reason}; for all pictures: unisymnet report {run} DATA", file=sys.stderr)
        return None
    if (state.st_size, state.st_mtime) != (size, time):
        print(f"note: {path} has changed since the fit; the pictures show it as it is now", file=sys.stderr)
    return table
