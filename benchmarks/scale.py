"""How a fit grows with rows and columns, and where more machines stop paying.

    python benchmarks/scale.py fit            # seconds and memory of three epochs for 10² to 10⁶ rows, 1 to 100 columns
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
from typing import NamedTuple

import numpy as np

ROWS = (100, 1_000, 10_000, 100_000, 1_000_000)
COLUMNS = (1, 3, 10, 30, 100)
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


def fits() -> None:
    for n_rows, n_columns in [*((n, 3) for n in ROWS), *((1_000, d) for d in COLUMNS)]:
        command = [sys.executable, __file__, "one", str(n_rows), str(n_columns)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(done.stdout.splitlines()[-1], flush=True)


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


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        one_fit(int(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:] == ["fit"]:
        fits()
    elif sys.argv[1:] == ["workers"]:
        workers()
    else:
        sys.exit(__doc__)
