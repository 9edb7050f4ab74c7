"""What the search asks of its parts.  Anything with these methods can take part, a test's fake included."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .candidate import Candidate, ParetoFront, Proposal
from .deadline import Deadline
from .problem import Problem


class Proposer(Protocol):
    """Puts formulas forward.  Settings are fields; a stage with nothing to say yields nothing."""

    @property
    def name(self) -> str: ...

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        """Proposals in the problem's scaled units, the likeliest first.

        ``front`` holds what has been found so far (in the caller's units) and may grow between two yields.
        """
        ...


@dataclass(frozen=True)
class Wrapped:
    """A proposer under its own name with something to add: after each proposal come those of `beside`."""

    proposer: Proposer

    @property
    def name(self) -> str:
        return self.proposer.name

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        for proposal in self.proposer.propose(problem, front, rng=rng, deadline=deadline):
            yield proposal
            yield from self.beside(problem, proposal)

    def beside(self, problem: Problem, proposal: Proposal) -> Iterator[Proposal]:
        return iter(())


class Fitter(Protocol):
    """Turns a proposal into a fitted candidate in the caller's units, or into one whose status says why not."""

    def fit(
        self, proposal: Proposal, problem: Problem, *, rng: np.random.Generator, deadline: Deadline
    ) -> Candidate: ...

    def finish(self, candidate: Candidate, problem: Problem, *, deadline: Deadline) -> Candidate:
        """The candidate with clean constants, or unchanged where the data do not allow it."""
        ...
