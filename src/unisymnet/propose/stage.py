"""What all closed-form stages share: a name, a budget, and a task to work on.

A stage says in ``asked`` what it does with a task; whether the data can be its affair at all it says in ``suits``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Ints
from ..candidate import ParetoFront, Proposal
from ..deadline import Deadline
from ..problem import Problem
from .pool import Pool, is_constant, sample_rows

__all__ = ["Stage", "Task"]


@dataclass(frozen=True)
class Task:
    """A problem put to a stage: where its formulas go, its random numbers, and until when it may work."""

    problem: Problem
    pool: Pool
    rng: np.random.Generator
    deadline: Deadline

    def some_rows(self, limit: int) -> Ints:
        """All rows, or ``limit`` of them in their order."""
        return sample_rows(self.problem.n_rows, limit, self.rng)

    def random_rows(self, limit: int) -> Ints:
        """At most ``limit`` rows in random order: any first few of them are a sample."""
        return self.rng.permutation(self.problem.n_rows)[:limit]


@dataclass(frozen=True)
class Stage:
    """A proposer that solves for one kind of law, within ``seconds``."""

    name: str = ""
    seconds: float = math.inf

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        if not is_constant(problem) and self.suits(problem):
            yield from self.asked(Task(problem, Pool(problem, self.name), rng, deadline.sooner(self.seconds)))

    def suits(self, problem: Problem) -> bool:
        """Can the data be this stage's affair at all?"""
        return True

    def asked(self, task: Task) -> Iterator[Proposal]:
        raise NotImplementedError
