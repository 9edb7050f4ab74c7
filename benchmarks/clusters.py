"""The same islands everywhere, bit for bit: threads, processes, a Dask or Ray cluster, also when a worker is killed.

    python benchmarks/clusters.py threads --workers 4 --repeats 50
    python benchmarks/clusters.py loky --workers 4 --repeats 50
    python benchmarks/clusters.py dask --workers 4 --repeats 50
    python benchmarks/clusters.py dask --workers 4 --kill          # one of them by SIGKILL, in the middle of an epoch
    python benchmarks/clusters.py ray --workers 2                  # where ray is installed
    python benchmarks/clusters.py dask --workers 4 --epochs 12 --work 100000000   # speed

Every repeat is a whole archipelago (four islands), compared array by array with one that lived in this process, in one
thread, before; rubbish is allocated between the repeats.  With --out a line is added to the file.  Exit code 1 if
anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from joblib import Parallel, parallel_config

from unisymnet.cli.workers import workers
from unisymnet.deadline import Deadline
from unisymnet.problem import Problem, make_problem
from unisymnet.propose.evolve.islands import Islands

N_ISLANDS = 4


def noisy_problem() -> Problem:
    rng = np.random.default_rng(5)
    X = rng.uniform(0.5, 3.0, (200, 3))
    y = np.sin(1.7 * X[:, 0]) * X[:, 2] ** 2 / (1.0 + X[:, 1]) + 0.7 * X[:, 0]
    return make_problem(X, y + rng.normal(0.0, 0.01 * y.std(), 200))


def lived(parallel: Parallel, n_epochs: int, work: int) -> list[np.ndarray]:
    islands = Islands(noisy_problem(), seed=7, n_islands=N_ISLANDS, work=work)
    for _ in range(n_epochs):
        assert islands.step(parallel, Deadline.never())
    return [part for island in islands.islands for part in island.state]


@contextmanager
def cluster(backend: str, n_workers: int) -> Iterator[list[int]]:
    """Joblib's work goes there; yields the processes of the workers, where they can be told."""
    if backend == "dask":
        from distributed import LocalCluster, get_client

        with (
            LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as local,
            workers("dask", local.scheduler_address),
        ):
            yield sorted(get_client().run(os.getpid).values())
    elif backend == "ray":
        with workers("ray", None), parallel_config(backend="ray", n_jobs=n_workers):
            yield []
    else:
        with parallel_config(backend={"threads": "threading"}.get(backend, backend), n_jobs=n_workers):
            yield []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend", choices=("threads", "loky", "dask", "ray"))
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--work", type=int, default=3_000_000, help="of an epoch; 100,000,000 is the usual length")
    parser.add_argument("--kill", action="store_true", help="one worker of Dask, soon after the first epoch began")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    began = time.perf_counter()
    alone = lived(Parallel(n_jobs=1), options.epochs, options.work)
    alone_wall = time.perf_counter() - began
    different, walls, rng = 0, [], np.random.default_rng(0)
    with cluster(options.backend, options.workers) as processes, Parallel(prefer="threads") as parallel:
        if options.kill:
            threading.Timer(0.05, os.kill, (processes[0], signal.SIGKILL)).start()
        for _ in range(options.repeats):
            rubbish = [rng.normal(size=int(n)) for n in rng.integers(1, 100_000, 8)]
            began = time.perf_counter()
            found = lived(parallel, options.epochs, options.work)
            walls.append(time.perf_counter() - began)
            different += not all(np.array_equal(a, b) for a, b in zip(alone, found, strict=True))
            del rubbish
    record = {
        "backend": options.backend,
        "workers": options.workers,
        "killed": int(options.kill),
        "repeats": options.repeats,
        "different": different,
        "epochs": options.epochs,
        "work": options.work,
        "wall_one_thread": round(alone_wall, 2),
        "wall": round(float(np.median(walls)), 2),
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps(record))
    if options.out is not None:
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
