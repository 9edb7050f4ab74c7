"""Runs that look for differential equations: asked, found, shown, simulated from another start."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from unisymnet import DataError, System
from unisymnet.cli.motion.dynamics import place_so_far
from unisymnet.serve.asking import checked_system
from unisymnet.serve.events import Log, read_events
from unisymnet.serve.runs import Run
from unisymnet.serve.systems import (
    going_on,
    search_system,
    simulated,
    system_command,
    system_python,
    system_report,
    system_summary,
    system_view,
)

ASKED = {"kind": "dynamics", "data": "decay.csv", "time": "t", "states": ["x"], "settings": {"max_time": 200}}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """x' = -0.7 x, measured without noise."""
    folder = tmp_path_factory.mktemp("decay")
    t = np.linspace(0.0, 5.0, 60)
    pd.DataFrame({"t": t, "x": 3.0 * np.exp(-0.7 * t)}).to_csv(folder / "decay.csv", index=False)
    asked = checked_system(ASKED) | {"data": str(folder / "decay.csv"), "part": 1}
    found = Run(folder / "run", "run")
    found.folder.mkdir()
    found.ask(asked)
    log = Log(found.folder)
    search_system(found.folder, asked, log)
    log.close()
    return found


def test_the_system_is_found_and_shown(run: Run) -> None:
    kinds = [event["kind"] for event in read_events(run.folder)]
    assert kinds[:2] == ["queued", "start"] and kinds[-1] == "end"
    assert run.is_system() and run.state() == "done"
    view = system_view(run, "done", "decay.csv")
    assert view["states"] == ["x"] and "<math" in view["equations"][0] and "Phase portrait" in view["html"]
    assert {source["language"] for source in view["sources"]} == {"latex", "python", "c", "julia", "matlab"}
    assert view["start"][0] == pytest.approx(3.0, rel=1e-3) and view["until"] == pytest.approx(5.0)
    assert "<math" in system_summary(run)["math"] and system_report(run).startswith("<!DOCTYPE html>")


def test_equations_are_told_as_they_are_found(run: Run) -> None:
    events = read_events(run.folder)
    told = [event for event in events if event["kind"] in ("rate", "system")]
    assert {event["kind"] for event in told} == {"rate", "system"}
    assert all("<math" in event["equations"][0] for event in told)
    assert events[-1]["stopped"] == "system" and not (run.folder / "so-far.json").exists()


def test_a_wish_to_stop_keeps_the_best_system(tmp_path: Path) -> None:
    """The wish stands before the search begins: it must end with a system all the same."""
    t = np.linspace(0.0, 20.0, 200)
    truth = System.parse({"a": "1.1*a - 0.4*a*b", "b": "0.1*a*b - 0.4*b"}).simulate([10.0, 5.0], t)
    noisy = truth * (1.0 + 0.1 * np.random.default_rng(0).normal(size=truth.shape))
    pd.DataFrame({"t": t, "a": noisy[:, 0], "b": noisy[:, 1]}).to_csv(tmp_path / "hunt.csv", index=False)
    found = Run(tmp_path / "run", "run")
    found.folder.mkdir()
    wish = {"data": str(tmp_path / "hunt.csv"), "states": ["a", "b"], "settings": {"max_time": 3000}}
    found.ask(checked_system(ASKED | wish) | {"part": 1})
    found.stop()
    code = "import sys; from pathlib import Path; from unisymnet.serve.worker import search; search(Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(found.folder)], check=True)
    end = read_events(found.folder)[-1]
    assert (end["kind"], end["stopped"]) == ("end", "interrupted")
    view = system_view(found, found.state(), None)
    assert view["states"] == ["a", "b"] and len(view["equations"]) == 2
    wish = going_on(found, found.asked() or {}, 7)
    assert set(wish["guesses"]) == {"a", "b"} and wish["settings"]["max_time"] == 7


def test_a_killed_search_shows_the_best_system(run: Run, tmp_path: Path) -> None:
    """As a kill leaves the folder: the wish, events without an end, and the file of the best so far."""
    lost = Run(tmp_path, "lost")
    (tmp_path / "asked.json").write_text((run.folder / "asked.json").read_text("utf-8"), encoding="utf-8")
    log = Log(tmp_path)
    log.write("start")
    log.close()
    System.load(run.folder / "model.json").save(place_so_far(tmp_path))
    assert lost.state() == "lost" and system_view(lost, "lost", None)["states"] == ["x"]
    assert place_so_far(tmp_path).name == "so-far.json"  # what is there already is not replaced by half of a search
    wish = going_on(lost, lost.asked() or {}, 5)
    log = Log(tmp_path)
    search_system(tmp_path, wish | {"part": 2}, log)
    log.close()
    assert lost.state() == "done" and not (tmp_path / "so-far.json").exists()
    assert System.load(tmp_path / "model.json").rhs([2.0]) == pytest.approx([-1.4], rel=1e-3)


def test_it_can_be_simulated_from_another_start(run: Run) -> None:
    found = simulated(run, {"start": [1.0], "until": 2.0})
    assert found["x"][0][-1] == pytest.approx(np.exp(-1.4), rel=1e-3)
    for wrong in ({"start": [1.0, 2.0], "until": 2.0}, {"start": [None], "until": 2.0}, {"start": [1.0], "until": -1}):
        with pytest.raises(DataError):
            simulated(run, wrong)


def test_damaged_drawings_are_left_out(run: Run, tmp_path: Path) -> None:
    copy = Run(tmp_path, "copy")
    for name in ("model.json", "asked.json"):
        (tmp_path / name).write_text((run.folder / name).read_text("utf-8"), encoding="utf-8")
    (tmp_path / "drawn.json").write_text(json.dumps([{"t": ["<script>"]}]), encoding="utf-8")
    assert "<script>" not in system_report(copy)
    (tmp_path / "drawn.json").unlink()
    assert "Phase portrait" in system_view(copy, "done", None)["html"]
    (tmp_path / "asked.json").unlink()
    assert copy.is_system()  # as the command line writes it


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"states": []}, "at least one state"),
        ({"time": None}, "column of the time"),
        ({"states": ["x", "t"]}, "not two of them"),
        ({"inputs": ["x"]}, "not two of them"),
        ({"settings": {"max_time": 0}}, "number of seconds"),
        ({"settings": {"order": 3}}, "1 or 2"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        checked_system(ASKED | change)


def test_the_commands_do_the_same() -> None:
    asked = checked_system(ASKED | {"trajectory": "run", "settings": {"max_time": 5, "order": 2}})
    assert system_command(asked) == (
        "unisymnet dynamics decay.csv --time t --states x --trajectory run --order 2 --max-time 5"
    )
    assert (
        "DynamicsRegressor(max_time=5, order=2).fit(table, time='t', states=['x'], trajectory='run')"
        in system_python(asked)
    )
