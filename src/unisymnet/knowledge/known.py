"""What the user knows about a law, as the search and the table need it.

`Known` holds the parameters as given; `Knowledge` is the same for the rows of one fit.  It adds proposers, stands
between the search and the fitter so that nothing that contradicts it gets onto the front, and writes into the table
what it has to say about each formula.  The best formulas that were turned away are kept, to be shown beside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..arrays import Floats
from ..candidate import Candidate, ParetoFront, Proposal, Status
from ..deadline import Deadline
from ..errors import quoted
from ..formula import Formula
from ..judge.judge import UnitPrice
from ..judge.scales import assumed_nats
from ..metrics import complexity
from ..problem import TARGET, Problem, Told
from ..protocols import Fitter, Proposer
from ..search.loop import SearchSettings, search
from ..symbolic.expr import Expr, evaluate, renumbered, variables
from ..symbolic.own import Operator
from .operator.stage import OwnOperators
from .reduced import Reduced, Solve
from .shape.check import VIOLATED
from .shape.shapes import Shapes, make_shapes
from .template.fill import Fill
from .template.text import Template, read_template, with_columns
from .template.tied import Tied, make_tied
from .units.groups import reduced_searches
from .units.nats import UnitNats
from .units.spelling import hiding_units
from .units.strict import Strict
from .units.system import TARGET as OF_TARGET
from .units.system import UnitSystem, make_units
from .units.unit import unit_text

Remarks = tuple[tuple[str, str], ...]  # heads and cells of further columns of the table

PROMISING = 3.0  # times the best loss so far at this size: up to there mending is worth its time
MAX_MENDED = 400  # formulas in one search
EVALUATIONS_SHARE = 12  # of a limited number of evaluations, for one search on other inputs


TOLD_WORDS = (
    ("°", ("an angle in degrees", "angles in degrees"), "π/180 = 0.01745 in a formula turns degrees into radians"),
    ("°C", ("a temperature in °C", "temperatures in °C"), "kelvin, 273.15 more, is tried, too"),
)


@dataclass(frozen=True)
class Known:
    """The parameters of the estimator that say what is known."""

    units: Mapping[str, str] | None = None
    constants: Mapping[str, str | float] | None = None
    constraints: Sequence[str] | None = None
    template: str | None = None
    operators: tuple[Operator, ...] = ()  # those that the user has written

    def of(self, names: Sequence[str], target: str, X: Floats, y: Floats) -> Knowledge | None:
        """For these rows; a DataError says what does not fit them.  None where nothing is known."""
        units = make_units(self.units, self.constants, names, target)
        shapes = make_shapes(self.constraints, X, y, names, target)
        template = None if self.template is None else read_template(self.template, names, self.own, target)
        if units is None and shapes is None and template is None and not self.operators:
            return None
        tied = None if template is None else make_tied(template, X, y)
        return Knowledge(tuple(names), units, shapes, template, self.operators, tied)

    def told(self, names: Sequence[str], target: str) -> Told:
        """Which of these columns, and of the target, are angles in degrees or temperatures in °C."""
        given = dict(self.units or {})
        given |= {target: given[OF_TARGET]} if OF_TARGET in given and OF_TARGET not in names else {}
        found = hiding_units([*names, target], given)
        place = {len(names): TARGET} | {i: i for i in range(len(names))}
        return Told(*(frozenset(place[i] for i in found[unit]) for unit in ("°", "°C")))

    def told_notes(self, names: Sequence[str], target: str) -> tuple[str, ...]:
        """What is said of columns that are taken for angles or temperatures because of their names alone."""
        given = {*(self.units or {}), *([target] if OF_TARGET in (self.units or {}) else [])}
        found = hiding_units([*names, target], {})
        said = []
        for unit, kind, hint in TOLD_WORDS:
            read = [one for place, one in enumerate([*names, target]) if place in found[unit] and one not in given]
            if read:
                are = f"is taken for {kind[0]} because of its name"
                if len(read) > 1:
                    are = f"are taken for {kind[1]} because of their names"
                said.append(f"{', '.join(read)} {are}; {hint}")
        return tuple(said)

    @property
    def own(self) -> dict[str, Operator]:
        """Own operators by name, as the parser takes them."""
        return {operator.name: operator for operator in self.operators}

    def fingerprinted(self) -> dict[str, Any]:
        """What a checkpoint must have in common to be taken up again."""
        given = {"units": self.units, "constants": self.constants}
        found: dict[str, Any] = {name: sorted(value.items()) for name, value in given.items() if value}
        if not isinstance(self.constraints, Iterable | None):
            raise TypeError(f"constraints must be a list of texts, got {quoted(self.constraints)}")
        found |= {"constraints": list(self.constraints)} if self.constraints else {}
        found |= {"own": [str(operator) for operator in self.operators]} if self.operators else {}
        return found | ({"template": self.template} if self.template else {})


@dataclass(frozen=True)
class Solvers:
    """Searches for smaller problems: whole ones where units are not known, `plain` where nothing has one, and `brief`
    for a quick answer there."""

    whole: Solve
    plain: Solve
    brief: Solve


@dataclass(frozen=True)
class Knowledge:
    """What is known about one table."""

    names: tuple[str, ...]
    units: UnitSystem | None = None
    shapes: Shapes | None = None
    template: Template | None = None
    operators: tuple[Operator, ...] = ()
    tied: Tied | None = None
    refused: list[Candidate] = field(default_factory=list)  # the best that were turned away, in all columns

    def notes(self, picked: Formula) -> tuple[str, ...]:
        found = list(self.units.notes()) if self.units else []
        if self.shapes:
            found += [*self.shapes.contradictions(self.names), self.shapes.sentence(picked.expr)]
        return tuple(found)

    def proposers(
        self, chosen: Sequence[Proposer], problem: Problem, columns: Sequence[int], solvers: Solvers
    ) -> tuple[Proposer, ...]:
        """Searches on other inputs first; then the others, their formulas also without terms that units forbid.

        With a template, only what follows it is proposed.
        """
        solve = solvers.whole
        if self.template:
            return (Fill(self.template.restricted(columns), solve, remember=self._remembering(columns)),)
        first: list[Proposer] = [OwnOperators(self.operators, solve)] if self.operators else []
        if self.shapes:
            kept = list(columns)
            for offset, factor, inputs in self.shapes.coordinates():
                inner = [_within(expr, kept) for expr in (offset, factor, *(inputs[i] for i in kept))]
                if all(expr is not None for expr in inner):
                    exprs = [expr for expr in inner if expr is not None]
                    first.append(Reduced(exprs[1], tuple(exprs[2:]), solve, "constraints", exprs[0]))
        if self.units:
            units = self.units.restricted(columns)
            brief, long = reduced_searches(units, problem, solvers.brief, solvers.plain)
            strict: list[Proposer] = [Strict(proposer, units) for proposer in chosen]
            # The last takes all the time that is left.
            return (*first, *brief, *strict[:-1], *long, *strict[-1:])
        return (*first, *chosen)

    @property
    def needed(self) -> set[int]:
        """Columns that the search must see."""
        return self.template.columns if self.template else set()

    def fitter(self, fitter: Fitter, columns: Sequence[int]) -> Fitter:
        return Judged(fitter, self, tuple(columns))

    def allows(self, expr: Expr) -> bool:
        """May this formula, in all columns, be shown?"""
        if self.units and not self.units.read(expr).fits:
            return False
        if self.tied and not self.tied.follows(expr):
            return False
        return self.shapes is None or self.shapes.allows(expr)

    def holds(self, expr: Expr) -> bool:
        """Has the full check of constraints found nothing against a formula of the table?"""
        return self.shapes is None or all(verdict.kind != VIOLATED for verdict in self.shapes.verdicts(expr))

    def mended(self, expr: Expr) -> Expr | None:
        """The formula with constants that keep constraints and template; None where units forbid it, or none do."""
        if self.units and not self.units.read(expr).fits:
            return None
        if self.tied:
            found = self.tied.mended(expr)
            return found if found is not None and self.allows(found) else None
        return None if self.shapes is None else self.shapes.mended(expr)

    def price(self, expr: Expr) -> int:
        """Tokens that a formula costs beside its own, for constants that would have to be explained."""
        return self.units.price(self.units.read(expr)) if self.units else 0

    def dressed(self, formula: Formula) -> Formula:
        return self.units.dressed(formula) if self.units else formula

    def remarks(self, formula: Formula) -> Remarks:
        """Further cells of the table for one formula."""
        found: list[tuple[str, str]] = []
        if self.units:
            found.append(("units", self._unit_remark(self.units, formula.expr)))
        if self.shapes:
            found.append(("constraints", self.shapes.remark(formula.expr)))
        return tuple(found)

    def refuse(self, candidate: Candidate) -> None:
        """Remember the best formulas that were turned away."""
        self.refused[:] = list(ParetoFront([*self.refused, candidate]))

    def _remembering(self, columns: Sequence[int]) -> Callable[[Mapping[str, Expr]], None] | None:
        """Takes functions of the columns of a search."""
        tied, place = self.tied, dict(enumerate(columns))
        if tied is None:
            return None
        return lambda parts: tied.remember({name: with_columns(part, place) for name, part in parts.items()})

    def _unit_remark(self, units: UnitSystem, expr: Expr) -> str:
        reading = units.read(expr)
        if not reading.fits:
            return "no"
        dimensions = [unit_text(unit, units.preferred) for unit in reading.constants if not unit.is_number]
        if not dimensions:
            return "ok"
        return f"c in {dimensions[0]}" if len(dimensions) == 1 else f"{len(dimensions)} constants have units"


@dataclass
class Judged:
    """A fitter whose candidates agree with what is known; others are mended where constants suffice, else refused."""

    fitter: Fitter
    judge: Knowledge
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
        inner = renumbered(found, {column: index for index, column in enumerate(self.columns)})
        rest = problem.y * problem.y_scale - evaluate(inner, problem.X * problem.x_scales)
        loss = float(np.average(rest**2, weights=problem.weights))
        if not np.isfinite(loss):
            return refused
        return self._priced(replace(candidate, expr=inner, loss=loss))

    def _priced(self, candidate: Candidate) -> Candidate:
        price = self.judge.price(renumbered(candidate.expr, self.columns))
        return replace(candidate, complexity=complexity(candidate.expr) + price) if price else candidate


def unit_price(knowledge: Knowledge | None, columns: Sequence[int]) -> UnitPrice:
    """What the judge of a search in these columns charges for units."""
    if knowledge is None or knowledge.units is None:
        return assumed_nats
    return UnitNats(knowledge.units.restricted(columns))


def _within(expr: Expr, columns: list[int]) -> Expr | None:
    """A formula of all columns in those that are searched, or None if it needs another."""
    if any(i not in columns for i in variables(expr)):
        return None
    return renumbered(expr, {column: index for index, column in enumerate(columns)})


def solver(
    proposers: Callable[[Problem], Sequence[Proposer]],
    fitter: Callable[[], Fitter],
    settings: SearchSettings,
    stop: Callable[[], bool],
) -> Solve:
    """A whole search for a smaller problem, within the time of a stage."""

    def solve(problem: Problem, rng: np.random.Generator, deadline: Deadline) -> Sequence[Candidate]:
        limit = settings.max_evaluations
        within = replace(
            settings,
            max_time=deadline.remaining() if np.isfinite(deadline.moment) else None,
            max_evaluations=None if limit is None else max(limit // EVALUATIONS_SHARE, 1),
        )
        found = search(problem, proposers(problem), fitter(), within, rng=rng, stop=stop)
        front = tuple(found.front)
        return front if found.stopped == "exact" else (*front, *(c for c in found.listed if c not in front))

    return solve
