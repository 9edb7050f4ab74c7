"""What goes wrong around a fit: full disks, callbacks, signals, odd numbers, few rows, constant targets."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from endless import PATIENCE, bumps
from unisymnet import UniSymNetRegressor
from unisymnet.errors import CheckpointError, DataError
from unisymnet.regressor import checkpoint as saving
from unisymnet.regressor.checkpoint import write_atomically

RNG = np.random.default_rng(0)
X = RNG.uniform(1.0, 3.0, (60, 2))
Y = 2.5 * X[:, 0] * X[:, 1] ** 2


def small(**settings) -> UniSymNetRegressor:
    return UniSymNetRegressor(**{"max_time": 20, "proposers": ["monomial", "bases"]} | settings)


def test_a_checkpoint_that_cannot_be_written_costs_nothing() -> None:
    model = small(checkpoint="/dev/null/x").fit(X, Y)
    assert str(model.formula_) == "2.5*x0*x1**2"
    assert [note for note in model.notes_ if "checkpoint" in note] == [
        "the checkpoint in /dev/null/x could not be written (Not a directory); the fit went on without it"
    ]
    assert all(not row.failure for row in model.trace_)


def test_a_callback_that_fails_is_named_and_not_called_again() -> None:
    calls: list[object] = []

    def broken(event: object) -> None:
        calls.append(event)
        raise ZeroDivisionError("mine")

    model = small(callback=broken).fit(X, Y)
    assert str(model.formula_) == "2.5*x0*x1**2" and len(calls) == 1
    assert "the callback raised ZeroDivisionError: mine; it was not called again" in model.notes_
    assert all(not row.failure for row in model.trace_)


def test_a_callback_may_interrupt() -> None:
    def enough(event: object) -> None:
        raise KeyboardInterrupt

    assert small(callback=enough).fit(X, Y).interrupted_


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.json"
    write_atomically(path, "old")

    def full(source: object, target: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(saving.os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert os.listdir(tmp_path) == ["model.json"] and path.read_text() == "old"


CODE = """
import sys
import pandas as pd
from unisymnet import UniSymNetRegressor
table = pd.read_csv(sys.argv[2])
model = UniSymNetRegressor(max_time=3000, checkpoint=sys.argv[1])
model.fit(table[["a", "b", "c"]], table["y"])
print("table", len(model.front_), model.interrupted_, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_keeps_the_table(number: signal.Signals, tmp_path: Path) -> None:
    bumps().to_csv(tmp_path / "bumps.csv", index=False)
    command = [sys.executable, "-c", CODE, str(tmp_path / "saved"), str(tmp_path / "bumps.csv")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + PATIENCE
    while not list(tmp_path.glob("saved/*.json")) and time.monotonic() < limit:
        time.sleep(0.1)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and out.startswith("table ") and out.endswith("True\n"), err


@pytest.mark.parametrize("n_rows", [3, 7, 10, 13, 31])
def test_few_rows_and_many_columns(n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    model = small(max_time=3).fit(rng.normal(size=(n_rows, 14)), rng.normal(size=n_rows))
    assert len(model.front_) >= 1


@pytest.mark.parametrize("value", [3.7, 0.1, 1e-9, -123456.789, 1e100, 0.0])
@pytest.mark.parametrize("n_rows", [10, 30, 99])
def test_a_constant_target_is_that_constant_at_once(value: float, n_rows: int) -> None:
    rows = np.random.default_rng(0).normal(size=(n_rows, 3))
    model = UniSymNetRegressor(max_time=300).fit(rows, np.full(n_rows, value))
    assert model.n_evaluations_ < 100  # searched to the limit, where the mean was taken for the value
    assert model.formula_.columns == () and model.stopped_ == "exact"
    assert model.predict(rows[:1])[0] == value


def test_no_limit_may_be_written_as_infinity() -> None:
    assert str(small(max_time=float("inf")).fit(X, Y).formula_) == "2.5*x0*x1**2"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame({"a": [10**400, 1, 2], "b": [1, 2, 3]}), "column 'a' holds inf .a number too large. in row 0"),
        (pd.DataFrame({"a": [1, pd.NA, 2], "b": [1, 2, 3]}), "column 'a' holds NaN .nothing. in row 1"),
        (pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": [1, 2, 3]}), "column 'a' holds NaN in row 2"),
        (pd.DataFrame({"a": ["1", "x", "2"], "b": [1, 2, 3]}), "column 'a' holds the text 'x' in row 1"),
    ],
)
def test_bad_values_are_named_with_row_and_column(table: pd.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=message):
        small().fit(table, [1.0, 2.0, 3.0])


def test_a_bad_value_at_the_end_of_a_large_table_is_found_quickly() -> None:
    table = np.zeros((200_000, 20))
    table[-1, -1] = np.nan
    small().fit(X, Y)  # everything loaded
    began = time.process_time()
    with pytest.raises(DataError, match="column x19 holds NaN in row 199999"):
        small().fit(table, np.arange(200_000.0))
    taken, began = time.process_time() - began, time.process_time()
    for _ in range(20):
        np.isfinite(table).all()
    assert taken < time.process_time() - began + 1.0  # a look at every value as a Python object takes far longer


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict:
    path = tmp_path_factory.mktemp("model") / "model.json"
    small().fit(X, Y).save(path)
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("fitted", "n_train_"), "<script>"),
        (("fitted", "picked_"), 99),
        (("fitted", "picked_"), -1),
        (("fitted", "notes_"), [1]),
        (("fitted", "seconds_"), None),
        (("params", "max_time"), "soon"),
        (("formulas",), []),
        (("formulas", 0, "complexity"), 1.5),
        (("formulas", 0, "score"), "<b>"),
        (("formulas", 0, "formula", "names"), "ab"),
        (("formulas", 0, "formula", "names"), ["x", 3]),
        (("formulas", 0, "formula", "expression"), "-".join(["x0"] * 900)),
        (("formulas", 0, "formula", "expression"), "x99999999999"),
        (("formulas", 0, "formula", "constants"), [{"value": "1"}]),
        (("trace", 0, "n_proposals"), "<img onerror=x>"),
        (("trace", 0, "n_kept"), None),
        (("trace", 0, "seconds"), {}),
        (("feature_names_in",), 7),
    ],
)
def test_a_damaged_model_is_refused_at_the_door(place: tuple, value: object, written: dict, tmp_path: Path) -> None:
    data = json.loads(json.dumps(written))
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    path = tmp_path / "model.json"
    path.write_text(json.dumps(data))
    with pytest.raises(CheckpointError):
        UniSymNetRegressor.load(path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"version": ' + "9" * 5000 + "}", "", "null", "[]", "\ufeff{}"])
def test_what_is_no_model_at_all(text: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CheckpointError):
        UniSymNetRegressor.load(path)


@pytest.mark.parametrize("change", [{"complexity": None}, {"n_constants": "x"}, {"expression": "x0 +"}, {"source": 3}])
def test_a_damaged_checkpoint_is_told_with_its_cure(change: dict, tmp_path: Path) -> None:
    small(checkpoint=str(tmp_path)).fit(X, Y)
    path = next(tmp_path.glob("front-*.json"))
    data = json.loads(path.read_text())
    data["candidates"][0] |= change
    path.write_text(json.dumps(data))
    with pytest.raises(CheckpointError, match="delete the file to start afresh"):
        small(checkpoint=str(tmp_path)).fit(X, Y)
