"""The stage `evolve`: islands fed by the front and by hints, whose best formulas of every size are proposed.

It does not know how the first formulas were found, nor who polishes and judges what it proposes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, effective_n_jobs

from ...candidate import ParetoFront, Proposal
from ...deadline import Deadline
from ...fit.clean.spell import spell
from ...problem import Problem
from ...protocols import Proposer
from ...pulse import beat
from ...symbolic.expr import Expr
from .finish import Finisher
from .hints import instance, parts
from .islands import Found, Islands
from .saved import kept

GAIN = 0.97  # of the loss that was proposed at no larger size: less is not worth a fit


@dataclass(frozen=True)
class Evolve:
    """Settings of the evolutionary stage.  The number of islands decides what is found; ``n_jobs`` only how soon."""

    name: str = "evolve"
    n_islands: int = 4
    work: int = 100_000_000  # of an epoch: instructions times rows, about a tenth of a second
    max_size: int = 51
    n_proposals: int = 6  # after an epoch, at most
    patience: int = 24  # epochs without a shorter description before an island begins anew
    lives: int = 8  # of every island; without a time limit evolution ends after that
    hints: tuple[Proposer, ...] = ()  # who is asked for likely skeletons, after so many epochs
    alone: int = 6
    n_instances: int = 4  # of each, at the beginning of their island
    finishers: tuple[Proposer, ...] = ()  # who is asked what could stand in a hole of a good formula
    unaided: int = 4  # epochs, which are short and find what is easy
    n_jobs: int | None = 1
    max_epochs: int | None = None
    checkpoint: str | None = None  # a folder where the islands are kept, so that a killed search goes on

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        if problem.n_rows < 3 or problem.spread == 0.0 or not (problem.allows("add") or problem.allows("mul")):
            return
        # Evolution gives way after every few proposals, so it may go on as long as the search does.
        deadline = deadline.whole()
        islands = Islands(problem, int(rng.integers(2**62)), self.n_islands, self.work, self.max_size, self.patience)
        finisher = Finisher(problem, self.finishers, islands.seed) if self.finishers else None
        known: set[Expr] = set()
        proposed: dict[int, float] = {}
        n_cores = min(effective_n_jobs(self.n_jobs), self.n_islands)
        with kept(islands, self.checkpoint) as note, Parallel(n_jobs=self.n_jobs, prefer="threads") as parallel:
            asked = not self.hints or islands.n_epochs > self.alone
            timed = deadline.moment < np.inf
            most = np.inf if self.max_epochs is None else self.max_epochs
            while islands.n_epochs < most and not islands.is_over(self.lives, timed):
                news = [candidate.expr for candidate in front if candidate.expr not in known]
                known.update(news)
                islands.welcome(0, [problem.to_scaled(expr) for expr in news])
                if not asked and islands.n_epochs >= self.alone:
                    asked = True
                    self._learn(islands, problem, front, rng, deadline)
                best = None if deadline.expired() else islands.step(parallel, deadline)
                if best is None:
                    return
                note()
                beat(self.n_islands, n_cores, islands.n_formulas)
                for found in self._worth(best, proposed):
                    if (expr := spell(found.expr, problem)) is not None:
                        yield Proposal(expr, self.name)
                if finisher is not None and islands.n_epochs > self.unaided:
                    # A stage must not be cut short by a slice of time: what it finds would depend on the clock.
                    whole = Deadline(deadline.moment, sliced=False)
                    yield from finisher.propose(front, best, islands.n_epochs, whole)

    def _learn(
        self, islands: Islands, problem: Problem, front: ParetoFront, rng: np.random.Generator, deadline: Deadline
    ) -> None:
        """Ask for hints: their instances settle on an island without the front, their parts are units everywhere."""
        asked = (stage.propose(problem, front, rng=rng, deadline=deadline) for stage in self.hints)
        hints = tuple(dict.fromkeys(proposal.expr for proposals in asked for proposal in proposals))
        if not hints:
            return
        instances = [instance(hint, rng=rng) for hint in hints for _ in range(self.n_instances)]
        islands.settle(1 % self.n_islands, instances)
        islands.teach(parts(instances))

    def _worth(self, best: list[Found], proposed: dict[int, float]) -> list[Found]:
        """Those that leave clearly less than what was proposed at no larger size."""
        chosen: list[Found] = []
        for found in best:
            before = min((loss for size, loss in proposed.items() if size <= found.size), default=np.inf)
            if found.loss < GAIN * before and len(chosen) < self.n_proposals:
                chosen.append(found)
                proposed[found.size] = found.loss
        # Who asks must get an answer after every epoch, or it could not tell how the time passes.
        return chosen or best[:1]
