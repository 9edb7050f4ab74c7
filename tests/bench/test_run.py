"""The runner with real worker processes and methods that misbehave."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unisymnet.bench.pool import Limits
from unisymnet.bench.records import read_records
from unisymnet.bench.run import run_suite

HERE = str(Path(__file__).parent)
QUICK = Limits(grace=0.5, judge_time=20)


@pytest.fixture(autouse=True)
def fakes_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(HERE)


def _koza(method, out, **options):
    options = {"limits": QUICK, "max_time": 0.4, **options}
    return run_suite("koza", method=f"bench_fakes:{method}", out=out, **options)


def test_results_are_written_scored_and_not_run_again(tmp_path):
    out = tmp_path / "out.jsonl"
    seen = []
    first = _koza("TRUTH", out, limit_problems=1, on_result=seen.append)
    assert len(first) == len(seen) == 1
    whole = _koza("TRUTH", out, on_result=seen.append)
    assert [record["problem"] for record in whole] == ["Koza-2", "Koza-4"]
    assert [record["problem"] for record in seen] == ["Koza-2", "Koza-4"]
    before = out.read_bytes()
    assert _koza("TRUTH", out, on_result=seen.append) == list(read_records(out))
    assert out.read_bytes() == before and len(seen) == 2
    record = json.loads(before.splitlines()[0])
    assert record["status"] == "ok" and record["scores"]["strict"] is True and record["scores"]["srbench"] is True
    assert record["scores"]["complexity"] >= record["scores"]["true_complexity"] > 5
    assert {"version", "commit", "machine", "date", "seed", "noise", "max_time", "suite"} <= set(record)
    assert record["peak_mb"] is None or record["peak_mb"] > 10


def test_a_torn_line_is_run_again(tmp_path):
    out = tmp_path / "out.jsonl"
    _koza("TRUTH", out)
    lines = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(lines[0] + lines[1][:40])
    assert [record["status"] for record in _koza("TRUTH", out)] == ["ok", "ok"]
    assert len(list(read_records(out))) == 2


def _sweep(out):
    script = str(Path(HERE).parents[1] / "benchmarks" / "recovery.py")
    options = ["koza", "--method", "bench_fakes:SLOW", "--noise", "0", "0.1", "--max-time", "5", "--quiet"]
    environment = {"PYTHONPATH": HERE, "PATH": ""}
    command = [sys.executable, script, *options, "--out", str(out)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _what_was_found(out):
    """All that a run has found, without what depends on the clock."""
    clocks = ("time", "cpu", "judging", "date", "peak_mb", "commit")
    return [{key: value for key, value in record.items() if key not in clocks} for record in read_records(out)]


def test_a_killed_sweep_started_again_gives_the_same_file(tmp_path):
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    reference = _sweep(whole)
    for lines in (1, 2):  # killed twice: in the middle of the second run, and of the third
        sweep = _sweep(cut)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (not cut.exists() or cut.read_bytes().count(b"\n") < lines):
            time.sleep(0.05)
        sweep.kill()
        sweep.communicate()
        assert lines <= cut.read_bytes().count(b"\n") < 4
    for sweep in (reference, _sweep(cut)):
        _, errors = sweep.communicate(timeout=120)
        assert sweep.returncode == 0, errors
    assert len(_what_was_found(whole)) == 4
    assert _what_was_found(cut) == _what_was_found(whole)


def test_a_run_that_never_ends_is_killed(tmp_path):
    start = time.monotonic()
    record = _koza("SLEEP", tmp_path / "out.jsonl", limit_problems=1)[0]
    assert record["status"] == "timeout" and "phase fit" in record["message"]
    assert 1.0 < record["time"] < 3.0
    assert time.monotonic() - start < 30


def test_a_crash_costs_only_its_own_run(tmp_path):
    records = _koza("CRASH", tmp_path / "out.jsonl", jobs=2)
    assert [record["status"] for record in records] == ["crashed", "ok"]
    assert "exit code -9" in records[0]["message"] and records[0]["scores"] == {}
    assert records[1]["scores"]["strict"] is True


def test_memory_is_limited(tmp_path):
    limits = Limits(max_memory_mb=600)
    record = _koza("HOG", tmp_path / "out.jsonl", limit_problems=1, limits=limits, max_time=20)[0]
    assert record["status"] == "memory"


def test_failures_of_a_method_are_results(tmp_path):
    out = tmp_path / "out.jsonl"
    record = _koza("RAISE", out, limit_problems=1)[0]
    assert (record["status"], record["message"]) == ("error", "ValueError: no thanks")
    record = _koza("UNREADABLE", out, limit_problems=1)[0]
    assert record["status"] == "ok" and record["scores"]["strict"] is False
    assert "cannot be read" in record["message"] and record["expression"] == "mystery(x0)"


def test_a_death_after_the_fit_keeps_the_formula(tmp_path):
    record = _koza("LATE", tmp_path / "out.jsonl", limit_problems=1)[0]
    assert record["status"] == "ok" and record["expression"] and record["scores"] == {}
    assert "exit code 7" in record["message"]


def test_a_missing_method_stops_the_sweep_and_says_what_to_install(tmp_path):
    with pytest.raises(RuntimeError, match=r"pip install .*unisymnet\[bench\]"):
        _koza("MISSING", tmp_path / "out.jsonl")
    with pytest.raises(ValueError, match="unknown method"):
        run_suite("koza", method="nonsense", out=tmp_path / "out.jsonl")
    with pytest.raises(RuntimeError, match="could not start"):
        run_suite("koza", method="linear", out=tmp_path / "out.jsonl", python="/bin/false")
    assert not (tmp_path / "out.jsonl").exists()


def test_problems_can_be_chosen_by_name(tmp_path):
    records = _koza("TRUTH", tmp_path / "out.jsonl", problems=["Koza-4"])
    assert [record["problem"] for record in records] == ["Koza-4"]
    with pytest.raises(ValueError, match="has no 'Koza-5'"):
        _koza("TRUTH", tmp_path / "out.jsonl", problems=["Koza-5"])


def test_recovery_prints_a_table_and_one_line_of_figures(tmp_path):
    script = str(Path(HERE).parents[1] / "benchmarks" / "recovery.py")
    command = [sys.executable, script, "koza", "--method", "bench_fakes:CRASH", "--max-time", "5"]
    command += ["--out", str(tmp_path / "out.jsonl"), "--jobs", "2"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": HERE, "PATH": ""},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "unsolved (1): Koza-2" in done.stdout and "SRBench procedure" in done.stdout
    last = done.stdout.strip().splitlines()[-1]
    pairs = dict(pair.split("=") for pair in last.split(" "))
    assert (pairs["koza@0.n"], pairs["koza@0.strict"], pairs["koza@0.srbench"]) == ("2", "1", "1")
    assert float(pairs["koza@0.size_ratio"]) >= 1 and pairs["koza@0.failed"] == "1"
