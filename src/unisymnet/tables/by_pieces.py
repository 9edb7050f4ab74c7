"""Constants and scores on rows that come in pieces: only sums over rows are kept, so memory does not grow with them.

Gauss-Newton steps need the products of derivatives and residuals, which add up over pieces; a step that does not make
the sum of squares smaller is taken back. Rows with a missing or infinite value are left out and counted. Several
partitions are gone through at a time: in threads, or on the workers of a cluster, wherever joblib's backend is; their
sums are added in the order of the partitions, so that the result is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ..arrays import Floats
from ..formula import Constant, Formula
from ..formula.constants import free, simple_name
from ..formula.derivative import value_and_jacobian
from ..symbolic.expr import bind, evaluate

Batches = Callable[[], Iterable[tuple[Floats, ...]]]  # columns, target and, if rows count differently, their weights
Parts = Batches | Sequence[Batches]  # all rows, or partitions of them

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


@dataclass(frozen=True)
class Spread:
    """Of some rows: how many, how many were left out, weight, mean, squares about the mean, squares of errors."""

    n: int
    left_out: int
    weight: float
    mean: float
    around: float
    squares: Floats

    def plus(self, other: Spread) -> Spread:
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0.0 else 0.0
        apart = other.mean - self.mean
        return Spread(
            self.n + other.n,
            self.left_out + other.left_out,
            weight,
            self.mean + apart * share,
            self.around + other.around + apart**2 * self.weight * share,
            self.squares + other.squares,
        )


def complete(batches: Batches) -> Iterable[tuple[Floats, Floats, Floats, int]]:
    """Pieces without incomplete rows, their weights, and how many such rows there were."""
    for X, y, *more in batches():
        w = more[0] if more else np.ones(len(y))
        good = np.isfinite(X).all(axis=1) & np.isfinite(y) & np.isfinite(w) & (w >= 0.0)
        yield (X, y, w, 0) if good.all() else (X[good], y[good], w[good], int((~good).sum()))


def score(formulas: Sequence[Formula], batches: Parts, n_jobs: int | None = 1) -> Totals:
    """R² and mean square of every formula over all rows, in one pass."""
    exprs = [formula.expr for formula in formulas]
    total = Spread(0, 0, 0.0, 0.0, 0.0, np.zeros(len(formulas)))
    for found in _over(batches, n_jobs, _spread, exprs):
        total = total.plus(found)
    n, around = max(total.weight, 1e-300), total.around
    r2 = [1.0 - s / around if np.isfinite(s) and around > 0.0 else -np.inf for s in total.squares]
    return Totals(total.n, total.left_out, tuple(map(float, r2)), tuple(float(s / n) for s in total.squares))


def _spread(batches: Batches, exprs: Sequence[Any]) -> Spread:
    total = Spread(0, 0, 0.0, 0.0, 0.0, np.zeros(len(exprs)))
    with np.errstate(all="ignore"):
        for X, y, w, gone in complete(batches):
            weight = float(w.sum())
            mean = float(w @ y) / weight if weight > 0.0 else 0.0
            squares = np.array([float(w @ (y - evaluate(expr, X)) ** 2) for expr in exprs])
            total = total.plus(Spread(len(y), gone, weight, mean, float(w @ (y - mean) ** 2), squares))
    return total


def refit(formula: Formula, batches: Parts, n_jobs: int | None = 1) -> Formula:
    """The formula with its constants, and their errors, from all rows; simple numbers are held."""
    form, values = free(formula.expr, hold_simple=True)
    if not values:
        return formula
    theta = np.array(values)
    state = _all_sums(form, theta, batches, n_jobs)
    for _ in range(ROUNDS):
        moved = theta + _step(*state[1:3])
        after = _all_sums(form, moved, batches, n_jobs)
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


def _over(batches: Parts, n_jobs: int | None, work: Callable[..., Any], *given: Any) -> Iterable[Any]:
    """What `work` finds in every partition, in their order."""
    if callable(batches):
        return [work(batches, *given)]
    return Parallel(n_jobs=n_jobs, prefer="threads")(delayed(work)(part, *given) for part in batches)


def _all_sums(form: Any, theta: Floats, batches: Parts, n_jobs: int | None) -> tuple[float, Floats, Floats, int]:
    found = list(_over(batches, n_jobs, _sums, form, theta))
    rss, normal, slope, n = (sum(parts[1:], parts[0]) for parts in zip(*found, strict=True))
    return (rss if np.isfinite(rss) else np.inf), normal, slope, n


def _constants(expr: object, theta: Floats, errors: Floats) -> tuple[Constant, ...]:
    """All constants of the formula; those that were fitted have errors."""
    known = {float(value): float(error) for value, error in zip(theta, errors, strict=True)}
    found = []
    for value in free(expr)[1]:  # type: ignore[arg-type]
        error = known.get(value)
        found.append(Constant(value, value if error else None, error, simple_name(value)))
    return tuple(found)


def _sums(batches: Batches, form: object, theta: Floats) -> tuple[float, Floats, Floats, int]:
    """Sum of squares, products of derivatives, and of derivatives with residuals; rows."""
    k = len(theta)
    rss, normal, slope, n = 0.0, np.zeros((k, k)), np.zeros(k), 0
    for X, y, w, _ in complete(batches):
        values, jacobian = value_and_jacobian(form, X, theta.tolist())  # type: ignore[arg-type]
        root = np.sqrt(w)
        residuals, jacobian = (y - values) * root, jacobian * root[:, None]
        rss += float(residuals @ residuals)
        normal += jacobian.T @ jacobian
        slope += jacobian.T @ residuals
        n += len(y)
    return (rss if np.isfinite(rss) else np.inf), normal, slope, n


def _step(normal: Floats, slope: Floats) -> Floats:
    scale = np.sqrt(np.maximum(np.diag(normal), 1e-300))
    found = np.linalg.lstsq(normal / np.outer(scale, scale), slope / scale, rcond=DEPENDENT)[0]
    return np.asarray(found / scale)
