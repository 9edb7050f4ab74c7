"""Smaller problems: inputs left out, power laws stripped, two inputs merged into one; then the stages search there.

Reductions (see reductions.py) are chained as far as they go, and the stages given are asked about the smallest problem
first.  Formulas found there are written back in the inputs of the whole problem.  Which stages these are is not known
here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...candidate import ParetoFront, Proposal
from ...deadline import Deadline
from ...problem import Problem
from ...protocols import Proposer
from ..pool import EXACT, misfit
from ..screen.spaces import weightings
from ..view.noise import looks_noisy
from .reduction import Reduction
from .reductions import best_reduction

__all__ = ["Reduce", "chain"]


@dataclass(frozen=True)
class Reduce:
    """Settings: the stages asked about smaller problems, others for those that look noisy (noise is easier to see in
    fewer inputs), seconds for one problem, how sure a reduction must be."""

    stages: tuple[Proposer, ...] = ()
    noisy_stages: tuple[Proposer, ...] = ()
    name: str = "reduce"
    max_ratio: float = 1.3
    max_time: float = 20.0
    max_steps: int = 8

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        noisy = weightings(problem) == (True,)
        steps = list(chain(problem, noisy=noisy, max_ratio=self.max_ratio, max_steps=self.max_steps, deadline=deadline))
        problems = [problem]
        for step in steps:
            smaller = step.apply(problems[-1])
            if smaller is None:
                break
            problems.append(smaller)
        # The smallest problem first: it is the easiest to solve.
        for depth in range(len(problems) - 1, 0, -1):
            limit = deadline.sooner(self.max_time)
            for proposal in self.solve(problems[depth], rng, limit):
                expr = proposal.expr
                for step in reversed(steps[:depth]):
                    expr = step.lift(expr)
                yield Proposal(expr, f"{self.name}/{proposal.source}")
                if misfit(problem, expr) < EXACT:
                    return
            if deadline.expired():
                return

    def solve(self, problem: Problem, rng: np.random.Generator, deadline: Deadline) -> Iterator[Proposal]:
        """What the stages propose for a smaller problem."""
        for stage in self.noisy_stages if self.noisy_stages and looks_noisy(problem) else self.stages:
            if deadline.expired():
                return
            for proposal in stage.propose(problem, ParetoFront(), rng=rng, deadline=deadline):
                yield proposal
                if deadline.expired():
                    return


def chain(
    problem: Problem, *, noisy: bool, max_ratio: float, max_steps: int, deadline: Deadline
) -> Iterator[Reduction]:
    """Reductions, each of the problem that the ones before leave."""
    for _ in range(max_steps):
        if problem.n_features < 2 or deadline.expired():
            return
        step = best_reduction(problem, noisy=noisy, max_ratio=max_ratio)
        smaller = None if step is None else step.apply(problem)
        if step is None or smaller is None:
            return
        yield step
        problem = smaller
