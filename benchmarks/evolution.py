"""The islands of evolution, alone: how fast, how many laws, how many threads, how long to compile.

    python benchmarks/evolution.py speed              # children a second, beside pyoperon if that is installed
    python benchmarks/evolution.py laws --count 60 --seconds 10 --out laws.jsonl
    python benchmarks/evolution.py laws … --out after.jsonl --against laws.jsonl   # with --plain: without finishers
    python benchmarks/evolution.py threads            # the same epochs in 1, 2 and 4 threads
    python benchmarks/evolution.py compile

All seconds are processor seconds (``time.process_time``); only ``threads`` also prints wall time, which means something
on an idle machine only.  Laws are random functions of the corpus, judged by the strict judge.  A file that exists is
gone on with.  The last line of each part is for machines.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel

from unisymnet.candidate import ParetoFront, Status
from unisymnet.corpus import LOW, Corpus
from unisymnet.deadline import Deadline
from unisymnet.fit.kernels.fit import warm_up
from unisymnet.fit.polish import Polish
from unisymnet.metrics import is_solution_strict
from unisymnet.problem import Problem, make_problem
from unisymnet.propose.evolve.islands import Islands, live, make_world
from unisymnet.propose.evolve.niches import N_CHILDREN, N_DISTINCT, N_FITS, N_SCANS, State, new_state
from unisymnet.propose.evolve.stage import Evolve
from unisymnet.search.order import FINISHERS, loaded
from unisymnet.symbolic.expr import Expr, evaluate

Record = dict[str, Any]
LEAST_ROWS = 20
# Of the evolution in Python that these islands replaced (0.1.0), processor seconds, 200 rows, 1 % noise.
BEFORE = {1: 1128.0, 3: 687.0, 6: 741.0}

COUNTED = {"children": N_CHILDREN, "distinct": N_DISTINCT, "fits": N_FITS, "scans": N_SCANS}


def noisy_problem(n_columns: int, n_rows: int = 200) -> Problem:
    rng = np.random.default_rng(n_columns)
    X = rng.uniform(0.5, 3.0, (n_rows, n_columns))
    y = np.sin(1.7 * X[:, 0]) * X[:, -1] ** 2 / (1.0 + X[:, n_columns // 2]) + 0.7 * X[:, 0]
    return make_problem(X, y + rng.normal(0.0, 0.01 * y.std(), n_rows))


def lived(problem: Problem, seed: int, *, fits: bool, solved: float = 0.1, n_epochs: int = 4) -> tuple[State, float]:
    """An island after some epochs, and the processor seconds it took."""
    world = make_world(problem, 0, seed=seed, work=100_000_000, solved=solved, max_size=39)
    if not fits:
        world = replace(world, settings=world.settings._replace(promising=0.0))
    state, began = new_state(), time.process_time()
    for number in range(n_epochs):
        state = live(world, state, [], (seed, 0, number)) or state
    return state, time.process_time() - began


def speed() -> None:
    numbers = []
    for n_columns, before in BEFORE.items():
        problem = noisy_problem(n_columns)
        rates: dict[str, list[float]] = {}
        for seed in range(3):
            for name, fits in (("fitted", True), ("projected", False)):
                state, seconds = lived(problem, seed, fits=fits, solved=0.1 if fits else 0.0)
                for kind, place in (
                    ("children", N_CHILDREN),
                    ("distinct", N_DISTINCT),
                    ("fits", N_FITS),
                    ("scans", N_SCANS),
                ):
                    rates.setdefault(f"{name} {kind}", []).append(state.counts[place] / seconds)
                rates.setdefault(f"{name} left", []).append(float(state.losses.min()) / problem.spread**2)
        median = {name: statistics.median(values) for name, values in rates.items()}
        line = f"{n_columns} columns: " + ", ".join(f"{name} {value:.3g}" for name, value in median.items())
        line += f"; times the children of 0.1.0: {median['fitted children'] / before:.0f}"
        numbers.append(f"columns{n_columns}={median['fitted children'] / before:.1f}")
        if find_spec("pyoperon") is not None:
            bare, fitted = operon(problem, 0), operon(problem, 5)
            line += f"; pyoperon individuals/s {bare:.3g} without and {fitted:.3g} with fits"
            numbers.append(f"operon{n_columns}={median['projected distinct'] / bare:.2f}")
            numbers.append(f"operon{n_columns}_fits={median['fitted distinct'] / fitted:.2f}")
        print(line, flush=True)
    print(*numbers)


def operon(problem: Problem, n_steps: int) -> float:
    """Individuals a second in one thread."""
    from pyoperon.sklearn import SymbolicRegressor

    rates = []
    for seed in range(3):
        model = SymbolicRegressor(
            allowed_symbols="add,sub,mul,div,sin,cos,exp,log,sqrt,square,tanh,abs,pow,constant,variable",
            optimizer_iterations=n_steps,
            population_size=1000,
            max_length=40,
            generations=30 if n_steps == 0 else 8,
            max_evaluations=10**12,
            n_threads=1,
            random_state=seed + 1,
        )
        began = time.process_time()
        model.fit(problem.X, problem.y)
        rates.append(1000 * ((30 if n_steps == 0 else 8) + 1) / (time.process_time() - began))
    return statistics.median(rates)


def laws(options: argparse.Namespace) -> None:
    lines = options.out.read_text("utf-8").splitlines() if options.out.exists() else []
    records: list[Record] = [json.loads(line) for line in lines]
    done = {record["problem"] for record in records}
    lived(noisy_problem(1), 0, fits=True, n_epochs=1)  # nothing is to be compiled or loaded on a law's time
    with options.out.open("a", encoding="utf-8") as file:
        # The corpus is another stream for another length, so the length is always 200.
        for number, example in enumerate(Corpus(LOW, seed=options.seed)(0, 200)):
            points = example.points.astype(np.float64)
            X = points[:, : example.n_features][np.any(points != 0.0, axis=1)]
            good = np.isfinite(evaluate(example.expr, X))
            if number >= options.count or number in done or good.sum() < LEAST_ROWS:
                continue
            record = {
                "problem": number,
                "truth": str(example.expr),
                **found(example.expr, X[good], options.seconds, not options.plain),
            }
            file.write(json.dumps(record) + "\n")
            file.flush()
            records.append(record)
            print(record, flush=True)
    show(records, options.against)


def evolution(finishing: bool) -> Evolve:
    """As a search has it, but without hints; with or without the finishers between its epochs."""
    return Evolve(finishers=tuple(map(loaded, FINISHERS)) if finishing else ())


def found(truth: Expr, X: np.ndarray, seconds: float, finishing: bool = True) -> Record:
    """Evolution alone until its front holds the law to the last digits, or the time is over."""
    problem, rng = make_problem(X, evaluate(truth, X)), np.random.default_rng(0)
    polish, front, began = Polish(), ParetoFront(), time.process_time()
    spread = problem.spread * problem.y_scale
    for proposal in evolution(finishing).propose(problem, front, rng=rng, deadline=Deadline.never()):
        candidate = polish.fit(proposal, problem, rng=rng, deadline=Deadline.never())
        if candidate.status is Status.OK:
            front.add(candidate)
        if time.process_time() - began > seconds or (len(front) and front[-1].loss <= (1e-12 * spread) ** 2):
            break
    spent = time.process_time() - began
    return {
        "solved": any(is_solution_strict(truth, candidate.expr, X) for candidate in front),
        "seconds": round(spent, 2),
        "left": round(math.log10(min(candidate.loss for candidate in front) / spread**2 + 1e-30), 1),
    }


def show(records: list[Record], against: Path | None) -> None:
    line = f"of={len(records)} solved={sum(r['solved'] for r in records)}"
    if against is not None:
        before = {r["problem"]: r for r in map(json.loads, against.read_text("utf-8").splitlines())}
        both = [(r, before[r["problem"]]) for r in records if r["problem"] in before]
        common = [
            math.log(max(b["seconds"], 0.01) / max(r["seconds"], 0.01)) for r, b in both if r["solved"] and b["solved"]
        ]
        lost = [r["problem"] for r, b in both if b["solved"] and not r["solved"]]
        line += f" before={sum(b['solved'] for _, b in both)} lost={lost}"
        line += f" times_faster={math.exp(statistics.fmean(common)):.2f}" if common else ""
    print(line)


def threads() -> None:
    problem, numbers = noisy_problem(3), []
    for n_jobs in (1, 2, 4):
        islands = Islands(problem, seed=0, n_islands=4)
        with Parallel(n_jobs=n_jobs, prefer="threads") as parallel:
            islands.step(parallel, Deadline.never())
            wall, processor = time.perf_counter(), time.process_time()
            for _ in range(10):
                islands.step(parallel, Deadline.never())
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
        best = min(float(island.state.losses.min()) for island in islands.islands)
        print(f"{n_jobs} threads: wall {wall:.2f} s, processor {processor:.2f} s, best {best!r}", flush=True)
        numbers += [f"wall{n_jobs}={wall:.2f}", f"processor{n_jobs}={processor:.2f}"]
    print(*numbers, f"load={os.getloadavg()[0]:.1f}")


def compiling() -> None:
    code = """
import time
from unisymnet.fit.kernels.fit import warm_up
warm_up()
began = time.process_time()
from unisymnet.problem import make_problem
from unisymnet.propose.evolve.islands import live, make_world, new_state
import numpy as np
x = np.linspace(1.0, 2.0, 60)
world = make_world(make_problem(x[:, None], np.sin(5 * x)), 0, seed=0, work=1000, solved=0.1, max_size=39)
live(world, new_state(), [], (0, 0, 0))
print(time.process_time() - began)
"""
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for _ in range(2):
            environment = os.environ | {"NUMBA_CACHE_DIR": folder}
            done = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            )
            runs.append(float(done.stdout.split()[-1]))
    print(f"compile={runs[0]:.1f} load={runs[1]:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("speed", "laws", "threads", "compile"))
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=4711, help="of the corpus")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--plain", action="store_true", help="without finishers")
    parser.add_argument("--out", type=Path, default=Path("evolution.jsonl"))
    parser.add_argument("--against", type=Path, help="the file of an earlier run")
    options = parser.parse_args()
    if options.part == "compile":
        return compiling()
    warm_up()
    if options.part == "laws":
        return laws(options)
    return speed() if options.part == "speed" else threads()


if __name__ == "__main__":
    main()
