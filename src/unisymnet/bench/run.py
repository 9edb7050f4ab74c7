"""The protocol: a method on the problems of a suite, one record a run, appended to a file of JSON lines.

What is in the file is never run again, so a sweep can be killed at any time and started again. Does not know
how a run is done (task.py), how processes are limited (pool.py), or how results are tabulated.
"""

from __future__ import annotations

import importlib
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from .methods import get_method
from .pool import Limits, run_tasks
from .problems import BenchProblem, Form, find_problem, load_suite
from .records import Key, Record, chosen, resumed
from .stale import git
from .task import Task

LITERAL = "unisymnet-literal"  # reads points with weights of its own, where there are some


@dataclass(frozen=True)
class Machine:
    """Where runs are done: `jobs` at a time, by another interpreter `python`, or on a cluster.

    `backend` is a backend of joblib ("dask", "ray", "loky", …) and `scheduler` the address of Dask's scheduler.
    """

    jobs: int = 1
    limits: Limits = field(default_factory=Limits)
    python: str | None = None
    backend: str | None = None
    scheduler: str | None = None

    def results(self, tasks: Iterable[Task]) -> Iterable[tuple[Task, Record]]:
        if self.backend is None:
            return run_tasks(tasks, jobs=self.jobs, limits=self.limits, python=self.python)
        return run_on_cluster(tasks, self.backend, self.scheduler, self.jobs, self.limits, self.python)


def run_on_cluster(
    tasks: Iterable[Task], backend: str, scheduler: str | None, jobs: int, limits: Limits, python: str | None
) -> Iterator[tuple[Task, Record]]:
    """Run the tasks through a backend of joblib, such as Dask or Ray, and yield each with its record once it is back.

    Every run is one joblib task, done on the other machine by a worker process with the same hard limits as here
    (pool.py).  A backend that starts lost tasks again, as Dask does when a worker dies, loses no result.  The package
    must be installed on every machine.  On a Dask cluster `jobs` is how many runs are handed over at a time; its
    workers take what they have threads for.
    """
    import joblib

    tasks = list(tasks)
    with ExitStack() as stack:
        _join(backend, scheduler, stack)
        stack.enter_context(joblib.parallel_config(backend=backend, n_jobs=jobs))
        runs = (joblib.delayed(_run_one)(task, limits, python) for task in tasks)
        yield from joblib.Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="all")(runs)


def _run_one(task: Task, limits: Limits, python: str | None) -> tuple[Task, Record]:
    return next(iter(run_tasks([task], jobs=1, limits=limits, python=python)))


def _join(backend: str, scheduler: str | None, stack: ExitStack) -> None:
    """Connect to the cluster."""
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


def run_suite(
    suite: str,
    *,
    method: str = "unisymnet",
    noise: float = 0.0,
    max_time: float = 60.0,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path,
    limit_problems: int | None = None,
    rows: int | None = None,
    form: Form = "paper",
    cores: int = 1,
    problems: Sequence[str] | None = None,
    limits: Limits | None = None,
    python: str | None = None,
    backend: str | None = None,
    scheduler: str | None = None,
    on_result: Callable[[Record], None] | None = None,
) -> list[Record]:
    """Run `method` on every problem of `suite` that `out` does not hold yet; return the records of all.

    `jobs` runs go on at a time, each with `cores` threads. `limit_problems` takes the first so many problems
    of the suite and `problems` those of the given names. `rows` overrides the number of training rows.
    `python` is another interpreter for the workers; `backend` and `scheduler` name a cluster (see `Machine`).
    `on_result` sees each new record once it is written.
    """
    if python is None or ":" not in method:
        get_method(method)  # a misspelt name is an error now, not a failed run for every problem
    names = chosen([problem.name for problem in load_suite(suite, form=form)], problems, f"the suite {suite}")
    tasks = [Task(method, name, form, seed, noise, max_time, rows, cores) for name in names[:limit_problems]]
    machine = Machine(jobs, limits or Limits(), python, backend, scheduler)
    return run_missing(tasks, out, machine=machine, on_result=on_result)


def run_missing(
    tasks: Sequence[Task],
    out: str | Path,
    *,
    machine: Machine,
    on_result: Callable[[Record], None] | None = None,
) -> list[Record]:
    """Run the tasks that the file `out` does not hold yet, append their records, and return those of all tasks."""
    here = provenance()

    def made(missing: list[Key]) -> Iterator[tuple[Key, Record]]:
        for task, result in machine.results([Task(**key) for key in missing]):
            yield task.as_dict(), _record(task, find_problem(task.problem, form=task.form), result, here)

    return resumed([task.as_dict() for task in tasks], Path(out), made, on_result)


def _record(task: Task, problem: BenchProblem, result: Record, here: dict[str, str | None]) -> Record:
    known: Record = dict.fromkeys(("version", "status", "time", "expression", "message")) | {"scores": {}}
    when = {"date": datetime.now(UTC).isoformat(timespec="seconds")}
    own = {"weights": weights_in_use(LITERAL)} if task.method == LITERAL else {}
    return {"suite": problem.suite} | task.as_dict() | here | own | when | known | result


def provenance() -> dict[str, str | None]:
    """Commit, machine and weights, as every record states them."""
    machine = f"{_processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    return {"commit": _commit(), "machine": machine, "weights": weights_in_use()}


def weights_in_use(method: str = "") -> str | None:
    """The hashes of the models that a method finds here, so that a record of other weights is known as stale."""
    from ..model.runtime import weights_hash
    from ..model.weights import POINTS, weights_for

    named = POINTS if method == LITERAL else None

    found = dict.fromkeys(folder for n in (1, 10) if (folder := weights_for(n, named=named)) is not None)
    return " ".join(weights_hash(folder) for folder in found) or None


def _commit() -> str | None:
    """The commit of the sources, marked if the package differs from it; None for an installed package.

    Files outside the package, such as the records that a run appends to, do not make it dirty.
    """
    found = git("rev-parse", "--short=12", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".")
    return None if not found or changed is None else found[0] + ("-dirty" if changed else "")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
