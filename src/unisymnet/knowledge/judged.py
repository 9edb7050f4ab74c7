"""A fitter whose candidates agree with what is known; the others are mended where constants suffice, else refused."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from ..candidate import Candidate, Proposal, Status
from ..deadline import Deadline
from ..metrics import complexity
from ..problem import Problem
from ..protocols import Fitter
from ..symbolic.expr import Expr, evaluate, renumbered

PROMISING = 3.0  # times the best loss so far at this size: up to there mending is worth its time
MAX_MENDED = 400  # formulas in one search


class Judge(Protocol):
    """What is known about the law."""

    def allows(self, expr: Expr) -> bool: ...

    def mended(self, expr: Expr) -> Expr | None: ...

    def price(self, expr: Expr) -> int: ...

    def refuse(self, candidate: Candidate) -> None: ...


@dataclass
class Judged:
    """The fitter of a search about whose law something is known."""

    fitter: Fitter
    judge: Judge
    columns: tuple[int, ...]
    best: dict[int, float] = field(default_factory=dict)  # loss of allowed formulas by size
    n_mended: int = 0

    def fit(self, proposal: Proposal, problem: Problem, *, rng: np.random.Generator, deadline: Deadline) -> Candidate:
        return self._judged(self.fitter.fit(proposal, problem, rng=rng, deadline=deadline), problem)

    def finish(self, candidate: Candidate, problem: Problem, *, deadline: Deadline) -> Candidate:
        clean = self.fitter.finish(candidate, problem, deadline=deadline)
        if clean is candidate or not self.judge.allows(renumbered(clean.expr, self.columns)):
            return candidate
        return self._priced(clean)

    def _judged(self, candidate: Candidate, problem: Problem) -> Candidate:
        if candidate.status is not Status.OK:
            return candidate
        expr = renumbered(candidate.expr, self.columns)
        if self.judge.allows(expr):
            found = self._priced(candidate)
            self.best[found.complexity] = min(found.loss, self.best.get(found.complexity, np.inf))
            return found
        self.judge.refuse(replace(candidate, expr=expr))
        return self._mended(candidate, expr, problem)

    def _mended(self, candidate: Candidate, expr: Expr, problem: Problem) -> Candidate:
        refused = replace(candidate, status=Status.REFUSED, loss=float("inf"))
        limit = min((loss for size, loss in self.best.items() if size <= candidate.complexity), default=np.inf)
        if candidate.loss > PROMISING * limit or self.n_mended >= MAX_MENDED:
            return refused
        self.n_mended += 1
        found = self.judge.mended(expr)
        if found is None:
            return refused
        place = {column: index for index, column in enumerate(self.columns)}
        inner = renumbered(found, [place.get(i, 0) for i in range(max(self.columns, default=0) + 1)])
        rest = problem.y * problem.y_scale - evaluate(inner, problem.X * problem.x_scales)
        loss = float(np.average(rest**2, weights=problem.weights))
        if not np.isfinite(loss):
            return refused
        return self._priced(replace(candidate, expr=inner, loss=loss))

    def _priced(self, candidate: Candidate) -> Candidate:
        price = self.judge.price(renumbered(candidate.expr, self.columns))
        return replace(candidate, complexity=complexity(candidate.expr) + price) if price else candidate
