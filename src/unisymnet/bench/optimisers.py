"""The paper's comparison of inner strategies: SFO, DNO-P, DNO-NP on the same structures of random corpus functions.

Usage: python -m unisymnet.bench.optimisers --out FILE.jsonl [--quick] [--functions N] [--noise 0 0.1]
       [--structures true transformer] [--methods sfo dno-p dno-np default] [--signs] [--jobs 2] [--tables]
Functions have at most four inputs and six layers (Appendix "Artificial DataSet in Ablation Studies").  "true" gives
every strategy the structure of the function itself, "transformer" the candidates of the shipped model.  ``--signs``
moves the inputs to other domains, all negative or of both signs, and compares signed with plain logarithms on functions
whose networks have any.  One JSON line a run; what the file holds is not run again.  Means of R² count a negative or
undefined R² as 0.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..candidate import ParetoFront, Proposal, Status, select
from ..deadline import Deadline
from ..fit.dno.dno import DNO, DNOResult, structure_of
from ..fit.polish import Polish
from ..problem import Problem
from ..symbolic.network.identify import identify
from ..symbolic.network.skeleton import to_skeleton
from ..symbolic.network.structure import Structure
from .optimiser_judging import Data, Fitted, draw_data, judged
from .optimiser_tables import draw_pruning, print_pruning, print_signs, print_strategies
from .records import append_record, mend, read_records

Record = dict[str, Any]
N_STRUCTURES = 10
EXACT = 1e-24  # share of the variance
NOISE = (0.0, 0.001, 0.01, 0.1)
KEY = ("number", "method", "noise", "structures", "domain", "signed", "paper", "trial", "seed", "max_time")
METHODS = ("sfo", "dno-p", "dno-np", "default")
# The paper's training and nothing else, for the comparison with what is added here.
PLAIN = DNO(signed=False, screening=0, holdout=0.0, trust=False, bend=0.0, plain_exponents=False, n_settling=0, n_cut=0)


@dataclass(frozen=True)
class Task:
    """One run: function ``number`` of the seeded corpus, fitted by one method."""

    number: int
    method: str
    noise: float = 0.0
    structures: str = "true"
    domain: str = "own"  # or "negative", "mixed"
    signed: bool = True
    paper: bool = False  # DNO without what is added to the paper
    trial: int | None = None  # with a number one single start is trained
    seed: int = 0
    max_time: float = 30.0

    def key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in KEY)


def structures_for(kind: str, data: Data, problem: Problem, *, rng: np.random.Generator) -> list[Structure]:
    """The function's own structure, or the model's best."""
    if kind == "true":
        return [identify(data.truth, problem.n_features).structure]
    from ..model.proposer import TransformerProposer

    stage = TransformerProposer(n_candidates=N_STRUCTURES, n_bags=1, n_samples=0, n_frequent=0)
    proposals = stage.propose(problem, ParetoFront(), rng=rng, deadline=Deadline.after(60.0))
    found = (structure_of(proposal.expr, problem.n_features) for proposal in proposals)
    # Where a column seems idle the stage asks its model twice, with and without it; what comes twice counts once.
    return list(islice(dict.fromkeys(structure for structure in found if structure is not None), N_STRUCTURES))


def run_task(task: Task) -> Record:
    """Fit and judge; everything that is recorded of one run."""
    record: Record = dict(zip(KEY, task.key()))
    data = draw_data(task.number, seed=task.seed, domain=task.domain)
    if data is None:
        return record | {"status": "undefined"}
    own = identify(data.truth, data.X.shape[1]).structure
    if task.domain != "own" and not any("ln" in layer for layer in own.ops):
        return record | {"status": "no logarithm"}  # signed and plain networks are the same there
    rng = np.random.default_rng([task.seed, task.number, task.trial or 0])
    problem, X_choosing, y_choosing = data.noisy(task.noise, rng=rng)
    structures = structures_for(task.structures, data, problem, rng=rng)
    began = time.monotonic()
    fitted = _fit(task, structures, problem, rng)
    seconds = time.monotonic() - began
    return record | judged(fitted, data, problem, X_choosing, y_choosing) | {
        "status": "ok", "seconds": seconds, "truth": str(data.truth),
        "depth": own.depth, "n_structures": len(structures),
    }  # fmt: skip


def _fit(task: Task, structures: Sequence[Structure], problem: Problem, rng: np.random.Generator) -> Fitted:
    polish, front, deadline = Polish(), ParetoFront(), Deadline.after(task.max_time)
    networks: list[DNOResult] = []
    if task.method == "sfo":
        for i, structure in enumerate(structures):
            share = deadline.sooner(deadline.remaining() / (len(structures) - i))
            proposal = Proposal(to_skeleton(structure).expr, "sfo")
            front.add(polish.fit(proposal, problem, rng=rng, deadline=share))
            if _exact(front, problem):
                break
    else:
        base = replace(PLAIN if task.paper else DNO(), pruning=task.method == "dno-p", signed=task.signed)
        if task.trial is not None:
            base = replace(base, n_restarts=1)
        if task.domain != "own":
            base = replace(base, n_cut=0)  # networks are compared there, not formulas
        for result in _trained(task.method, base, structures, problem, rng, deadline):
            for expr in result.formulas:
                front.add(polish.fit(Proposal(expr, task.method), problem, rng=rng, deadline=deadline))
            if result.status is Status.OK:
                networks.append(result)
            if _exact(front, problem):
                break
    picked = None
    if len(front):
        picked = front[select(front, "best", n_rows=problem.n_rows, spread=problem.spread * problem.y_scale)]
        picked = polish.finish(picked, problem, deadline=Deadline.after(5.0))
    return Fitted(front, picked, tuple(networks))


def _exact(front: ParetoFront, problem: Problem) -> bool:
    """Is there nothing left that another structure could explain?"""
    return len(front) > 0 and front[-1].loss <= EXACT * (problem.spread * problem.y_scale) ** 2


def _trained(
    method: str,
    dno: DNO,
    structures: Sequence[Structure],
    problem: Problem,
    rng: np.random.Generator,
    deadline: Deadline,
) -> Iterator[DNOResult]:
    if method == "default":
        yield dno.train_default(problem, rng=rng, deadline=deadline)
        return
    for i, structure in enumerate(structures):
        share = deadline.sooner(deadline.remaining() / (len(structures) - i))
        yield dno.train(structure, problem, rng=rng, deadline=share)


def tasks_of(options: argparse.Namespace) -> list[Task]:
    common = {"seed": options.seed, "max_time": options.max_time}
    if options.signs:
        return [
            Task(n, method, domain=domain, signed=signed, paper=trial is not None, trial=trial, **common)
            for n in range(options.functions)
            for domain in ("negative", "mixed")
            for method in ("dno-p", "dno-np")
            for trial in (None, 0, 1)
            for signed in (False, True)
        ]
    return [
        Task(n, method, noise, kind, paper=options.paper, signed=not options.paper, **common)
        for kind in options.structures
        for n in range(options.functions)
        for noise in options.noise
        for method in options.methods
        if not (method == "default" and (noise or kind != "true"))
    ]


def run(tasks: Sequence[Task], out: Path, *, jobs: int = 1) -> None:
    """Run what the file does not hold yet."""
    out.parent.mkdir(parents=True, exist_ok=True)
    mend(out)
    done = {_key(record) for record in read_records(out)}
    todo = [task for task in tasks if task.key() not in done]
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(run_task, task): task for task in todo}
        for number, finished in enumerate(as_completed(waiting), 1):
            try:
                record = finished.result()
            except Exception as mistake:  # one function's bug must not cost the other runs; the record tells it
                record = dict(zip(KEY, waiting[finished].key())) | {"status": "error", "message": repr(mistake)}
            append_record(out, record)
            shown = {k: record.get(k) for k in ("number", "method", "noise", "solved", "r2", "seconds")}
            print(f"{number}/{len(todo)}", shown, flush=True)


def _key(record: Record) -> tuple[Any, ...]:
    return tuple(record[name] for name in KEY)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="24 functions, noise 0 and 0.1")
    parser.add_argument("--functions", type=int, default=None)
    parser.add_argument("--noise", type=float, nargs="+", default=None)
    parser.add_argument("--structures", nargs="+", default=["true"], choices=["true", "transformer"])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--signs", action="store_true", help="other domains: signed against plain logarithm")
    parser.add_argument("--paper", action="store_true", help="DNO without what is added to the paper")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-time", type=float, default=30.0, help="seconds for one run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--figure", type=Path, default=None, help="draw the pruning ablation")
    parser.add_argument("--tables", action="store_true", help="only print the tables of the file")
    options = parser.parse_args()
    options.functions = options.functions or (24 if options.quick else 200)
    options.noise = options.noise or ([0.0, 0.1] if options.quick else list(NOISE))
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # small networks: processes pay, threads do not
    if not options.tables:
        run(tasks_of(options), options.out, jobs=options.jobs)
    show(options.out, options.figure)


def compare(out: Path, *, functions: int = 200, seed: int = 0, max_time: float = 30.0, jobs: int = 1) -> None:
    """The whole comparison at the paper's noise levels, on true structures and on those of the model if it is there."""
    from ..model.runtime import shipped

    kinds = ("true", "transformer") if shipped() else ("true",)
    settings = {"structures": kinds, "noise": NOISE, "methods": METHODS, "paper": False, "signs": False}
    options = argparse.Namespace(functions=functions, seed=seed, max_time=max_time, **settings)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    run(tasks_of(options), out, jobs=jobs)
    show(out)


def show(out: Path, figure: Path | None = None) -> None:
    """The tables of a file of records, and the figure if wanted."""
    records = [record for record in read_records(out) if record["status"] == "ok"]
    print_strategies(records)
    print_pruning(records)
    print_signs(records)
    if figure is not None:
        draw_pruning(records, figure)


if __name__ == "__main__":
    main()
