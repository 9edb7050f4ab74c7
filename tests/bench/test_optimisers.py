"""The comparison of inner strategies: its data, one run of each kind, and its tables."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from unisymnet.bench.experiments.optimisers import mean_r2, pruning_cells, report_signs, report_strategies
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


def test_runs_are_kept_and_not_repeated(tmp_path: Path) -> None:
    out = tmp_path / "records.jsonl"
    tasks = [Task(LINEAR, "sfo", max_time=5.0)]
    first = run(tasks, out)
    assert run(tasks, out) == first and len(list(read_records(out))) == 1
    (table,) = report_strategies(first)
    assert 0.3350 in table.rows[0] and report_signs(first) == []
    network = first[0] | {"method": "dno-p", "r2_network": 0.5, "network_complexity": 9, "depth": 2}
    assert pruning_cells([network], "true") == {"dno-p": {2: (0.5, 9.0)}}
    (signs,) = report_signs([network | {"domain": "negative", "signed": signed} for signed in (True, False)])
    assert signs.rows == (("negative", "dno-p", "best of all restarts", 0.5, 0.5, 1),)


def test_undefined_scores_count_as_zero() -> None:
    assert mean_r2([1.0, None, -3.0, float("-inf")]) == 0.25
