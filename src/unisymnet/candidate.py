"""Fitted formulas and the front they form.

``Candidate`` is one fitted formula, ``ParetoFront`` keeps the best loss for every complexity.  Neither knows how
a formula was found or fitted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from .symbolic.expr import Call, Const, Expr, walk

if TYPE_CHECKING:
    from .symbolic.network.structure import Structure


class Status(Enum):
    """How a fit ended; numerical failure is data, not an exception.  The value is the sentence for a person."""

    OK = "the constants were fitted"
    NON_FINITE = "the formula is undefined on some rows for every start"
    NOT_CONVERGED = "the step limit was reached before the fit settled"
    TIMED_OUT = "the time limit was reached before the fit settled"
    REFUSED = "the formula contradicts what is known about the law"


@dataclass(frozen=True)
class Proposal:
    """A formula that a proposer puts forward, in the scaled units of the problem.

    ``Const`` leaves hold numbers the proposer stands for (start values for the polish); ``Param`` leaves are
    unknown and get many starts.  ``brief`` says how many choices of exponents a brief look tries; 0 asks for a whole
    fit.  ``source`` names the stage, for the trace and the report.  ``tried`` says that all formulas of at most this
    price (nats, see judge) have been looked at by now.
    """

    expr: Expr
    source: str
    brief: int = 0
    tried: float = 0.0


@dataclass(frozen=True)
class Candidate:
    """One fitted formula.  ``loss`` is finite exactly when ``status`` is OK.

    ``loss`` is a mean (weighted) loss in the caller's units; ``structure`` is None where the formula needs an operator
    outside the network's library (asin, for one).
    """

    expr: Expr
    loss: float
    complexity: int
    n_constants: int
    source: str = ""
    status: Status = Status.OK
    structure: Structure | None = None
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


def _covers(a: Candidate, b: Candidate) -> bool:
    """Does ``a`` make ``b`` superfluous?  Equal loss and complexity are decided by the total order."""
    if a.complexity > b.complexity or a.loss > b.loss:
        return False
    return (a.complexity, a.loss) != (b.complexity, b.loss) or a.sort_key() <= b.sort_key()


# ln of the number of symbols a formula is written with: what one more token costs in nats (search.md's 14).
TOKEN_NATS = math.log(14.0)

# Functions that laws seldom need, and families that seldom stand inside themselves, as in sin(cos(x)).  Each is a
# chance to look better on noise, so each costs more than a token.
RARE = frozenset({"asin", "acos", "atan", "tan", "sinh", "cosh", "tanh", "abs"})
FAMILIES = {"sin": "wave", "cos": "wave", "tan": "wave", "exp": "growth", "ln": "growth"}
RARE_NATS = 4.0

# Residuals below this share of the target's spread are rounding, not information.
EXACT = 1e-11
# Digits that a law has beyond those that its constants would buy an approximation, and how many can be asked for.
SPARE_DIGITS, DIGITS_A_CONSTANT, MOST_DIGITS = 3.0, 1.2, 13.5
SHORT_DIGITS = 2  # of a number that is a guess and not a fit

RULES = ("best", "accuracy", "simplest")


def description_length(candidate: Candidate, n_rows: int, spread: float, noise: float | None = None) -> float:
    """Nats to write down the residuals, the constants and the formula: n/2 ln(RSS/n) + k/2 ln n + c ln 14 + 4 r.

    k constants, c tokens, r rare functions or nestings.  With a known ``noise`` (standard deviation) residuals are
    priced against it.  Differences below rounding do not count, so that of several exact formulas the shortest wins.
    """
    floor = (EXACT * spread) ** 2 if spread > 0 else 1e-300
    mean_square = max(candidate.loss, floor)
    if noise is not None and noise > 0:
        misfit = 0.5 * n_rows * mean_square / noise**2
    else:
        misfit = 0.5 * n_rows * math.log(mean_square)
    formula = candidate.complexity * TOKEN_NATS + n_rare(candidate.expr) * RARE_NATS
    return misfit + 0.5 * candidate.n_constants * math.log(max(n_rows, 2)) + formula


def n_rare(expr: Expr, inside: frozenset[str] = frozenset()) -> int:
    """Rare functions, and functions inside one of their own family."""
    if not isinstance(expr, Call):
        return 0
    family = FAMILIES.get(expr.op, "")
    found = int(expr.op in RARE) + int(family in inside)
    inner = inside | {family} if family else inside
    return found + sum(n_rare(arg, inner) for arg in expr.args)


def is_exact(candidate: Candidate, spread: float) -> bool:
    """Does the formula reproduce the target to machine precision?

    Every constant brings a formula about a digit nearer to any smooth function, so one with many must come nearer.
    Numbers that were rounded as far as the data let them bring it as near as free ones did.
    """
    n_constants = max(candidate.n_constants, n_long(candidate.expr))
    digits = max(-math.log10(EXACT), min(SPARE_DIGITS + DIGITS_A_CONSTANT * n_constants, MOST_DIGITS))
    return candidate.status is Status.OK and candidate.loss <= (10.0**-digits * spread) ** 2


def is_near(candidate: Candidate, spread: float) -> bool:
    """Is what is left so little that it could be rounding?"""
    return candidate.status is Status.OK and candidate.loss <= (EXACT * spread) ** 2


def n_long(expr: Expr) -> int:
    """Numbers of more than ``SHORT_DIGITS`` digits: those that somebody has fitted."""
    return sum(isinstance(node, Const) and float(f"{node.value:.{SHORT_DIGITS}g}") != node.value for node in walk(expr))


def select(front: ParetoFront, rule: str = "best", *, n_rows: int, spread: float, noise: float | None = None) -> int:
    """Index of the formula to present: ``best`` (description length), ``accuracy`` (loss), ``simplest``.

    ``simplest`` is the shortest formula that explains all but twice the residual of the most accurate one.
    """
    if rule not in RULES:
        raise ValueError(f"selection must be one of {', '.join(RULES)}, got {rule!r}")
    if not len(front):
        raise ValueError("the front is empty; nothing was fitted")
    if rule == "accuracy":
        return len(front) - 1
    if rule == "simplest":
        bound = max(4.0 * front[-1].loss, (EXACT * spread) ** 2)
        return next(i for i, candidate in enumerate(front) if candidate.loss <= bound)
    lengths = [description_length(candidate, n_rows, spread, noise) for candidate in front]
    return lengths.index(min(lengths))
