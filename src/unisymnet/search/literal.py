"""The paper's pipeline to the letter: five structures of a beam of twenty, SFO with its policy alone and BFGS,
and DNO-NP where that leaves too much unexplained.  Nothing of what this package adds takes part.

Up to four columns the model reads points, as the paper's does (ADR 40).  What still differs is presentation (constants
are cleaned, formulas simplified) and the weights: smaller than the paper's, and beyond four columns they read
statistics (docs/training.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np

from ..candidate import ParetoFront, Proposal
from ..deadline import Deadline
from ..fit.sfo.sfo import SFO
from ..problem import Problem
from ..protocols import Proposer

BEAM, N_CANDIDATES = 20, 5
SATISFACTORY = 0.99  # R² from which SFO's formulas need no network
# The policy needs hundreds of fits, so the likeliest structure may take this part of the time, the next one this part
# of what is left; a quarter of the time remains for the networks.
SHARE = 0.25


@dataclass(frozen=True)
class InTurn:
    """Stages as one: each says all it has to say before the next is asked, and no slice of the time ends it."""

    stages: tuple[Proposer, ...]
    name: str = "literal"

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        for stage in self.stages:
            yield from stage.propose(problem, front, rng=rng, deadline=deadline)


def literal_sfo(sfo: SFO) -> SFO:
    """``sfo`` without anything beyond the paper: the policy draws, BFGS fits from ten starts, the lowest loss wins."""
    return replace(
        sfo, warm=False, climb=False, sweep=0, deepen=0, parsimony=False, optimiser="bfgs", share=SHARE
    )  # fmt: skip


def literal_proposers() -> tuple[Proposer, ...]:
    """The transformer, and dense networks of the same structures where torch is at hand."""
    from ..model.proposer import TransformerProposer
    from ..model.weights import POINTS

    beam = TransformerProposer(width=BEAM, n_candidates=N_CANDIDATES, n_bags=1, n_samples=0, n_frequent=0, named=POINTS)
    if find_spec("torch") is None:
        return (beam,)
    from ..fit.dno.dno import DNO, DNOProposer

    plain = DNO(
        pruning=False, signed=False, screening=0, holdout=0.0, trust=False, bend=0.0, plain_exponents=False,
        n_settling=0, n_cut=0,
    )  # fmt: skip
    return (InTurn((beam, DNOProposer(plain, (beam,), n_structures=N_CANDIDATES, enough=SATISFACTORY))),)
