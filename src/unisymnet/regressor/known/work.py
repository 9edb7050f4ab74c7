"""What a loss means near a formula: a working target and weights, and the loss of every row.

The Poisson deviance, yes or no (logistic) and a user's own residuals are functions of the target and the prediction;
with errors of the inputs, what a row counts depends on the slope of the formula.  Each is, near a formula, a sum of
weighted squares (Fisher scoring, Gauss-Newton, effective variance).  Does not search or fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Floats
from ...errors import DataError
from ...judge.noise import told_weights
from ...knowledge.shape.differ import derivative
from ...symbolic.expr import Call, Const, Expr, evaluate, variables
from ..losses import polynomial, thinned
from ..validation import Data

Target = tuple[Floats, Floats]  # working target and weights
Residual = Callable[[Floats, Floats], Floats]  # of the target and the prediction
Sigma = tuple[Floats, Mapping[int, Floats]]  # standard errors of y, and of columns by their place

ROUNDS = 12
SURE = 1e-9  # probabilities nearer to 0 and 1 are written as these
NEARLY = 1e-3  # the same for weights: a row that is nearly certain must not count like a million others
ROUGHLY_SURE = 0.05
ONE = Const(1.0)


class Work:
    """What one loss means: rows to search on, the same for the constants, and the nats of what a formula leaves.

    Unless a loss says otherwise, the formula of the search is the formula shown.
    """

    said: str
    noise: float | None = None

    def first(self, data: Data) -> Target:
        """Before there is a formula."""
        raise NotImplementedError

    def near(self, data: Data, expr: Expr) -> Target:
        raise NotImplementedError

    def rows(self, data: Data, expr: Expr) -> Floats:
        raise NotImplementedError

    def search(self, data: Data, expr: Expr) -> Target:
        return self.near(data, expr)

    def shown(self, expr: Expr) -> Expr:
        return expr

    def hidden(self, expr: Expr) -> Expr:
        return expr


class Poisson(Work):
    """Counts: twice the deviance is y ln(y/f) - (y - f), and f is the variance too."""

    said = "Poisson deviance: the formula is the mean of counts"

    def first(self, data: Data) -> Target:
        return data.y, told_weights("counts", data.y)

    def near(self, data: Data, expr: Expr) -> Target:
        return data.y, 1.0 / np.maximum(evaluate(expr, data.X), SURE)

    def rows(self, data: Data, expr: Expr) -> Floats:
        y, f = data.y, evaluate(expr, data.X)
        with np.errstate(all="ignore"):
            logs = np.where(y > 0.0, y * np.log(np.where(y > 0.0, y, 1.0) / f), 0.0)
            return np.where(f > 0.0, 2.0 * (logs - (y - f)), np.inf)


class Logistic(Work):
    """Yes or no: the search looks for the log-odds, the formula shown is the probability."""

    said = "yes or no: the formula is the probability of 1"
    noise: float | None = 1.0

    def first(self, data: Data) -> Target:
        return self._odds(data.y, _rough_odds(data))

    def search(self, data: Data, expr: Expr) -> Target:
        p = np.clip(evaluate(expr, data.X), SURE, 1.0 - SURE)
        return self._odds(data.y, np.log(p / (1.0 - p)))

    def near(self, data: Data, expr: Expr) -> Target:
        p = np.clip(evaluate(expr, data.X), NEARLY, 1.0 - NEARLY)
        return data.y, 1.0 / (p * (1.0 - p))

    def rows(self, data: Data, expr: Expr) -> Floats:
        """Twice the negative log-likelihood, so that all losses here are deviances."""
        p = evaluate(expr, data.X)
        inside = np.clip(p, SURE, 1.0 - SURE)
        rows = -2.0 * (data.y * np.log(inside) + (1.0 - data.y) * np.log(1.0 - inside))
        return np.where((p >= 0.0) & (p <= 1.0), rows, np.inf)

    def shown(self, expr: Expr) -> Expr:
        return ONE / (ONE + Call("exp", (-expr,)))

    def hidden(self, expr: Expr) -> Expr:
        return Call("ln", (expr / (ONE - expr),))

    def _odds(self, y: Floats, odds: Floats) -> Target:
        most = math.log((1.0 - ROUGHLY_SURE) / ROUGHLY_SURE)
        odds = np.clip(odds, -most, most)  # far out one row would say everything
        p = 1.0 / (1.0 + np.exp(-odds))
        weights = p * (1.0 - p)
        return odds + (y - p) / weights, weights


@dataclass(frozen=True)
class OwnResiduals(Work):
    """Squares of the user's residuals, which are functions of target and prediction, with their derivative."""

    residual: Residual
    slope: Residual
    said: str = "the constants minimise the squares of your own residuals"

    def first(self, data: Data) -> Target:
        try:
            return self._linear(data.y, data.y)
        except DataError:  # at a perfect prediction some residuals have no slope
            return data.y, np.ones(len(data.y))

    def near(self, data: Data, expr: Expr) -> Target:
        return self._linear(data.y, evaluate(expr, data.X))

    def rows(self, data: Data, expr: Expr) -> Floats:
        with np.errstate(all="ignore"):
            found = _called(self.residual, "residual function", data.y, evaluate(expr, data.X))
        if found.shape != data.y.shape:
            raise DataError(f"loss: the residual function gave shape {found.shape} for {len(data.y)} rows")
        return np.where(np.isfinite(found), found**2, np.inf)

    def _linear(self, y: Floats, f: Floats) -> Target:
        with np.errstate(all="ignore"):
            rest = _called(self.residual, "residual function", y, f)
            slope = _called(self.slope, "derivative of the residual function", y, f)
            target, weights = f - rest / slope, slope**2
        usable = np.isfinite(target) & np.isfinite(weights) & (weights > 0.0)
        if not usable.any():
            raise DataError("loss: the derivative of the residual function is zero or not a number on every row")
        return np.where(usable, target, y), np.where(usable, weights, 0.0)


