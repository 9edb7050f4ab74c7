"""What the user knows about a law, as the search and the table need it.

`Known` holds the parameters as given; `Knowledge` is the same for the columns of one table.  It adds proposers, stands
between the search and the fitter so that nothing that contradicts it gets onto the front, and writes into the table
what it has to say about each formula.  The best formulas that were turned away are kept, to be shown beside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..candidate import Candidate, ParetoFront, Proposal, Status
from ..deadline import Deadline
from ..formula import Formula
from ..problem import Problem
from ..protocols import Fitter, Proposer
from ..search.loop import SearchSettings, search
from ..symbolic.expr import Expr
from .units.reduced import Solve, reduced_searches
from .units.strict import Strict
from .units.system import UnitSystem, make_units, renumbered
from .units.unit import unit_text

Remarks = tuple[tuple[str, str], ...]  # heads and cells of further columns of the table


@dataclass(frozen=True)
class Known:
    """The parameters of the estimator that say what is known."""

    units: Mapping[str, str] | None = None
    constants: Mapping[str, str | float] | None = None

    def of(self, names: Sequence[str], target: str) -> Knowledge | None:
        """For a table with these columns; a DataError says what does not fit it.  None where nothing is known."""
        units = make_units(self.units, self.constants, names, target)
        return None if units is None else Knowledge(units)

    def fingerprinted(self) -> dict[str, Any]:
        """What a checkpoint must have in common to be taken up again."""
        given = {"units": self.units, "constants": self.constants}
        return {name: sorted(value.items()) for name, value in given.items() if value}


@dataclass(frozen=True)
class Knowledge:
    """What is known about one table."""

    units: UnitSystem
    refused: list[Candidate] = field(default_factory=list)  # the best that were turned away, in all columns

    def notes(self) -> tuple[str, ...]:
        return tuple(self.units.notes())

    def proposers(
        self, chosen: Sequence[Proposer], problem: Problem, columns: Sequence[int], solve: Solve
    ) -> tuple[Proposer, ...]:
        """Searches on groups without a unit first; then the others, their formulas also without forbidden terms."""
        units = self.units.restricted(columns)
        strict = [Strict(proposer, units) for proposer in chosen]
        return (*reduced_searches(units, problem, solve), *strict)

    def fitter(self, fitter: Fitter, columns: Sequence[int]) -> Fitter:
        return _Knowing(fitter, self, tuple(columns))

    def allows(self, expr: Expr) -> bool:
        """May this formula, in all columns, be shown?"""
        return self.units.read(expr).fits

    def price(self, expr: Expr) -> int:
        """Tokens that a formula costs beside its own, for constants that would have to be explained."""
        return self.units.price(self.units.read(expr))

    def dressed(self, formula: Formula) -> Formula:
        return self.units.dressed(formula)

    def remarks(self, formula: Formula) -> Remarks:
        """Further cells of the table for one formula."""
        reading = self.units.read(formula.expr)
        if not reading.fits:
            return (("units", "no"),)
        dimensions = [unit_text(u, self.units.preferred) for u in reading.constants if not u.is_number]
        if not dimensions:
            return (("units", "ok"),)
        n = len(dimensions)
        return (("units", f"if c is in {dimensions[0]}" if n == 1 else f"if {n} c have units"),)

    def refuse(self, candidate: Candidate) -> None:
        """Remember the best formulas that were turned away."""
        front = ParetoFront([*self.refused, candidate])
        self.refused[:] = list(front)


@dataclass(frozen=True)
class _Knowing:
    """A fitter whose candidates agree with what is known."""

    fitter: Fitter
    knowledge: Knowledge
    columns: tuple[int, ...]

    def fit(
        self, proposal: Proposal, problem: Problem, *, rng: np.random.Generator, deadline: Deadline
    ) -> Candidate:
        return self._judged(self.fitter.fit(proposal, problem, rng=rng, deadline=deadline))

    def finish(self, candidate: Candidate, problem: Problem, *, deadline: Deadline) -> Candidate:
        clean = self._judged(self.fitter.finish(candidate, problem, deadline=deadline))
        return clean if clean.status is Status.OK else candidate

    def _judged(self, candidate: Candidate) -> Candidate:
        if candidate.status is not Status.OK:
            return candidate
        expr = renumbered(candidate.expr, self.columns)
        if not self.knowledge.allows(expr):
            self.knowledge.refuse(replace(candidate, expr=expr))
            return replace(candidate, status=Status.REFUSED, loss=float("inf"))
        price = self.knowledge.price(expr)
        return replace(candidate, complexity=_size(candidate) + price) if price else candidate


def _size(candidate: Candidate) -> int:
    from ..metrics import complexity

    return complexity(candidate.expr)


def solver(
    proposers: Callable[[Problem], Sequence[Proposer]],
    fitter: Callable[[], Fitter],
    settings: SearchSettings,
    stop: Callable[[], bool],
) -> Solve:
    """A whole search for a smaller problem, within the time of a stage."""
    def solve(problem: Problem, rng: np.random.Generator, deadline: Deadline) -> ParetoFront:
        limit = settings.max_evaluations
        within = replace(
            settings,
            max_time=deadline.remaining() if np.isfinite(deadline.moment) else None,
            max_evaluations=None if limit is None else max(limit // EVALUATIONS_SHARE, 1),
        )
        return search(problem, proposers(problem), fitter(), within, rng=rng, stop=stop).front

    return solve


EVALUATIONS_SHARE = 5  # of a limited number of evaluations, for one search on groups
