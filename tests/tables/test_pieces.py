"""Tables read in pieces: the sample, constants and scores over all rows, and the command on a pattern of files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from unisymnet.cli.app import app
from unisymnet.errors import DataError
from unisymnet.files.pieces import is_many, open_pieces
from unisymnet.files.table import read_table
from unisymnet.formula import Formula
from unisymnet.formula.constants import refit as refit_at_once
from unisymnet.tables.by_pieces import refit, score


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pieces")
    rng = np.random.default_rng(0)
    for part in range(3):
        table = pd.DataFrame({"t [s]": rng.uniform(0.1, 2.0, 30_000), "m": rng.uniform(1.0, 3.0, 30_000)})
        table["y"] = 2.5 * table["m"] * np.exp(-0.7 * table["t [s]"]) + 0.01 * rng.normal(size=30_000)
        table.loc[5, "m"] = np.nan
        table.to_parquet(place / f"part{part}.parquet")
        table.to_csv(place / f"part{part}.csv", index=False)
    return place


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_all_rows_come_in_order_and_a_sample_is_drawn(folder: Path, kind: str) -> None:
    pieces = open_pieces(str(folder / f"*.{kind}"))
    assert pieces.n_rows == 90_000 and pieces.names == ("t [s]", "m", "y")
    parts = [np.column_stack(rows) for part in pieces.parts(["m", "y"], False) for rows in part()]
    rows = np.concatenate(parts)
    whole = pd.concat([pd.read_csv(folder / f"part{i}.csv") for i in range(3)])
    assert np.allclose(rows, whole[["m", "y"]], equal_nan=True)
    sample = pieces.sample(1000)
    assert len(sample) == 1000 and sample.equals(pieces.sample(1000))


def test_constants_and_scores_by_pieces_are_those_of_all_rows(folder: Path) -> None:
    table = read_table(str(folder / "*.parquet"), target="y")
    assert table.pieces is not None and len(table.y) <= 50_000 and "drawn at random" in table.notes[0]
    start = Formula.parse("2.2345*m*exp(-0.6123*t)", names=list(table.X.columns), target="y")
    found = refit(start, table.batches)
    whole = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))]).dropna()
    X, y = whole[["t [s]", "m"]].to_numpy(), whole["y"].to_numpy()
    _, constants = refit_at_once(start.expr, X, y)
    assert np.allclose([c.value for c in found.constants], [c.value for c in constants], rtol=1e-6)
    errors = [c.stderr for c in found.constants if c.stderr]
    assert np.allclose(errors, [c.stderr for c in constants if c.stderr], rtol=0.02)
    totals = score([found], table.batches)
    assert totals.n_rows == len(y) and totals.n_left_out == 3
    assert totals.r2[0] == pytest.approx(found.score(X, y), abs=1e-9)


def test_fit_on_a_pattern_of_files(folder: Path, tmp_path: Path) -> None:
    asked = ["fit", str(folder / "*.parquet"), "--target", "y", "--max-time", "20", "--json", "--out"]
    done = CliRunner().invoke(app, [*asked, str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert any("all 89997 rows" in note for note in result["notes"])
    assert result["equations"][result["picked"]]["r2"] > 0.9


def test_what_is_read_in_pieces(folder: Path, tmp_path: Path) -> None:
    assert is_many(str(folder / "*.csv")) and is_many(str(folder))
    assert not is_many(str(folder / "part0.csv")) and not is_many("-")
    with pytest.raises(DataError, match="no file matches"):
        open_pieces(str(tmp_path / "*.parquet"))
    with pytest.raises(DataError, match="of one kind"):
        open_pieces(str(folder))


def test_weights_and_partitions_count_as_all_rows_at_once(folder: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for path in sorted(folder.glob("*.parquet")):
        frame = pd.read_parquet(path).dropna()
        frame.assign(w=rng.uniform(0.0, 2.0, len(frame))).to_parquet(tmp_path / path.name)
    table = read_table(str(tmp_path / "*.parquet"), target="y", weights="w")
    start = Formula.parse("2.2345*m*exp(-0.6123*t)", names=list(table.X.columns), target="y")
    found = refit(start, table.parts(), 2)
    whole = pd.concat([pd.read_parquet(path) for path in sorted(tmp_path.glob("*.parquet"))])
    X, y, w = whole[["t [s]", "m"]].to_numpy(), whole["y"].to_numpy(), whole["w"].to_numpy()
    _, constants = refit_at_once(start.expr, X, y, w)
    assert np.allclose([c.value for c in found.constants], [c.value for c in constants], rtol=1e-6)
    totals = score([found], table.parts(), 2)
    assert totals.n_rows == len(y) and totals.r2[0] == pytest.approx(found.score(X, y, w), abs=1e-9)
    assert [c.value for c in refit(start, table.parts(), 1).constants] == [c.value for c in found.constants]


def test_partitions_on_a_dask_cluster(folder: Path) -> None:
    distributed = pytest.importorskip("distributed")
    joblib = pytest.importorskip("joblib")
    table = read_table(str(folder / "*.parquet"), target="y")
    start = Formula.parse("2.2345*m*exp(-0.6123*t)", names=list(table.X.columns), target="y")
    here = refit(start, table.parts())
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        there = refit(start, table.parts(), None)
    assert there == here


def test_words_are_left_out_of_pieces_and_groups_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": np.arange(20.0), "kind": ["u", "v"] * 10, "y": np.arange(20.0)})
    frame.to_parquet(tmp_path / "one.parquet")
    table = read_table(str(tmp_path), target="y")
    assert list(table.X.columns) == ["a"] and any("kind holds text" in note for note in table.notes)
    with pytest.raises(DataError, match="in pieces takes numbers only"):
        read_table(str(tmp_path), target="y", missing="indicator")
    with pytest.raises(DataError, match="where groups does not work"):
        read_table(str(tmp_path), target="y", groups="kind")
