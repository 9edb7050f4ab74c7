"""`unisymnet dynamics` and `simulate`, the page they write, and the benchmark's judge."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from unisymnet import System
from unisymnet.bench.odes.catalog import read_tasks
from unisymnet.bench.odes.judging import judge_system
from unisymnet.bench.odes.run import Setting, run_systems, summary
from unisymnet.cli.app import app
from unisymnet.errors import DataError
from unisymnet.report.system_page import Run, system_html

runner = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dynamics")
    t = np.linspace(0.0, 10.0, 80)
    x = System.parse({"n": "0.9*n*(1 - n/5)"}).simulate([0.4], t)[:, 0]
    pd.DataFrame({"day": t, "n": x, "note": "a"}).to_csv(place / "growth.csv", index=False)
    out = place / "run"
    told = runner.invoke(app, ["dynamics", str(place / "growth.csv"), "--time", "day", "--out", str(out)])
    assert told.exit_code == 0, told.output
    assert "n' = " in told.output and "fixed point (stable node): n = 5" in told.output
    return place


def test_a_run_can_be_simulated_and_exported(folder: Path) -> None:
    told = runner.invoke(app, ["simulate", str(folder / "run"), "--from", "1", "--until", "20", "--points", "5"])
    rows = list(csv.DictReader(told.output.splitlines()))
    assert [float(row["day"]) for row in rows] == [0.0, 5.0, 10.0, 15.0, 20.0]
    assert float(rows[-1]["n"]) == pytest.approx(5.0, rel=1e-3)
    assert "def rates(day, state)" in runner.invoke(app, ["simulate", str(folder / "run"), "--to", "python"]).output
    assert json.loads((folder / "run" / "model.json").read_text())["schema"] == "unisymnet-dynamics"
    wrong = runner.invoke(app, ["simulate", str(folder / "run"), "--from", "1,2"])
    assert wrong.exit_code == 2 and "needs 1 numbers" in wrong.output


def test_the_page_stands_alone_and_escapes_names(folder: Path) -> None:
    page = (folder / "run" / "report.html").read_text("utf-8")
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")
    assert page.count("<svg") == 3 and "stable node" in page
    evil = System.parse({"<b>x": "1 - `<b>x`", "y": "-y"})
    t = np.linspace(0.0, 1.0, 20)
    states = evil.simulate([0.1, 1.0], t)
    page = system_html(evil, [Run(t, states, states, "<i>")], ["<script>"])
    assert "<b>" not in page and "<i>" not in page and "<script>" not in page


def _catalog(place: Path) -> Path:
    with open(place / "odebench.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "dim", "rhs", "constants", "init_1", "init_2"])
        writer.writerow([1, 1, "c_0 - c_1 * x_0^2", "[2.0, 0.5]", "[0.1]", "[4.0]"])
    return place


def test_the_judge_knows_the_form_the_rate_and_too_many_terms(tmp_path: Path) -> None:
    (task,) = read_tasks(str(_catalog(tmp_path)))
    right = judge_system(task, System.parse({"x": "2*1.1 - 0.5*x**2"}))
    assert right["form"] and right["strict"] and not right["true"] and right["r2"] > 0.9
    more = judge_system(task, System.parse({"x": "2 - 0.5*x**2 + 0.0001*x"}))
    assert not more["form"] and more["true"] and more["r2_second"] > 0.999
    other = judge_system(task, System.parse({"x": "2 - 1.2*x"}))
    assert not other["form"] and not other["true"]
    assert judge_system(task, None)["r2"] is None


def test_the_suite_runs_and_remembers(tmp_path: Path) -> None:
    _catalog(tmp_path)
    out = str(tmp_path / "records.jsonl")
    setting = Setting(max_time=20.0)
    tasks = read_tasks(str(tmp_path))
    first = run_systems(tasks, setting, out)
    assert first[0]["form"] and first[0]["strict"]
    assert run_systems(tasks, setting, out) == first
    assert summary(first).startswith("reconstruction 1, second start 1")
    with pytest.raises(DataError, match="choose one of"):
        run_systems(tasks, Setting(method="guess"), out)
    with pytest.raises(DataError, match="--data"):
        read_tasks(None)
