"""Two inputs seen through one number with a constant in it: y = x_j^a·f(x_i·x_j^κ, …) and y = f(x_i + κ·x_j, …).

A front that spreads with the root of time, a dose of which one part counts a fifth: products and differences of plain
inputs are not enough.  κ is the one for which the merged input predicts y best (a grid, then Brent's method); simple
numbers go before fitted ones.  Without noise only simple numbers will do: a κ of a few digits leaves no exact law.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import minimize_scalar

from ...arrays import Floats
from ...problem import Problem
from ...symbolic.expr import Const, Expr, Var, evaluate, product, total
from ..view.smooth import Frame
from ..write.polynomial import monomial
from .reduction import Reduction, factor_of, without

__all__ = ["evidence", "indices"]

SIMPLE_POWERS = (0.5, -0.5, 2.0, -2.0, 1.5, -1.5, 3.0, -3.0, 1 / 3, -1 / 3, 2 / 3, -2 / 3)
SIMPLE_FACTORS = (2.0, -2.0, 0.5, -0.5, 3.0, -3.0)
TAKEN_OUT = (0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, -1.5)
MOST_INPUTS = 4  # six pairs take up to a second here
WEIGHTS = np.geomspace(0.06, 16.0, 9)  # of one input against the other, in ranges
FEW_CHANCES = 6.0  # over the rows: how much worse than the best κ a simple one may be
HOPELESS = 0.3  # of the variance is left at the best point of the grid: no constant near it will do


def indices(problem: Problem, frame: Frame, limit: float, *, free: bool) -> Iterator[Reduction]:
    """Every pair of inputs merged by a power or a weight, with κ free or only simple; those below the limit."""
    if frame.n_features > MOST_INPUTS:
        return
    for i, j in itertools.combinations(range(frame.n_features), 2):
        if problem.allows("mul", "pow") and np.all(frame.X[:, [i, j]] > 0.0):
            yield from _by_power(frame, i, j, limit, free)
        if problem.allows("add", "mul"):
            yield from _by_weight(frame, i, j, limit, free)


def evidence(frame: Frame, found: Reduction) -> float:
    """The evidence for a pair merged in one frame, in another."""
    kept = {part.index for part in found.inputs if isinstance(part, Var)}
    gone = tuple(k for k in range(frame.n_features) if k not in kept)
    return frame.ratio(*without(frame, _design(frame, found.inputs[0], gone), evaluate(found.factor, frame.X)))


def _by_power(frame: Frame, i: int, j: int, limit: float, free: bool) -> Iterator[Reduction]:
    def merged(k: float) -> Expr:
        return monomial([Var(i), Var(j)], [1.0, k]).written()

    for a in TAKEN_OUT:
        law = frame.X[:, j] ** a

        def ratio(k: float, law: Floats = law) -> float:
            return frame.ratio(*without(frame, _design(frame, merged(k), (i, j)), law))

        k, value = _best(frame, ratio, SIMPLE_POWERS, np.linspace(-3.1, 3.1, 11) if free and a == 0.0 else None)
        if value < limit:
            yield Reduction(_inputs(frame, merged(k), (i, j)), factor_of({j: a}), value)


def _by_weight(frame: Frame, i: int, j: int, limit: float, free: bool) -> Iterator[Reduction]:
    def merged(k: float) -> Expr:
        return total([Var(i), product([Const(k), Var(j)])])

    def ratio(k: float) -> float:
        return frame.ratio(_design(frame, merged(k), (i, j)))

    unit = float(np.ptp(frame.X[:, i]) / (np.ptp(frame.X[:, j]) or 1.0))
    grid = np.concatenate([-unit * WEIGHTS[::-1], unit * WEIGHTS]) if free else None
    k, value = _best(frame, ratio, SIMPLE_FACTORS, grid)
    if value < limit:
        yield Reduction(_inputs(frame, merged(k), (i, j)), Const(1.0), value)


def _best(
    frame: Frame, ratio: Callable[[float], float], simple: tuple[float, ...], grid: Floats | None
) -> tuple[float, float]:
    """κ and the evidence for it: the best of all, or a simple number that is hardly worse."""
    known = {k: ratio(k) for k in simple}
    plain = min(known, key=lambda k: known[k])
    if grid is None:
        return plain, known[plain]
    values = [ratio(float(k)) for k in grid]
    place = int(np.argmin(values))
    best, value = float(grid[place]), float(values[place])
    if math.isfinite(value) and value * frame.share < HOPELESS:
        around = (float(grid[max(place - 1, 0)]), float(grid[min(place + 1, len(grid) - 1)]))
        found = minimize_scalar(ratio, bounds=around, method="bounded", options={"xatol": 1e-4 * abs(best) + 1e-300})
        best, value = (float(found.x), float(found.fun)) if found.fun < value else (best, value)
    return (plain, known[plain]) if known[plain] < (1.0 + FEW_CHANCES / len(frame.target)) * value else (best, value)


def _design(frame: Frame, merged: Expr, gone: tuple[int, ...]) -> Floats:
    values = evaluate(merged, frame.X)
    crosses = bool(np.any(values <= 0.0) and np.any(values >= 0.0))  # and then it has no logarithm
    column = values if crosses else frame.coordinate(values)
    rest = [k for k in range(frame.n_features) if k not in gone]
    return frame.design(np.column_stack([column, frame.coordinates[:, rest]]))


def _inputs(frame: Frame, merged: Expr, gone: tuple[int, ...]) -> tuple[Expr, ...]:
    return (merged, *(Var(k) for k in range(frame.n_features) if k not in gone))
