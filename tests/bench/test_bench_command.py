"""`unisymnet bench`: a table of the paper from start to end, the page, and what is said when something is wrong."""

import json
import sys
from pathlib import Path

import pytest

from unisymnet.cli import main


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["unisymnet", "bench", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return call


def test_a_quick_table_is_labelled_drawn_and_not_run_again(run):
    code, out, err = run("extrapolation", "--quick", "--methods", "svr")
    assert code == 0, err
    assert out.startswith("QUICK variant of extrapolation") and "Full: " in out
    records = [json.loads(line) for line in Path("bench_results/extrapolation-quick.jsonl").read_text().splitlines()]
    assert {record["method"] for record in records} == {"svr"}
    assert all(record["scores"]["r2_wide"] is None or record["scores"]["r2_wide"] <= 1 for record in records)
    assert Path("bench_results/figures/extrapolation-Nguyen-1.svg").exists()
    assert run("extrapolation", "--quick", "--methods", "svr")[2] == ""  # nothing was left to run
    code, out, _ = run("page", "--results", "bench_results", "--out", "pages")
    assert code == 0 and out.split() == ["pages/results.md", "pages/results.html"]
    assert "mean R² doubled range" in Path("pages/results.html").read_text("utf-8")


def test_the_list_has_suites_tables_and_methods(run):
    _, out, _ = run("list")
    assert all(word in out for word in ("feynman", "temperature", "full: ", "unisymnet-dno-np", "rils-rols"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("koza", "--method", "nonsense", "--out", "x.jsonl"), "unknown method 'nonsense'"),
        (("koza", "--backend", "threading", "--scheduler", "tcp://a:1", "--out", "x.jsonl"), "is for the backend dask"),
        (("nothing", "--out", "x.jsonl"), "no suite 'nothing'"),
        (("page", "--results", "nowhere"), "no file of JSON lines"),
        (("losses", "--quick", "--methods", "svr"), "leave --methods out"),
        (("srbench", "--quick", "--methods", "unisymnet-paper[speed=9]"), "unknown setting 'speed'"),
    ],
)
def test_mistakes_are_told(run, words, told):
    code, _, err = run(*words)
    assert (code, told in err) == (3, True), err
