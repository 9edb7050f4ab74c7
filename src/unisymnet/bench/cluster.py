"""Runs on a cluster through joblib: any of its backends, Dask and Ray among them.

Every run is one joblib task, done on the other machine by a worker process with the same hard limits as here
(pool.py).  A backend that starts lost tasks again, as Dask does when a worker dies, loses no result.  The package must
be installed on every machine.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from .pool import Limits, run_tasks
from .task import Task

__all__ = ["run_on_cluster"]

Record = dict[str, Any]


def run_on_cluster(
    tasks: Iterable[Task], backend: str, scheduler: str | None, jobs: int, limits: Limits, python: str | None
) -> Iterator[tuple[Task, Record]]:
    """Run the tasks and yield each with its record as soon as it is back.

    On a Dask cluster `jobs` is how many runs are handed over at a time; its workers take what they have threads for.
    """
    import joblib

    tasks = list(tasks)
    with ExitStack() as stack:
        settings = _prepare(backend, scheduler, stack)
        stack.enter_context(joblib.parallel_config(backend=backend, n_jobs=jobs, **settings))
        runs = (joblib.delayed(_run_one)(task, limits, python) for task in tasks)
        yield from joblib.Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="all")(runs)


def _run_one(task: Task, limits: Limits, python: str | None) -> tuple[Task, Record]:
    return next(iter(run_tasks([task], jobs=1, limits=limits, python=python)))


def _prepare(backend: str, scheduler: str | None, stack: ExitStack) -> dict[str, Any]:
    """Connect to the cluster; what joblib needs to know about it."""
    if backend == "dask":
        try:
            distributed = importlib.import_module("distributed")
        except ImportError as error:
            raise ValueError(f"backend dask needs distributed ({error}); pip install distributed") from error
        if scheduler is None:
            raise ValueError("backend dask needs the address of a scheduler: --scheduler tcp://HOST:8786")
        stack.enter_context(distributed.Client(scheduler))
    elif backend == "ray":
        try:
            importlib.import_module("ray.util.joblib").register_ray()
        except ImportError as error:
            raise ValueError(f"backend ray needs ray ({error}); pip install ray") from error
    elif scheduler is not None:
        raise ValueError(f"--scheduler is for the backend dask, got the backend {backend}")
    return {}
