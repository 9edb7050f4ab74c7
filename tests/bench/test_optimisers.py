"""The comparison of inner strategies: its data, one run of each kind, and its tables."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from unisymnet.bench.optimiser_tables import mean_r2, print_pruning, print_signs, print_strategies
from unisymnet.bench.optimisers import Task, draw_data, run, run_task
from unisymnet.bench.records import read_records

LINEAR = 1  # a function of the seeded corpus that every strategy solves at once


def test_data_repeat_and_can_be_moved_to_the_negative_domain() -> None:
    a, b = draw_data(LINEAR, seed=0), draw_data(LINEAR, seed=0)
    assert a is not None and b is not None
    assert np.array_equal(a.X, b.X) and len(a.y) == len(a.y_test) == 200
    negative = draw_data(LINEAR, seed=0, domain="negative")
    assert negative is not None and (negative.X < 0).all()


@pytest.mark.parametrize("method", ["sfo", "dno-p", "dno-np"])
def test_every_strategy_solves_a_linear_function(method: str) -> None:
    record = run_task(Task(LINEAR, method, max_time=10.0))
    assert record["status"] == "ok" and record["r2"] > 0.999
    assert record["solved"]


def test_runs_are_kept_and_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "records.jsonl"
    tasks = [Task(LINEAR, "sfo", max_time=5.0)]
    for _ in range(2):
        run(tasks, out)
    records = list(read_records(out))
    assert len(records) == 1
    negative = [records[0] | {"domain": "negative", "method": "dno-p", "r2_network": 0.5, "network_complexity": 9}]
    for table in (print_strategies, print_pruning, print_signs):
        table([*records, *negative])
    shown = capsys.readouterr().out
    assert "0.3350" in shown and "plain" in shown


def test_undefined_scores_count_as_zero() -> None:
    assert mean_r2([1.0, None, -3.0, float("-inf")]) == 0.25
