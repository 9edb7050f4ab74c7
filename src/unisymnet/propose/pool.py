"""How well a proposal fits, what it costs to describe, and what all closed-form stages share: a pool and a task.

Final polishing and judging are the search's task.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import DIGITS_9, DIGITS_12, Floats, Ints
from ..candidate import ParetoFront, Proposal, Status
from ..deadline import Deadline
from ..fit.clean.spell import spell
from ..fit.eliminate import FLOOR, TOKEN
from ..problem import Problem
from ..symbolic.constants import free_constants
from ..symbolic.expr import Const, Expr, bind, evaluate, rebuild, walk
from ..symbolic.rewrite.simplify import present, simplify
from .write.polynomial import cost

__all__ = [
    "EXACT",
    "Pool",
    "Scored",
    "Stage",
    "Task",
    "description_length",
    "is_constant",
    "misfit",
    "sample_rows",
]

# Residual over std(y) below which a law is exact; wrong formulas reach 1e-8 on narrow ranges.
EXACT = 1e-11
MAX_CONSTANTS = 25
LOOSEST = 0.2  # relative: with larger errors a coefficient says nothing
TOLERANCES = (DIGITS_9, DIGITS_12)  # for laws of clean data
REACH = (2.0, 4.0)  # standard errors within which an exponent is rounded
WORSE, FAR_WORSE = 20.0, 30.0  # nats behind the best formula of a stage, of those that are still proposed


def misfit(problem: Problem, expr: Expr) -> float:
    """Weighted rms residual over the spread of y on all rows; inf where the formula is undefined."""
    residual = evaluate(expr, problem.X) - problem.y
    with np.errstate(all="ignore"):
        rms = float(np.sqrt(np.average(residual**2, weights=problem.weights)))
    if not math.isfinite(rms):
        return math.inf
    return rms / problem.spread if problem.spread > 0 else (0.0 if rms == 0.0 else math.inf)


def is_constant(problem: Problem) -> bool:
    """Does the target not vary beyond rounding?"""
    return problem.spread <= 1e-14 * float(np.max(np.abs(problem.y)))


def description_length(relative_rms: float, n_rows: int, n_constants: int, n_tokens: int) -> float:
    """n/2·ln(RSS/n) + k/2·ln n + c·ln 14, with residuals in units of the target's spread."""
    fit = n_rows * math.log(max(relative_rms, FLOOR))
    return fit + 0.5 * n_constants * math.log(n_rows) + n_tokens * TOKEN


def constants(expr: Expr) -> int:
    """Numbers in the formula that a fit has to find; small whole numbers and halves are part of the form."""
    values = [node.value for node in walk(expr) if isinstance(node, Const)]
    return sum(2.0 * value != round(2.0 * value) or abs(value) > 10.0 for value in values)


@dataclass(frozen=True)
class Scored:
    """A formula with its misfit and description length."""

    expr: Expr
    misfit: float
    length: float

    @property
    def exact(self) -> bool:
        return self.misfit < EXACT


def _shape(expr: Expr) -> Expr:
    """The formula with its constants rounded: two with one shape are one proposal."""

    def rounded(node: Expr) -> Expr:
        return Const(float(f"{node.value:.2g}")) if isinstance(node, Const) else node

    return rebuild(expr, rounded)


def _refitted(problem: Problem, expr: Expr) -> Expr | None:
    """The formula with its constants (not its exponents) fitted in the space of y; None if that fails."""
    # Loaded late: the compiled kernels take a second to load, and exact laws do without.
    from ..fit.kernels.fit import fit_tape
    from ..fit.kernels.tape import compile_tape

    skeleton, start = free_constants(simplify(expr))
    if not start or len(start) > MAX_CONSTANTS:
        return None
    tape = compile_tape(skeleton, problem.n_features)
    fit = fit_tape(tape, problem.X, problem.y, np.array([start]), weights=problem.weights, max_steps=12)
    if fit.status is not Status.OK or not np.isfinite(fit.params).all():
        return None
    return present(bind(skeleton, fit.params.tolist()))


class Pool:
    """The best few formulas of a stage by description length, each only once."""

    def __init__(self, problem: Problem, source: str) -> None:
        self.problem = problem
        self.source = source
        self._members: dict[Expr, Scored] = {}

    def add(self, expr: Expr | None) -> Scored | None:
        """Score and keep a formula; None if it cannot be written or computed."""
        spelled = None if expr is None else spell(expr, self.problem)
        if spelled is None:
            return None
        known = self._members.get(spelled)
        if known is not None:
            return known
        off = misfit(self.problem, spelled)
        if not math.isfinite(off):
            return None
        length = description_length(off, self.problem.n_rows, constants(spelled), cost(spelled))
        self._members[spelled] = scored = Scored(spelled, off, length)
        return scored

    def found(self, expr: Expr | None) -> bool:
        """Add a formula: is it exact?"""
        scored = self.add(expr)
        return scored is not None and scored.exact

    def settle(self, count: int, deadline: Deadline) -> None:
        """Refit the constants of the ``count`` best, so that simpler neighbours are judged by what they can do."""
        ranked = sorted(self._members.values(), key=lambda m: m.length)
        for member in ranked[:count]:
            if deadline.expired():
                return
            refitted = _refitted(self.problem, member.expr)
            if refitted is not None:
                self._members.pop(member.expr, None)
                settled = self.add(refitted)
                if settled is None or settled.misfit > 2.0 * member.misfit + FLOOR:  # rounding has spoiled it
                    self._members[member.expr] = member

    def exact(self) -> list[Scored]:
        """Exact formulas, the shortest first."""
        found = [m for m in self._members.values() if m.exact]
        return sorted(found, key=lambda m: (cost(m.expr), m.misfit))

    def proposals(self, limit: int, worse: float = math.inf) -> Iterator[Proposal]:
        """The exact formulas if there are any, else the best by description length, best first."""
        exact = self.exact()
        chosen: Iterable[Scored] = exact[:2]
        if not exact:
            ranked = sorted(self._members.values(), key=lambda m: m.length)
            shapes = {_shape(m.expr): m for m in reversed(ranked) if m.misfit < 1.0}
            ranked = [m for m in ranked if shapes.get(_shape(m.expr)) is m]
            chosen = [m for m in ranked[:limit] if m.length < ranked[0].length + worse]
        for member in chosen:
            yield Proposal(member.expr, self.source)


def sample_rows(n_rows: int, limit: int, rng: np.random.Generator) -> Ints:
    """All rows, or ``limit`` of them in their order."""
    if n_rows <= limit:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, size=limit, replace=False))


def tolerance(relative: Floats, loosest: float = LOOSEST) -> float:
    """What the relative errors of the coefficients allow in writing a law: numbers that may be one number."""
    return float(np.clip(3.0 * np.max(relative), DIGITS_9, loosest))


def tolerances(tol: float) -> tuple[float, float, float]:
    """What to try in writing a law: pure algebra, the errors, and more than the errors (a refit will tell)."""
    return DIGITS_9, tol, min(8.0 * tol, LOOSEST)


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
