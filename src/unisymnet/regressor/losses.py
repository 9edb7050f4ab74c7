"""What `loss` means for one fit: Huber's threshold from the data, and the rows that a search may trust.

Ways of proposing formulas use least squares, which one gross outlier can lead astray. For the Huber loss the search
therefore sees only rows within a few standard deviations: first of a robust polynomial, then of the best formula.
Constants and the table are fitted and measured with the loss on all rows. Does not know the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..candidate import EXACT, Proposal, Status
from ..fit.kernels.fit import fit_tape
from ..fit.kernels.robust import Loss
from ..fit.kernels.tape import compile_tape
from ..formula.constants import free
from ..problem import Problem
from ..protocols import Wrapped
from ..symbolic.expr import Const, Expr, bind, evaluate, n_params

Rows = tuple[Floats, Floats, Floats]

NORMAL_MAD = 1.4826  # standard deviation over median absolute deviation, Gaussian noise
TUNING = 1.345  # Huber's threshold in standard deviations: 95 % as efficient as squares under Gaussian noise
TRUSTED = 4.0  # standard deviations within which a row is shown to the search
ROWS_A_COLUMN, MAX_DEGREE, MAX_TERMS = 5, 3, 120
ROUNDS = 30
MAX_ROUGH_ROWS = 4000


@dataclass(frozen=True)
class Judgement:
    """The loss of a fit, which rows the search sees, and whether a look at the best formula could improve both."""

    loss: Loss
    trusted: NDArray[np.bool_]
    wanted: tuple[str, float | None]
    noise: float | None
    final: bool

    @classmethod
    def first(cls, wanted: tuple[str, float | None], rows: Rows, noise: float | None) -> Judgement:
        kind, parameter = wanted
        everyone = np.ones(len(rows[1]), dtype=bool)
        if kind != "huber":
            return cls(Loss(kind, parameter or 0.0), everyone, wanted, noise, final=True)
        return cls(Loss("huber", 1.0), everyone, wanted, noise, final=False)._looked(rough_residuals(*rows), rows)

    def again(self, expr: Expr, rows: Rows) -> Judgement:
        """With the residuals of a formula instead of a polynomial's."""
        X, y, weights = rows
        with np.errstate(all="ignore"):
            residuals = y - evaluate(minimised(expr, X, y, weights, self.loss), X)
        if not np.isfinite(residuals).all():
            return replace(self, final=True)
        return replace(self._looked(residuals, rows), final=True)

    def rows(self, rows: Rows) -> Rows:
        X, y, weights = rows
        return (X, y, weights) if self.trusted.all() else (X[self.trusted], y[self.trusted], weights[self.trusted])

    def weights(self, expr: Expr, X: Floats, y: Floats, weights: Floats | None) -> Floats | None:
        """Weights with which squares have the same optimum as the loss, for standard errors and simple numbers."""
        if self.loss.kind != "huber":
            return weights
        _, less = self.loss.parabola(y - evaluate(expr, X), 0.0)
        less = np.nan_to_num(less)  # where the formula has no value, there is nothing to weigh
        less = less if weights is None else less * weights
        return less if np.any(less > 0.0) else weights

    def _looked(self, residuals: Floats, rows: Rows) -> Judgement:
        # Exact data have no scale of their own; what is far above rounding is then an outlier.
        least = 1e3 * EXACT * float(np.median(np.abs(rows[1] - np.median(rows[1])))) or 1e-300
        scale = self.noise or max(NORMAL_MAD * float(np.median(np.abs(residuals))), least)
        delta = self.wanted[1] or TUNING * scale
        return replace(self, loss=Loss("huber", delta), trusted=np.abs(residuals) <= TRUSTED * scale)


@dataclass(frozen=True)
class Shifted(Wrapped):
    """A proposer, each of whose formulas is put forward with a constant added as well.

    Least squares proposes the middle of the data; a quantile of it is mostly the same curve, moved.
    """

    level: float

    def beside(self, problem: Problem, proposal: Proposal) -> Iterator[Proposal]:
        if n_params(proposal.expr):
            return
        with np.errstate(all="ignore"):
            residuals = problem.y - evaluate(proposal.expr, problem.X)
        shift = float(np.quantile(residuals, self.level)) if np.isfinite(residuals).all() else 0.0
        if shift:
            yield replace(proposal, expr=proposal.expr + Const(shift))


MEAN_SQUARES = Judgement(Loss(), np.ones(0, dtype=bool), ("mse", None), None, final=True)


def rough_residuals(X: Floats, y: Floats, weights: Floats) -> Floats:
    """What a polynomial leaves whose absolute residuals are smallest: outliers do not bend it."""
    A = polynomial(X, len(y))
    few = thinned(len(y))
    columns, target, share = A[few], y[few], np.sqrt(weights[few])
    residuals = target - np.median(target)
    for _ in range(ROUNDS):
        edge = 1e-3 * float(np.median(np.abs(residuals))) or 1e-300
        root = share / np.sqrt(np.abs(residuals) + edge)
        fitted, *_ = np.linalg.lstsq(columns * root[:, None], target * root, rcond=1e-12)
        residuals = target - columns @ fitted
    return np.asarray(y - A @ fitted)


def thinned(n_rows: int) -> NDArray[np.intp]:
    """Rows enough for a polynomial, evenly spaced."""
    return np.unique(np.linspace(0, n_rows - 1, MAX_ROUGH_ROWS).astype(np.intp))


def polynomial(X: Floats, n_rows: int) -> Floats:
    """Columns of a polynomial in standardised inputs, of as high a degree as so many rows allow."""
    unit = X - X.mean(axis=0)
    unit /= np.where(unit.std(axis=0) > 0.0, unit.std(axis=0), 1.0)
    columns = [np.ones(n_rows)]
    most = min(MAX_TERMS, n_rows // ROWS_A_COLUMN)
    for degree in range(1, MAX_DEGREE + 1):
        if len(columns) + math.comb(X.shape[1] + degree - 1, degree) > most:
            break
        columns += [unit[:, list(c)].prod(axis=1) for c in combinations_with_replacement(range(X.shape[1]), degree)]
    return np.column_stack(columns)


def minimised(expr: Expr, X: Floats, y: Floats, weights: Floats | None, loss: Loss) -> Expr:
    """The formula with its constants at the optimum of the loss, those that are simple numbers held."""
    form, values = free(expr, hold_simple=True)
    if not values or len(values) >= len(y):
        return expr
    tape = compile_tape(form, X.shape[1])
    fit = fit_tape(tape, X, y, [values], weights=weights, **loss.keywords)
    return bind(form, np.asarray(fit.params).tolist()) if fit.status is Status.OK else expr
