"""Which groups without a unit are searched: those first whose factor already explains most of y.

Fewer columns than before, and every formula found there is right in its units.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Floats
from ...problem import Problem
from ...symbolic.expr import Const, Expr, evaluate
from ..reduced import Reduced, Solve
from .pi import Choice, power_law
from .system import UnitSystem

MAX_CHOICES = 3
LOOKED_AT = 40
COST_WEIGHT = 0.05  # of the exponents of a choice against the logarithmic spread that its factor leaves
LEAST_SPREAD = 1e-12


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
