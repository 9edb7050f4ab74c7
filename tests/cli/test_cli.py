"""The command line: every command, every kind of file, every exit code."""

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from endless import PATIENCE, bumps
from unisymnet import DataError
from unisymnet.cli import main
from unisymnet.files.dialect import detect
from unisymnet.files.read import read_frame
from unisymnet.files.table import read_table

X = np.random.default_rng(0).uniform(1.0, 5.0, (100, 2))
FRAME = pd.DataFrame({"m": X[:, 0], "v": X[:, 1], "E": 0.5 * X[:, 0] * X[:, 1] ** 2})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("data.csv", index=False)
    return tmp_path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["unisymnet", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        code = ended.value.code
        return (0 if code is None else int(code)), captured.out, captured.err

    return call


def test_help_is_quick_because_it_loads_no_large_library() -> None:
    code = (
        "import atexit, sys\nfrom unisymnet.cli import main\n"
        "large = {'sklearn', 'numba', 'sympy', 'pandas', 'scipy', 'torch', 'onnxruntime'}\n"
        "atexit.register(lambda: print('large:', *large & set(sys.modules)))\nmain()"
    )
    command = [sys.executable, "-c", code, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert "Formulas from data" in done.stdout and done.stdout.split("large:")[1].split() == []


def test_fit_show_predict_export(here: Path, run) -> None:
    code, out, err = run("fit", "data.csv", "--target", "E", "--max-time", "20", "--out", "result")
    assert code == 0, err
    assert "0.5*m*v**2" in out and ">>>" in out and "Next: unisymnet export result --to latex" in out
    assert "100 rows, E from m, v" in err
    python = out.split("The same in Python:\n")[1].split("\nSaved in")[0]
    assert "UniSymNetRegressor(max_time=20.0, random_state=0).fit(table.X, table.y)" in python

    assert "0.5*m*v**2" in run("show", "result")[1]
    assert run("show", "result/model.json", "--pick", "0")[1].startswith("E = ")
    assert json.loads(run("show", "result", "--json")[1])["schema"] == "unisymnet-model"
    assert run("export", "result", "--to", "excel")[1] == "=0.5*A2*B2^2\n"
    assert "return 0.5*m*v**2" in run("export", "result", "--to", "python")[1]
    assert "v^{2}" in run("export", "result", "--to", "latex")[1]
    assert run("export", "result", "--to", "cobol")[0] == 2
    assert run("show", "result", "--pick", "77")[0] == 3
    assert run("show", "nowhere")[0] == 3

    assert run("report", "result", "data.csv", "-o", "page.html")[0] == 0
    assert Path("page.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")

    pd.DataFrame({"v": [2.0, 3.0], "note": ["a", "b"], "m": [1.0, 2.0]}).to_csv("new.csv", index=False)
    code, out, _ = run("predict", "result", "new.csv")
    assert code == 0 and list(pd.read_csv(io.StringIO(out))["E_predicted"]) == [2.0, 9.0]
    code, _, err = run("predict", "result", "new.csv", "--interval", "0.95")  # an exact law has no noise
    assert code == 3 and "nothing is known about the noise" in err
    assert run("predict", "result", "new.csv", "--out", "found.csv")[0] == 0
    assert list(pd.read_csv("found.csv").columns) == ["v", "note", "m", "E_predicted"]
    code, _, err = run("predict", "result", "data.csv", "--delimiter", ";")
    assert code == 3 and "needs the column 'm'" in err


def test_the_python_that_fit_prints_runs(here: Path, run) -> None:
    FRAME.to_csv("german.csv", index=False, sep=";", decimal=",")
    out = run("fit", "german.csv", "-t", "E", "--max-time", "20", "-q", "--guess", "a*m*v**2")[1]
    python = out.split("The same in Python:\n")[1].split("\nSaved in")[0]
    lines = "\n".join(line.removeprefix("  ") for line in python.splitlines())
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert "0.5*m*v**2" in done.stdout


def test_json_is_all_there_is(here: Path, run) -> None:
    code, out, err = run("fit", "data.csv", "-t", "E", "--max-time", "20", "--json", "--features", "m,v")
    found = json.loads(out)
    assert code == 0 and err == ""
    assert found["formula"]["formula"] == "0.5*m*v**2" and found["formula"]["latex"]
    assert found["equations"][found["picked"]]["picked"] and found["run"] == "data-run"
    assert Path("data-run", "equations.csv").exists()


def test_score_and_refit(here: Path, run) -> None:
    code, out, _ = run("score", "data.csv", "a*m*v**2 + b", "--target", "E", "--json")
    assert code == 0 and json.loads(out)["r2"] == pytest.approx(1.0)
    assert "R² = 1.000000 on 100 rows" in run("score", "data.csv", "a*m*v**2", "-t", "E")[1]
    code, _, err = run("score", "data.csv", "a*m*+", "-t", "E")
    assert code == 3 and "^" in err
    run("fit", "data.csv", "-t", "E", "--max-time", "20", "-q", "--out", "result")
    FRAME.assign(E=FRAME["E"] * 3).to_csv("other.csv", index=False)
    code, out, _ = run("refit", "result", "other.csv", "--json")
    assert code == 0 and json.loads(out)["constants"][0]["value"] == pytest.approx(1.5)


def test_check_says_what_will_be_hard(here: Path, run) -> None:
    table = FRAME.head(15).assign(id=range(15), one=1.0, site="A", again=FRAME["m"])
    table.loc[3, "v"] = np.nan
    table.to_csv("hard.csv", index=False)
    code, out, _ = run("check", "hard.csv", "-t", "E")
    assert code == 0
    for text in (
        "only 15 rows",
        "v has a missing value",
        "id only numbers the rows",
        "one is constant",
        "m and again are the same",
    ):
        assert text in out, text
    found = json.loads(run("check", "data.csv", "--json")[1])
    assert found["target"] == "E" and found["rows"] == 100 and found["warnings"] == []
    FRAME.loc[FRAME.index.repeat(2)].assign(E=np.arange(200.0)).to_csv("twice.csv", index=False)
    assert "noise of about 0.707" in run("check", "twice.csv")[1]


def test_info_and_bench_list(run) -> None:
    found = json.loads(run("info", "--json")[1])
    assert found["libraries"]["numpy"] == np.__version__ and found["cores"] >= 1
    assert "numpy" in run("info")[1]
    assert "feynman" in run("bench", "list")[1]
    assert run("bench", "feynman")[0] == 2
    assert run("bench", "nothing", "--out", "x.jsonl")[0] == 3
    assert run("fit")[0] == 2 and run("conquer")[0] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n1,2\n3,x\n", "b holds text ('x' in row 1); the target"),
        ("a,b\nx,1\ny,2\n", "no column of numbers besides the target 'b'"),
        ("a,b\n1,\n,2\n", "has no row in which all of a, b are given"),
    ],
)
def test_bad_tables_end_with_code_3(here: Path, run, text: str, message: str) -> None:
    Path("bad.csv").write_text(text)
    code, out, err = run("fit", "bad.csv")
    assert code == 3 and out == "" and message in err


