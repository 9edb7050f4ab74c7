"""Power laws: view(y) = c · ∏ x_i^m_i, solved in log space, then refitted in the space of y.

Signs are handled apart: ln|x| carries the exponents, and a column of both signs enters with odd or even
parity, whichever explains the signs of the target.  Zeros are left out of log space, not feared.  Under noise
the exponents are refitted in the space of y (log space alone is biased) and rounded where their standard
errors allow it.  Sums and inner functions are unknown here; offsets are in offset.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ...arrays import DIGITS_9, MAX_LOG, Bools, Floats, Ints
from ...candidate import Proposal
from ...fit.steps import Model, least_squares, standard_errors
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var
from ..pool import REACH, WORSE, Stage, Task, sample_rows
from ..view.views import View, views_of
from ..write.polynomial import Form, monomial

__all__ = ["Monomial", "LogInputs", "growing", "log_fit", "log_inputs", "nearest_simple", "power_law"]


# Powers of y are powers of a power law: the views y**2, 1/y, … add nothing here.
VIEWS = ("y", "ln(y)", "exp(y)", "sin(y)", "cos(y)")
MAX_MIXED = 8
MAX_EXPONENT = 30.0


@dataclass(frozen=True)
class LogInputs:
    """ln|x_i| of the usable columns, on the rows where all of them are defined."""

    columns: tuple[int, ...]
    rows: Ints
    logs: Floats  # (rows, columns)
    signs: Floats  # (rows, columns), sign of x
    mixed: tuple[int, ...]  # positions (not column numbers) of columns with both signs
    # What stands inside an exponential: the last ``logs`` are these over their scales, and their exponents are rates.
    inside: tuple[tuple[int, int], ...] = ()  # column, power
    scales: Floats | None = None

    def some(self, limit: int, rng: np.random.Generator) -> LogInputs:
        """The same on all rows, or on ``limit`` of them."""
        few = sample_rows(len(self.rows), limit, rng)
        return replace(self, rows=self.rows[few], logs=self.logs[few], signs=self.signs[few])

    def exponential(self, rates: Floats) -> Expr | None:
        """exp(Σ rate·x^power), or None if all rates are 0."""
        assert self.scales is not None
        parts: list[Expr] = []
        for (i, power), rate in zip(self.inside, (rates / self.scales).tolist(), strict=True):
            if rate:
                parts.append(Const(rate) * (Var(i) if power == 1 else Call("pow", (Var(i), Const(float(power))))))
        return Call("exp", (sum(parts[1:], start=parts[0]),)) if parts else None


def log_inputs(problem: Problem, rows: Ints) -> LogInputs:
    """Columns with few zeros (rows with a zero are left out); constant columns cannot be told from c."""
    X = problem.X[rows]
    usable = [
        i
        for i in range(problem.n_features)
        if np.mean(X[:, i] == 0.0) <= 0.3 and np.ptp(np.abs(X[:, i])) > DIGITS_9 * np.max(np.abs(X[:, i]))
    ]
    keep = np.all(X[:, usable] != 0.0, axis=1)
    used = X[keep][:, usable]
    signs = np.sign(used)
    mixed = tuple(k for k in range(len(usable)) if np.ptp(signs[:, k]) > 0) if len(used) else ()
    return LogInputs(tuple(usable), rows[keep], np.log(np.abs(used)), signs, mixed)


@dataclass(frozen=True)
class Monomial(Stage):
    """The power-law stage; ``max_rows`` bounds the rows used for fitting (all rows judge)."""

    name: str = "monomial"
    max_rows: int = 1000
    limit: int = 3

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, pool = task.problem, task.pool
        inputs = log_inputs(problem, task.some_rows(self.max_rows))
        if len(inputs.rows) < 3:
            return
        for view in views_of(problem, VIEWS):
            if task.deadline.expired():
                break
            for form in _fits(problem, inputs, view):
                if form is not None and pool.found(view.invert(form.written())):
                    yield from pool.proposals(1)
                    return
        yield from pool.proposals(self.limit, worse=WORSE)


def _fits(problem: Problem, inputs: LogInputs, view: View) -> Iterator[Form | None]:
    """Formulas for one view, the exponents rounded, partly rounded, and as fitted."""
    y = problem.y[inputs.rows]
    t = view.values(y)
    good = np.isfinite(t) & (t != 0.0)
    if good.sum() < 2 * len(inputs.columns) + 2:
        return
    odd = parity(inputs, t, good)
    signs = np.prod(inputs.signs[:, odd], axis=1) if odd else np.ones(len(y))
    design = np.column_stack([np.ones(len(y)), inputs.logs])
    sign = 1.0 if np.sum(signs[good] * t[good]) >= 0 else -1.0
    root = np.sqrt(problem.weights[inputs.rows])
    start = log_fit(design, t, good, np.ones(len(y)))
    residual = design @ start - np.log(np.abs(np.where(good, t, 1.0)))
    scale = np.abs(t) * view.weights(y)
    if np.sqrt(np.nanmean((residual * scale)[good] ** 2)) / problem.spread < DIGITS_9:
        exact = _rounded(inputs, t, good, start, residual)
        yield power_law(inputs, float(exact[0]), exact[1:], sign, odd)
        return
    model = growing(view, design, signs * sign)
    weighted = log_fit(design, t, good, root * np.abs(t) * view.weights(y))
    fits = [least_squares(model, s, y, root) for s in (start, weighted) if np.isfinite(s).all()]
    params, rss, jacobian = min(fits, key=lambda fit: fit[1], default=(start, np.inf, design))
    if not np.isfinite(rss):
        return
    yield power_law(inputs, params[0], params[1:], sign, odd)
    errors = standard_errors(jacobian, rss)
    for reach in REACH:
        exponents = np.array([nearest_simple(m, reach * s) for m, s in zip(params[1:], errors[1:], strict=True)])
        fixed = exponents == np.round(2 * exponents) / 2
        refit = _with_fixed(model, params, exponents, fixed)
        final, rss, _ = least_squares(refit, params[np.r_[True, ~fixed]], y, root)
        if np.isfinite(rss):
            exponents[~fixed] = final[1:]
            yield power_law(inputs, final[0], exponents, sign, odd)


def _rounded(inputs: LogInputs, t: Floats, good: Bools, exact: Floats, residual: Floats) -> Floats:
    """ln c and the exponents of data without noise, rounded if the fit stays exact."""
    exponents = np.array([nearest_simple(m, 1e-6, thirds=True) for m in exact[1:]])
    shift = np.log(np.abs(t[good])) - inputs.logs[good] @ exponents
    stays = np.std(shift) <= max(10 * np.std(residual[good]), 1e-13)
    return np.r_[np.median(shift), exponents] if stays else exact


def parity(inputs: LogInputs, t: Floats, good: Bools) -> list[int]:
    """Columns of both signs that must enter with an odd exponent: those whose signs explain the target's."""
    mixed = inputs.mixed[:MAX_MIXED]
    best, chosen = -1.0, []
    for count in range(len(mixed) + 1):
        for subset in combinations(mixed, count):
            signs = np.prod(inputs.signs[good][:, subset], axis=1)
            agreement = abs(float(np.sum(signs * t[good])))
            if agreement > best * (1.0 + DIGITS_9):
                best, chosen = agreement, list(subset)
    return chosen


