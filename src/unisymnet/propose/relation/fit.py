"""Σ_k t^k·P_k(x) = 0 fitted to noisy data, terms eliminated by description length: quotients and roots alike.

Start: the linearised problem, solved again and again with weights 1/F', F' the slope of the equation by t, which turns
its error into one of t (Sanathanan–Koerner).  Then Levenberg–Marquardt steps in the space of y, and one term (or some
of many idle ones) less each round.  Writing is not done here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import TINY, Bools, Floats, Ints
from ...fit.eliminate import plain_length
from ...fit.steps import Model, least_squares, standard_errors
from ..pool import Task, tolerance
from ..view.views import Target, View
from ..write.polynomial import Poly, Powers
from .equation import Equation

__all__ = ["Law", "fitted"]

MOST_SINGLE = 20
FLATTEST = 0.05  # of the median slope: where it changes sign, single rows would have all the weight


@dataclass(frozen=True)
class Law:
    """P_0, P_1, …; ``length`` counts the law as it stands, ``tol`` is what the errors allow in writing it."""

    length: float
    view: View
    parts: tuple[Poly, ...]
    tol: float

    @property
    def terms(self) -> tuple[tuple[Powers, ...], ...]:
        """Which monomials each polynomial has."""
        return tuple(tuple(powers for powers, _ in poly.terms) for poly in self.parts)


def fitted(task: Task, equation: Equation, rows: Ints, count: int = 3) -> list[Law]:
    """The best few laws by description length."""
    fit = _Fit(task, equation, rows)
    if not np.isfinite(fit.columns).all():
        return []
    starts = [(sign, fit.start(sign)) for sign in ((1.0, -1.0) if fit.degree > 1 else (1.0,))]
    found = [law for sign, start in starts if start is not None for law in fit.path(start, sign)]
    return sorted(found, key=lambda law: law.length)[:count]


class _Fit:
    """One equation on some rows; of two roots, the one at which the equation's slope has a given sign."""

    def __init__(self, task: Task, equation: Equation, rows: Ints) -> None:
        problem = task.problem
        self.equation, self.view, self.spread = equation, equation.view, problem.spread
        self.y, self.root = problem.y[rows], np.sqrt(problem.weights[rows])
        self.target = Target.see(problem, self.view, rows)
        self.seen = self.target.among(rows)
        columns = np.concatenate([basis.columns(problem.X[rows]) for basis in equation.bases], axis=1)
        self.degree = len(equation.bases) - 1
        self.power = np.repeat(np.arange(self.degree + 1), [len(basis) for basis in equation.bases])
        self.norms = np.linalg.norm(columns, axis=0) / math.sqrt(len(rows))
        with np.errstate(all="ignore"):
            self.columns = columns / self.norms  # a column of zeros becomes nan, and nothing is proposed
        self.tokens = np.concatenate([basis.tokens() for basis in equation.bases])
        self.rounds = 4 + self.degree

    def start(self, sign: float) -> Floats | None:
        """Coefficients of the linearised problem whose solution is nearest to y."""
        if len(self.target) < 2 * len(self.power):
            return None
        every, columns, t = np.arange(len(self.power)), self.columns[self.seen], self.target.values
        slopes = columns * self.power * t[:, None] ** np.maximum(self.power - 1, 0)
        below = np.ones(len(t))
        best: tuple[float, Floats | None] = (math.inf, None)
        for _ in range(self.rounds):
            vector = self._linearised(columns, slopes, self.target.weights, below)
            if vector is None:
                break
            slope = slopes @ vector
            if self.degree > 1 and sign * np.median(slope) < 0.0:
                vector = -vector
            with np.errstate(all="ignore"):
                residual = (self.view.back(self._solved(every, vector, sign)[0]) - self.y) * self.root
                rss = float(np.sum(residual**2))
            if math.isfinite(rss) and rss < best[0]:
                best = (rss, vector)
            below = np.maximum(np.abs(slope), FLATTEST * np.median(np.abs(slope)) + TINY)
        return best[1]

    def _linearised(self, columns: Floats, slopes: Floats, weights: Floats, below: Floats) -> Floats | None:
        """The vector with the smallest weighted ‖Σ t^k·P_k‖ over ‖F'/below‖, what noise of t makes of the former."""
        free = self.power == 0
        with np.errstate(all="ignore"):
            table = columns * self.target.values[:, None] ** self.power * (weights / below)[:, None]
            metric = np.asarray(np.linalg.qr(slopes[:, ~free] / below[:, None], mode="r"), dtype=np.float64)
            span, triangle = np.linalg.qr(table[:, free])
            left = table[:, ~free] - span @ (span.T @ table[:, ~free])
            try:
                unit = np.linalg.solve(metric.T, left.T).T
                upper = np.linalg.solve(metric, np.linalg.svd(np.linalg.qr(unit, mode="r"))[2][-1])
                lower = -np.linalg.lstsq(triangle, span.T @ (table[:, ~free] @ upper), rcond=1e-13)[0]
            except np.linalg.LinAlgError:
                return None
        vector = np.concatenate([lower, upper])
        return vector if np.isfinite(vector).all() else None

    def _solved(self, keep: Ints, params: Floats, sign: float) -> tuple[Floats, Floats]:
        """t and the slope of the equation there; the smaller of two roots is computed without cancellation."""
        power = self.power[keep]
        parts = [self.columns[:, keep[power == k]] @ params[power == k] for k in range(self.degree + 1)]
        with np.errstate(all="ignore"):
            if self.degree == 1:
                return -parts[0] / parts[1], parts[1]
            c, b, a = parts
            slope = sign * np.sqrt(b * b - 4 * a * c)
            return np.where(b * slope > 0.0, -2.0 * c / (b + slope), (slope - b) / (2.0 * a)), slope

    def path(self, params: Floats, sign: float) -> Iterator[Law]:
        """Laws with fewer and fewer terms."""
        keep, n = np.arange(len(params)), len(self.y)
        while len(set(self.power[keep])) == self.degree + 1:
            # The largest coefficient beside t is fixed: the law has one constant less.  Of roots the sign must stay.
            anchor = int(np.argmax(np.where(self.power[keep] == 0, 0.0, np.abs(params))))
            free = np.arange(len(keep)) != anchor
            params = params / (-params[anchor] if self.degree == 1 else abs(params[anchor]))
            model = self._model(keep, free, params, sign)
            found, rss, jacobian = least_squares(model, params[free], self.y, self.root, steps=self.rounds)
            if not math.isfinite(rss):
                return
            params = params.copy()
            params[free] = found
            errors = np.zeros(len(keep))
            errors[free] = standard_errors(jacobian, rss)
            relative = np.where(free, errors / np.maximum(np.abs(params), TINY), 0.0)
            length = plain_length(rss, n, keep, self.tokens, self.spread) - 0.5 * math.log(n)
            parts = self.equation.polynomials(keep, params / self.norms[keep])
            yield Law(length, self.view, tuple(parts), tolerance(relative))
            if len(keep) <= 2:
                return
            drop = np.argsort(-relative)[: max(1, int(np.sum(relative > 1.0)) - MOST_SINGLE)]
            rest = np.setdiff1d(np.arange(len(keep)), drop)
            keep, params = keep[rest], params[rest]

    def _model(self, keep: Ints, free: Bools, fixed: Floats, sign: float) -> Model:
        def model(some: Floats) -> tuple[Floats, Floats]:
            params = fixed.copy()
            params[free] = some
            t, slope = self._solved(keep, params, sign)
            with np.errstate(all="ignore"):
                y = self.view.back(t)
                rate = 1.0 / (self.view.slope(y) * slope)
                times = np.stack([rate, rate * t, rate * t * t])[self.power[keep[free]]].T
                return y, -self.columns[:, keep[free]] * times

        return model
