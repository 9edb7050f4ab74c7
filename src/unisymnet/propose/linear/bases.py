"""Sums over full bases: view(y) = Σ c_k · (monomial k), most of the c_k zero.

All views are right-hand sides of one QR, so a basis costs one factorisation.  If some view is exact, elimination
finds the few terms that matter.  Otherwise the data are taken as noisy: each view is regressed with its weights,
columns are eliminated by description length, and the best few formulas are refitted in the space of y.
``Bases`` uses powers of the inputs only, ``ExtendedBases`` multiplies them by sin, cos, exp, ln (of x, of 1 - x where x
is a share) or roots of one or two inputs, or by sines and cosines of up to five, the smallest bases first.  Inner
constants (sin(2·x)) are not found here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...arrays import DIGITS_9, DIGITS_15, Floats, Ints
from ...candidate import Proposal
from ...fit.eliminate import exact_support, plain_length, residual_norms, selections
from ...fit.steps import Model, least_squares, standard_errors
from ...problem import Problem
from ...symbolic.expr import Expr
from ..pool import TOLERANCES, Stage, Task, tolerance, tolerances
from ..view.views import Target, View, views_of
from ..write.write import write_sum
from .basis import (
    EXACT_SHARE,
    Basis,
    Sample,
    Unary,
    boxes,
    extended,
    halves,
    laurent,
    multilinear,
    polynomial,
    thirds,
    unaries,
)

__all__ = ["Bases", "ExtendedBases", "exact_formula", "extended_bases", "plain_bases"]

Product = tuple[Basis, tuple[Unary, ...]]

# A term whose loss would raise the residual by less (in units of std(y)) is what approximations are made of.
LEAST_TERM = 1e-7
# A true law has few terms; more is an expansion of something else.
MOST_TERMS = 20
NOISY_VIEWS = ("y", "y**2", "1/y", "1/y**2", "sqrt(y)", "ln(y)", "exp(y)", "logit(y)")
MOST_PAIRS = 150
MOST_WAVES = 5
FEW_VIEWS = ("y", "ln(y)", "y**2", "1/y")


@dataclass(frozen=True)
class Bases(Stage):
    """Polynomial and Laurent bases.  ``exact`` and ``noisy`` switch the two passes."""

    name: str = "bases"
    exact: bool = True
    noisy: bool = True
    max_columns: int = 600
    noisy_columns: int = 130
    max_rows: int = 1000
    limit: int = 6

    def products(self, problem: Problem, cap: int) -> list[Product]:
        """What is looked at, of up to ``cap`` columns, the smallest first."""
        return [(basis, ()) for basis in plain_bases(problem, cap)]

    def asked(self, task: Task) -> Iterator[Proposal]:
        """The exact pass over all bases, then the noisy pass over the small ones."""
        problem, pool = task.problem, task.pool
        found = self.products(problem, min(self.max_columns, int(EXACT_SHARE * problem.n_rows)))
        if self.exact and found:
            scan = _Scan(task, _size(*found[-1]))
            for base, factors in found:
                if task.deadline.expired():
                    break
                hits = [exact_formula(task, extended(base, factors), view) for view in scan.hits(base, factors)]
                if any(hits):
                    yield from pool.proposals(2)
                    return
        if self.noisy:
            rows = task.some_rows(self.max_rows)
            refits: list[_Refit] = []
            for base, factors in self._bearable(found, len(rows)):
                if task.deadline.expired():
                    break
                refits = sorted(refits, key=lambda refit: refit.length)[: 2 * self.limit]
                enough = refits[self.limit].length if len(refits) > self.limit else math.inf
                refits += _noisy_pass(problem, extended(base, factors), rows, enough)
            for refit in sorted(refits, key=lambda refit: refit.length)[: self.limit + 2]:
                for expr in refit.writings(problem):
                    pool.add(expr)
            pool.settle(2 * self.limit, task.deadline)
            yield from pool.proposals(self.limit)

    def _bearable(self, found: list[Product], n_rows: int) -> list[Product]:
        """Those that noisy data can bear: small ones, pairs of unary functions only without powers of inputs."""
        cap = min(self.noisy_columns, n_rows // 2)
        small = [item for item in found if _size(*item) <= cap]
        pairs = [item for item in small if len(item[1]) > 1 and len(item[0]) == 1]
        return [item for item in small if len(item[1]) < 2] + pairs[:MOST_PAIRS]


@dataclass(frozen=True)
class ExtendedBases(Bases):
    """Bases times unary functions of one or two inputs, within ``seconds``."""

    name: str = "extended"
    max_columns: int = 400
    noisy_columns: int = 40
    max_rows: int = 600
    seconds: float = 3.0

    def products(self, problem: Problem, cap: int) -> list[Product]:
        return extended_bases(problem, cap)


def plain_bases(problem: Problem, cap: int) -> list[Basis]:
    """Bases of up to ``cap`` columns, the smallest first."""
    d = problem.n_features
    divisors = [bool(np.all(column != 0.0)) for column in problem.X.T]
    found = [polynomial(d, degree) for degree in (1, 2, 3, 4, 6, 9) if math.comb(d + degree, degree) <= cap]
    if 3 <= d <= 9:
        found.append(multilinear(d, d))
    if any(divisors):
        found += [
            laurent(d, degree, divisors) for degree in (2, 3, 4, 5) if math.comb(2 * d + degree, degree) <= 2 * cap
        ]
    if d <= 3:
        found += [boxes(d, high, 1.0, divisors) for high in (2.0, 3.0, 4.0)]
        if bool(np.all(problem.X > 0)) and (problem.allows("sqrt") or problem.allows("pow")):
            found += [boxes(d, high, 0.5, divisors) for high in (1.0, 2.0)]
            found += [thirds(d, i) for i in range(d) if problem.allows("pow")]
    return sorted((basis for basis in found if len(basis) <= cap), key=len)


def extended_bases(problem: Problem, cap: int) -> list[Product]:
    """Products with unary functions of one input, or of two, of up to ``cap`` columns, the smallest first."""
    d = problem.n_features
    divisors = [bool(np.all(column != 0.0)) for column in problem.X.T]
    small = [polynomial(d, 0), polynomial(d, 1)]
    middle = [polynomial(d, 2)]
    large = [polynomial(d, 3)]
    if d >= 3:
        middle.append(multilinear(d, 3))
        large.append(multilinear(d, 4))
    roots = bool(np.all(problem.X > 0)) and (problem.allows("sqrt") or problem.allows("pow"))
    if roots:
        large.append(halves(d, 2))
    if any(divisors):
        large += [laurent(d, degree, divisors) for degree in (2, 3) if math.comb(2 * d + degree, degree) <= 2 * cap]
    low, high = unaries(problem, high=False), unaries(problem, high=True)
    found: list[Product] = [(base, (u,)) for u in (*low, *high) for base in (*small, *middle, *large)]
    if roots and d <= 4:
        # Powers of an input are hard to tell from its own logarithm; (a + b ln x0)/sqrt(x1) needs none of x0.
        found += [(boxes(d, 1.0, 0.5, divisors, without=u.of), (u,)) for u in (*low, *high)]
    found += [(base, pair) for pair in combinations(low, 2) for base in (*small, *middle)]
    found += [(base, pair) for pair in combinations(high, 2) for base in small]
    # Angles come in threes and more: products of waves of all of them, as in spherical trigonometry.
    waves = [unary for unary in low if unary.name.startswith("sin")]
    found += [(base, some) for n in range(3, MOST_WAVES + 1) for some in combinations(waves, n) for base in small]
    return sorted((item for item in found if _size(*item) <= cap), key=lambda item: _size(*item))


def _size(base: Basis, factors: Sequence[Unary]) -> int:
    """Columns of a product."""
    return len(base) * math.prod(len(unary.powers) + 1 for unary in factors)


class _Scan(Sample):
    """The cheap test of a basis: which views lie in its span, on as many rows as that needs."""

    def hits(self, base: Basis, factors: Sequence[Unary]) -> list[View]:
        size = _size(base, factors)
        n_rows = min(self.targets.shape[1], size + max(20, size // 4))
        if n_rows < size + 4:
            return []
        columns = self.grid.columns(base, factors, n_rows)
        with np.errstate(all="ignore"):
            columns = columns / np.sqrt(np.einsum("ij,ij->j", columns, columns))
        if not np.isfinite(columns).all():
            return []
        left = residual_norms(columns, self.targets[:, :n_rows].T)
        return [view for view, off in zip(self.views, left, strict=True) if off < DIGITS_9]


def exact_formula(task: Task, basis: Basis, view: View) -> bool:
    """Put the formula with the fewest terms of the basis into the pool; is it exact?"""
    problem, rows = task.problem, task.some_rows(max(2 * len(basis), 200))
    columns, target = basis.columns(problem.X[rows]), view.values(problem.y[rows])
    good = np.isfinite(columns).all(axis=1) & np.isfinite(target)
    columns, target = columns[good], target[good]
    norms = np.linalg.norm(columns, axis=0)
    # Relative to the variation of the target: a large mean must not hide a residual.
    tol = 3e-12 * float(np.linalg.norm(target - target.mean()) / np.linalg.norm(target))
    support = exact_support(columns / norms, target, tol, MOST_TERMS)
    if support is None or len(support) > problem.n_rows // 2:
        return False
    support = np.sort(support)
    columns, target = basis.columns(problem.X)[:, support], view.values(problem.y)
    good = np.isfinite(columns).all(axis=1) & np.isfinite(target)
    scale = norms[support]
    solution = np.linalg.lstsq(columns[good] / scale, target[good], rcond=DIGITS_15)[0] / scale
    if len(support) > 1 and _least_rise(columns[good], solution, target[good]) < LEAST_TERM:
        return False
    poly = basis.poly(support, solution)
    return any(task.pool.found(write_sum(problem, view, poly, tol)) for tol in TOLERANCES)


def _least_rise(columns: Floats, solution: Floats, target: Floats) -> float:
    """By how much the residual grows, over the spread of the target, if the least needed column is left out."""
    norms = np.linalg.norm(columns, axis=0)
    triangle = np.linalg.qr(columns / norms, mode="r")
    inverse = np.linalg.pinv(triangle, rcond=DIGITS_15)
    rises = np.abs(solution * norms) / np.linalg.norm(inverse, axis=1)
    return float(rises.min() / np.linalg.norm(target - target.mean()))


@dataclass(frozen=True)
class _Refit:
    """A selection with constants refitted in the space of y; ``length`` counts a plain sum of its terms."""

    length: float
    basis: Basis
    view: View
    support: Ints
    params: Floats
    tol: float

    def writings(self, problem: Problem) -> Iterator[Expr | None]:
        """By pure algebra, and as the simpler neighbour that the errors allow."""
        poly = self.basis.poly(self.support, self.params)
        for tol in tolerances(self.tol):
            yield write_sum(problem, self.view, poly, tol)


def _noisy_pass(problem: Problem, basis: Basis, rows: Ints, enough: float) -> Iterator[_Refit]:
    """The best selections of this basis for every view that could be shorter than ``enough``."""
    X, y = problem.X[rows], problem.y[rows]
    columns, tokens = basis.columns(X), basis.tokens()
    if not np.isfinite(columns).all():
        return
    root = np.sqrt(problem.weights[rows])
    largest = min(MOST_TERMS, len(rows) // 4 + 1)
    # Unary functions make many bases: only the commonest views are tried with them.
    n_unary = len(basis.atoms) - problem.n_features
    for view in views_of(problem, (NOISY_VIEWS, FEW_VIEWS, FEW_VIEWS[:2])[min(n_unary, 2)]):
        target = Target.see(problem, view, rows)
        if len(target) < 2 * len(basis):
            continue
        weighted = columns[target.among(rows)] * target.weights[:, None]
        norms = np.linalg.norm(weighted, axis=0)
        if not np.isfinite(norms).all() or norms.min() == 0.0:
            continue
        for selection in selections(
            weighted / norms, target.weighted, tokens, spread=problem.spread, largest=largest, enough=enough
        ):
            start = selection.coefficients / norms[selection.support]
            model = _in_space_of_y(columns[:, selection.support], view)
            params, rss, jacobian = least_squares(model, start, y, root, steps=6)
            if np.isfinite(rss):
                relative = standard_errors(jacobian, rss) / np.abs(params)
                length = plain_length(rss, len(y), selection.support, tokens, problem.spread)
                yield _Refit(length, basis, view, selection.support, params, tolerance(relative))


def _in_space_of_y(columns: Floats, view: View) -> Model:
    def model(params: Floats) -> tuple[Floats, Floats]:
        y = view.back(columns @ params)
        return y, columns / view.slope(y)[:, None]

    return model
