"""Products of simple factors: view(y) = c · exp(Σ κ_j t_j) · ∏ f_k(x)^m_k, linear in log space.

The factors are the cheapest formulas in one or two inputs: x, 1 ± x, x ± x', x² + x'², sin x, cos x, ln x; the
t_j are x, x², 1/x, x·x', x/x'.  One QR holds them all; elimination leaves the few that matter.  Powers m and rates
κ are free.  Constants inside a factor (1 + 2·x) are not found here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..candidate import ParetoFront, Proposal
from ..deadline import Deadline
from ..problem import Problem
from ..symbolic.expr import Call, Const, Expr, Var, call, evaluate
from .bases import capped
from .eliminate import exact_support, residual_norms, selections
from .monomial import VIEWS, nearest_simple
from .polynomial import Form, add_forms, cost, monomial
from .score import Model, Pool, least_squares, sample_rows, standard_errors
from .views import View, views_of
from .write import solved

__all__ = ["Factors"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

MOST_FACTORS = 12


@dataclass(frozen=True)
class _Columns:
    """Log-space columns: ln|factor| for ``factors``, then the values of ``rates``; the first is 1."""

    factors: tuple[Expr, ...]
    rates: tuple[Expr, ...]
    values: Floats  # factors, then rates, on all rows (rows, columns)
    signs: Floats  # of the factors, on all rows

    def logs(self, rows: Ints) -> Floats:
        with np.errstate(all="ignore"):
            k = len(self.factors)
            logs = np.log(np.abs(self.values[rows][:, :k]))
        return np.column_stack([np.ones(len(rows)), logs, self.values[rows][:, k:]])

    def tokens(self) -> Floats:
        """The scale is free; a factor costs itself, an operator and half of a power; a rate also exp."""
        prices = [1 + cost(f) + 1 for f in self.factors] + [3 + cost(t) for t in self.rates]
        return np.array([1, *prices], dtype=np.float64)


@dataclass(frozen=True)
class Factors:
    """The stage.  ``exact`` and ``noisy`` switch its two passes."""

    name: str = "factors"
    exact: bool = True
    noisy: bool = True
    max_columns: int = 250
    max_rows: int = 1000
    limit: int = 4

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        cap = min(self.max_columns, problem.n_rows // 2)
        if problem.spread == 0.0 or cap < 3:
            return
        pool = Pool(problem, self.name)
        tables = _tables(problem, cap)
        views = views_of(problem, VIEWS)
        if self.exact:
            for columns in tables:
                if deadline.expired() or self._exact_pass(problem, columns, views, pool, rng):
                    yield from pool.proposals(1)
                    return
        if self.noisy:
            rows = sample_rows(problem.n_rows, self.max_rows, rng)
            for columns in tables:
                for view in views:
                    if deadline.expired():
                        break
                    for fit in _Fit(problem, view, columns, rows).selected():
                        pool.add(fit)
            yield from pool.proposals(self.limit, worse=30.0)

    def _exact_pass(
        self, problem: Problem, columns: _Columns, views: list[View], pool: Pool, rng: np.random.Generator
    ) -> bool:
        p = columns.values.shape[1] + 1
        rows = sample_rows(problem.n_rows, p + max(20, p // 4), rng)
        design = columns.logs(rows)
        targets = np.column_stack([_log_size(view.values(problem.y[rows])) for view in views])
        good = np.isfinite(design).all(axis=1) & np.isfinite(targets).all(axis=1)
        if good.sum() <= p:
            return False
        design, targets = design[good] / np.linalg.norm(design[good], axis=0), targets[good]
        left = residual_norms(design, targets)
        for view, off, target in zip(views, left, targets.T, strict=True):
            if not off < 1e-9:
                continue
            tol = 1e-12 * float(np.linalg.norm(target - target.mean()) / np.linalg.norm(target))
            support = exact_support(design, target, max(tol, 3e-15), MOST_FACTORS)
            if support is None:
                continue
            support = np.unique(np.r_[0, support])
            if view.name == "exp(y)" and support[-1] > len(columns.factors):
                continue  # ln(exp(…)) is a sum, which the bases find
            fit = _Fit(problem, view, columns, np.arange(problem.n_rows))
            scored = pool.add(fit.exact(support))
            if scored is not None and scored.exact:
                return True
        return False


def _log_size(t: Floats) -> Floats:
    with np.errstate(all="ignore"):
        return np.log(np.abs(t))


def _tables(problem: Problem, cap: int) -> list[_Columns]:
    """Small to large: single inputs, then sums of two, then rates; each cut to ``cap`` columns."""
    d = problem.n_features
    x: list[Expr] = [Var(i) for i in range(d)]
    single = list(x)
    waves: list[Expr] = [call(op, v) for op in ("sin", "cos") if problem.allows(op) for v in x]
    if problem.allows("ln"):
        waves += [call("ln", v) for i, v in enumerate(x) if np.min(problem.X[:, i]) > 0]
    shifted: list[Expr] = [form for v in x for form in (1.0 + v, 1.0 - v)]
    pairs: list[Expr] = [form for a, b in combinations(x, 2) for form in (a - b, a + b)]
    squares: list[Expr] = [a**2 + b**2 for a, b in combinations([*x, Const(1.0)], 2)]
    rates: list[Expr] = []
    if problem.allows("exp"):
        rates = [*x, *(v**2 for v in x), *(1.0 / v for v in x)]
        rates += [form for a, b in combinations(x, 2) for form in (a * b, a / b, b / a)]
        rates += [form for a, b in combinations(x, 2) for form in ((a / b) ** 2, (b / a) ** 2)]
    wishes = [
        (single + shifted + pairs, []),
        (single + waves, rates[:d]),
        (single + shifted + pairs + waves + squares, rates[:d]),
        (single, rates),
        (single + shifted + pairs + waves, rates),
    ]
    found = []
    for factors, some_rates in wishes:
        table = _columns(problem, factors, some_rates)
        if table is not None and table.values.shape[1] + 1 <= cap:
            found.append(table)
    return found


def _columns(problem: Problem, factors: list[Expr], rates: list[Expr]) -> _Columns | None:
    """Values of the forms that are defined (rates) or seldom zero (factors) and vary."""
    kept_factors, kept_rates, columns = [], [], []
    for factor in factors:
        values = evaluate(factor, problem.X)
        if values.max() <= 0.0 and isinstance(factor, Call) and factor.op == "sub":
            factor, values = Call("sub", factor.args[::-1]), -values
        size = np.abs(values)
        if np.isfinite(values).all() and np.mean(size == 0.0) <= 0.2 and np.ptp(size) > 1e-9 * size.max():
            kept_factors.append(factor)
            columns.append(values)
    signs = np.sign(np.column_stack(columns)) if columns else None
    for rate in rates:
        values = evaluate(rate, problem.X)
        if np.isfinite(values).all() and np.ptp(values) > 1e-9 * np.max(np.abs(values)):
            kept_rates.append(rate)
            columns.append(values)
    if signs is None:
        return None
    return _Columns(tuple(kept_factors), tuple(kept_rates), np.column_stack(columns), signs)


class _Fit:
    """One view over one table of columns."""

    def __init__(self, problem: Problem, view: View, columns: _Columns, rows: Ints) -> None:
        self.problem, self.view, self.columns, self.rows = problem, view, columns, rows
        self.y = problem.y[rows]
        self.t = view.values(self.y)

    def exact(self, support: Ints) -> Expr | None:
        """Powers by least squares, rounded, then the scale as the median ratio."""
        design = self.columns.logs(self.rows)[:, support]
        target = _log_size(self.t)
        good = np.isfinite(design).all(axis=1) & np.isfinite(target)
        norms = np.linalg.norm(design[good], axis=0)
        powers = np.linalg.lstsq(design[good] / norms, target[good], rcond=None)[0] / norms
        is_power = support <= len(self.columns.factors)
        powers = np.array(
            [nearest_simple(m, 1e-6, thirds=True) if f else m for m, f in zip(powers, is_power, strict=True)]
        )
        powers[0] = 0.0
        shift = float(np.median(target[good] - design[good] @ powers))
        return self._written(support, np.r_[shift, powers[1:]])

    def selected(self) -> Iterator[Expr | None]:
        """The best supports by description length, refitted in the space of y, powers rounded or free."""
        design, target = self.columns.logs(self.rows), _log_size(self.t)
        root = np.sqrt(self.problem.weights[self.rows])
        weights = capped(np.abs(self.t) * self.view.weights(self.y)) * root
        good = np.isfinite(design).all(axis=1) & np.isfinite(target) & (weights > 0)
        if good.sum() < 2 * design.shape[1]:
            return
        weighted = design[good] * weights[good, None]
        norms = np.linalg.norm(weighted, axis=0)
        chosen = selections(
            weighted / norms,
            target[good] * weights[good],
            self.columns.tokens(),
            spread=self.problem.spread,
            largest=MOST_FACTORS,
        )
        for selection in chosen:
            if self.view.name == "exp(y)" and selection.support[-1] > len(self.columns.factors):
                continue
            support = np.unique(np.r_[0, selection.support])
            start = np.zeros(len(support))
            start[np.searchsorted(support, selection.support)] = selection.coefficients / norms[selection.support]
            whole = np.flatnonzero(np.isfinite(design[:, support]).all(axis=1))
            yield from self._refitted(support, start, whole, root)

    def _refitted(
        self, support: Ints, start: Floats, good: Ints, root: Floats
    ) -> Iterator[Expr | None]:
        design, y, root = self.columns.logs(self.rows[good])[:, support], self.y[good], root[good]
        is_power = (support <= len(self.columns.factors)) & (support > 0)
        rows = self.rows[good]
        # Parities are read off the rounded powers of the start.
        odd = [k - 1 for k, m, f in zip(support, start, is_power, strict=True) if f and round(m) % 2 == 1]
        signs = np.prod(self.columns.signs[np.ix_(rows, odd)], axis=1) if odd else np.ones(len(y))
        signs = signs * (1.0 if np.sum(signs * self.t[good]) >= 0 else -1.0)
        params, rss, jacobian = least_squares(self._model(design, signs), start, y, root)
        if not np.isfinite(rss):
            return
        yield self._written(support, params)
        errors = standard_errors(jacobian, rss)
        for reach in (2.0, 4.0):
            rounded = params.copy()
            for k in np.flatnonzero(is_power):
                rounded[k] = nearest_simple(params[k], reach * errors[k])
            # A rate can only be rounded to 0.
            is_rate = support > len(self.columns.factors)
            rounded[is_rate & (np.abs(params) < reach * errors)] = 0.0
            fixed = (is_power & (rounded == np.round(2 * rounded) / 2)) | (is_rate & (rounded == 0.0))
            base = design[:, fixed] @ rounded[fixed]
            model = self._model(design[:, ~fixed], signs, base)
            final, rss, _ = least_squares(model, rounded[~fixed], y, root)
            if np.isfinite(rss):
                rounded[~fixed] = final
                yield self._written(support, rounded)

    def _model(self, design: Floats, signs: Floats, base: Floats | float = 0.0) -> Model:
        def model(params: Floats) -> tuple[Floats, Floats]:
            t = signs * np.exp(base + design @ params)
            y = self.view.back(t)
            return y, design * (t / self.view.slope(y))[:, None]

        return model

    def _written(self, support: Ints, params: Floats) -> Expr | None:
        """The formula; the sign of the scale is the one that the rows have."""
        if not np.all(np.abs(params) < 300.0):
            return None
        count = len(self.columns.factors)
        atoms: list[Expr] = []
        powers: list[float] = []
        rates: list[Form] = []
        for k, m in zip(support[1:], map(float, params[1:]), strict=True):
            if k > count:
                if m == 0.0:
                    continue
                rates.append(Form(m, (self.columns.rates[k - count - 1],)))
                continue
            factor = self.columns.factors[k - 1]
            mixed = np.ptp(self.columns.signs[:, k - 1]) > 0
            if m != round(m) and (mixed or self.columns.signs[0, k - 1] < 0):
                factor = call("abs", factor)
            if m:
                atoms.append(factor)
                powers.append(m)
        _conjugates(atoms, powers)
        form = monomial(atoms, powers)
        if rates:
            inner = add_forms(rates, 0.0)
            form = form.times(Form(1.0, (call("exp", inner.written()),)))
        bare = evaluate(form.bare(), self.problem.X[self.rows])
        sign = 1.0 if np.nansum(np.sign(bare) * self.t) >= 0 else -1.0
        form = Form(sign * float(np.exp(params[0])), form.num, form.den)
        if abs(params[0]) < 1e-12:
            form = Form(sign, form.num, form.den)
        return solved(self.problem, self.view, form)


def _conjugates(atoms: list[Expr], powers: list[float]) -> None:
    """(a − b)^m·(a + b)^m becomes (a² − b²)^m where that is shorter."""
    for place, atom in enumerate(atoms):
        if not isinstance(atom, Call) or atom.op != "sub" or powers[place] == 1.0:
            continue
        a, b = atom.args
        for other, partner in enumerate(atoms):
            both = isinstance(partner, Call) and partner.op == "add" and set(partner.args) == {a, b}
            if both and powers[other] == powers[place]:
                one = [v if isinstance(v, Const) else call("pow", v, 2.0) for v in (a, b)]
                atoms[place] = Call("sub", one)
                del atoms[other], powers[other]
                return
