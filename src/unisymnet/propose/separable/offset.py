"""Offset power laws: view(y) = c0 + c · ∏ x_i^m_i.

For a given c0 this is a power law in log space; c0 is scanned (all values of it as right-hand sides of one
projection) and the best few are refitted in the space of y with all constants free.  Exponents are rounded as in
monomial.py.  Sums of two power laws are signomial.py's task.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import Bools, Floats
from ...candidate import Proposal
from ...fit.projected import dips
from ...fit.steps import Model, least_squares, standard_errors
from ...problem import Problem
from ...symbolic.expr import Const, Expr
from ..linear.monomial import LogInputs, log_fit, log_inputs, nearest_simple, parity, power_law
from ..pool import REACH, WORSE, Stage, Task
from ..view.views import View, views_of
from ..write.polynomial import Form, add_forms

__all__ = ["Offset"]


@dataclass(frozen=True)
class Offset(Stage):
    """The stage: ``n_offsets`` values of c0 are scanned for every view, the best ``n_starts`` of each are tried
    on ``scan_rows`` rows, and the best ``n_refined`` of all fitted."""

    name: str = "offset"
    max_rows: int = 600
    scan_rows: int = 150
    n_offsets: int = 60
    n_starts: int = 2
    n_refined: int = 4
    limit: int = 3

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, pool = task.problem, task.pool
        inputs = log_inputs(problem, task.some_rows(self.max_rows))
        if len(inputs.rows) < len(inputs.columns) + 4 or not inputs.columns:
            return
        few = inputs.some(self.scan_rows, task.rng)
        trials: list[tuple[float, Floats, View]] = []
        for view in views_of(problem):
            for c0 in self._scan(problem, few, view):
                if task.deadline.expired():
                    return
                rss, params = _Fit(problem, few, view, c0).trial()
                trials.append((rss, params, view))
        for rss, params, view in sorted(trials, key=lambda trial: trial[0])[: self.n_refined]:
            if task.deadline.expired() or not np.isfinite(rss):
                break
            for expr in _Fit(problem, inputs, view, params[0], params).formulas():
                if pool.found(expr):
                    yield from pool.proposals(1)
                    return
        yield from pool.proposals(self.limit, worse=WORSE)

    def _scan(self, problem: Problem, inputs: LogInputs, view: View) -> list[float]:
        """The offsets of the best local minima of the misfit."""
        y = problem.y[inputs.rows]
        t = view.values(y)
        good = np.isfinite(t)
        if good.sum() < len(inputs.columns) + 4 or np.ptp(t[good]) == 0.0:
            return []
        t, weights = t[good], view.weights(y)[good]
        offsets = _candidates(t, self.n_offsets, inside=bool(inputs.mixed))
        size = np.abs(t[:, None] - offsets)
        logs = np.log(np.where(size > 0, size, np.min(size[size > 0])))
        basis = np.linalg.qr(np.column_stack([np.ones(len(t)), inputs.logs[good]]))[0]
        residual = (logs - basis @ (basis.T @ logs)) * size * weights[:, None]
        with np.errstate(all="ignore"):
            off = np.mean(residual**2, axis=0)
        return [float(offsets[k]) for k in dips(off, self.n_starts)]


def _candidates(t: Floats, count: int, inside: bool) -> Floats:
    """Values of c0: geometric distances beyond both ends of t, in order; between the ends if signs may change."""
    low, high = float(t.min()), float(t.max())
    steps = np.geomspace(1e-3, 30.0, count // 2) * (high - low)
    middle = np.quantile(t, np.linspace(0.02, 0.98, count // 2)) if inside else np.empty(0)
    return np.concatenate([low - steps[::-1], middle, high + steps])


class _Fit:
    """One start (a view and c0), refitted in the space of y."""

    def __init__(self, problem: Problem, inputs: LogInputs, view: View, c0: float, start: Floats | None = None) -> None:
        self.problem, self.inputs, self.view = problem, inputs, view
        self.y = problem.y[inputs.rows]
        self.t = view.values(self.y)
        self.good = np.isfinite(self.t)
        gap = np.where(self.good, self.t - c0, 0.0)
        nonzero = self.good & (gap != 0.0)
        self.odd = parity(inputs, gap, nonzero)
        signs = np.prod(inputs.signs[:, self.odd], axis=1) if self.odd else np.ones(len(gap))
        self.sign = 1.0 if np.sum(signs * gap) >= 0 else -1.0
        self.signs = self.sign * signs
        self.design = np.column_stack([np.ones(len(gap)), inputs.logs])
        self.root = np.sqrt(problem.weights[inputs.rows])
        if start is None:
            start = np.r_[c0, log_fit(self.design, gap, nonzero, np.abs(gap) * view.weights(self.y))]
        self.start = start
        self.none = np.zeros(len(start) - 2, dtype=bool)

    def trial(self) -> tuple[float, Floats]:
        """RSS and constants after a few steps."""
        params, rss, _ = least_squares(self._model(self.none, self.start[2:]), self.start, self.y, self.root, 12)
        return rss, params

    def formulas(self) -> Iterator[Expr | None]:
        """Rounded exponents first if the data are exact, else the fit and its roundings."""
        model = self._model(self.none, self.start[2:])
        params, rss, jacobian = least_squares(model, self.start, self.y, self.root, 30)
        if not np.isfinite(rss):
            return
        off = np.sqrt(rss / len(self.y)) / self.problem.spread
        if off < 1e-6:
            yield self._solved(np.array([nearest_simple(m, 1e-3, thirds=True) for m in params[2:]]))
        yield self._written(params[0], params[1], params[2:])
        errors = standard_errors(jacobian, rss)
        for reach in REACH:
            exponents = np.array([nearest_simple(m, reach * e) for m, e in zip(params[2:], errors[2:], strict=True)])
            fixed = exponents == np.round(2 * exponents) / 2
            free = np.r_[True, True, ~fixed]
            final, rss, _ = least_squares(self._model(fixed, exponents), params[free], self.y, self.root, 20)
            if np.isfinite(rss):
                exponents[~fixed] = final[2:]
                yield self._written(final[0], final[1], exponents)

    def _model(self, fixed: Bools, exponents: Floats) -> Model:
        """y and its derivatives by c0, ln c and the exponents that are not fixed."""
        free = np.r_[True, True, ~fixed]

        def model(params: Floats) -> tuple[Floats, Floats]:
            every = exponents.copy()
            every[~fixed] = params[2:]
            term = self.signs * np.exp(params[1] + self.inputs.logs @ every)
            y = self.view.back(params[0] + term)
            rate = 1.0 / self.view.slope(y)
            jacobian = np.column_stack([rate, self.design * (term * rate)[:, None]])
            return y, jacobian[:, free]

        return model

    def _solved(self, exponents: Floats) -> Expr | None:
        """c0 and c by least squares for given exponents."""
        term = self.signs * np.exp(self.inputs.logs @ exponents)
        weights = self.view.weights(self.y)
        design = np.column_stack([np.ones(len(term)), term]) * weights[:, None]
        c0, c = np.linalg.lstsq(design, np.where(self.good, self.t, 0.0) * weights, rcond=None)[0]
        return self._written(c0, float(np.log(c)), exponents) if c > 0 else None

    def _written(self, c0: float, log_c: float, exponents: Floats) -> Expr | None:
        term = power_law(self.inputs, log_c, exponents, self.sign, self.odd)
        if term is None:
            return None
        if not (term.num or term.den):
            return Const(c0 + term.scale)
        return self.view.invert(add_forms([Form(c0), term], 0.0).written())
