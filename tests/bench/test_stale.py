"""Only records of this search and these weights may stand on the page."""

import subprocess
from pathlib import Path

import pytest

from unisymnet.bench import stale
from unisymnet.bench.beyond import beyond
from unisymnet.bench.experiments.base import Table


@pytest.fixture
def commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A repository with four commits: the first search, a change of the bench, another search, a change of words."""
    package = tmp_path / "src" / "package"
    made = {}

    def git(*words: str) -> str:
        settings = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", *settings, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    (package / "fit").mkdir(parents=True)
    (package / "bench").mkdir()
    git("init", "-q")
    for name, path, text in [
        ("old", "fit/a.py", "1"),
        ("bench", "bench/b.py", "1"),
        ("search", "fit/a.py", "2"),
        ("words", "README.md", "1"),
    ]:
        (package / path).write_text(text)
        git("add", "-A")
        git("commit", "-qm", name)
        made[name] = git("rev-parse", "--short=12", "HEAD").strip()
    monkeypatch.setattr(stale, "PACKAGE", package)
    for remembered in (stale.same_search, stale.is_after):
        remembered.cache_clear()
    return made


def test_a_change_of_the_search_makes_records_stale(commits: dict[str, str]) -> None:
    assert [stale.same_search(commits[name]) for name in ("old", "bench", "search", "words")] == [
        False,
        False,
        True,
        True,
    ]
    assert not stale.same_search(commits["words"] + "-dirty")
    assert not stale.same_search("0" * 12)


def test_records_of_ours_need_commit_and_weights(commits: dict[str, str]) -> None:
    good = {"method": "unisymnet", "commit": commits["search"], "weights": "w"}
    others = [{**good, "weights": "v"}, {**good, "commit": commits["old"]}, {**good, "commit": None}]
    peer = {"method": "pyoperon", "commit": commits["old"]}
    without = {**good, "method": "unisymnet-no-transformer", "weights": "v"}
    kept, left = stale.current([good, *others, peer, without], "w")
    assert kept == [good, peer, without] and left == 3


def test_a_line_may_be_drawn_at_an_earlier_commit(commits: dict[str, str]) -> None:
    record = {"method": "unisymnet", "commit": commits["bench"], "weights": "w"}
    assert not stale.speaks(record, "w")
    assert stale.speaks(record, "w", since=commits["old"])
    assert not stale.speaks({**record, "commit": commits["old"]}, "w", since=commits["bench"])


def test_settings_become_rows() -> None:
    units = {"suite": "units", "noise": 0.1, "max_time": 10.0, "scores": {"strict": True}, "wrong": [], "cpu": 2.0}
    system = {"suite": "odebench", "method": "ours", "noise": 0.0, "subsample": 0.0, "both": False, "max_time": 15.0}
    system |= {"r2": 0.99, "r2_second": 0.5, "form": True, "strict": False, "cpu": 1.0}
    table = {"suite": "pmlb", "run": {"table": "a", "goal": "predict", "max_time": 60.0, "seed": 1}}
    table |= {"r2": 0.7, "r2_linear": 0.6, "size": 9, "cpu_seconds": 3.0}
    blocks = beyond([units, {**units, "scores": {"strict": False}}, system, table, {"suite": "feynman"}])
    assert all(isinstance(block, Table) for block in blocks)
    first, second, third = (block.rows for block in blocks)  # type: ignore[union-attr]
    assert first == ((0.1, 10.0, 2, 1, 0, 0, 0, 2.0),)
    assert second == (("ours", 0.0, 0.0, "False", 15.0, 1, 1, 0, 1, 0, 1.0),)
    assert third == (("a", "predict", 60.0, 1, 0.7, 0.6, 9, 3.0),)
