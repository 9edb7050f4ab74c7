"""The search on groups without a unit: fewer columns, and every formula found there is right in its units.

y/m is searched as a function of groups with all stages, residuals weighted so that they count as those of y.  Several
choices of m and groups are tried, those first whose m already explains most of y.  What is found is written back in the
columns.  Which stages search is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...candidate import ParetoFront, Proposal
from ...deadline import Deadline
from ...fit.clean.respell import respelled
from ...problem import Problem, make_problem
from ...symbolic.expr import Const, Expr, Var, evaluate, product, rebuild
from .pi import Choice, power_law
from .system import UnitSystem

Floats = NDArray[np.float64]
Solve = Callable[[Problem, np.random.Generator, Deadline], ParetoFront]

MAX_CHOICES = 3
LOOKED_AT = 40
COST_WEIGHT = 0.05  # of the exponents of a choice against the logarithmic spread that its factor leaves
LEAST_SPREAD = 1e-12


@dataclass(frozen=True)
class Reduced:
    """A proposer: the search `solve` on one choice of groups."""

    factor: Expr
    groups: tuple[Expr, ...]
    solve: Solve
    name: str = "units"

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        if not self.groups:  # units leave one law, up to a number
            yield self.only_law(problem)
            return
        smaller = self.apply(problem)
        if smaller is None:
            return
        X = problem.X * problem.x_scales
        found = self.solve(smaller, rng, deadline)
        for candidate in found:
            lifted = rebuild(candidate.expr, lambda node: self.groups[node.index] if isinstance(node, Var) else node)
            expr = respelled(product([self.factor, lifted]), X)
            yield Proposal(problem.to_scaled(expr), f"{self.name}/{candidate.source}")

    def only_law(self, problem: Problem) -> Proposal:
        factor = evaluate(self.factor, problem.X * problem.x_scales)
        y = problem.y * problem.y_scale
        number = float(np.sum(problem.weights * factor * y) / np.sum(problem.weights * factor**2))
        return Proposal(problem.to_scaled(product([Const(number), self.factor])), self.name)

    def apply(self, problem: Problem) -> Problem | None:
        """The smaller problem, or None where a group is not finite on some rows."""
        X = problem.X * problem.x_scales
        with np.errstate(all="ignore"):
            factor = evaluate(self.factor, X)
            y = problem.y * problem.y_scale / factor
            columns = [evaluate(group, X) for group in self.groups]
            weights = problem.weights * (factor / np.mean(np.abs(factor))) ** 2
        table = np.column_stack(columns)
        if not (np.isfinite(table).all() and np.isfinite(y).all() and np.isfinite(weights).all()):
            return None
        noise = problem.noise
        if noise is not None:
            noise = noise * problem.y_scale / float(np.sqrt(np.mean(factor**2)))
        return make_problem(table, y, weights=weights, noise=noise, operators=problem.operators)


def reduced_searches(units: UnitSystem, problem: Problem, solve: Solve) -> list[Reduced]:
    """Proposers for the choices of groups that promise most."""
    X, y = problem.X * problem.x_scales, problem.y * problem.y_scale
    found: list[tuple[float, int, Choice]] = []
    for place, choice in enumerate(units.choices()[:LOOKED_AT]):
        if choice.factor is None:
            return []
        spread = _spread(power_law(choice.factor, units.values), X, y)
        if np.isfinite(spread):
            found.append((spread + COST_WEIGHT * choice.cost, place, choice))
    chosen = _different([choice for _, _, choice in sorted(found, key=lambda row: row[:2])])
    return [
        Reduced(
            power_law(choice.factor, units.values) if choice.factor is not None else Const(1.0),
            tuple(power_law(group, units.values) for group in choice.groups),
            solve,
        )
        for choice in chosen
    ]


def _different(ordered: Sequence[Choice]) -> list[Choice]:
    """The first few that do not have the same groups, upside down or not."""
    seen: set[frozenset[tuple[object, ...]]] = set()
    kept = []
    for choice in ordered:
        key = frozenset(max(group, tuple(-p for p in group)) for group in choice.groups)
        if key not in seen:
            seen.add(key)
            kept.append(choice)
    return kept[:MAX_CHOICES]


def _spread(factor: Expr, X: Floats, y: Floats) -> float:
    """How much of ln|y| the factor leaves, weighted by the size of y: small values are mostly noise."""
    with np.errstate(all="ignore"):
        left = np.log(np.abs(y / evaluate(factor, X)) + LEAST_SPREAD)
    if not np.isfinite(left).all():
        return np.inf
    weights = np.abs(y) / max(float(np.mean(np.abs(y))), 1e-300)
    return float(np.sqrt(np.average((left - np.average(left, weights=weights)) ** 2, weights=weights)))
