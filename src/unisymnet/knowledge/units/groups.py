"""Which groups without a unit are searched: those first whose factor already explains most of y.

Fewer columns than before, and every formula found there is right in its units.  A choice is one guess among many, and
so is which way up its groups stand: exp(-1/π) is hard to find for those who have π.  So several get a brief search
each before anything else, and the best of them a long one late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...arrays import Floats
from ...problem import Problem
from ...symbolic.expr import Const, Expr, Var, evaluate
from ..reduced import Reduced, Solve
from .pi import Choice, Powers, power_law
from .system import UnitSystem

MAX_CHOICES = 3
MAX_BRIEF, BRIEF_SHARE, BRIEF_SECONDS = 6, 0.1, 3.0  # how many brief searches, and what each may use of the time left
MAX_LONG, LONG_SHARE = 2, 0.3
LOOKED_AT = 40
COST_WEIGHT = 0.05  # of the exponents of a choice against the logarithmic spread that its factor leaves
LEAST_SPREAD = 1e-12


def reduced_searches(
    units: UnitSystem, problem: Problem, quick: Solve, whole: Solve
) -> tuple[list[Reduced], list[Reduced]]:
    """Brief and long searches for the choices of groups that promise most; none where there is nothing to reduce."""
    X, y = problem.X * problem.x_scales, problem.y * problem.y_scale
    found: list[tuple[float, int, Choice]] = []
    for place, choice in enumerate(units.choices()[:LOOKED_AT]):
        if choice.factor is None:
            return [], []
        spread = _spread(power_law(choice.factor, units.values), X, y)
        if np.isfinite(spread):
            found.append((spread + COST_WEIGHT * choice.cost, place, choice))
    chosen = _different([choice for _, _, choice in sorted(found, key=lambda row: row[:2])])
    searches = [
        Reduced(power_law(choice.factor or (), units.values), tuple(power_law(g, units.values) for g in groups), quick)
        for choice in chosen
        for groups in _both_ways(choice.groups)
    ]
    searches = [search for search in searches if _reduces(search)]
    brief = [replace(search, share=BRIEF_SHARE, seconds=BRIEF_SECONDS) for search in searches[:MAX_BRIEF]]
    return brief, [replace(one, solve=whole, share=LONG_SHARE) for one in searches if one.inputs][:MAX_LONG]


def _both_ways(groups: tuple[Powers, ...]) -> list[tuple[Powers, ...]]:
    """The groups as they are, and upside down; a column alone stays as it is."""
    turned = tuple(tuple(-p for p in group) if sum(map(bool, group)) > 1 else group for group in groups)
    return [groups] if turned == groups else [groups, turned]


def _reduces(search: Reduced) -> bool:
    """Is there something to divide by?  A search in the columns themselves is the whole search once more."""
    return search.factor != Const(1.0) or not all(isinstance(one, Var) for one in search.inputs)


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
