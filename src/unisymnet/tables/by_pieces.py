"""Constants and scores on rows that come in pieces: only sums over rows are kept, so memory does not grow with them.

Gauss-Newton steps need the products of derivatives and residuals, which add up over pieces; a step that does not make
the sum of squares smaller is taken back. Rows with a missing or infinite value are left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..formula import Constant, Formula
from ..formula.constants import free, simple_name
from ..formula.derivative import value_and_jacobian
from ..symbolic.expr import bind, evaluate

Floats = NDArray[np.float64]
Batches = Callable[[], Iterable[tuple[Floats, Floats]]]  # columns and target, piece by piece

ROUNDS = 4
SETTLED = 1e-10  # share of the sum of squares that a further round must gain
DEPENDENT = 1e-12


@dataclass(frozen=True)
class Totals:
    """Of all rows used: their number, how many were left out, R² and mean square of each formula."""

    n_rows: int
    n_left_out: int
    r2: tuple[float, ...]
    loss: tuple[float, ...]


def complete(batches: Batches) -> Iterable[tuple[Floats, Floats, int]]:
    """Pieces without incomplete rows, and how many these were."""
    for X, y in batches():
        good = np.isfinite(X).all(axis=1) & np.isfinite(y)
        yield (X, y, 0) if good.all() else (X[good], y[good], int((~good).sum()))


def score(formulas: Sequence[Formula], batches: Batches) -> Totals:
    """R² and mean square of every formula over all rows, in one pass."""
    n = left_out = 0
    mean = spread = 0.0
    squares = np.zeros(len(formulas))
    with np.errstate(all="ignore"):
        for X, y, gone in complete(batches):
            left_out += gone
            if not len(y):
                continue
            own, total = float(y.mean()), n + len(y)
            spread += float(np.sum((y - own) ** 2)) + (own - mean) ** 2 * n * len(y) / total
            mean += (own - mean) * len(y) / total
            n = total
            squares += [float(np.sum((y - evaluate(f.expr, X)) ** 2)) for f in formulas]
    r2 = [1.0 - s / spread if np.isfinite(s) and spread > 0.0 else -np.inf for s in squares]
    return Totals(n, left_out, tuple(map(float, r2)), tuple(float(s / max(n, 1)) for s in squares))


def refit(formula: Formula, batches: Batches) -> Formula:
    """The formula with its constants, and their errors, from all rows; simple numbers are held."""
    form, values = free(formula.expr, hold_simple=True)
    if not values:
        return formula
    theta = np.array(values)
    state = _sums(form, theta, batches)
    for _ in range(ROUNDS):
        moved = theta + _step(*state[1:3])
        after = _sums(form, moved, batches)
        if not after[0] < state[0]:
            break
        gained = state[0] - after[0]
        theta, state = moved, after
        if gained < SETTLED * state[0]:
            break
    rss, normal, _, n = state
    expr = bind(form, theta.tolist())
    errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(normal, DEPENDENT)), 0.0) * rss / max(n - len(theta), 1))
    return Formula(expr, formula.names, formula.target, _constants(expr, theta, errors))


def _constants(expr: object, theta: Floats, errors: Floats) -> tuple[Constant, ...]:
    """All constants of the formula; those that were fitted have errors."""
    known = {float(value): float(error) for value, error in zip(theta, errors, strict=True)}
    found = []
    for value in free(expr)[1]:  # type: ignore[arg-type]
        error = known.get(value)
        found.append(Constant(value, value if error else None, error, simple_name(value)))
    return tuple(found)


def _sums(form: object, theta: Floats, batches: Batches) -> tuple[float, Floats, Floats, int]:
    """Sum of squares, products of derivatives, and of derivatives with residuals; rows."""
    k = len(theta)
    rss, normal, slope, n = 0.0, np.zeros((k, k)), np.zeros(k), 0
    for X, y, _ in complete(batches):
        values, jacobian = value_and_jacobian(form, X, theta.tolist())  # type: ignore[arg-type]
        residuals = y - values
        rss += float(residuals @ residuals)
        normal += jacobian.T @ jacobian
        slope += jacobian.T @ residuals
        n += len(y)
    return (rss if np.isfinite(rss) else np.inf), normal, slope, n


def _step(normal: Floats, slope: Floats) -> Floats:
    scale = np.sqrt(np.maximum(np.diag(normal), 1e-300))
    found = np.linalg.lstsq(normal / np.outer(scale, scale), slope / scale, rcond=DEPENDENT)[0]
    return np.asarray(found / scale)
