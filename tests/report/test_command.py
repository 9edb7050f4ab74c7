"""`unisymnet report`: with the data of the fit, with other data, and without any."""

import json
import sys
from pathlib import Path

import pytest

from report.models import energy
from unisymnet.cli import main
from unisymnet.cli.fitting import Request
from unisymnet.cli.reporting import remember_data


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    model, X, y = energy()
    X.assign(note="text", E=y).to_csv("data.csv", index=False)
    model.save("run/model.json")
    remember_data(Path("run"), Request("data.csv", "E", None, (), None, None, (), {}))
    return tmp_path / "run"


def report(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["unisymnet", "report", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_the_data_of_the_fit_are_found_from_anywhere(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert report(monkeypatch, str(run)) == 0
    assert "Prediction and truth" in Path("report.html").read_text("utf-8")
    assert capsys.readouterr().err == ""
    (tmp_path / "data.csv").write_text((tmp_path / "data.csv").read_text("utf-8") + "1,2,3,text,2\n", "utf-8")
    assert report(monkeypatch, str(run / "model.json"), "-o", "two.html") == 0
    assert "has changed since the fit" in capsys.readouterr().err


def test_without_data_the_page_is_written_with_a_word(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("data.csv").rename("moved.csv")
    assert report(monkeypatch, "run") == 0
    assert "unisymnet report run DATA" in capsys.readouterr().err
    assert "Prediction and truth" not in Path("report.html").read_text("utf-8")
    assert report(monkeypatch, "run", "moved.csv") == 0
    assert "Prediction and truth" in Path("report.html").read_text("utf-8")


def test_mistakes_end_with_code_3(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert report(monkeypatch, "nowhere") == 3
    assert report(monkeypatch, "run", "nothing.csv") == 3
    assert report(monkeypatch, "run", "-o", "no/such/folder.html") == 3


def test_a_table_from_stdin_is_not_remembered(run: Path) -> None:
    remember_data(run, Request("-", None, None, (), None, None, (), {}))
    assert json.loads((run / "data.json").read_text())["path"] is None
