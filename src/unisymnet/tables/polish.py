"""All constants of a sum fitted together: those inside its features too, which were taken from a grid.

A few damped Gauss-Newton steps from where the grid and the ridge regression lead, no more: steps that are not taken
keep constants near sensible values, which is worth more than the last digit of a minimum on noisy rows. Only formulas
and arrays.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..formula.constants import free
from ..formula.derivative import value_and_jacobian
from ..symbolic.expr import Expr, bind, evaluate

ROUNDS = 12
FIRST_DAMPING = 1e-2
SETTLED = 1e-5  # share of the sum of squares that a further step must gain
ROWS_A_CONSTANT = 4


def polish(expr: Expr, X: Floats, y: Floats, weights: Floats, rounds: int = ROUNDS) -> Expr:
    """The formula with all its constants nearer to the best; as it is where rows are too few for that."""
    form, start = free(expr)
    used = weights > 0.0
    X, y, root = X[used], y[used], np.sqrt(weights[used] / weights[used].mean())
    if not start or len(y) < ROWS_A_CONSTANT * len(start):
        return expr
    values = np.array(start)
    best = _squares(form, values, X, y, root)
    damping = FIRST_DAMPING
    for _ in range(rounds):
        if not np.isfinite(best):
            return expr
        found, jacobian = value_and_jacobian(form, X, values.tolist())
        J = jacobian * root[:, None]
        if not np.isfinite(J).all():
            break
        size = np.maximum(np.linalg.norm(J, axis=0), 1e-300)
        J = J / size
        normal = J.T @ J
        normal[np.diag_indices_from(normal)] += damping
        with np.errstate(over="ignore"):
            moved = values + np.linalg.lstsq(normal, J.T @ ((y - found) * root), rcond=1e-12)[0] / size
        after = _squares(form, moved, X, y, root)
        if after < best:
            gained, best, values, damping = best - after, after, moved, damping / 5.0
            if gained < SETTLED * best:
                break
        else:
            damping *= 10.0
    return bind(form, values.tolist())


def _squares(form: Expr, values: Floats, X: Floats, y: Floats, root: Floats) -> float:
    if not np.isfinite(values).all():
        return np.inf  # a step that overflowed
    with np.errstate(all="ignore"):
        found = float(np.sum(((y - evaluate(bind(form, values.tolist()), X)) * root) ** 2))
    return found if np.isfinite(found) else np.inf
