"""The folder of a fit: nothing of others is touched, nothing found is lost; and the Python that fit prints."""

import io
import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from report.models import energy
from unisymnet import Formula, UniSymNetRegressor
from unisymnet.cli import main
from unisymnet.cli.folder import prepare_folder
from unisymnet.cli.screen import print_result, print_table
from unisymnet.errors import DataError
from unisymnet.regressor import checkpoint

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"date": "2020-01-05", "m": RNG.uniform(1, 3, 40), "note": 1.0, "v": RNG.uniform(1, 3, 40)})
TABLE["E"] = 0.5 * TABLE["m"] * TABLE["v"] ** 2


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("data.csv", index=False)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["unisymnet", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


def fit(call, *more: str) -> tuple[int, str, str]:
    return call("fit", "data.csv", "--max-time", "20", "-q", *more)


def test_what_a_fit_did_not_make_stays(call) -> None:
    precious = Path("proj/checkpoint/precious.bin")
    precious.parent.mkdir(parents=True)
    precious.write_text("years of work")
    Path("proj/checkpoint/front-of-house.json").write_text("a plan")
    assert fit(call, "--out", "proj")[0] == 0
    assert precious.read_text() == "years of work" and Path("proj/checkpoint/front-of-house.json").exists()
    fronts = list(Path("proj/checkpoint").glob("front-????????????????.json"))
    assert len(fronts) == 1
    fronts[0].write_text("damaged")
    assert fit(call, "--out", "proj")[0] == 0  # our own, replaced


@pytest.mark.parametrize("name", ["model.json", "equations.csv", "data.json", "checkpoint"])
def test_files_of_others_with_our_names_are_not_replaced(name: str, call) -> None:
    Path("proj").mkdir()
    Path("proj", name).write_text('{"mine": 1}')
    code, _, err = fit(call, "--out", "proj")
    assert code == 3 and f"proj/{name} already exists" in err
    assert Path("proj", name).read_text() == '{"mine": 1}'


def test_a_link_is_not_followed(call, tmp_path: Path) -> None:
    Path("elsewhere").mkdir()
    Path("elsewhere/front-0123456789abcdef.json").write_text("x")
    Path("proj").mkdir()
    Path("proj/checkpoint").symlink_to(tmp_path / "elsewhere")
    assert fit(call, "--out", "proj")[0] == 3
    assert Path("elsewhere/front-0123456789abcdef.json").exists()


@pytest.mark.parametrize("out", ["/proc/x", "data.csv", "data.csv/sub", "/dev/null/x", "a\0b"])
def test_a_folder_that_cannot_be_is_told_before_the_search(out: str, call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UniSymNetRegressor, "fit", lambda *a, **k: pytest.fail("searched in vain"))
    code, _, err = fit(call, "--out", out)
    assert code == 3 and err.count("\n") <= 4 and "Traceback" not in err


def test_a_result_that_cannot_be_written_is_printed_and_kept_elsewhere(call, monkeypatch: pytest.MonkeyPatch) -> None:
    write = checkpoint.write_atomically

    def full(path, text):
        if path.parent == Path("result"):
            raise OSError(28, "No space left on device")
        write(path, text)

    monkeypatch.setattr(checkpoint, "write_atomically", full)
    code, out, _ = fit(call, "--out", "result")
    assert code == 0 and "0.5*m*v**2" in out
    assert "note: result cannot be written (No space left on device); the result is in /" in out
    where = out.split("the result is in ")[1].split()[0]
    assert str(UniSymNetRegressor.load(Path(where, "model.json")).formula_) == "0.5*m*v**2"


def test_the_python_does_what_the_command_did(call) -> None:
    frame = TABLE.copy()
    frame.loc[6, "v"] = np.nan
    frame = pd.concat([frame, frame.head(5)])
    Path("data.csv").write_text("# by hand\n" + frame.to_csv(index=False, sep=";", decimal=","))
    code, out, _ = fit(call, "--target", "E", "--drop", "note", "--out", "my run")
    assert code == 0
    python = out.split("The same in Python:\n")[1].split("\nSaved in")[0]
    space: dict = {}
    exec("\n".join(line.removeprefix("  ") for line in python.splitlines()), space)
    saved = UniSymNetRegressor.load("my run/model.json")
    assert [str(e.formula) for e in space["model"].front_] == [str(e.formula) for e in saved.front_]
    assert space["model"].formula_.names == saved.formula_.names == ("m", "v")
    assert (space["model"].n_train_, space["model"].n_valid_) == (saved.n_train_, saved.n_valid_)
    assert "unisymnet export 'my run' --to latex" in out  # a shell can read it


def test_excel_cells_are_those_of_the_file(call) -> None:
    assert fit(call, "--out", "result")[0] == 0
    code, out, err = call("export", "result", "--to", "excel")
    assert code == 0 and out.strip() == "=0.5*B2*D2^2" and "B2 is m, D2 is v" in err
    os.remove("result/data.json")
    code, out, err = call("export", "result", "--to", "excel")
    assert code == 0 and "not known" in err


def test_score_says_which_names_it_fits_and_keeps_them(call) -> None:
    code, out, err = call("score", "data.csv", "0.5*m*Cd*v^2", "--target", "E")
    assert code == 0 and "fitted constants: Cd\n" == err
    assert "  Cd = 1" in out
    code, out, err = call("score", "data.csv", "0.5*m*vv^2", "--target", "E")
    assert "warning: vv is not a column (did you mean 'v'?)" in err
    code, out, _ = call("score", "data.csv", "k*m*v^p", "--target", "E", "--json")
    named = json.loads(out)["named"]
    assert named["k"]["value"] == pytest.approx(0.5) and named["p"]["value"] == pytest.approx(2.0)
    code, _, err = call("score", "data.csv", "m/0", "--target", "E")
    assert code == 3 and "is undefined on all of these rows" in err
    code, out, _ = call("score", "data.csv", "a*b*m*v^2", "--target", "E")
    assert code == 0 and "the data do not determine it" in out


def test_small_things_of_the_command(call) -> None:
    from unisymnet import __version__

    assert call("--version") == (0, f"unisymnet {__version__}\n", "")
    code, _, err = call("fit", "data.csv", "--target", "Ee")
    assert code == 3 and "did you mean 'E'?" in err
    Path("one.csv").write_text("a,y\n1,2\n")
    code, _, err = call("fit", "one.csv")
    assert code == 3 and "only 1 usable row; a law needs at least 3" in err
    Path("odd name.csv").write_text("a b,T (x)\n1,2\n2,3\n,4\n")
    code, out, _ = call("check", "odd name.csv")
    assert code == 0 and "next: unisymnet fit 'odd name.csv' --target 'T (x)'" in out
    assert "a b has 1 missing values" in out or "1 missing" in out
    Path("empty.csv").write_text("a,b\n,1\n,2\n")
    code, out, _ = call("check", "empty.csv")
    assert code == 0 and "a  is empty: not used" in out and "next:" not in out


def test_a_folder_is_prepared_without_a_trace(tmp_path: Path) -> None:
    prepare_folder(tmp_path / "new", resume=False)
    assert os.listdir(tmp_path / "new") == []
    with pytest.raises(DataError):
        prepare_folder(tmp_path / ("x" * 300), resume=False)


@pytest.mark.parametrize("width", [40, 80, 110])
def test_numbers_of_the_table_are_never_squeezed(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    model, _, _ = energy()
    entry = model.front_[-1]
    terms = " + ".join(f"{i}.5*m*sin({i}*v_1)" for i in range(1, 30))
    long = Formula.parse(terms, entry.formula.names, "E")
    model.front_ = (*model.front_[:-1], replace(entry, formula=long, complexity=12345))
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", str(width))
    print_result(model)
    lines = screen.getvalue().split("\n")
    text = "\n".join(lines)
    assert "12345" in text and "…" in text
    head = next(line for line in lines if "pick" in line and "size" in line)
    assert all(word in head for word in ("pick", "size", "R² train", "score", "formula"))
    monkeypatch.setattr(sys, "stdout", again := Screen())
    print_table(model)  # as `score --run` prints it
    plain = re.sub(r"\x1b\[[\d;]*m", "", again.getvalue())
    assert width < 80 or max(map(len, plain.split("\n"))) <= width
    assert "R² valid" in head or all(e.r2_valid is None for e in model.front_)
    assert "(exact)" in lines[0] + lines[1]  # time used and why it ended, on every result


def test_check_says_how_words_enter(call) -> None:
    rows = "".join(f"{'north' if i % 2 else 'south'},{i},note {i},{3 * i + 2 * (i % 2)}\n" for i in range(1, 30))
    Path("words.csv").write_text("site,t,note,y\n" + rows + ",30,last,90\n")
    code, out, _ = call("check", "words.csv")
    assert code == 0 and "2 different words, as columns of zeros and ones: site_south, 1 missing" in out
    assert "words, not used: it holds 30 different words in 30 rows, so it looks like a list of names" in out
    assert "site has a missing value; its row will be left out" in out
    Path("only.csv").write_text("site,y\n" + "north,1\nsouth,2\n" * 12)
    code, out, _ = call("check", "only.csv")
    assert code == 0 and "next: unisymnet fit only.csv --target y" in out and "to learn from" not in out


def test_check_gives_no_advice_that_leads_nowhere(call) -> None:
    Path("one.csv").write_text("x,y\n1,2\n")
    out = call("check", "one.csv")[1]
    assert "one.csv: 1 row, 2 columns" in out and "next:" not in out
    Path("only.csv").write_text("x,y\n1,2\n2,4\n3,6\n3,6\n")
    assert "1 row repeats an earlier one; it is counted once" in call("check", "only.csv")[1]
    Path("only.csv").write_text("x,y\n1,2\n2,4\n3,6\n")
    assert "--drop x" not in call("check", "only.csv")[1]  # nothing would be left to learn from
    Path("index.csv").write_text(",x,y\n0,1.5,2\n1,2.5,4\n2,4,6\n")
    out = call("check", "index.csv")[1]
    assert "column_1 has no name in the file and only numbers the rows: a fit leaves it out" in out
    Path("odd.csv").write_text("x,z,ok\n1,1,yes\n2,<0.1,no\n3,3,no\n4,4,yes\n")
    out = call("check", "odd.csv")[1]
    assert "ok is not a column of numbers: write 1 for 'yes' and 0 for 'no'" in out
    assert "z is not used: 1 cell is not a number; write one there" in out
