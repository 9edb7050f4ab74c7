"""The paper's pipeline to the letter: five structures of a beam of twenty, SFO with its policy alone and BFGS,
and DNO-NP where that leaves too much unexplained.  Nothing of what this package adds takes part.

Up to four columns the model reads points, as the paper's does (ADR 40).  What still differs is presentation (constants
are cleaned, formulas simplified) and the weights: smaller than the paper's, and beyond four columns they read
statistics (docs/training.md).
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

from ..fit.sfo.sfo import SFO
from ..protocols import Proposer

BEAM, N_CANDIDATES = 20, 5
SATISFACTORY = 0.99  # R² from which SFO's formulas need no network


def literal_sfo(sfo: SFO) -> SFO:
    """``sfo`` without anything beyond the paper: the policy draws, BFGS fits from ten starts, the lowest loss wins."""
    return replace(sfo, warm=False, climb=False, sweep=0, deepen=0, parsimony=False, optimiser="bfgs")


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
    return beam, DNOProposer(plain, (beam,), n_structures=N_CANDIDATES, enough=SATISFACTORY)
