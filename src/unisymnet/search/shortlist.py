"""The formulas that the judge may still choose from: short for what they explain, or within reach of the best.

The front keeps one formula for each size; this list keeps, beside it, what size and loss would throw away, x**1.9 for
one when x**2 is shorter by nats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ..candidate import Candidate, ParetoFront
from ..fit.settle import shortest
from ..judge.data import level_nats
from ..judge.judge import Judge, Lengths
from ..symbolic.expr import Expr, evaluate

REACH = 6.0  # nats behind the best: no farther formula is ever of interest, unless it is the shortest of its kind
SLACK = 8.0  # nats that a last fit of all constants may still win
HOPELESS = 60.0  # nats by equal noise: no other noise model makes up for that
MOST = 60
COMMON, MOST_COMMON = 7.0, 150  # nats of a structure that people fit before any other, and how many of them are fitted


@dataclass(frozen=True)
class Listed:
    """A candidate and what it costs."""

    candidate: Candidate
    lengths: Lengths


@dataclass
class Shortlist:
    """Undominated in (formula, evidence), or within ``REACH`` of the best; ``offer`` decides."""

    judge: Judge
    members: list[Listed] = field(default_factory=list)
    _seen: set[Expr] = field(default_factory=set)
    _n_common: int = 0

    @property
    def best(self) -> Listed | None:
        return min(self.members, key=lambda one: one.lengths.total, default=None)

    def offer(self, candidate: Candidate) -> bool:
        """Judge the candidate; True if it is the new best."""
        if candidate.expr in self._seen:
            return False
        self._seen.add(candidate.expr)
        best = self.best
        if self._n_common < MOST_COMMON and self.judge.structure(candidate.expr) <= COMMON:
            candidate = self._settled(candidate)
        if best is not None and self._by_loss(candidate) > self._by_loss(best.candidate) + HOPELESS:
            return False
        formula, evidence = self.judge.quick(candidate.expr)
        if not math.isfinite(formula + evidence) or self._beaten(formula, evidence):
            return False
        lengths = self.judge.lengths(candidate.expr)
        if lengths is None or self._beaten(lengths.formula, lengths.evidence):
            return False
        self.members.append(Listed(candidate, lengths))
        self._prune()
        return best is None or lengths.total < best.lengths.total

    def believes(self, candidate: Candidate) -> bool:
        """Is a formula that leaves nothing a law?"""
        best = self.best
        return self.judge.believes([candidate.expr], [] if best is None else [best.candidate.expr])

    def _settled(self, candidate: Candidate) -> Candidate:
        """With its constants under the noise model that suits it: by least squares a line with two rows far off looks
        worse than a curve that follows them, and nobody would look at the line again."""
        self._n_common += 1
        found = shortest(candidate.expr, self.judge)
        if found is None or found[1].model.kind == "equal":
            return candidate
        with np.errstate(all="ignore"):
            loss = float(np.mean((self.judge.root * (self.judge.y - evaluate(found[0], self.judge.X))) ** 2))
        return replace(candidate, expr=found[0], loss=loss)

    def front(self) -> ParetoFront:
        """By size and loss, for whoever needs that order."""
        return ParetoFront(one.candidate for one in self.members)

    def _by_loss(self, candidate: Candidate) -> float:
        """About what it costs if every row has the same noise."""
        return 2.0 * candidate.complexity + level_nats(candidate.loss + self.judge.floor, self.judge.n_rows)

    def _beaten(self, formula: float, evidence: float) -> bool:
        best = self.best
        if best is None or formula + evidence <= best.lengths.total + REACH + SLACK:
            return False
        return any(one.lengths.formula <= formula and one.lengths.evidence <= evidence for one in self.members)

    def _prune(self) -> None:
        best = min(one.lengths.total for one in self.members)
        kept = [
            one
            for one in self.members
            if one.lengths.total <= best + REACH + SLACK
            or not any(_beats(other.lengths, one.lengths) for other in self.members)
        ]
        self.members = sorted(kept, key=lambda one: one.lengths.total)[:MOST]


def _beats(a: Lengths, b: Lengths) -> bool:
    return a is not b and a.formula <= b.formula and a.evidence <= b.evidence and a.total < b.total
