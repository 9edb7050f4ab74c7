"""Sums over full bases: view(y) = Σ c_k · (monomial k), most of the c_k zero.

All views are right-hand sides of one QR, so a basis costs one factorisation.  If some view is exact, elimination
finds the few terms that matter.  Otherwise the data are taken as noisy: each view is regressed with its weights,
columns are eliminated by description length, and the best few formulas are refitted in the space of y.
``Bases`` uses powers of the inputs only, ``ExtendedBases`` multiplies them by sin, cos, exp, ln or roots of one or
two inputs, the smallest bases first.  Inner constants (sin(2·x)) are not found here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..candidate import ParetoFront, Proposal
from ..deadline import Deadline
from ..problem import Problem
from .basis import Basis, boxes, extended, laurent, multilinear, polynomial, unaries
from .eliminate import Selection, exact_support, residual_norms, selections
from .score import Model, Pool, least_squares, sample_rows, standard_errors
from .views import View, views_of
from .write import write_sum

__all__ = ["Bases", "ExtendedBases", "plain_bases", "extended_bases"]

Floats = NDArray[np.float64]

# A term whose loss would raise the residual by less (in units of std(y)) is what approximations are made of.
LEAST_TERM = 1e-7
# A true law has few terms; more is an expansion of something else.
MOST_TERMS = 20
NOISY_VIEWS = ("y", "y**2", "1/y", "1/y**2", "sqrt(y)", "ln(y)", "exp(y)")
LOOSEST = 0.2


@dataclass(frozen=True)
class Bases:
    """Polynomial and Laurent bases.  ``exact`` and ``noisy`` switch the two passes."""

    name: str = "bases"
    exact: bool = True
    noisy: bool = True
    max_columns: int = 600
    noisy_columns: int = 130
    max_rows: int = 1000
    limit: int = 6

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        yield from _proposals(self, problem, plain_bases(problem, self._cap(problem)), rng, deadline)

    def _cap(self, problem: Problem) -> int:
        return min(self.max_columns, problem.n_rows // 2)


@dataclass(frozen=True)
class ExtendedBases:
    """Bases times unary functions of one or two inputs, within ``seconds``."""

    name: str = "extended"
    exact: bool = True
    noisy: bool = True
    max_columns: int = 500
    noisy_columns: int = 60
    max_rows: int = 600
    limit: int = 6
    seconds: float = 4.0

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        found = extended_bases(problem, min(self.max_columns, problem.n_rows // 2))
        yield from _proposals(self, problem, found, rng, deadline.sooner(self.seconds))


def plain_bases(problem: Problem, cap: int) -> list[Basis]:
    """Bases of up to ``cap`` columns, the smallest first."""
    d = problem.n_features
    divisors = [bool(np.all(column != 0.0)) for column in problem.X.T]
    found = [polynomial(d, degree) for degree in (1, 2, 3, 4, 6, 9) if _count(d, degree) <= cap]
    if 3 <= d <= 9:
        found.append(multilinear(d, d))
    if any(divisors):
        found += [laurent(d, degree, divisors) for degree in (2, 3, 4, 5) if _count(2 * d, degree) <= 2 * cap]
    if d <= 3:
        found += [boxes(d, high, 1.0, divisors) for high in (2.0, 3.0, 4.0)]
        if bool(np.all(problem.X > 0)) and (problem.allows("sqrt") or problem.allows("pow")):
            found += [boxes(d, high, 0.5, divisors) for high in (1.0, 2.0)]
    return sorted((basis for basis in found if len(basis) <= cap), key=len)


def _count(d: int, degree: int) -> int:
    """Columns of a full polynomial basis."""
    out = 1
    for k in range(1, degree + 1):
        out = out * (d + k) // k
    return out


def extended_bases(problem: Problem, cap: int) -> Iterator[Basis]:
    """Products with unary functions of one input, or of two, of up to ``cap`` columns, the smallest first."""
    d = problem.n_features
    divisors = [bool(np.all(column != 0.0)) for column in problem.X.T]
    bases = [polynomial(d, 0), polynomial(d, 1), polynomial(d, 2), polynomial(d, 3)]
    if d >= 3:
        bases += [multilinear(d, 3), multilinear(d, 4)]
    if any(divisors):
        bases += [laurent(d, degree, divisors) for degree in (2, 3)]
    low, high = unaries(problem, high=False), unaries(problem, high=True)
    choices = [*((u,) for u in low), *((u,) for u in high), *combinations(low, 2), *combinations(high, 2)]
    found = []
    for factors in choices:
        times = int(np.prod([len(unary.powers) + 1 for unary in factors]))
        found += [(base, factors, len(base) * times) for base in bases if len(base) * times <= cap]
    found.sort(key=lambda item: item[2])
    for base, factors, _ in found:
        yield extended(base, factors)


def _proposals(
    stage: Bases | ExtendedBases,
    problem: Problem,
    found: Iterable[Basis],
    rng: np.random.Generator,
    deadline: Deadline,
) -> Iterator[Proposal]:
    """The exact pass over all bases, then the noisy pass over the small ones."""
    if problem.spread == 0.0:
        return
    pool = Pool(problem, stage.name)
    views = [view for view in views_of(problem) if view.strict]
    small: list[Basis] = []
    for basis in found:
        if deadline.expired():
            break
        if len(basis) <= stage.noisy_columns:
            small.append(basis)
        if stage.exact:
            if _exact_pass(problem, basis, views, pool, rng):
                yield from pool.proposals(2)
                return
    if stage.noisy:
        rows = sample_rows(problem.n_rows, stage.max_rows, rng)
        for basis in small:
            if deadline.expired():
                break
            _noisy_pass(problem, basis, rows, pool)
        yield from pool.proposals(stage.limit)


def _exact_pass(
    problem: Problem, basis: Basis, views: list[View], pool: Pool, rng: np.random.Generator
) -> bool:
    """Add the exact formulas over this basis to the pool; was there one?"""
    p = len(basis)
    rows = sample_rows(problem.n_rows, p + max(20, p // 4), rng)
    columns = basis.columns(problem.X[rows])
    targets = np.column_stack([view.values(problem.y[rows]) for view in views])
    good = np.isfinite(columns).all(axis=1) & np.isfinite(targets[:, 0])
    usable = np.asarray(np.isfinite(targets[good]).all(axis=0))
    if good.sum() < min(len(rows), p + 5) or not usable.any():
        return False
    columns = columns[good] / np.linalg.norm(columns[good], axis=0)
    if not np.isfinite(columns).all():
        return False
    left = residual_norms(columns, targets[good][:, usable])
    hit = False
    for view, off in zip([v for v, ok in zip(views, usable, strict=True) if ok], left, strict=True):
        if off < 1e-9 and len(rows) > p:
            hit = _exact_formula(problem, basis, view, pool, rng) or hit
    return hit


def _exact_formula(problem: Problem, basis: Basis, view: View, pool: Pool, rng: np.random.Generator) -> bool:
    rows = sample_rows(problem.n_rows, max(2 * len(basis), 200), rng)
    columns, target = basis.columns(problem.X[rows]), view.values(problem.y[rows])
    good = np.isfinite(columns).all(axis=1) & np.isfinite(target)
    columns, target = columns[good], target[good]
    norms = np.linalg.norm(columns, axis=0)
    # Relative to the variation of the target: a large mean must not hide a residual.
    tol = 3e-12 * float(np.linalg.norm(target - target.mean()) / np.linalg.norm(target))
    support = exact_support(columns / norms, target, max(tol, 3e-15), MOST_TERMS)
    if support is None:
        return False
    support = np.sort(support)
    columns, target = basis.columns(problem.X)[:, support], view.values(problem.y)
    good = np.isfinite(columns).all(axis=1) & np.isfinite(target)
    scale = norms[support]
    solution = np.linalg.lstsq(columns[good] / scale, target[good], rcond=1e-15)[0] / scale
    if len(support) > 1 and _least_rise(columns[good], solution, target[good]) < LEAST_TERM:
        return False
    for tol in (1e-9, 1e-12):
        scored = pool.add(write_sum(problem, view, basis.poly(support, solution), tol))
        if scored is not None and scored.exact:
            return True
    return False


def _least_rise(columns: Floats, solution: Floats, target: Floats) -> float:
    """By how much the residual grows, over the spread of the target, if the least needed column is left out."""
    norms = np.linalg.norm(columns, axis=0)
    triangle = np.linalg.qr(columns / norms, mode="r")
    inverse = np.linalg.pinv(triangle, rcond=1e-15)
    rises = np.abs(solution * norms) / np.linalg.norm(inverse, axis=1)
    return float(rises.min() / np.linalg.norm(target - target.mean()))


def _noisy_pass(problem: Problem, basis: Basis, rows: NDArray[np.intp], pool: Pool) -> None:
    """Add the best formulas over this basis by description length to the pool."""
    X, y = problem.X[rows], problem.y[rows]
    columns = basis.columns(X)
    if not np.isfinite(columns).all():
        return
    root = np.sqrt(problem.weights[rows])
    largest = min(MOST_TERMS, len(rows) // 4 + 1)
    for view in views_of(problem, NOISY_VIEWS):
        target, weights = view.values(y), capped(view.weights(y)) * root
        good = np.isfinite(target) & (weights > 0)
        if good.sum() < 2 * len(basis):
            continue
        weighted = columns[good] * weights[good, None]
        norms = np.linalg.norm(weighted, axis=0)
        if not np.isfinite(norms).all() or norms.min() == 0.0:
            continue
        chosen = selections(
            weighted / norms,
            target[good] * weights[good],
            basis.tokens(),
            spread=problem.spread,
            largest=largest,
        )
        for selection in chosen:
            _add_refitted(problem, basis, view, selection, norms, (columns, y, root), pool)


def _add_refitted(
    problem: Problem,
    basis: Basis,
    view: View,
    selection: Selection,
    norms: Floats,
    data: tuple[Floats, Floats, Floats],
    pool: Pool,
) -> None:
    """Refit a selection in the space of y and add it, written by pure algebra and as its simpler neighbour."""
    columns, y, root = data
    support = selection.support
    model = _in_space_of_y(columns[:, support], view)
    start = selection.coefficients / norms[support]
    params, rss, jacobian = least_squares(model, start, y, root, steps=6)
    if not np.isfinite(rss):
        return
    errors = standard_errors(jacobian, rss)
    loose = float(np.clip(np.max(3.0 * errors / np.abs(params)), 1e-9, LOOSEST))
    poly = basis.poly(support, params)
    for tol in (1e-9, loose):
        pool.add(write_sum(problem, view, poly, tol))


def _in_space_of_y(columns: Floats, view: View) -> Model:
    def model(params: Floats) -> tuple[Floats, Floats]:
        y = view.back(columns @ params)
        return y, columns / view.slope(y)[:, None]

    return model


def capped(weights: Floats) -> Floats:
    """Weights 1/|view'(y)| grow without bound where noise has pushed y to a flat spot of the view."""
    positive = weights[weights > 0]
    return np.minimum(weights, 4.0 * np.median(positive)) if len(positive) else weights
