"""Signomials: view(y) = Σ_k c_k · ∏ x_i^m_ki with K = 2, 3, 4 terms and all exponents continuous.

The coefficients are eliminated (variable projection) and Levenberg–Marquardt moves the exponents from random
starts on a few rows; a numba loop does thousands of steps a second.  A constant is a term with all exponents 0.
Columns of both signs enter as |x|^m with a parity drawn with the start.  Exponents are rounded if the fit stays
exact, or where their standard errors allow it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import DIGITS_9, DIGITS_15, Bools, Floats, Ints
from ...candidate import Proposal
from ...fit.kernels.signomials import fit_exponents
from ...fit.steps import Model, least_squares, standard_errors
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var
from ..linear.monomial import LogInputs, log_inputs, nearest_simple
from ..pool import FAR_WORSE, Stage, Task, tolerance
from ..view.views import Target, View, views_of
from ..write.polynomial import Poly, make_poly
from ..write.write import write_sum

__all__ = ["Signomial"]


VIEWS = ("y", "y**2", "1/y", "1/y**2", "sqrt(y)", "exp(y)", "ln(y)")
LOOSEST_SUM = 0.1
HIT, EXACT_REACH = 1e-8, 1e-4  # residual over the spread that only a law reaches, and how near its exponents are then

# Terms whose exponents differ by less than this are one term and its derivative.
CLOSEST, CLOSEST_RATES = 0.02, 0.1


@dataclass(frozen=True)
class _Trial:
    """A start carried to its end: residual over spread, exponents (K, d) and parities (K, d)."""

    off: float
    view: View
    exponents: Floats
    parity: Bools


@dataclass(frozen=True)
class Signomial(Stage):
    """The stage: rounds over views and K until ``seconds`` are over or an exact law is found."""

    name: str = "signomial"
    views: tuple[str, ...] = VIEWS
    terms: tuple[int, ...] = (2, 3, 4)
    rounds: int = 6
    starts: int = 3
    scan_rows: int = 120
    max_rows: int = 600
    n_refined: int = 6
    limit: int = 4
    seconds: float = 3.0

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, pool, rng = task.problem, task.pool, task.rng
        inputs = self._inputs(problem, task.some_rows(self.max_rows))
        if not inputs.logs.size or len(inputs.rows) < 8:
            return
        few = inputs.some(self.scan_rows, rng)
        trials: list[_Trial] = []
        views = views_of(problem, self.views)
        for k_terms in self._plan():
            for view in views:
                if task.deadline.expired():
                    break
                if 2 * k_terms * (inputs.logs.shape[1] + 1) > len(few.rows):
                    continue
                trial = self._best_start(problem, few, view, k_terms, rng)
                if trial is None:
                    continue
                if trial.off < HIT and view.strict and pool.found(_Fit(problem, inputs, trial).exact()):
                    yield from pool.proposals(1)
                    return
                trials.append(trial)
        for trial in self._chosen(trials):
            for expr in _Fit(problem, inputs, trial).refitted():
                pool.add(expr)
        pool.settle(2 * self.limit, task.deadline)
        yield from pool.proposals(self.limit, worse=FAR_WORSE)

    def _inputs(self, problem: Problem, rows: Ints) -> LogInputs:
        return log_inputs(problem, rows)

    def _plan(self) -> Iterator[int]:
        """Two terms every round, three every round but the first, four in the last rounds."""
        for turn in range(self.rounds):
            for place, k_terms in enumerate(self.terms):
                if turn >= place:
                    yield k_terms

    def _best_start(
        self, problem: Problem, inputs: LogInputs, view: View, k_terms: int, rng: np.random.Generator
    ) -> _Trial | None:
        seen = Target.see(problem, view, inputs.rows)
        good, d = seen.among(inputs.rows), inputs.logs.shape[1]
        if len(seen) < 2 * k_terms * (d + 1) or not np.any(seen.values):
            return None
        logs = inputs.logs[good] - inputs.logs[good].mean(axis=0)
        target = seen.weighted
        unit = float(np.linalg.norm(target))
        best: _Trial | None = None
        lead = self._lead(logs, seen.values, seen.weights)
        for kind in rng.permutation(self.starts):
            start = self._start(int(kind), k_terms, inputs, lead, rng)
            parity = np.zeros((k_terms, d), dtype=bool)
            parity[:, inputs.mixed] = rng.random((k_terms, len(inputs.mixed))) < 0.5
            signs = np.array([np.prod(inputs.signs[good][:, bits], axis=1) for bits in parity])
            exponents, rss = fit_exponents(logs, signs, target / unit, seen.weights, start, 40)
            off = unit * np.sqrt(rss / len(target)) / problem.spread
            if np.isfinite(off) and not _coincide(exponents, inputs) and (best is None or off < best.off):
                best = _Trial(float(off), view, exponents, parity)
            if best is not None and best.off < 1e-10:
                return best
        # Views weigh rows differently; only residuals of y itself can be compared.
        return None if best is None else replace(best, off=_Fit(problem, inputs, best).misfit())

    def _start(self, kind: int, k_terms: int, inputs: LogInputs, lead: Floats, rng: np.random.Generator) -> Floats:
        shape = (k_terms, inputs.logs.shape[1])
        start = rng.normal(0.0, 1.0, shape)
        if kind % 3 == 0:
            start += lead  # terms of a sum often share most of their factors
        elif kind % 3 == 1:
            start = rng.integers(-2, 3, shape) * (rng.random(shape) < 0.6) + 0.05 * start
        return start

    def _lead(self, logs: Floats, t: Floats, weights: Floats) -> Floats:
        """Exponents of the one power law that fits best."""
        scale = np.where(t != 0.0, np.abs(t), 1.0) * weights
        design = np.column_stack([np.ones(len(t)), logs]) * scale[:, None]
        target = np.log(np.abs(np.where(t != 0.0, t, 1.0))) * scale
        return np.asarray(np.linalg.lstsq(design, target, rcond=None)[0][1:])

    def _chosen(self, trials: list[_Trial]) -> list[_Trial]:
        """The best trial of every view and number of terms: noise makes views look alike before rounding."""
        best: dict[tuple[str, int], _Trial] = {}
        for trial in trials:
            key = (trial.view.name, len(trial.exponents))
            if key not in best or trial.off < best[key].off:
                best[key] = trial
        chosen: list[_Trial] = []
        for place, k_terms in enumerate(self.terms):
            ranked = sorted((t for t in best.values() if len(t.exponents) == k_terms), key=lambda t: t.off)
            near = [t for t in ranked if t.off < 1.5 * ranked[0].off]
            chosen += near[: max(1, self.n_refined // (place + 1))]
        return chosen


def _coincide(exponents: Floats, inputs: LogInputs) -> bool:
    """Are two terms all but the same?  Their difference stands for a logarithm or a factor x, for other stages."""
    gaps = np.abs(exponents[:, None] - exponents[None]).max(axis=2)
    return bool((gaps[np.triu_indices(len(gaps), 1)] < (CLOSEST_RATES if inputs.inside else CLOSEST)).any())


class _Fit:
    """A trial on more rows."""

    def __init__(self, problem: Problem, inputs: LogInputs, trial: _Trial) -> None:
        self.problem, self.inputs, self.trial = problem, inputs, trial
        self.y = problem.y[inputs.rows]
        self.root = np.sqrt(problem.weights[inputs.rows])
        self.signs = np.column_stack([np.prod(inputs.signs[:, bits], axis=1) for bits in trial.parity])

    def exact(self) -> Expr | None:
        """Rounded exponents, coefficients by least squares."""
        exponents = self.trial.exponents
        rounded = np.array([[self._simple(k, m, EXACT_REACH, True) for k, m in enumerate(row)] for row in exponents])
        if self.inputs.inside:
            rounded = self._refined(rounded)
        coefficients = self._solve(rounded)
        if coefficients is None:
            return None
        sizes = np.abs(coefficients) * np.linalg.norm(self._terms(rounded), axis=0)
        if np.any(sizes < DIGITS_9 * sizes.max()):
            # More terms than the law has: an idle one has vanished, its exponents mean nothing.
            needed = sizes >= DIGITS_9 * sizes.max()
            trial = self.trial
            fewer = replace(trial, exponents=trial.exponents[needed], parity=trial.parity[needed])
            return _Fit(self.problem, self.inputs, fewer).exact()
        return self._written(coefficients, rounded, DIGITS_9)

    def misfit(self) -> float:
        """Residual of y over its spread, coefficients by least squares in the view."""
        coefficients = self._solve(self.trial.exponents)
        if coefficients is None:
            return math.inf
        with np.errstate(all="ignore"):
            y = self.trial.view.back(self._terms(self.trial.exponents) @ coefficients)
            off = float(np.sqrt(np.mean((self.root * (y - self.y)) ** 2))) / self.problem.spread
        return off if math.isfinite(off) else math.inf

    def refitted(self) -> Iterator[Expr | None]:
        """All constants refitted in the space of y, exponents free or rounded by their errors; with all terms,
        then without the weakest, and so on."""
        coefficients = self._solve(self.trial.exponents)
        if coefficients is None:
            return
        exponents = self.trial.exponents.copy()
        k, d = exponents.shape
        free = np.ones((k, d), dtype=bool)
        for reach in (2.0, 2.0, 4.0):
            moved = self._moved(coefficients, exponents, free)
            if moved is None:
                return
            coefficients, exponents, errors = moved
            spread = np.zeros((k, d))
            spread[free] = errors[k:]
            for place in zip(*np.nonzero(free), strict=True):
                # The next look is sharper: rounding some makes the errors of the others smaller.
                simple = self._simple(int(place[1]), float(exponents[place]), reach * float(spread[place]))
                if simple != exponents[place]:
                    exponents[place], free[place] = simple, False
        # Two exponentials that merge do so slowly; what is proposed must not be on its way there.
        moved = self._moved(coefficients, exponents, free, 60 if self.inputs.inside else 15)
        if moved is None or not np.all(moved[0]):
            return
        coefficients, exponents, errors = moved
        relative = errors[:k] / np.abs(coefficients)
        yield self._written(coefficients, exponents, DIGITS_9)
        yield self._written(coefficients, exponents, tolerance(relative, LOOSEST_SUM))
        if k > 2:
            strong = np.arange(k) != np.argmax(relative)
            fewer = replace(self.trial, exponents=exponents[strong], parity=self.trial.parity[strong])
            yield from _Fit(self.problem, self.inputs, fewer).refitted()

    def _refined(self, exponents: Floats) -> Floats:
        """The rates once more, after others were found to be 0."""
        coefficients, free = self._solve(exponents), exponents != 0.0
        free[:, : len(self.inputs.columns)] = False
        if coefficients is None or not free.any():
            return exponents
        moved = self._moved(coefficients, exponents, free)
        return exponents if moved is None else moved[1]

    def _moved(
        self, coefficients: Floats, exponents: Floats, free: Bools, steps: int = 15
    ) -> tuple[Floats, Floats, Floats] | None:
        """Coefficients and exponents, of which some are free, after a few steps, and the errors of all that moved."""
        start, k = np.r_[coefficients, exponents[free]], len(coefficients)
        params, rss, jacobian = least_squares(self._model(exponents, free), start, self.y, self.root, steps)
        if not np.isfinite(rss):
            return None
        moved = exponents.copy()
        moved[free] = params[k:]
        return params[:k], moved, standard_errors(jacobian, rss)

    def _simple(self, place: int, exponent: float, reach: float, thirds: bool = False) -> float:
        if place < len(self.inputs.columns):
            return nearest_simple(exponent, reach, thirds)
        return 0.0 if abs(exponent) <= max(reach, 1e-7) else exponent  # no other rate is special

    def _terms(self, exponents: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return self.signs * np.exp(self.inputs.logs @ exponents.T)

    def _solve(self, exponents: Floats) -> Floats | None:
        seen = Target.see(self.problem, self.trial.view, self.inputs.rows)
        terms = self._terms(exponents)[seen.among(self.inputs.rows)] * seen.weights[:, None]
        with np.errstate(all="ignore"):
            norms = np.linalg.norm(terms, axis=0)
        if not np.isfinite(norms).all() or norms.min() == 0.0:
            return None
        solution = np.linalg.lstsq(terms / norms, seen.weighted, rcond=DIGITS_15)[0] / norms
        return np.asarray(solution) if np.isfinite(solution).all() else None

    def _model(self, exponents: Floats, free: Bools) -> Model:
        k = len(exponents)
        owners, columns = np.nonzero(free)

        def model(params: Floats) -> tuple[Floats, Floats]:
            every = exponents.copy()
            every[free] = params[k:]
            terms = self._terms(every)
            y = self.trial.view.back(terms @ params[:k])
            slopes = terms[:, owners] * params[:k][owners] * self.inputs.logs[:, columns]
            return y, np.column_stack([terms, slopes]) / self.trial.view.slope(y)[:, None]

        return model

    def _written(self, coefficients: Floats, exponents: Floats, tol: float) -> Expr | None:
        poly = self._poly(coefficients, exponents)
        return None if poly is None else write_sum(self.problem, self.trial.view, poly, tol)

    def _poly(self, coefficients: Floats, exponents: Floats) -> Poly | None:
        """The sum over inputs, |x| where a column of both signs has no whole power of the right parity."""
        if not np.all(np.abs(exponents) < 12.0) or not np.isfinite(coefficients).all():
            return None
        if _coincide(exponents, self.inputs):
            return None
        atoms: list[Expr] = [Var(i) for i in self.inputs.columns]
        d = len(atoms)
        atoms += [Call("abs", (v,)) for v in atoms]
        rows, scaled = [], []
        for c, powers, bits in zip(coefficients, exponents, self.trial.parity, strict=True):
            row = np.zeros(2 * d)
            for i, (m, odd) in enumerate(zip(map(float, powers[:d]), bits[:d], strict=True)):
                negative = bool(self.inputs.signs[0, i] < 0)
                if m == round(m) and (i not in self.inputs.mixed or (m % 2 == 1) == odd):
                    row[i] = m
                    c = -c if negative and i not in self.inputs.mixed and m % 2 == 1 else c
                elif i in self.inputs.mixed and odd:
                    row[i], row[d + i] = 1.0, m - 1.0
                elif i in self.inputs.mixed or negative:
                    row[d + i] = m
                else:
                    row[i] = m
            rows.append(row.tolist())
            scaled.append(float(c))
        if self.inputs.inside:
            grown = [self.inputs.exponential(rates) for rates in exponents[:, d:]]
            atoms += [atom or Const(1.0) for atom in grown]
            rows = [
                [*row, *(float(k == j and atom is not None) for j in range(len(grown)))]
                for k, (row, atom) in enumerate(zip(rows, grown, strict=True))
            ]
        return make_poly(atoms, rows, scaled)
