"""What the page can ask for, one method each: plain data in, plain data out. Knows no HTTP."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Any

import numpy as np

from ..cli.fitting import python_source, read_request
from ..cli.results import with_predictions
from ..errors import DataError
from ..files.read import read_frame
from ..formula import Formula
from ..regressor import UniSymNetRegressor, fit_formula
from ..regressor.own import OWN, add_formula
from ..regressor.validation import with_sigma
from ..report import report_html
from . import views
from .asking import checked, checked_system, is_number, known_settings, to_request
from .commands import fit_command, not_in_shell
from .place import Place, safe_name
from .results import Results, entry_index
from .runs import MODEL, Run
from .systems import going_on, simulated, system_command, system_python, system_report
from .workers import Workers

OWN_SECONDS = 5.0
MAX_FORMULA = 2000


class Actions:
    """Everything behind the routes."""

    def __init__(self, place: Place, workers: Workers) -> None:
        self.place = place
        self.workers = workers
        self.results = Results(place)
        self._writing = threading.Lock()  # one change of a run at a time

    def home(self) -> dict[str, Any]:
        runs = [views.run_summary(self.results, run, self.workers.state(run)) for run in self.place.runs()]
        known = known_settings()
        return {
            "folder": str(self.place.root),
            "tables": self.place.tables(),
            "runs": runs,
            "settings": {name: value if _is_plain(value) else None for name, value in known.items()},
            "at_once": self.workers.at_once,
        }

    def table(self, name: str, target: str | None) -> dict[str, Any]:
        return views.table_view(self.results, name, target)

    def commands(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The shell command and the Python of a wish, before it is one."""
        if asked.get("kind") == "dynamics":
            wish = checked_system(asked)
            return {"shell": system_command(wish), "python": system_python(wish), "notes": [], "known": []}
        wish = checked(asked)
        request = to_request(wish)
        table = read_request(to_request(wish | {"data": str(self.place.table(wish["data"]))}))
        missing = not_in_shell(wish)
        notes = [*table.notes, *([f"only in Python: {', '.join(missing)}"] if missing else [])]
        return {
            "shell": fit_command(wish),
            "python": python_source(request, table),
            "notes": notes,
            "known": views.known_view(wish, table),
        }

    def start(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked.get("kind") == "dynamics":
            wish = checked_system(asked)
            self.place.table(wish["data"])
        else:
            wish = checked(asked)
            table = read_request(to_request(wish | {"data": str(self.place.table(wish["data"]))}))
            views.known_view(wish, table)  # say now what would fail
        run = self.place.new_run(wish["data"])
        run.ask(wish | {"part": 1})
        self.workers.look()
        return {"run": run.name}

    def stop(self, asked: dict[str, Any]) -> dict[str, Any]:
        """End the search with what it has; one that waits leaves the queue."""
        run = self.find(asked.get("run"))
        if self.workers.state(run) == "queued":
            run.tell("error", message="stopped before it began")
        else:
            run.stop()
        return {"run": run.name}

    def go_on(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Search on from what the run has; `keep` is a formula that must not be lost, tried first."""
        run = self.find(asked.get("run"))
        with self._writing:
            state = self.workers.state(run)
            if state in ("running", "queued"):
                raise DataError("this search is still going on; stop it first")
            before = run.asked()
            if before is None and run.is_system():
                raise DataError("this system was found by the command line; start a search for it here")
            if before is None:
                before = self._wish_of(run, state)
            seconds = asked.get("seconds", before["settings"].get("max_time", 60))
            part = int(before.get("part", 1)) + 1
            if run.is_system():
                run.ask(going_on(run, before, seconds) | {"part": part})
                self.workers.look()
                return {"run": run.name}
            keep = [text for text in (asked.get("keep"),) if isinstance(text, str)]
            model = self.results.model(run, state)
            own = [] if model is None else [str(e.formula) for e in model.front_ if e.source == OWN]
            guesses = list(dict.fromkeys([*before["guesses"], *keep, *own]))
            settings = before["settings"] | {"max_time": seconds}
            wish = checked(before | {"guesses": guesses, "settings": settings})
            run.ask(wish | {"part": part})
        self.workers.look()
        return {"run": run.name}

    def run(self, name: str) -> dict[str, Any]:
        return views.run_view(*self._seen(name))

    def rows(self, name: str) -> dict[str, Any]:
        return views.rows_view(*self._seen(name))

    def formula(self, asked: dict[str, Any]) -> dict[str, Any]:
        return views.formula_view(*self._seen(asked.get("run")), asked.get("text"), light=bool(asked.get("light")))

    def moved(self, asked: dict[str, Any]) -> dict[str, Any]:
        return views.moved_view(*self._seen(asked.get("run")), str(asked.get("text")), _numbers(asked.get("values")))

    def sources(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The formula with moved constants in every language."""
        _, model, index = self._chosen(asked)
        values = _numbers(asked.get("values"))
        return {"sources": views.sources(views.moved_formula(model.front_[index].formula, values))}

    def own(self, asked: dict[str, Any]) -> dict[str, Any]:
        """My own formula beside those found: its open constants fitted, unless `refit` says no."""
        run, text = self.find(asked.get("run")), asked.get("formula")
        if not isinstance(text, str) or not text.strip() or len(text) > MAX_FORMULA:
            raise DataError(f"write a formula of at most {MAX_FORMULA} characters, such as a*x/(b + x)")
        with self._writing:
            state = self.workers.state(run)
            model = self.results.model(run, state)
            if model is None or state in ("running", "queued"):
                raise DataError("your own formula can join the table when the search has ended")
            table = self.results.table(run, model)
            names, target = model.formula_.inputs, model.formula_.target
            if asked.get("refit", True):
                errors = table.sigma.get(target) if isinstance(table.sigma, dict) else table.sigma
                found = fit_formula(
                    text,
                    table.X[list(names)],
                    table.y,
                    target=target,
                    sample_weight=with_sigma(table.weights, errors, table.y),
                    max_time=OWN_SECONDS,
                )
            else:
                found = Formula.parse(text, names, target).with_errors(table.X[list(names)].to_numpy(), table.y)
            # A model that may be changed: the one in memory belongs to whoever reads it just now.
            fresh = UniSymNetRegressor.load(run.folder / MODEL) if run.has_model() else model
            with np.errstate(all="ignore"):
                place = add_formula(fresh, found, table.X, table.y)
            fresh.save(run.folder / MODEL)
            return {"text": str(fresh.front_[place].formula), "index": place}

    def predict(self, asked: dict[str, Any], path: Path) -> tuple[str, dict[str, Any]]:
        """A formula on the rows of a new file, as CSV, and what to know about it."""
        _, model, index = self._chosen(asked)
        formula = model.front_[index].formula
        frame, _ = read_frame(str(path))
        result, values = with_predictions(formula, frame, model.encoding_)
        text = io.StringIO()
        result.to_csv(text, index=False)
        missing = int((~np.isfinite(values)).sum())
        note = {"rows": len(values), "missing": missing, "column": f"{formula.target}_predicted"}
        return text.getvalue(), note | {"domain": list(formula.domain)}

    def simulate(self, asked: dict[str, Any]) -> dict[str, Any]:
        """A system from another start."""
        run = self.find(asked.get("run"))
        if not (run.is_system() and run.has_model()):
            raise DataError("this run has no system of differential equations")
        return simulated(run, asked)

    def report(self, name: str) -> tuple[str, str]:
        """The self-contained page of a run."""
        run = self.find(name)
        if run.is_system() and run.has_model():
            return safe_name(run.folder.name), system_report(run)
        model = self.results.model(run, self.workers.state(run))
        if model is None:
            raise DataError("this run has no formulas yet")
        try:
            table = self.results.table(run, model)
        except (DataError, OSError):
            return safe_name(run.folder.name), report_html(model)
        return safe_name(run.folder.name), report_html(model, table.with_groups, table.y)

    def _seen(self, name: Any) -> tuple[Results, Run, str]:
        """What every view of a run needs."""
        run = self.find(name)
        return self.results, run, self.workers.state(run)

    def find(self, name: Any) -> Run:
        if not isinstance(name, str):
            raise DataError("name a run")
        return self.place.run(name)

    def _chosen(self, asked: dict[str, Any]) -> tuple[Run, UniSymNetRegressor, int]:
        run = self.find(asked.get("run"))
        model = self.results.model(run, self.workers.state(run))
        if model is None:
            raise DataError("this run has no formulas yet")
        return run, model, entry_index(model, asked.get("text"))

    def _wish_of(self, run: Run, state: str) -> dict[str, Any]:
        """A run of the command line, as if the page had asked for it."""
        model, data = self.results.model(run, state), self.results.data_name(run)
        if model is None or data is None:
            raise DataError("the table of this run is not in the folder of this page, so the search cannot go on")
        given = model.get_params(deep=False)
        settings = {n: given[n] for n, default in known_settings().items() if given[n] != default}
        formula = model.formula_
        wish: dict[str, Any] = {"data": data, "target": formula.target, "features": list(formula.inputs)}
        wish["groups"] = None if formula.groups is None else formula.groups.column
        return checked(wish | {"settings": settings | {"max_time": given["max_time"] or 60}})


def _numbers(values: Any) -> list[float]:
    if not isinstance(values, list) or not all(map(is_number, values)):
        raise DataError("the values of constants must be a list of numbers")
    return [float(value) for value in values]


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)