def _called(function: Residual, what: str, y: Floats, f: Floats) -> Floats:
    """Numbers from a function of the user's, whose failure is a mistake of the caller."""
    try:
        return np.asarray(function(y, f), dtype=np.float64)
    except Exception as error:
        raise DataError(
            f"loss: your {what} must take two arrays and give one, but raised {type(error).__name__}: {error}"
        ) from error


@dataclass(frozen=True)
class Errors(Work):
    """Errors of inputs: the variance of a row is that of y and, through the slopes of the formula, those of the x."""

    of_y: Floats
    of_x: Mapping[int, Floats]
    said: str = "errors of inputs count through the slope of the formula"

    def first(self, data: Data) -> Target:
        return data.y, np.ones(len(data.y)) if (self.of_y == 0.0).any() else self.of_y**-2.0

    def near(self, data: Data, expr: Expr) -> Target:
        return data.y, 1.0 / self.variance(data, expr)

    def rows(self, data: Data, expr: Expr) -> Floats:
        variance = self.variance(data, expr)
        return np.asarray((data.y - evaluate(expr, data.X)) ** 2 / variance + np.log(variance))

    def variance(self, data: Data, expr: Expr) -> Floats:
        total = np.square(self.of_y)
        for index, error in self.of_x.items():
            if index in variables(expr):
                with np.errstate(all="ignore"):
                    slope = evaluate(derivative(expr, index), data.X)
                total = total + np.where(np.isfinite(slope), slope * error, 0.0) ** 2
        positive = total[total > 0.0]
        return np.maximum(total, 1e-6 * float(np.median(positive)) if len(positive) else 1.0)


def work_of(loss: tuple[Any, Any], data: Data, sigma: Sigma | None) -> Work | None:
    """What the loss and the errors of inputs ask for; None where plain squares, or the losses of residuals, do."""
    kind, parameter = loss
    if sigma is not None:
        if kind != "mse":
            raise DataError(f'sigma: errors of inputs need loss="mse", got {kind!r}')
        return Errors(*sigma)
    if kind == "poisson":
        if (data.y < 0.0).any():
            row = int(data.y.argmin())
            raise DataError(f'loss="poisson" is for counts, got {data.y[row]:g} in row {row}')
        return Poisson()
    if kind == "logistic":
        if not np.isin(data.y, (0.0, 1.0)).all() or np.ptp(data.y) == 0.0:
            raise DataError('loss="logistic" is for targets that are 0 (no) or 1 (yes), both of which must occur')
        return Logistic()
    if kind == "own":
        return OwnResiduals(*parameter)
    return None


def _rough_odds(data: Data) -> Floats:
    """Log-odds of a polynomial, by a few rounds of weighted squares that are drawn a little towards zero."""
    A = polynomial(data.X, len(data.y))
    few = thinned(len(data.y))
    columns, y = A[few], data.y[few]
    held = 1e-2 * len(y) / A.shape[1] * np.eye(A.shape[1])
    fitted = np.zeros(A.shape[1])
    for _ in range(ROUNDS):
        odds = np.clip(columns @ fitted, -6.0, 6.0)
        p = 1.0 / (1.0 + np.exp(-odds))
        weights = p * (1.0 - p)
        target = odds + (y - p) / weights
        own = columns * weights[:, None]
        fitted = np.linalg.solve(own.T @ columns + held, own.T @ target)
    return np.asarray(A @ fitted)
