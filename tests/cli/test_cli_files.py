"""Data files as people have them, through the command line: Excel, Parquet, TSV, stdin, decimal commas."""

import builtins
import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unisymnet import DataError
from unisymnet.cli import main
from unisymnet.files.read import read_frame
from unisymnet.files.table import read_table

FRAME = pd.DataFrame({"site": ["a", "b", "c"], "u": [1.5, 2.5, -3.25], "n": [1, 2, 3], "y": [3.0, 5.0, 1e-7]})


def block(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Pretend that packages are not installed, also to code that looks for them anew."""
    real = builtins.__import__

    def without(name: str, *rest: object, **named: object) -> object:
        if name.split(".")[0] in names:
            raise ImportError(f"No module named {name!r}")
        return real(name, *rest, **named)  # type: ignore[arg-type]

    for module in [m for m in sys.modules if m.split(".")[0] in names]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", without)


def same(path: Path) -> None:
    table = read_table(str(path), target="y")
    assert list(table.X.columns) == ["u", "n"]
    assert np.array_equal(table.X.to_numpy(), FRAME[["u", "n"]].to_numpy())
    assert table.y.tolist() == FRAME.y.tolist()
    assert any("column left out: site holds text ('a' in row 0); it holds" in note for note in table.notes)


def test_excel(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    FRAME.to_excel(tmp_path / "t.xlsx", index=False)
    same(tmp_path / "t.xlsx")


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    FRAME.to_parquet(tmp_path / "t.parquet")
    same(tmp_path / "t.parquet")


def test_parquet_with_polars_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    polars = pytest.importorskip("polars")
    polars.DataFrame({name: FRAME[name].tolist() for name in FRAME}).write_parquet(tmp_path / "t.pq")

    def missing(path: str, **options: object) -> None:
        raise ImportError("no engine")

    monkeypatch.setattr(pd, "read_parquet", missing)
    same(tmp_path / "t.pq")


@pytest.mark.parametrize(
    ("name", "reader", "cure"),
    [("t.xlsx", "ExcelFile", "pip install openpyxl"), ("t.parquet", "read_parquet", "pip install pyarrow")],
)
def test_a_missing_reader_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reader: str, cure: str
) -> None:
    def missing(path: str, **options: object) -> None:
        raise ImportError("Missing optional dependency")

    (tmp_path / name).write_bytes(b"x")
    monkeypatch.setattr(pd, reader, missing)
    block(monkeypatch, "polars")
    with pytest.raises(DataError, match=cure):
        read_frame(str(tmp_path / name))


@pytest.mark.parametrize("name", ["t.xlsx", "t.parquet"])
def test_a_file_that_is_something_else(tmp_path: Path, name: str) -> None:
    pytest.importorskip({"t.xlsx": "openpyxl", "t.parquet": "pyarrow"}[name])
    (tmp_path / name).write_bytes(b"this is no such file")
    with pytest.raises(DataError, match=f"{name} cannot be read as a table"):
        read_frame(str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("t.tsv", {"sep": "\t"}),
        ("t.txt", {"sep": " "}),
        ("t.csv", {"sep": ";", "decimal": ","}),
        ("t.tsv", {"sep": "\t", "decimal": ","}),
        ("t.csv", {"encoding": "utf-16"}),
    ],
)
def test_text_in_several_dialects(tmp_path: Path, name: str, options: dict[str, str]) -> None:
    FRAME.to_csv(tmp_path / name, index=False, **options)  # type: ignore[call-overload]
    same(tmp_path / name)


def test_a_fit_from_stdin_in_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    u = np.linspace(1.0, 4.0, 40)
    text = pd.DataFrame({"u": u, "y": 3.0 * u**2}).to_csv(sep=";", decimal=",", index=False)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    monkeypatch.setattr(sys, "argv", ["unisymnet", "fit", "-", "--json", "--max-time", "20"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert not ended.value.code and said.err == ""
    found = json.loads(said.out)
    assert found["formula"]["formula"] == "3*u**2" and found["run"] == "stdin-run"
    assert "read_table('-', target='y')" in found["python"]
