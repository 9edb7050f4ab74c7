"""Fitted formulas and the front they form.

``Candidate`` is one fitted formula, ``ParetoFront`` keeps the best loss for every complexity.  Neither knows how
a formula was found or fitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from .symbolic.expr import Expr

if TYPE_CHECKING:
    from .symbolic.structure import Structure


class Status(Enum):
    """How a fit ended; numerical failure is data, not an exception.  The value is the sentence for a person."""

    OK = "the constants were fitted"
    NON_FINITE = "the formula is undefined on some rows for every start"
    NOT_CONVERGED = "the step limit was reached before the fit settled"
    TIMED_OUT = "the time limit was reached before the fit settled"


@dataclass(frozen=True)
class Proposal:
    """A formula that a proposer puts forward, in the scaled units of the problem.

    ``Const`` leaves hold numbers the proposer stands for (start values for the polish); ``Param`` leaves are
    unknown and get many starts.  ``source`` names the stage, for the trace and the report.
    """

    expr: Expr
    source: str


@dataclass(frozen=True)
class Candidate:
    """One fitted formula.  ``loss`` is finite exactly when ``status`` is OK.

    ``loss`` and ``loss_valid`` are mean (weighted) losses on training and validation rows in the caller's units;
    ``structure`` is None where the formula needs an operator outside the network's library (asin, for one).
    """

    expr: Expr
    loss: float
    complexity: int
    n_constants: int
    source: str = ""
    status: Status = Status.OK
    structure: Structure | None = None
    loss_valid: float | None = None
    seconds: float = 0.0

    def sort_key(self) -> tuple[int, float, int, str]:
        """Total order, so that the front does not depend on the order of insertion."""
        return self.complexity, self.loss, self.n_constants, str(self.expr)


class ParetoFront:
    """Candidates of rising complexity and falling loss."""

    def __init__(self, candidates: Iterable[Candidate] = ()) -> None:
        self._members: list[Candidate] = []
        for candidate in candidates:
            self.add(candidate)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, index: int) -> Candidate:
        return self._members[index]

    def add(self, candidate: Candidate) -> bool:
        """Keep the candidate if no member is both as simple and as good; drop the members it beats."""
        if candidate.status is not Status.OK:
            return False
        if any(_covers(member, candidate) for member in self._members):
            return False
        self._members = [m for m in self._members if not _covers(candidate, m)]
        self._members.append(candidate)
        self._members.sort(key=Candidate.sort_key)
        return True

    def would_enter(self, loss: float, complexity: int) -> bool:
        """Could a candidate of this loss and complexity enter?  A cheap test before an expensive fit."""
        return not any(m.complexity <= complexity and m.loss <= loss for m in self._members)


def _covers(a: Candidate, b: Candidate) -> bool:
    """Does ``a`` make ``b`` superfluous?  Equal loss and complexity are decided by the total order."""
    if a.complexity > b.complexity or a.loss > b.loss:
        return False
    return (a.complexity, a.loss) != (b.complexity, b.loss) or a.sort_key() <= b.sort_key()
