"""One view fitted by a product of given factors: the numbers under factors.py.

Log space gives a first choice of factors.  Logs of noisy targets are biased, so a second choice is made with the
linearised residuals of y about the first law, and every law is refitted in the space of y.  Powers are rounded
where their errors allow it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from ...arrays import DIGITS_12, MAX_LOG, Bools, Floats, Ints
from ...fit.eliminate import plain_length, selections
from ...fit.steps import least_squares, standard_errors
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, call, evaluate
from ..pool import REACH
from ..view.views import View, capped
from ..write.polynomial import Form, add_forms, cost, monomial
from ..write.write import solved
from .monomial import growing, nearest_simple

__all__ = ["MOST_FACTORS", "FactorFit", "LogColumns", "log_size"]


MOST_FACTORS = 12
# Rows with |view(y)| below this share of its rms may be all noise: logs are fitted with them and without.
SMALLEST = (0.0, 0.3)


def log_size(t: Floats) -> Floats:
    with np.errstate(all="ignore"):
        return np.log(np.abs(t))


@dataclass(frozen=True)
class LogColumns:
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
class _Law:
    """Chosen columns with fitted powers and rates (the first is ln of the scale), their errors, and the fit."""

    support: Ints
    params: Floats
    errors: Floats
    signs: Floats  # of the product, on the rows of the fit
    length: float


class FactorFit:
    """One view over one table of columns."""

    def __init__(self, problem: Problem, view: View, columns: LogColumns, rows: Ints) -> None:
        self.problem, self.view, self.columns, self.rows = problem, view, columns, rows
        self.y = problem.y[rows]
        self.t = view.values(self.y)
        self.design = columns.logs(rows)
        self.root = np.sqrt(problem.weights[rows])
        self.n_factors = len(columns.factors)

    def exact(self, support: Ints) -> Expr | None:
        """Powers by least squares, rounded, then the scale as the median ratio."""
        design = self.design[:, support]
        target = log_size(self.t)
        good = np.isfinite(design).all(axis=1) & np.isfinite(target)
        norms = np.linalg.norm(design[good], axis=0)
        powers = np.linalg.lstsq(design[good] / norms, target[good], rcond=None)[0] / norms
        is_power = support <= self.n_factors
        powers = np.array(
            [nearest_simple(m, 1e-6, thirds=True) if f else m for m, f in zip(powers, is_power, strict=True)]
        )
        powers[0] = 0.0
        shift = float(np.median(target[good] - design[good] @ powers))
        return self._written(support, np.r_[shift, powers[1:]])

    def selected(self, count: int = 4) -> Iterator[Expr | None]:
        """The best laws by description length, powers as fitted and rounded."""
        laws: list[_Law] = []
        for least in SMALLEST:
            small = np.abs(self.t) < least * np.sqrt(np.nanmean(self.t**2))
            if least and np.mean(small) < 0.05:
                continue
            weights = capped(np.abs(self.t) * self.view.weights(self.y)) * self.root
            laws += self._laws(log_size(self.t), weights, ~small)
        if not laws:
            return
        laws += self._second_look(min(laws, key=lambda law: law.length))
        distinct = {law.support.tobytes(): law for law in sorted(laws, key=lambda law: -law.length)}
        for law in sorted(distinct.values(), key=lambda law: law.length)[:count]:
            yield from self._writings(law)

    def _second_look(self, law: _Law) -> list[_Law]:
        """Choose again with y linearised about a law: unbiased, and rows of the wrong sign count."""
        with np.errstate(all="ignore"):
            logs = self.design[:, law.support] @ law.params
            t = law.signs * np.exp(logs)
            y = self.view.back(t)
            rate = t / self.view.slope(y)
            # Far from the law the linearisation misleads.
            target = logs + np.clip((self.y - y) / rate, -1.0, 1.0)
            return self._laws(target, np.abs(rate) * self.root, np.isfinite(rate))

    def _laws(self, target: Floats, weights: Floats, rows: Bools) -> list[_Law]:
        good = rows & np.isfinite(self.design).all(axis=1) & np.isfinite(target) & (weights > 0)
        if good.sum() < 2 * self.design.shape[1]:
            return []
        weighted = self.design[good] * weights[good, None]
        norms = np.linalg.norm(weighted, axis=0)
        if not np.isfinite(norms).all() or norms.min() == 0.0:
            return []
        laws = []
        for selection in selections(
            weighted / norms,
            target[good] * weights[good],
            self.columns.tokens(),
            spread=self.problem.spread,
            largest=MOST_FACTORS,
            seed=np.arange(1 + sum(isinstance(f, Var) for f in self.columns.factors)),
        ):
            if self.view.name == "exp(y)" and selection.support[-1] > self.n_factors:
                continue  # ln(exp(…)) is a sum, which the bases find
            support = np.unique(np.r_[0, selection.support])
            start = np.zeros(len(support))
            start[np.searchsorted(support, selection.support)] = selection.coefficients / norms[selection.support]
            law = self._law(support, start)
            if law is not None:
                laws.append(law)
        return laws

    def _law(self, support: Ints, start: Floats) -> _Law | None:
        """Refit in the space of y.  Parities are read off the rounded powers of the start."""
        is_power = (support <= self.n_factors) & (support > 0)
        odd = [k - 1 for k, m, f in zip(support, start, is_power, strict=True) if f and round(m) % 2 == 1]
        signs = np.prod(self.columns.signs[np.ix_(self.rows, odd)], axis=1) if odd else np.ones(len(self.y))
        signs = signs * (1.0 if np.nansum(signs * self.t) >= 0 else -1.0)
        good = np.isfinite(self.design[:, support]).all(axis=1)
        model = growing(self.view, self.design[good][:, support], signs[good])
        params, rss, jacobian = least_squares(model, start, self.y[good], self.root[good])
        if not np.isfinite(rss):
            return None
        length = plain_length(rss, int(good.sum()), support, self.columns.tokens(), self.problem.spread)
        return _Law(support, params, standard_errors(jacobian, rss), signs, length)

    def _writings(self, law: _Law) -> Iterator[Expr | None]:
        """The law as fitted, then with what can be rounded rounded and the rest refitted."""
        support, params = law.support, law.params
        yield self._written(support, params)
        is_power = (support <= self.n_factors) & (support > 0)
        is_rate = support > self.n_factors
        good = np.isfinite(self.design[:, support]).all(axis=1)
        design, y, root = self.design[good][:, support], self.y[good], self.root[good]
        for reach in REACH:
            rounded = params.copy()
            for k in np.flatnonzero(is_power):
                rounded[k] = nearest_simple(params[k], reach * law.errors[k])
            # A rate can only be rounded to 0.
            rounded[is_rate & (np.abs(params) < reach * law.errors)] = 0.0
            fixed = (is_power & (rounded == np.round(2 * rounded) / 2)) | (is_rate & (rounded == 0.0))
            model = growing(self.view, design[:, ~fixed], law.signs[good], design[:, fixed] @ rounded[fixed])
            final, rss, _ = least_squares(model, rounded[~fixed], y, root)
            if np.isfinite(rss):
                rounded[~fixed] = final
                yield self._written(support, rounded)

    def _written(self, support: Ints, params: Floats) -> Expr | None:
        """The formula; the sign of the scale is the one that the rows have."""
        if not np.all(np.abs(params) < MAX_LOG):
            return None
        count = self.n_factors
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
        form = _conjugates(atoms, powers)
        if rates:
            inner = add_forms(rates, 0.0)
            form = form.times(Form(1.0, (call("exp", inner.written()),)))
        bare = evaluate(form.bare(), self.problem.X[self.rows])
        sign = 1.0 if np.nansum(np.sign(bare) * self.t) >= 0 else -1.0
        form = Form(sign * float(np.exp(params[0])), form.num, form.den)
        if abs(params[0]) < DIGITS_12:
            form = Form(sign, form.num, form.den)
        return solved(self.problem, self.view, form)


def _conjugates(atoms: list[Expr], powers: list[float]) -> Form:
    """The product, (a − b)^m·(a + b)^m as (a² − b²)^m and so on wherever that is shorter."""
    best = monomial(atoms, powers)
    for _ in range(3):
        places = _conjugate_pair(atoms, powers)
        if places is None:
            break
        one, other = places
        difference = atoms[one]
        assert isinstance(difference, Call)
        squares = [_square(side) for side in difference.args]
        atoms = [Call("sub", squares) if k == one else atom for k, atom in enumerate(atoms) if k != other]
        powers = [m for k, m in enumerate(powers) if k != other]
        best = min(best, monomial(atoms, powers), key=lambda form: cost(form.bare()))
    return best


def _conjugate_pair(atoms: list[Expr], powers: list[float]) -> tuple[int, int] | None:
    """Places of a − b and a + b with the same power."""
    calls = [(k, atom) for k, atom in enumerate(atoms) if isinstance(atom, Call)]
    for (one, atom), (other, partner) in product(calls, calls):
        if atom.op == "sub" and partner.op == "add" and set(atom.args) == set(partner.args):
            if powers[one] == powers[other]:
                return one, other
    return None


def _square(side: Expr) -> Expr:
    if isinstance(side, Const):
        return Const(side.value**2)
    if isinstance(side, Call) and side.op == "pow" and isinstance(side.args[1], Const):
        return call("pow", side.args[0], 2.0 * side.args[1].value)
    return call("pow", side, 2.0)
