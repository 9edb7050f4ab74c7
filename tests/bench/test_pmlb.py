"""SRBench's protocol on a folder of small tables: runs, resuming, figures of others beside ours."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from unisymnet.bench.pmlb import SEEDS, find_published, read_published, report, run_tables, tables_in
from unisymnet.cli.app import app
from unisymnet.errors import DataError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    place = tmp_path / "sets"
    place.mkdir()
    for name, suffix in (("line", ".csv.gz"), ("wave", ".tsv")):
        x = rng.uniform(0.0, 3.0, (60, 2))
        y = 2.0 * x[:, 0] + x[:, 1] if name == "line" else x[:, 0] * x[:, 1]
        table = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "target": y + 0.01 * rng.normal(size=60)})
        table.to_csv(place / f"{name}{suffix}", index=False, sep="\t" if suffix == ".tsv" else ",")
    rows = "algorithm,dataset,r2_test,model_size\n*Best,line,0.5,10\n*Best,wave,0.999999,12\nOther,line,,3\n"
    (tmp_path / "pmlb_published.csv").write_text(rows)
    return place


def test_runs_are_made_once_and_compared(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    asked = {"seeds": 1, "goal": "predict", "max_time": 20.0}
    records = run_tables(folder, out, **asked)
    assert [r["run"]["table"] for r in records] == ["line", "wave"] and records[0]["run"]["seed"] == SEEDS[0]
    assert all(r["r2"] > 0.99 and r["n_train"] == 45 for r in records)
    out.write_text(out.read_text() + '{"cut off')
    assert run_tables(folder, out, **asked) == records  # nothing is run again
    path = find_published(folder)
    assert path is not None
    sets, kinds, duels, ranks = report(records, read_published(path))
    assert kinds.rows[0][:2] == ("all", 2) and "gradient boosting on the same rows" in kinds.note
    assert {row[0] for row in ranks.rows} == {"unisymnet (here)", "Best"}  # Other lacks a set
    assert sum(row[1] for row in ranks.rows) == pytest.approx(3.0) and "Nemenyi" in ranks.note
    assert duels.rows[1][:2] == ("Best", 2) and duels.rows[1][4:] == (1, 1, 0)
    assert sets.rows[0][0] == "line" and "none" in sets.note


def test_the_command_prints_tables(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "cli.jsonl"
    asked = ["bench", "pmlb", "--data", str(folder), "--problems", "line", "--max-time", "20", "--out", str(out)]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0 and "we win" in done.output and "1 records" in done.output
    assert json.loads(out.read_text().splitlines()[0])["suite"] == "pmlb"


def test_mistakes_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no folder"):
        tables_in(tmp_path / "nowhere")
    with pytest.raises(DataError, match="holds no file"):
        tables_in(tmp_path)
    with pytest.raises(DataError, match="--seeds must be between 1 and 10"):
        run_tables(tmp_path, tmp_path / "x.jsonl", seeds=11, goal="law", max_time=1.0)
