"""--backend and --scheduler: where the islands live, and what is said when nobody is there."""

import os
import signal

import numpy as np
import pytest
from joblib import Parallel, effective_n_jobs

from unisymnet import DataError
from unisymnet.cli.workers import workers
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.evolve.islands import Islands


def test_backends_are_named_and_need_what_they_need() -> None:
    with pytest.raises(DataError, match="one of threading"), workers("mpi", None):
        pass
    with pytest.raises(DataError, match="dask or ray"), workers("loky", "tcp://127.0.0.1:1"):
        pass
    with pytest.raises(DataError, match="no Dask scheduler answers"), workers("dask", "tcp://127.0.0.1:1"):
        pass
    with workers(None, None):
        assert effective_n_jobs(3) == 3


def _losses(parallel: Parallel, at_epoch_two=lambda: None) -> list[float]:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(5)
    X = rng.uniform(0.5, 3.0, (80, 2))
    problem = make_problem(X, X[:, 0] * np.sin(1.7 * X[:, 1]) + rng.normal(0.0, 0.01, 80))
    islands = Islands(problem, seed=7, n_islands=4, work=5_000_000)
    for number in range(4):
        if number == 2:
            at_epoch_two()
        assert islands.step(parallel, Deadline.never())
    return [float(loss) for island in islands.islands for loss in island.state.losses]


def test_a_dask_cluster_gives_the_same_islands_even_when_a_worker_is_killed() -> None:
    distributed = pytest.importorskip("distributed")
    alone = _losses(Parallel(n_jobs=1))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        workers("dask", cluster.scheduler_address),
        Parallel(prefer="threads") as parallel,
    ):
        client = distributed.get_client()
        assert _losses(parallel) == alone

        def kill() -> None:
            os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)

        assert _losses(parallel, kill) == alone
