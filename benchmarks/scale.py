"""How a fit grows with rows and columns, and where more machines stop paying.

    python benchmarks/scale.py fit [FILE]     # seconds and memory of three epochs: 10² to 10⁷ rows, 1 to 1,000 columns
    python benchmarks/scale.py length [FILE]  # seconds until evolution has a law of so many terms
    python benchmarks/scale.py workers        # a simulation of 1 to 1,000 workers, fed with what is measured here

Seconds are processor seconds; each fit has a process of its own, so that its memory can be read.
"""

from __future__ import annotations

import json
import pickle
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROWS = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
COLUMNS = (1, 3, 10, 30, 100, 1_000)
TERMS = (1, 2, 3, 4, 5)
MOST_SECONDS = 12.0  # for one law
WORKERS = (1, 2, 4, 10, 30, 100, 300, 1_000)
EPOCHS = (0.1, 1.0, 10.0)  # seconds of work


def one_fit(n_rows: int, n_columns: int) -> None:
    """Three epochs of evolution alone; prints seconds and megabytes."""
    from unisymnet import UniSymNetRegressor
    from unisymnet.regressor.warm import warm_all

    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (n_rows, n_columns))
    y = np.sin(1.7 * X[:, 0]) * X[:, -1] ** 2 + rng.normal(0.0, 0.1, n_rows)
    warm_all()
    model = UniSymNetRegressor(
        max_time=None, max_epochs=3, proposers=["evolve"], n_jobs=1, max_columns=n_columns, max_rows=min(n_rows, 2000)
    )
    began = time.process_time()
    model.fit(X, y)
    spent, memory = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rows": n_rows, "columns": n_columns, "seconds": round(spent, 2), "megabytes": round(memory)}))


def one_law(n_terms: int) -> None:
    """Evolution alone on the sum of so many terms, each with a number inside; prints seconds, None if not found."""
    from joblib import Parallel

    from unisymnet.deadline import Deadline
    from unisymnet.problem import make_problem
    from unisymnet.propose.evolve.islands import Islands

    rng = np.random.default_rng(1)
    X = rng.uniform(0.5, 3.0, (300, 3))
    a, b, c = X.T
    terms = (a * np.sin(1.7 * b), b**2 / (0.6 + c), np.exp(-0.8 * a * c), np.cos(2.3 * c) * a, np.log(1.4 + a * b))
    problem = make_problem(X, np.sum(terms[:n_terms], axis=0))
    warm = Islands(problem, seed=0, work=100_000)
    with Parallel(n_jobs=1) as parallel:
        warm.step(parallel, Deadline.never())
        islands, began, seconds = Islands(problem, seed=0), time.process_time(), None
        while seconds is None and time.process_time() - began < MOST_SECONDS:
            found = islands.step(parallel, Deadline.never())
            if found and min(one.loss for one in found) < 1e-20 * problem.spread**2:
                seconds = round(time.process_time() - began, 2)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"terms": n_terms, "seconds": seconds, "megabytes": round(memory)}))


def each(jobs: Sequence[Sequence[object]], out: str | None) -> None:
    """One process after the other; with a file, what is in it is not run again."""
    path = None if out is None else Path(out)
    known = set(path.read_text("utf-8").splitlines()) if path is not None and path.exists() else set()
    done = {tuple(json.loads(line)["job"]) for line in known}
    for job in jobs:
        words = tuple(map(str, job))
        if words in done:
            continue
        command = [sys.executable, __file__, *words]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
        line = json.dumps({"job": words, **json.loads(told)})
        print(line, flush=True)
        if path is not None:
            with path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")


class Costs(NamedTuple):
    """What an epoch costs beside its work, in seconds for one island."""

    packing: float  # in the parent, there and back
    megabytes: float  # there and back
    start: float  # of a worker, once
    exchange: float


def measured() -> Costs:
    from unisymnet.problem import make_problem
    from unisymnet.propose.evolve.islands import best_of, live, make_world
    from unisymnet.propose.evolve.niches import new_state

    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (256, 5))
    problem = make_problem(X, X[:, 0] * np.sin(X[:, 1]) + rng.normal(0.0, 0.1, 256))
    world = make_world(problem, 0, seed=0, work=50_000_000, solved=0.1, max_size=51)
    state = live(world, new_state(), [], (0, 0, 0))
    assert state is not None
    began = time.process_time()
    for _ in range(20):
        there, back = pickle.dumps((world, state)), pickle.dumps(state)
        pickle.loads(back)
    packing = (time.process_time() - began) / 20
    began = time.process_time()
    for _ in range(20):
        best_of(state)
    exchange = (time.process_time() - began) / 20
    return Costs(packing, (len(there) + len(back)) / 1e6, 5.0, exchange)


def simulated(n_workers: int, epoch: float, costs: Costs, rng: np.random.Generator, n_epochs: int = 200) -> float:
    """Share of the workers' time that is work, in a run of so many epochs with one island for each worker.

    The network carries 100 megabytes a second through the parent.  Epochs are counted in work, so they differ only by
    how busy a machine is (log-normal, 10 %); one in a thousand takes three times as long; a worker dies once in ten
    hours, and its island begins the epoch again elsewhere.
    """
    wall = costs.start
    for _ in range(n_epochs):
        times = epoch * np.exp(rng.normal(0.0, 0.1, n_workers))
        times[rng.random(n_workers) < 1e-3] *= 3.0
        dead = rng.random(n_workers) < epoch / 36_000.0
        times[dead] *= 2.0
        parent = n_workers * (costs.packing + costs.exchange + costs.megabytes / 100.0)
        # The parent packs and sends while the first ones are already at work, so the longer of the two counts.
        wall += max(float(times.max()), parent) + (parent / n_workers if n_workers > 1 else 0.0)
    return n_epochs * epoch / wall


def workers() -> None:
    costs, rng = measured(), np.random.default_rng(0)
    told = f"{costs.packing * 1e3:.1f} ms packing, {costs.megabytes:.2f} MB, {costs.exchange * 1e3:.2f} ms exchange"
    print(f"measured for an island and epoch: {told}")
    print("workers    " + "".join(f"{f'epoch {epoch:g} s':>14}" for epoch in EPOCHS))
    for n_workers in WORKERS:
        shares = [simulated(n_workers, epoch, costs, rng) for epoch in EPOCHS]
        print(f"{n_workers:<11}" + "".join(f"{share:>13.0%} " for share in shares))


def main(words: Sequence[str]) -> None:
    out = words[1] if len(words) > 1 else None
    if words[:1] == ["one"]:
        one_fit(int(words[1]), int(words[2]))
    elif words[:1] == ["law"]:
        one_law(int(words[1]))
    elif words[:1] == ["fit"]:
        each([*(("one", n, 3) for n in ROWS), *(("one", 1_000, d) for d in COLUMNS)], out)
    elif words[:1] == ["length"]:
        each([("law", n) for n in TERMS], out)
    elif words[:1] == ["workers"]:
        workers()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
