"""The ordinary search as a second proposer: formulas for a smoothed rate, where no library explains it.

Slopes of the curves are regressed on the states; errors of the slopes are correlated, so nothing is chosen here: every
formula of the front becomes a candidate that is fitted in the trajectories like the others.
"""

from __future__ import annotations

import signal

import numpy as np

from ...symbolic.expr import Expr, renumbered, variables
from ..course import Course

MAX_ROWS = 300
EDGE = 0.02  # share of a piece at either end where slopes are poor


def search_rates(course: Course, state: int, columns: list[int], max_time: float) -> list[Expr]:
    """Formulas for the rate of one state, in the columns of the course; none if the search fails."""
    from ...regressor import UniSymNetRegressor

    parts, slopes = [], []
    for smooth, grid, table in zip(course.smooths, course.grids, course.tables):
        inner = slice(int(EDGE * len(grid)) + 1, -int(EDGE * len(grid)) - 1)
        parts.append(table[inner])
        slopes.append(course.states_at(smooth, grid, 1)[inner, state])
    X, y = np.concatenate(parts)[:, columns], np.concatenate(slopes)
    chosen = np.unique(np.linspace(0, len(y) - 1, MAX_ROWS).astype(int))
    X, y = X[chosen], y[chosen]
    if not np.isfinite(y).all() or np.ptp(y) == 0.0:
        return []
    noise = 1e-6 * float(np.std(y)) if course.clean else 0.05 * float(np.std(y))
    model = UniSymNetRegressor(max_time=max_time, noise=noise, n_jobs=1, validation_fraction=0.0, max_complexity=40)
    try:
        model.fit(X, y)
    except ValueError:
        return []
    if model.interrupted_:  # the signal was meant for the whole search, and this part has caught it
        signal.raise_signal(signal.SIGINT)
    formulas = [entry.formula.expr for entry in model.front_]
    return [renumbered(expr, columns) for expr in formulas if variables(expr)]
