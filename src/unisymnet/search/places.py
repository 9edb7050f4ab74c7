"""Proposers at their places in the order: silent on the other kind of data, or going on where they had to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..candidate import ParetoFront, Proposal, select
from ..deadline import Deadline
from ..problem import Problem
from ..protocols import Wrapped
from ..symbolic.expr import Expr
from .turns import PROPOSALS_A_TURN

# Long formulas come so near to clean data that what they leave looks like noise; measurements are seldom that good.
LEAST_NOISE = 1e-5


@dataclass(frozen=True)
class OnlyIf(Wrapped):
    """A proposer that is silent unless the data are noisy, or unless they are clean."""

    noisy: bool
    judge: Callable[[Problem, ParetoFront], bool]

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        if self.judge(problem, front) == self.noisy:
            yield from self.proposer.propose(problem, front, rng=rng, deadline=deadline)


@dataclass(frozen=True)
class Part(Wrapped):
    """One of several places of a proposer, which goes on at each of them where it had to stop.

    It ends after a ``share`` of the time left, ``seconds``, or as many proposals as a turn has.  It is left out where
    there are fewer than ``least_inputs``.
    """

    begun: list[Iterator[Proposal]]  # shared by all its places
    share: float
    seconds: float
    least_inputs: int = 1

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        if problem.n_features < self.least_inputs:
            return
        whole = deadline.whole()
        limit = whole.sooner(min(self.share * whole.remaining(), self.seconds))
        if not self.begun:
            self.begun.append(self.proposer.propose(problem, front, rng=rng, deadline=deadline))
        for number, proposal in enumerate(self.begun[0], 1):
            yield proposal
            if limit.expired() or (self.share < 1.0 and number >= PROPOSALS_A_TURN):
                return


class NoiseJudge:
    """Are the data noisy?  They look so, or the best formula so far leaves only noise.  No test is made twice."""

    def __init__(self) -> None:
        self.known: dict[Expr | None, bool] = {}

    def __call__(self, problem: Problem, front: ParetoFront) -> bool:
        from ..propose.view.noise import looks_noisy, only_noise_left

        if True in self.known.values():
            return True
        if None not in self.known:
            self.known[None] = looks_noisy(problem)
            return self(problem, front)
        if len(front):
            spread = problem.spread * problem.y_scale
            best = front[select(front, n_rows=problem.n_rows, spread=spread)].expr
            if best not in self.known:
                self.known[best] = only_noise_left(problem, best, LEAST_NOISE)
                return self.known[best]
        return False
