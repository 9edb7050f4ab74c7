"""Powers that can be taken out of noisy data: one model of ln|y|, fitted to y itself.

Where y spans decades, the noise of a few large rows is all that polynomials of y see, and sqrt(x) passes for
sqrt(x**2 + z**2).  Here ln|y| is a sum of curves, one for each input, and of products of two; noise stays that of y.
An input whose curve is straight in ln x, and which bends no other, is a factor x^a.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from ...arrays import DIGITS_12, Bools, Floats, evenly
from ...fit.logarithm import LogLinear, fit_logarithm
from ...problem import Problem
from ...symbolic.expr import Var
from ..view.smooth import SMOOTH_EACH, standardised
from ..view.views import MAX_OPPOSED, main_sign
from .reduction import Reduction, factor_of

__all__ = ["stripped_powers"]

MAX_ROWS = 1000
DEGREE = 4  # of the curve of one input
EXPONENTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5, -1.5, 4.0, -4.0, 5.0, -5.0, 6.0, -6.0)
WIDE = 10.0
SCATTER = 3.0  # standard deviations that chance may give


def stripped_powers(problem: Problem) -> Reduction | None:
    """y = (product of powers of some inputs)·y'(the others), where the rows leave no doubt; else None."""
    rows = evenly(problem.n_rows, MAX_ROWS)
    X, y, weights = problem.X[rows], problem.y[rows], problem.weights[rows]
    d, (sign, opposed) = X.shape[1], main_sign(y)
    positive = np.all(X > 0.0, axis=0)
    if d < 3 or np.sum(positive) < 2 or not problem.allows("mul") or opposed > MAX_OPPOSED:
        return None
    z = standardised(np.where(positive, np.log(np.where(positive, X, 1.0)), X))
    made = _table(X, np.clip(z, -1.0, 1.0), positive)
    if made is None:
        return None
    table, bends = made
    target = sign * y
    whole = fit_logarithm(table, target, weights)
    if whole is None:
        return None
    gone, fit = _straight(table, bends, [int(i) for i in np.flatnonzero(positive)], target, weights, whole)
    left_out = np.asarray(bends[gone].any(axis=0))
    powers = {i: a for i in gone if (a := _exponent(fit, left_out, X, z, i)) is not None}
    kept = [i for i in range(d) if i not in powers]
    if not powers or not kept:
        return None
    return Reduction(tuple(map(Var, kept)), factor_of(powers), fit.variance / whole.variance)


def _table(X: Floats, z: Floats, positive: Bools) -> tuple[Floats, Bools] | None:
    """1, the inputs, and what bends them: curves and products; for each input, which columns bend it.  As much as the
    rows allow, or None."""
    n, d = X.shape
    single = np.stack([np.cos(k * np.arccos(z.T)) for k in range(DEGREE + 1)])
    # Near zero a logarithm is no good coordinate.
    wide = [i for i in range(d) if positive[i] and X[:, i].max() > WIDE * X[:, i].min()]
    plain = np.clip(standardised(X), -1.0, 1.0)
    curves = [((i,), single[k, i]) for i in range(d) for k in range(2, DEGREE + 1)]
    curves += [((i,), np.cos(k * np.arccos(plain[:, i]))) for i in wide for k in range(1, DEGREE + 1)]
    pairs = list(itertools.combinations(range(d), 2))
    products = [((i, j), z[:, i] * z[:, j]) for i, j in pairs]
    higher = [((i, j), single[k, i] * single[3 - k, j]) for i, j in pairs for k in (1, 2)]
    for parts in ([*curves, *products, *higher], [*curves, *products]):
        if n >= SMOOTH_EACH[-1] * (1 + d + len(parts)):
            table = np.column_stack([np.ones(n), *z.T, *(values for _, values in parts)])
            bends = np.array([[i in inputs for inputs, _ in parts] for i in range(d)])
            return table, np.column_stack([np.zeros((d, 1 + d), dtype=bool), bends])
    return None


def _straight(
    table: Floats, bends: Bools, inputs: list[int], target: Floats, weights: Floats, whole: LogLinear
) -> tuple[list[int], LogLinear]:
    """The inputs that are factors, all at once as likely as the whole model; the most doubtful are given back."""
    doubts = {i: _excess(whole, bends[i]) for i in inputs}
    gone = sorted((i for i in inputs if doubts[i] < SCATTER), key=doubts.__getitem__)
    while gone:
        left_out = np.asarray(bends[gone].any(axis=0))
        fit = fit_logarithm(table[:, ~left_out], target, weights)
        if fit is not None:
            n_out = int(np.sum(left_out))
            per_column = (fit.left - whole.left) / n_out / whole.variance
            if (per_column - 1.0) / math.sqrt(2.0 / n_out) < SCATTER:
                return gone, fit
        gone.pop()
    return [], whole


def _excess(fit: LogLinear, some: Bools) -> float:
    """How much larger the numbers of these columns are than noise makes them, in standard deviations."""
    numbers, covariance = fit.numbers[some], fit.covariance[np.ix_(some, some)] * fit.variance
    size = float(numbers @ np.linalg.lstsq(covariance, numbers, rcond=DIGITS_12)[0]) / len(numbers)
    return (size - 1.0) / math.sqrt(2.0 / len(numbers))


def _exponent(fit: LogLinear, left_out: Bools, X: Floats, z: Floats, i: int) -> float | None:
    """The plain exponent of a straight input, if there is but one that the rows allow."""
    place = int(np.sum(~left_out[: 1 + i]))
    scale = float(np.ptp(z[:, i]) / np.ptp(np.log(X[:, i])))
    found = float(fit.numbers[place]) * scale
    error = math.sqrt(max(float(fit.covariance[place, place]) * fit.variance, 0.0)) * scale
    near = [a for a in EXPONENTS if not abs(a - found) > SCATTER * error + DIGITS_12]
    return near[0] if len(near) == 1 else None
