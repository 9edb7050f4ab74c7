"""Candidates for a fast state, which follows the others: x = g(x, y, …) − x'/λ, regressed the other way round.

Where a state relaxes faster than the curves can show, its rate is the small difference of large terms, and a regression
of the rate on the states sees mostly the errors of the curves, many times enlarged.  The state itself is measured with
a small error, so it is regressed on the others and on its slope; λ and the terms of g then make a rate to shoot with.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...fit.subset import Subset, best_subsets, by_codelength
from ...symbolic.expr import Expr, Var, evaluate
from ..course import Course, effective_rows
from ..rate import sum_of

MAX_SIZE = 5  # terms of g and the slope
KEPT = 3  # shortest descriptions, and as many of the smallest sizes
SLOWEST = 3.0  # relaxations within the whole run: below that a state is not fast


def slaved_rates(course: Course, state: int, terms: Sequence[Expr]) -> list[Expr]:
    """Rates λ (g − x) of one measured state, g made of some of the terms."""
    others = [term for term in terms if term != Var(state)]
    seen = np.isfinite(course.data[:, state])
    if state >= len(course.runs.states) or not others or not seen.any():
        return []
    parts = [course.columns_at(smooth, smooth.run.t) for smooth in course.smooths]
    slopes = [course.states_at(smooth, smooth.run.t, 1)[:, state] for smooth in course.smooths]
    table = np.concatenate(parts)[seen]
    weights = 1.0 / course.deviation[seen, state]
    columns = np.column_stack([np.concatenate(slopes)[seen], *(evaluate(term, table) for term in others)])
    if not np.isfinite(columns).all():
        return []
    target = course.data[seen, state] * weights
    subsets = best_subsets(columns * weights[:, None], target, max_size=MAX_SIZE, keep=2, always=[0])
    ranked = by_codelength(subsets, effective_rows(course, state), len(others))[:KEPT]
    smallest = {subset.size: subset for subset in reversed(subsets)}
    chosen = [*ranked, *(smallest[size] for size in sorted(smallest)[:KEPT])]
    span = max(float(np.ptp(smooth.run.t)) for smooth in course.smooths)
    return [_rate(subset, others, state, SLOWEST / span) for subset in chosen if subset.size > 1]


def _rate(subset: Subset, others: Sequence[Expr], state: int, slowest: float) -> Expr:
    """λ times what the state is drawn to, less itself; a slope with the wrong sign is too fast to be seen."""
    by_place = dict(zip(subset.columns, subset.coefficients))
    slope = -float(by_place.pop(0))
    fastest = 300.0 * slowest
    speed = fastest if slope <= 1.0 / fastest else max(1.0 / slope, slowest)
    drawn = [(speed * float(c), others[i - 1]) for i, c in by_place.items()]
    return sum_of([(-speed, Var(state)), *drawn])
