"""Two versions on the same data: what is compared, what is run again, and a worker that answers."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SRC = BENCHMARKS.parent / "src"


@pytest.fixture(scope="module")
def versions() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import versions

        yield versions
    finally:
        sys.path.remove(str(BENCHMARKS))


def options(out: Path, **changes: Any) -> Namespace:
    plain = {"part": "misses", "out": out, "src": SRC, "seconds": 1.0, "seed": 0, "corpus_seed": 5, "enough": 2}
    return Namespace(**{**plain, "against": None, "evolution": False, **changes})


class Fake:
    """Finds nothing."""

    asked = 0

    def __init__(self, src: Path) -> None: ...

    def ask(self, do: str, X: Any, y: Any, **options: Any) -> dict[str, Any]:
        Fake.asked += 1
        found = {"seconds": 0.1, "source": "fake", "formula": "x0 - x0", "memory": [[0.0, 1.0]]}
        return {**found, "limit": options["seconds"]}


def test_of_the_formulas_of_a_size_the_best_fit_is_judged_on_clean_rows(versions: ModuleType) -> None:
    X = np.linspace(1.0, 2.0, 50)[:, None]
    front = [(1, 0.5, "x0"), (9, 0.2, "x0**2"), (20, 0.1, "ln(x0 - 1.5)")]
    errors = versions.by_size(front, X, X[:, 0] ** 2)
    assert errors["7"] > 0.1 and errors["11"] == 0.0
    assert errors["30"] is None  # not defined on every row
    assert versions.by_size(front[1:], X, X[:, 0])["7"] is None


def test_an_error_that_there_is_not_is_the_worst(versions: ModuleType) -> None:
    assert versions.ratio(0.2, 0.1) == 0.5
    assert versions.ratio(None, 0.1) == 0.0 and versions.ratio(0.1, None) == np.inf
    assert versions.ratio(None, None) == versions.ratio(0.0, 0.0) == 1.0


def test_medians_are_of_the_pairs_that_both_files_hold(
    versions: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    def records(error: float, laws: str) -> list[dict[str, Any]]:
        sizes = {str(size): error for size in versions.SIZES}
        return [{"law": law, "noise": noise, "errors": sizes} for law in laws for noise in versions.NOISE]

    versions.compare(records(0.4, "abc"), records(0.1, "bcd"))
    out = capsys.readouterr().out
    assert "6 pairs" in out and "size20=0.250" in out


def test_rows_of_a_noisy_law_are_the_same_every_time(versions: ModuleType) -> None:
    for law in versions.LAWS:
        one, two = (versions.noisy_data(law, 0.1, 0) for _ in range(2))
        assert all(np.array_equal(a, b) for a, b in zip(one, two)) and len(one[3]) == versions.N_FRESH
        assert np.isfinite(one[1]).all() and np.isfinite(one[3]).all()


def test_misses_are_gathered_until_there_are_enough_and_then_asked_again(
    versions: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(versions, "Worker", Fake)
    monkeypatch.setattr(versions, "BLOCK", 4)
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    versions.misses(options(old))
    missed = [row["problem"] for row in map(json.loads, old.read_text("utf-8").splitlines()) if not row["solved"]]
    assert len(missed) == 2
    before = Fake.asked
    versions.misses(options(old))
    assert Fake.asked == before  # what is in the file is not run again
    versions.misses(options(new, part="long", against=old))
    rows = [json.loads(line) for line in new.read_text("utf-8").splitlines()]
    assert [row["problem"] for row in rows] == missed and rows[0]["memory"] == [[0.0, 1.0]]


@pytest.mark.slow
def test_a_worker_answers_with_this_version(versions: ModuleType) -> None:
    import unisymnet

    worker = versions.Worker(SRC)
    x = np.linspace(1.0, 2.0, 40)
    found = worker.ask("whole", x[:, None], 2.0 * x, seconds=2.0, seed=0, every=1.0)
    assert worker.version == unisymnet.__version__ and found["formula"] == "2*x0" and found["memory"]
    found = worker.ask("evolve", x[:, None], 2.0 * x + 0.01 * np.sin(99 * x), seconds=0.5, seed=0, finishing=False)
    assert found["front"] and found["seconds"] < 5.0
    worker.process.stdin.close()
    worker.process.stdout.close()
    assert worker.process.wait(10) == 0


def test_a_figure_of_laws_and_memory(versions: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    rows = [
        {"problem": n, "solved": n > 0, "seconds": 9.0 * n, "limit": 60.0, "memory": [[n, 300.0], [n + 9, 310.0]]}
        for n in range(3)
    ]
    out, bench = tmp_path / "long.jsonl", tmp_path / "bench.jsonl"
    out.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    bench.write_text(json.dumps({"cpu": 3.0, "max_time": 60.0, "scores": {"strict": True}}) + "\n", "utf-8")
    versions.draw(options(out, against=bench, figure=tmp_path / "long.svg"))
    told = capsys.readouterr().out
    assert "3 random functions: 2 found after 9.0, 18.0 s" in told and "megabytes=300..310" in told
    assert (tmp_path / "long.svg").read_text("utf-8").startswith("<?xml")
