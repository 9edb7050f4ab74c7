"""Whose turn it is in a search, and when enough turns have been taken.

Turns are counted in proposals, not seconds, so that the same seed gives the same front.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ..candidate import TOKEN_NATS, Candidate, ParetoFront, Proposal, description_length
from ..problem import Problem
from ..protocols import Proposer
from ..symbolic.expr import Expr
from .shortlist import Shortlist
from .trace import TraceRow

# Is what the formula (caller's units) leaves of the target nothing but noise?
NoiseTest = Callable[[Problem, Expr], bool]

PROPOSALS_A_TURN = 64
TOKENS_A_TURN = 4.0  # a longer formula must outlive more turns before it is believed
LEAST_TURNS = 2
DOUBTFUL = 3.0  # times as many turns where the data themselves do not look noisy: what looks like noise may be a law
LEAST_GAIN = 2.0  # nats
LEAST_EVIDENCE = 3.0  # nats won on the data for every nat that the formula costs
# With a judge: turns that the best formula must outlive for each of its nats while shorter ones are left untried, and
# by how much the price of what has been tried may fall short of its own.
TURNS_A_NAT = 0.5
TRIED_SHORT = 1.0


@dataclass
class Turns:
    """One proposer's place in the queue."""

    proposer: Proposer
    rng: np.random.Generator
    row: TraceRow
    order: int
    proposals: Iterator[Proposal] | None = None

    def priority(self) -> tuple[float, int]:
        """Turns taken in relation to what they won; the order given decides among equals."""
        return self.row.n_turns / (1.0 + self.row.n_kept), self.order


@dataclass
class Patience:
    """Under noise no formula is ever exact.  A search ends there when the best formula leaves only noise, and turn
    after turn has not found a shorter description."""

    problem: Problem
    is_noise: NoiseTest | None
    looks_noisy: Callable[[Problem], bool] | None = None
    shortlist: Shortlist | None = None
    best: float = math.inf
    n_turns: int = 0  # since the best was found
    tried: float = 0.0  # nats: every formula of at most this price has been looked at
    _judged: dict[Expr, bool] = field(default_factory=dict)
    _doubtful: bool | None = None

    def is_over(self, front: ParetoFront) -> bool:
        """Called after every turn that has put formulas forward."""
        if self.is_noise is None or not len(front):
            return False
        if self.shortlist is not None and self.shortlist.members:
            return self._is_judged(self.shortlist)
        lengths = [self._length(candidate) for candidate in front]
        length, candidate = min(zip(lengths, front, strict=True), key=lambda pair: pair[0])
        if length < self.best - LEAST_GAIN:
            self.best, self.n_turns = length, 0
            return False
        self.n_turns += 1
        wanted = max(LEAST_TURNS, candidate.complexity / TOKENS_A_TURN)
        if self.n_turns < wanted or not self._is_evident(candidate):
            return False
        if self._is_doubtful() and self.n_turns < DOUBTFUL * wanted:
            return False
        return self._leaves_noise(candidate.expr)

    @property
    def proven(self) -> bool:
        """Has every formula been looked at that could be shorter than the best?  Only if nothing but noise is left:
        then a rival has to win by its own length."""
        best = None if self.shortlist is None else self.shortlist.best
        if best is None or self.is_noise is None:
            return False
        return self.tried >= best.lengths.formula - TRIED_SHORT and self._leaves_noise(best.candidate.expr)

    def _is_judged(self, shortlist: Shortlist) -> bool:
        best = shortlist.best
        assert best is not None
        if best.lengths.total < self.best - LEAST_GAIN:
            self.best, self.n_turns = best.lengths.total, 0
            return False
        self.n_turns += 1
        all_tried = self.tried >= best.lengths.formula - TRIED_SHORT
        wanted = float(LEAST_TURNS) if all_tried else max(LEAST_TURNS, TURNS_A_NAT * best.lengths.formula)
        if self.n_turns < wanted:
            return False
        if self._is_doubtful() and self.n_turns < DOUBTFUL * wanted:
            return False
        return self._leaves_noise(best.candidate.expr)

    def _is_doubtful(self) -> bool:
        if self._doubtful is None:
            self._doubtful = self.looks_noisy is not None and not self.looks_noisy(self.problem)
        return self._doubtful

    def _leaves_noise(self, expr: Expr) -> bool:
        if expr not in self._judged:
            self._judged[expr] = self.is_noise is not None and self.is_noise(self.problem, expr)
        return self._judged[expr]

    def _length(self, candidate: Candidate) -> float:
        problem = self.problem
        noise = None if problem.noise is None else problem.noise * problem.y_scale
        return description_length(candidate, problem.n_rows, problem.spread * problem.y_scale, noise)

    def _is_evident(self, candidate: Candidate) -> bool:
        """Have the data paid for the formula several times over?  Else chance may have written it."""
        n, spread = self.problem.n_rows, self.problem.spread * self.problem.y_scale
        gain = 0.5 * n * math.log(spread**2 / candidate.loss) if candidate.loss > 0.0 else math.inf
        price = candidate.complexity * TOKEN_NATS + 0.5 * candidate.n_constants * math.log(n)
        return gain >= LEAST_EVIDENCE * price
