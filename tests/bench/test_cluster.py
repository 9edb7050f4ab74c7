"""Runs on a cluster: a real Dask cluster of two workers, one of which is killed in mid-run."""

import os
import signal
from pathlib import Path

import pytest

from unisymnet.bench.pool import Limits
from unisymnet.bench.records import read_records
from unisymnet.bench.run import Machine, run_missing
from unisymnet.bench.task import Task

HERE = str(Path(__file__).parent)
LIMITS = Limits(judge_time=20)


@pytest.fixture(autouse=True)
def fakes_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", HERE)


def _tasks(method, seeds):
    names = ("Koza-2", "Koza-4")
    return [Task(f"bench_fakes:{method}", name, seed=seed, max_time=5) for seed in seeds for name in names]


@pytest.mark.filterwarnings("ignore")
def test_a_killed_dask_worker_loses_no_result(tmp_path):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install distributed")
    out, tasks, killed = tmp_path / "out.jsonl", _tasks("SLOW", range(3)), []
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:

        def kill_one(record):
            if not killed:
                # The worker that is at work: its pid is asked of the cluster itself.
                pids = client.run(os.getpid)
                killed.append(pids[next(iter(pids))])
                os.kill(killed[0], signal.SIGKILL)

        machine = Machine(2, LIMITS, backend="dask", scheduler=cluster.scheduler_address)
        records = run_missing(tasks, out, machine=machine, on_result=kill_one)
    assert killed
    assert [record["status"] for record in records] == ["ok"] * 6
    assert sorted((r["problem"], r["seed"]) for r in read_records(out)) == sorted((t.problem, t.seed) for t in tasks)


def test_any_backend_of_joblib_runs_tasks(tmp_path):
    tasks = _tasks("TRUTH", [0])
    records = run_missing(tasks, tmp_path / "out.jsonl", machine=Machine(2, LIMITS, backend="threading"))
    assert [record["scores"]["strict"] for record in records] == [True, True]


def test_a_cluster_needs_its_library_and_its_address(tmp_path):
    tasks = _tasks("TRUTH", [0])
    with pytest.raises(ValueError, match="is for the backend dask, got the backend threading"):
        run_missing(tasks, tmp_path / "out.jsonl", machine=Machine(backend="threading", scheduler="tcp://nowhere:1"))
    with pytest.raises(ValueError, match="backend dask needs"):
        run_missing(tasks, tmp_path / "out.jsonl", machine=Machine(backend="dask"))