def test_unknown_files_and_columns_end_with_code_3(here: Path, run) -> None:
    assert "there is no file 'none.csv'" in run("fit", "none.csv")[2]
    assert "no column 'z'; it has m, v, E" in run("fit", "data.csv", "-t", "z")[2]
    code, _, err = run("fit", "data.csv", "-t", "E", "--operators", "+,sni")
    assert code == 3 and "'sni' is not known" in err


@pytest.mark.parametrize(
    ("raw", "delimiter", "decimal", "header", "encoding"),
    [
        (b"a,b\n1,2\n3,4\n", ",", ".", True, "utf-8"),
        (b"1.5,2\n3,4\n", ",", ".", False, "utf-8"),
        (b"a;b\n1,5;2,25\n3,0;4,5\n", ";", ",", True, "utf-8"),
        (b"a\tb\n1\t2\n", "\t", ".", True, "utf-8"),
        (b"a  b\n1  2\n3 4\n", " ", ".", True, "utf-8"),
        (b"a|b\n1|2\n", "|", ".", True, "utf-8"),
        (b"\xef\xbb\xbfa,b\n1,2\n", ",", ".", True, "utf-8"),
        ("größe,b\n1,2\n".encode("cp1252"), ",", ".", True, "cp1252"),
        ("größe,b\n1,2\n".encode("utf-16"), ",", ".", True, "utf-16-le"),
        (b"# made by a machine\na,b\n1,2\n", ",", ".", True, "utf-8"),
        (b'name;"a, b";c\nx;1,5;2\n', ";", ",", True, "utf-8"),
        (b"only\n1\n2\n", ",", ".", True, "utf-8"),
    ],
)
def test_dialects(raw: bytes, delimiter: str, decimal: str, header: bool, encoding: str, tmp_path: Path) -> None:
    found = detect(raw)
    assert (found.delimiter, found.decimal, found.header, found.encoding) == (delimiter, decimal, header, encoding)
    (tmp_path / "t.csv").write_bytes(raw)
    frame, _ = read_frame(str(tmp_path / "t.csv"))
    assert len(frame) == raw.decode(encoding).count("\n") - header - raw.startswith(b"#")
    assert frame.select_dtypes("number").shape[1] >= 1


def test_rows_and_columns_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("site,a,b,w\nx,1,2,1\ny,,3,1\nz,2,4,2\n")
    table = read_table(str(path), target="b", weights="w")
    assert list(table.X.columns) == ["a"] and list(table.y) == [2.0, 4.0] and list(table.weights) == [1.0, 2.0]
    assert any("column left out: site holds text ('x' in row 0); it holds" in note for note in table.notes)
    assert "1 of 3 rows left out: a value is missing (first: row 1, a)" in table.notes
    with pytest.raises(DataError, match="site holds text"):
        read_table(str(path), target="b", features=["site"])


def test_stdin_and_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    polars = pytest.importorskip("polars")
    polars.DataFrame({"a": [1.0, 2.0], "y": [2.0, 4.0]}).write_parquet(tmp_path / "t.parquet")
    assert read_table(str(tmp_path / "t.parquet")).y.tolist() == [2.0, 4.0]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,y\n1,2\n")))
    assert read_table("-").y.tolist() == [2.0]
    (tmp_path / "t.xlsx").write_bytes(b"not a workbook")
    with pytest.raises(DataError, match=r"t\.xlsx (needs one more package|cannot be read)"):
        read_frame(str(tmp_path / "t.xlsx"))


def test_an_interrupt_saves_the_best_and_ends_with_130(here: Path) -> None:
    bumps().to_csv("bumps.csv", index=False)
    command = [sys.executable, "-c", "from unisymnet.cli import main; main()", "fit", "bumps.csv", "--max-time", "3000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while not list(here.glob("bumps-run/checkpoint/*.json")) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "Stopped early; this is the best so far." in out
    assert json.loads((here / "bumps-run" / "model.json").read_text())["fitted"]["interrupted_"] is True


def test_the_list_of_commands_is_not_cut(run) -> None:
    code, out, _ = run("--help")
    assert code == 0 and out.count("\n  ") > 19 and "..." not in out.split("Commands:")[1]