def log_fit(design: Floats, t: Floats, good: Bools, weights: Floats) -> Floats:
    """ln|t| by a design, on good rows, as the weights count them."""
    weights = np.where(good & np.isfinite(weights), weights, 0.0)
    target = np.log(np.abs(np.where(good, t, 1.0)))
    return np.asarray(np.linalg.lstsq(design * weights[:, None], target * weights, rcond=None)[0], np.float64)


def growing(view: View, design: Floats, signs: Floats, base: Floats | float = 0.0) -> Model:
    """y and its derivatives by the parameters (ln c, exponents, rates) of view(y) = ±exp(base + design·parameters)."""

    def model(params: Floats) -> tuple[Floats, Floats]:
        t = signs * np.exp(base + design @ params)
        y = view.back(t)
        return y, design * (t / view.slope(y))[:, None]

    return model


def _with_fixed(model: Model, params: Floats, exponents: Floats, fixed: Bools) -> Model:
    free = np.r_[True, ~fixed]
    full = np.r_[params[0], exponents]

    def reduced(some: Floats) -> tuple[Floats, Floats]:
        every = full.copy()
        every[free] = some
        values, jacobian = model(every)
        return values, jacobian[:, free]

    return reduced


def nearest_simple(value: float, reach: float, thirds: bool = False) -> float:
    """The simplest number within ``reach``: 0, a whole number, a half, (a third, fourth, …); else the value."""
    for denominator in (1, 2, 3, 4, 5, 6) if thirds else (1, 2):
        simple = round(value * denominator) / denominator
        if abs(simple - value) <= reach:
            return simple
    return value


def power_law(inputs: LogInputs, log_c: float, exponents: Floats, sign: float, odd: list[int]) -> Form | None:
    """The written form of a fit, signs of columns put back; None if its numbers are absurd."""
    if not abs(log_c) < MAX_LOG or not np.all(np.abs(exponents) < MAX_EXPONENT):
        return None
    atoms: list[Expr] = []
    powers: list[float] = []
    scale = sign * float(np.exp(log_c))
    for k, (column, m) in enumerate(zip(inputs.columns, map(float, exponents), strict=True)):
        if m == 0.0:
            continue
        atom: Expr = Var(column)
        whole = m == round(m)
        if k in inputs.mixed:
            if k in odd and not (whole and m % 2 == 1):
                # sign(x)·|x|^m
                atoms.append(atom)
                powers.append(1.0)
                m -= 1.0
            if not (whole and (m % 2 == 1) == (k in odd)):
                atom = Call("abs", (atom,))
        elif inputs.signs[0, k] < 0:
            if whole:
                scale *= -1.0 if m % 2 == 1 else 1.0
            else:
                atom = Call("neg", (atom,))
        if m != 0.0:
            atoms.append(atom)
            powers.append(m)
    return monomial(atoms, powers, scale)
