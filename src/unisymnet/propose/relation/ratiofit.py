"""A quotient of polynomials fitted to noisy data, terms eliminated by description length.

Start: the linearised problem, solved again and again with weights 1/Q (Sanathanan–Koerner).  Then
Levenberg–Marquardt steps in the space of y, and one term (or several idle ones) less each round.  Knows its two
bases and the data; writing is not done here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...problem import Problem
from ..linear.basis import Basis
from ..pool import FLOOR, TOKEN, Model, least_squares, standard_errors
from ..view.views import View
from ..write.polynomial import Poly

__all__ = ["RatioFit", "RatioLaw", "tolerance", "tolerances"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]

LOOSEST = 0.2
MOST_SINGLE = 20


@dataclass(frozen=True)
class RatioLaw:
    """view(y) = num/den; ``length`` counts it as it stands, ``tol`` is what the errors allow in writing it."""

    length: float
    view: View
    num: Poly
    den: Poly
    tol: float

    def tolerances(self) -> tuple[float, float, float]:
        return tolerances(self.tol)


def tolerances(tol: float) -> tuple[float, float, float]:
    """What to try in writing a law: pure algebra, the errors, and more than the errors (a refit will tell)."""
    return 1e-9, tol, min(8.0 * tol, LOOSEST)


def tolerance(relative: Floats) -> float:
    """What the relative errors of the coefficients allow."""
    return float(np.clip(3.0 * np.max(relative), 1e-9, LOOSEST))


class RatioFit:
    """view(y) = P/Q on some rows of a problem."""

    def __init__(self, problem: Problem, view: View, num: Basis, den: Basis, rows: Ints) -> None:
        self.view, self.num, self.den, self.spread = view, num, den, problem.spread
        self.y, self.root = problem.y[rows], np.sqrt(problem.weights[rows])
        self.t = view.values(self.y)
        columns = np.column_stack([num.columns(problem.X[rows]), den.columns(problem.X[rows])])
        self.norms = np.linalg.norm(columns, axis=0) / math.sqrt(len(rows))
        with np.errstate(all="ignore"):
            self.columns = columns / self.norms  # a column of zeros becomes nan, and nothing is proposed
        self.is_top = np.arange(columns.shape[1]) < len(num)
        self.tokens = np.concatenate([num.tokens(), den.tokens()])

    def selected(self, count: int = 3) -> list[RatioLaw]:
        """The best few quotients by description length."""
        start = self._start() if np.isfinite(self.columns).all() else None
        if start is None:
            return []
        found = []
        for length, keep, params, tol in sorted(self._path(start), key=lambda item: item[0])[:count]:
            coefficients = params / self.norms[keep]
            top, bottom = keep[self.is_top[keep]], keep[~self.is_top[keep]] - len(self.num)
            a = self.num.poly(top, coefficients[: len(top)])
            b = self.den.poly(bottom, coefficients[len(top) :])
            found.append(RatioLaw(length, self.view, a, b, tol))
        return found

    def _start(self) -> Floats | None:
        """Coefficients of the linearised problem, weighted with 1/Q of the round before."""
        weights = np.minimum(self.view.weights(self.y), 4.0 * np.median(self.view.weights(self.y))) * self.root
        good = np.isfinite(self.t) & (weights > 0)
        if good.sum() < 2 * self.columns.shape[1]:
            return None
        top, bottom = self.columns[good][:, self.is_top], self.columns[good][:, ~self.is_top]
        weights, t = weights[good], self.t[good]
        below = np.ones(len(t))
        best: tuple[float, Floats] | None = None
        for _ in range(5):
            vector = _linearised(top, bottom, t, weights / below, below)
            if vector is None:
                break
            value = self._rss(vector)
            if best is None or value < best[0]:
                best = (value, vector)
            below = np.abs(bottom @ vector[~self.is_top])
            # A denominator that changes sign would give single rows all the weight.
            below = np.maximum(below, 0.05 * np.median(below))
            if not below.min() > 0.0:
                break
        return None if best is None or not math.isfinite(best[0]) else best[1]

    def _rss(self, params: Floats) -> float:
        with np.errstate(all="ignore"):
            top = self.columns[:, self.is_top] @ params[self.is_top]
            bottom = self.columns[:, ~self.is_top] @ params[~self.is_top]
            residual = (self.view.back(top / bottom) - self.y) * self.root
            return float(np.sum(residual**2))

    def _path(self, params: Floats) -> Iterator[tuple[float, Ints, Floats, float]]:
        """(description length, columns, coefficients, tolerance) with fewer and fewer columns."""
        keep = np.arange(len(params))
        n = len(self.y)
        while True:
            top = self.is_top[keep]
            if not top.any() or top.all():
                return
            # The largest coefficient of Q is fixed: the quotient has one constant less.
            anchor = int(np.argmax(np.where(top, 0.0, np.abs(params))))
            free = np.arange(len(keep)) != anchor
            params = params / params[anchor]
            model = self._model(keep, free, params)
            found, rss, jacobian = least_squares(model, params[free], self.y, self.root, steps=5)
            if not math.isfinite(rss):
                return
            params = params.copy()
            params[free] = found
            fit = 0.5 * n * math.log(max(rss / n / self.spread**2, FLOOR**2))
            length = fit + 0.5 * len(found) * math.log(n) + TOKEN * float(np.sum(self.tokens[keep]))
            errors = np.zeros(len(keep))
            errors[free] = standard_errors(jacobian, rss)
            relative = np.where(free, errors / np.maximum(np.abs(params), 1e-300), 0.0)
            yield length, keep, params, tolerance(relative)
            if len(keep) <= 2:
                return
            # One by one, or a few of many idle ones.
            drop = np.argsort(-relative)[: max(1, int(np.sum(relative > 1.0)) - MOST_SINGLE)]
            rest = np.setdiff1d(np.arange(len(keep)), drop)
            keep, params = keep[rest], params[rest]

    def _model(self, keep: Ints, free: Bools, fixed: Floats) -> Model:
        columns, top = self.columns[:, keep], self.is_top[keep]

        def model(some: Floats) -> tuple[Floats, Floats]:
            params = fixed.copy()
            params[free] = some
            above, below = columns[:, top] @ params[top], columns[:, ~top] @ params[~top]
            ratio = above / below
            y = self.view.back(ratio)
            rate = 1.0 / (self.view.slope(y) * below)
            slopes = np.where(top, columns, -ratio[:, None] * columns) * rate[:, None]
            return y, slopes[:, free]

        return model


def _linearised(top: Floats, bottom: Floats, t: Floats, weights: Floats, below: Floats) -> Floats | None:
    """(a, b) that minimise ‖weights·(P a − t·Q b)‖ over ‖Q b / below‖.

    Noise of t adds the same to this quotient whatever b is, so that noise does not draw b towards small Q.
    """
    with np.errstate(all="ignore"):
        metric = np.asarray(np.linalg.qr(bottom / below[:, None], mode="r"), dtype=np.float64)
        span, triangle = np.linalg.qr(top * weights[:, None])
        products = bottom * (t * weights)[:, None]
        left = products - span @ (span.T @ products)
        try:
            unit = np.linalg.solve(metric.T, left.T).T
            b = np.linalg.solve(metric, np.linalg.svd(np.linalg.qr(unit, mode="r"))[2][-1])
            a = np.linalg.lstsq(triangle, span.T @ (products @ b), rcond=1e-13)[0]
        except np.linalg.LinAlgError:
            return None
    vector = np.concatenate([a, b])
    return vector if np.isfinite(vector).all() else None
