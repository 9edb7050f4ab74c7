"""One version of the package at work for versions.py: a request a line on stdin, an answer a line on stdout.

Uses only names that version 0.1.0 has, too, so that PYTHONPATH decides which version answers.  All clocks of this
process count processor time, as in gate.py.  Which formula is a law, and how good it is, is not judged here.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import unisymnet
from unisymnet import UniSymNetRegressor
from unisymnet.candidate import ParetoFront, Proposal
from unisymnet.deadline import Deadline
from unisymnet.fit.polish import Polish
from unisymnet.problem import make_problem
from unisymnet.regressor.warm import warm_all, warm_stages

PAGE = 4096 / 2**20  # megabytes


class ProcessorTimer(threading.Timer):
    """Rings after so many seconds of processor time."""

    def run(self) -> None:
        end = time.process_time() + self.interval
        while not self.finished.wait(max(0.01, min(end - time.process_time(), 0.1))):
            if time.process_time() >= end:
                self.function(*self.args, **self.kwargs)
                return


class Memory(threading.Thread):
    """Resident megabytes of this process against its processor seconds, once in so many seconds of wall time."""

    def __init__(self, every: float) -> None:
        super().__init__(daemon=True)
        self.every, self.over, self.seen = every, threading.Event(), [now_resident()]

    def run(self) -> None:
        while not self.over.wait(self.every):
            self.seen.append(now_resident())


def now_resident() -> tuple[float, float]:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return round(time.process_time(), 1), round(pages * PAGE, 1)


def evolution(finishing: bool, best: dict[int, Any]) -> Any:
    """The stage `evolve` without hints; with or without the finishers, which 0.1.0 does not have.

    Today's stage proposes its best formulas of every size; that of 0.1.0 only its best one, so the best child of each
    size is put into ``best``.
    """
    try:
        stage = import_module("unisymnet.propose.evolve.stage")
    except ModuleNotFoundError:  # 0.1.0
        return watched(import_module("unisymnet.propose.evolve"), best).Evolve()
    order = import_module("unisymnet.search.order")
    return stage.Evolve(finishers=tuple(map(order.loaded, order.FINISHERS)) if finishing else ())


def watched(module: Any, best: dict[int, Any]) -> Any:
    """The evolution of 0.1.0, which tells of every child that it has fitted."""
    kind = module._Evolution
    plain = kind.__dict__.get("plain", kind.fitted)

    def fitted(self: Any, expr: Any) -> Any:
        child = plain(self, expr)
        if child is not None and (child.complexity not in best or child.loss < best[child.complexity].loss):
            best[child.complexity] = child
        return child

    kind.plain, kind.fitted = plain, fitted
    return module


def evolve(X: Any, y: Any, seconds: float, seed: int, finishing: bool) -> dict[str, Any]:
    """The front of evolution alone after so many seconds: size, mean square on the rows given, formula."""
    problem, rng, deadline = make_problem(X, y), np.random.default_rng(seed), Deadline.after(seconds)
    polish, front, began, n_proposals = Polish(), ParetoFront(), time.process_time(), 0
    best: dict[int, Any] = {}
    for proposal in evolution(finishing, best).propose(problem, front, rng=rng, deadline=deadline):
        front.add(polish.fit(proposal, problem, rng=rng, deadline=Deadline.never()))
        n_proposals += 1
        if deadline.expired():
            break
    spent = time.process_time() - began
    for child in best.values():
        front.add(polish.fit(Proposal(child.expr, "evolve"), problem, rng=rng, deadline=Deadline.never()))
    return {
        "seconds": round(spent, 2),
        "proposals": n_proposals,
        "front": [[one.complexity, one.loss, str(one.expr)] for one in front],
    }


def whole(X: Any, y: Any, seconds: float, seed: int, every: float) -> dict[str, Any]:
    """The estimator as a user has it, on one core."""
    memory, began = Memory(every), time.process_time()
    memory.start()
    model = UniSymNetRegressor(max_time=seconds, random_state=seed, n_jobs=1).fit(X, y)
    memory.over.set()
    spent = time.process_time() - began
    evolving = sum(row.seconds for row in model.trace_ if row.stage == "evolve")
    return {
        "seconds": round(spent, 2),
        "evolving": round(evolving, 2),
        "source": str(model.equations_["source"].iloc[model.picked_]),
        "formula": str(model.formula_.expr),
        "memory": [*memory.seen, now_resident()],
    }


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a version prints is no answer
    time.monotonic = time.process_time
    threading.Timer = ProcessorTimer  # type: ignore[misc]
    warm_all()
    warm_stages()
    x = np.linspace(1.0, 2.0, 60)
    evolve(x[:, None], np.sin(5.0 * x) + 0.01 * np.cos(99.0 * x), 1.0, 0, True)  # loads what it needs
    print(json.dumps({"version": unisymnet.__version__}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        do = {"evolve": evolve, "whole": whole}[request.pop("do")]
        X, y = (np.asarray(request.pop(name), np.float64) for name in ("X", "y"))
        print(json.dumps(do(X, y, **request)), file=answers, flush=True)


if __name__ == "__main__":
    main()
