"""Runs that look for differential equations: the wish, the search, and what the page shows of a system.

The folder is that of `unisymnet dynamics`, with the drawn trajectories beside the system as plain numbers.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..cli.motion.dynamics import SO_FAR, place_so_far
from ..dynamics import DynamicsEvent, DynamicsRegressor, System
from ..errors import DataError
from ..files.read import read_frame
from ..formula.stored import finite
from ..regressor.checkpoint import write_atomically
from ..report.parts import shown
from ..report.system_page import Run as Drawn
from ..report.system_page import system_html
from .asking import checked_system, is_number
from .events import Log
from .runs import MODEL, Run

DRAWN, SOURCE = "drawn.json", "system.py"
MAX_POINTS, MAX_RUNS = 400, 6  # of trajectories that are kept to be drawn
LANGUAGES = (("latex", "LaTeX"), ("python", "Python"), ("c", "C"), ("julia", "Julia"), ("matlab", "MATLAB"))
MAX_SIMULATED, SECONDS = 2001, 5.0


def system_command(asked: dict[str, Any]) -> str:
    words = ["unisymnet", "dynamics", asked["data"], "--time", asked["time"], "--states", ",".join(asked["states"])]
    for option, value in (("--inputs", ",".join(asked["inputs"])), ("--trajectory", asked["trajectory"])):
        words += [option, value] if value else []
    settings = asked["settings"]
    words += ["--order", "2"] if settings.get("order") == 2 else []
    words += ["--use-time"] if settings.get("use_time") else []
    return shlex.join([*words, "--max-time", f"{settings['max_time']:g}"])


def system_python(asked: dict[str, Any]) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in asked["settings"].items())
    columns = {"time": asked["time"], "states": asked["states"]}
    columns |= {name: asked[name] for name in ("inputs", "trajectory") if asked[name]}
    named = ", ".join(f"{name}={value!r}" for name, value in columns.items())
    return (
        "import pandas as pd\nfrom unisymnet import DynamicsRegressor\n\n"
        f"table = pd.read_csv({asked['data']!r})\n"
        f"model = DynamicsRegressor({given}).fit(table, {named})\nprint(model)"
    )


def search_system(folder: Path, asked: dict[str, Any], log: Log) -> None:
    """Find the equations and leave in the folder what the other commands need."""
    frame, _ = read_frame(asked["data"], asked["delimiter"])
    facts = {"target": ", ".join(asked["states"]), "inputs": [asked["time"], *asked["inputs"]], "rows": len(frame)}
    commands = {"shell": system_command(asked), "python": system_python(asked)}
    limit = asked["settings"]["max_time"]
    log.write("start", at=time.time(), part=asked.get("part", 1), max_time=limit, notes=[], **facts, **commands)
    names = {name: asked[name] or None for name in ("time", "states", "inputs", "trajectory")}
    try:
        settings = {**asked["settings"], "callback": _teller(log), "checkpoint": place_so_far(folder)}
        model = DynamicsRegressor(**settings).fit(frame, **names, guesses=asked.get("guesses"))
    except (ValueError, TypeError) as error:
        raise DataError(str(error)) from error
    model.save(folder / MODEL)
    (folder / SO_FAR).unlink(missing_ok=True)
    runs = [_thinned(run) for run in model.drawn_runs()[:MAX_RUNS]]
    write_atomically(folder / DRAWN, json.dumps(finite(runs)))
    write_atomically(folder / SOURCE, model.system_.to("python"))
    why = "interrupted" if model.interrupted_ else "system"
    log.write("end", at=time.time(), stopped=why, seconds=round(model.seconds_, 2), formulas=len(asked["states"]))


def _teller(log: Log) -> Callable[[DynamicsEvent], None]:
    """Writes down what the search is doing, and its equations whenever they get better."""

    def tell(event: DynamicsEvent) -> None:
        formulas = list(event.rates.values()) if event.system is None else list(event.system.formulas)
        found = {} if event.kind == "stage" else {"equations": [shown(f, block=True, equation=True) for f in formulas]}
        log.write(event.kind, at=time.time(), stage=event.stage, seconds=round(event.seconds, 2), tried=0, **found)

    return tell


def going_on(run: Run, asked: dict[str, Any], seconds: Any) -> dict[str, Any]:
    """The wish to search on: the equations found so far are the first to be tried."""
    wish = checked_system(asked | {"settings": asked["settings"] | {"max_time": seconds}})
    if run.has_model():
        system = System.load(run.folder / MODEL)
        known = zip(system.states, system.formulas)
        wish["guesses"] = {state: [formula.text(None)] for state, formula in known}
    return wish


def system_view(run: Run, state: str, data: str | None) -> dict[str, Any]:
    """The equations, the cards of the report, and the system in every language."""
    view: dict[str, Any] = {"name": run.name, "state": state, "kind": "dynamics", "asked": run.asked(), "data": data}
    view |= {"entries": [], "picked": None}
    if not run.has_model():
        return view
    system = System.load(run.folder / MODEL)
    page = system_html(system, _drawn(run), system.notes)
    start = [row[0] for row in _first(run)] if _first(run) else [float(np.mean(pair)) for pair in system.ranges]
    code = f"from unisymnet.dynamics import System\n\nsystem = System.load({run.name + '/' + MODEL!r})\n"
    return view | {
        "states": list(system.states),
        "inputs": list(system.inputs),
        "time": system.time,
        "start": start,
        "until": _last_time(run),
        "equations": [shown(formula, block=True, equation=True) for formula in system.formulas],
        "html": page[page.index("<main>") + 6 : page.index("</main>")],
        "sources": [{"language": key, "label": label, "source": system.to(key)} for key, label in LANGUAGES],
        "shell": shlex.join(["unisymnet", "simulate", run.name, "--until", f"{_last_time(run):g}"]),
        "python": f"{code}system.simulate({start!r}, range(10))",
    }


def system_summary(run: Run) -> dict[str, Any]:
    if not run.has_model():
        return {"target": "differential equations"}
    system = System.load(run.folder / MODEL)
    math = " ".join(shown(formula, digits=4, equation=True) for formula in system.formulas)
    return {"target": ", ".join(system.states), "math": math}


def simulated(run: Run, asked: dict[str, Any]) -> dict[str, Any]:
    """The system from another start, as numbers to draw."""
    system = System.load(run.folder / MODEL)
    start: Any = asked.get("start")
    until: Any = asked.get("until")
    if not isinstance(start, list) or len(start) != len(system.states) or not all(map(is_number, start)):
        raise DataError(f"a simulation needs a start with {len(system.states)} numbers")
    if not is_number(until) or not 0 < until < 1e6:
        raise DataError("the time to simulate must be a positive number")
    if system.inputs:
        raise DataError("a system with inputs is simulated by `unisymnet simulate --inputs`")
    times = np.linspace(0.0, float(until), min(601, MAX_SIMULATED))
    found = system.simulate([float(value) for value in start], times, max_seconds=SECONDS)
    return {"t": times.tolist(), "x": found.T.tolist()}


def system_report(run: Run) -> str:
    system = System.load(run.folder / MODEL)
    return system_html(system, _drawn(run), system.notes)


def _thinned(run: Drawn) -> dict[str, Any]:
    step = max(1, len(run.t) // MAX_POINTS)
    return {
        "t": run.t[::step].tolist(),
        "x": run.x[::step].T.tolist(),
        "simulated": run.simulated[::step].T.tolist(),
        "name": str(run.name),
    }


def _kept(run: Run) -> list[dict[str, Any]]:
    try:
        found = json.loads((run.folder / DRAWN).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _drawn(run: Run) -> list[Drawn]:
    """The trajectories, as far as they are numbers; a run of the command line has none here."""
    try:
        return [
            Drawn(_array(kept["t"]), _array(kept["x"]), _array(kept["simulated"]), str(kept["name"]))
            for kept in _kept(run)
        ]
    except (KeyError, TypeError, ValueError):
        return []


def _array(values: Any) -> Any:
    return np.array(values, dtype=np.float64).T  # null, where nothing was measured, becomes nan


def _first(run: Run) -> list[list[float]]:
    kept = _kept(run)
    return kept[0]["simulated"] if kept else []


def _last_time(run: Run) -> float:
    kept = _kept(run)
    return float(kept[0]["t"][-1]) - float(kept[0]["t"][0]) if kept else 10.0
