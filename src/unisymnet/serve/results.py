"""A run as a fitted model: from model.json when its search has ended, from its events while it goes on.

Tables and models are read again only when their files have changed.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ..cli.fitting import read_request
from ..cli.results import load_run
from ..errors import DataError
from ..files.read import read_frame
from ..files.table import Table, read_table
from ..formula import Formula
from ..regressor import UniSymNetRegressor
from ..regressor.table import Entry
from .asking import to_request
from .place import Place
from .runs import MODEL, Run

MODELS, TABLES = 300, 4  # kept in memory; tables may be large


@dataclass
class Memory:
    """The last few things computed, each good as long as its file stays the same."""

    most: int
    kept: dict[Any, Any] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def get(self, path: Path, key: Any, make: Callable[[], Any]) -> Any:
        state = path.stat()
        place = (str(path), state.st_mtime_ns, state.st_size, key)
        with self.guard:
            if place in self.kept:
                return self.kept[place]
        value = make()
        with self.guard:
            self.kept[place] = value
            while len(self.kept) > self.most:
                del self.kept[next(iter(self.kept))]
        return value


class Results:
    """Models and tables of the runs of a place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.models, self.tables = Memory(MODELS), Memory(TABLES)

    def frame(self, name: str, delimiter: str | None = None) -> tuple[Any, Any]:
        """A table as it is, and how it is written."""
        path = self.place.table(name)
        return self.tables.get(path, ("frame", delimiter), lambda: read_frame(str(path), delimiter))

    def model(self, run: Run, state: str) -> UniSymNetRegressor | None:
        """What is known so far; None before the first formula."""
        if state not in ("running", "queued", "lost") and run.has_model():
            return self.models.get(run.folder / MODEL, "model", lambda: load_run(str(run.folder)))
        found = _from_events(run.events())
        if found is None and run.has_model():
            return load_run(str(run.folder))
        return found

    def data_name(self, run: Run) -> str | None:
        """The table of a run, if it lies in the folder of the page."""
        asked = run.asked()
        if asked is not None:
            return str(asked["data"])
        try:
            path = Path(json.loads((run.folder / "data.json").read_text("utf-8"))["path"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return self.place.name_of(path.resolve()) if self.place.holds(path) else None

    def table(self, run: Run, model: UniSymNetRegressor, formula: Formula | None = None) -> Table:
        """Inputs and target of a run, rows with missing values left out."""
        name = self.data_name(run)
        if name is None:
            raise DataError("the table of this run lies outside the folder of this page, or is not known")
        path, asked = self.place.table(name), run.asked()
        if asked is not None:
            request = to_request(asked | {"data": str(path)})
            return self.tables.get(path, ("asked", json.dumps(asked, sort_keys=True)), lambda: read_request(request))
        formula = formula or model.formula_
        groups = None if formula.groups is None else formula.groups.column
        wanted: dict[str, Any] = {"target": formula.target, "features": formula.inputs, "groups": groups}
        read = partial(read_table, str(path), **wanted, encoding=model.encoding_)
        return self.tables.get(path, tuple(wanted.values()), read)


def entry_index(model: UniSymNetRegressor, text: str | None) -> int:
    """The place of a formula, given as its text; the picked one without."""
    if text is None:
        return model.picked_
    for index, entry in enumerate(model.front_):
        if str(entry.formula) == text:
            return index
    raise DataError("this formula is no longer in the table of the run; choose another")


def _from_events(events: list[dict[str, Any]]) -> UniSymNetRegressor | None:
    """The last front that was told, as a model one can draw and export."""
    start = next((event for event in reversed(events) if event["kind"] == "start"), None)
    front = next((event for event in reversed(events) if event["kind"] == "front"), None)
    if start is None or front is None:
        return None
    known = {event["key"]: event for event in events if event["kind"] == "formula"}
    told = [known[key] for key in front["keys"] if key in known]
    if not told:
        return None
    model = UniSymNetRegressor(max_time=start["max_time"])
    model.front_ = tuple(_entry(event, start) for event in told)
    model.picked_ = next((i for i, event in enumerate(told) if event["key"] == front["best"]), len(told) - 1)
    model.notes_, model.trace_ = tuple(start["notes"]), ()
    model.stopped_, model.interrupted_ = "running", False
    model.seconds_, model.n_evaluations_ = front["seconds"], front["tried"]
    model.n_train_, model.n_valid_, model.n_features_in_ = start["rows"], 0, len(start["inputs"])
    return model


def _entry(event: dict[str, Any], start: dict[str, Any]) -> Entry:
    formula = Formula.parse(event["text"], start["inputs"], start["target"])
    r2 = -math.inf if event["r2"] is None else event["r2"]
    return Entry(formula, event["size"], event["loss"], r2, None, 0.0, event["source"])
