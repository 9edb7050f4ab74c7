"""The paper's comparison of inner strategies: SFO, DNO-P, DNO-NP on the same structures of random corpus functions.

Functions have at most four inputs and six layers (Appendix "Artificial DataSet in Ablation Studies").  "true" gives
every strategy the structure of the function itself, "transformer" the candidates of the shipped model.  One JSON line
a run; what the file holds is not run again.  Commands and tables are in `experiments/optimisers.py`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

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
from .records import Key, Record, resumed
from .run import provenance

N_STRUCTURES = 10
EXACT = 1e-24  # share of the variance
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
    record: Record = asdict(task)
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


def tasks_of(
    number: int,
    seed: int,
    max_time: float,
    *,
    structures: Sequence[str],
    noise: Sequence[float] = (0.0,),
    methods: Sequence[str],
    paper: bool = False,
) -> list[Task]:
    """The first ``number`` functions by every method; a network without a structure only on clean data."""
    return [
        Task(n, method, level, kind, paper=paper, signed=not paper, seed=seed, max_time=max_time)
        for kind in structures
        for n in range(number)
        for level in noise
        for method in methods
        if not (method == "default" and (level or kind != "true"))
    ]


def signed_tasks(number: int, seed: int, max_time: float) -> list[Task]:
    """Other domains, all negative or of both signs: signed against plain logarithms."""
    return [
        Task(
            n, method, domain=domain, signed=signed, paper=trial is not None, trial=trial, seed=seed, max_time=max_time
        )
        for n in range(number)
        for domain in ("negative", "mixed")
        for method in ("dno-p", "dno-np")
        for trial in (None, 0, 1)
        for signed in (False, True)
    ]


def run(tasks: Sequence[Task], out: Path, *, jobs: int = 1) -> list[Record]:
    """Run what the file does not hold yet; the records of all."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # small networks: processes pay, threads do not
    origin = provenance()

    def made(missing: list[Key]) -> Iterator[tuple[Key, Record]]:
        with ProcessPoolExecutor(jobs) as pool:
            waiting = {pool.submit(run_task, Task(**key)): key for key in missing}
            for number, finished in enumerate(as_completed(waiting), 1):
                key = waiting[finished]
                try:
                    record = finished.result()
                except Exception as mistake:  # one function's bug must not cost the other runs; the record tells it
                    record = key | {"status": "error", "message": repr(mistake)}
                shown = {k: record.get(k) for k in ("number", "method", "noise", "solved", "r2", "seconds")}
                print(f"{number}/{len(missing)}", shown, flush=True)
                yield key, record | origin

    return resumed([asdict(task) for task in tasks], out, made)
