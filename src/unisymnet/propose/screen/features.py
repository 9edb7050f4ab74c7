"""One inner function u(κt) with free constants beside a small basis, or a product of two, u(κt)·v(κ't').

Log space:  view(y) = c·∏ x_i^a·u(κt)^n;  linear space:  view(y) = Σ c·b(x) + c'·m·u(κt) with small bases b and
multipliers m.  All arguments t and functions u of the dictionary are scored on a grid of κ with the linear part
eliminated, the best are refined; then functions of two constants, u(κt + κ't').  In products (damped oscillations, an
exponential times a root) a wave counts as sine and cosine, so a product has up to four linear columns.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import TINY, Floats, Ints
from ...candidate import Proposal
from ...deadline import Deadline
from ...fit.kernels.scan import OFFSET, Codes, coarse, inner
from ...problem import Problem
from ...symbolic.expr import Call, Var
from ..pool import Pool, Stage, Task
from ..view.views import View, views_of
from .dictionary import ONE, Argument, Family, arguments, families
from .group import NICE, OSCILLATING, Group, Starts, frequency_bands, groups_of, kappa_grids, term_rows
from .spaces import Part, Space, crosses_zero, log_basis, polynomial_basis, weightings

__all__ = ["Features", "Products"]

SMOOTH_VIEWS = ("y", "y**2", "1/y", "sqrt(y)", "ln(y)")
# exp(κt + c) differs from exp(κt) by a coefficient, and a wave has its phase already.
SHIFT_FREE = (Codes.EXP, Codes.WAVE, Codes.HYPERBOLIC)


@dataclass(frozen=True)
class Screen(Stage):
    """What stages that search dictionaries share: rows of clean and of noisy data, proposals kept of each group."""

    n_rows: int = 200
    n_noisy_rows: int = 250
    keep: int = 3


@dataclass(frozen=True)
class Features(Screen):
    """Settings: rows in refinement and in the coarse scan, numbers of arguments and refinements."""

    name: str = "features"
    n_rows: int = 160
    n_coarse_rows: int = 100
    n_arguments: int = 900
    n_noisy_arguments: int = 300
    n_multiplied: int = 40
    n_pair_arguments: int = 28
    n_frequency_arguments: int = 16
    max_periods: float = 80.0
    n_refined: int = 1500
    max_cost: float = 7.5
    one_constant: bool = True
    two_constants: bool = True

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, rng, deadline = task.problem, task.rng, task.deadline
        args = arguments(problem, limit=self.n_arguments)
        for weighted in weightings(problem):
            n_rows = self.n_noisy_rows if weighted else self.n_rows
            # Under noise every view is a group of its own, and no candidate ends the search: fewer are refined.
            n_refined = self.n_refined // 10 if weighted else self.n_refined
            groups: list[Group] = []
            for spaces in plans(problem, weighted=weighted):
                if deadline.expired():
                    return
                some = args[: self.n_noisy_arguments] if weighted else args
                group = Group.start(spaces, some, n_rows=n_rows, n_few=self.n_coarse_rows, rng=rng)
                groups.append(group)
                pool = Pool(problem, self.name)
                batches = self.single(group) if self.one_constant else ()
                group.search(batches, pool, deadline, n_refined=n_refined, keep=self.keep)
                yield from pool.proposals(self.keep)
                if pool.exact():
                    return
            # All functions of one constant before any of two.
            for group in groups[: 4 if weighted else None] if self.two_constants else ():
                pool = Pool(problem, self.name)
                group.search(self.double(group), pool, deadline, n_refined=n_refined // 3, keep=self.keep)
                yield from pool.proposals(self.keep)
                if pool.exact() or deadline.expired():
                    return

    def single(self, group: Group) -> Iterator[Starts]:
        """Functions of one constant: all arguments at once, then, in linear space, cheap ones with a multiplier."""
        parts = [group.bare()]
        for family in families(group.problem, log=group.log):
            rows = self._rows(group, family)
            if len(rows):
                terms = term_rows(family.code, rows)
                parts.append(group.scan(family, terms, kappa_grids(family, group.table[rows])[:, :, None]))
            if family.code in OSCILLATING:
                terms, grids = frequency_bands(group, family, rows[: self.n_frequency_arguments], self.max_periods)
                parts.append(group.scan(family, terms, grids))
        yield Starts.joined(parts)
        if group.log:
            return
        multipliers = self._multipliers(group)
        parts = []
        for family in families(group.problem, log=False):
            rows = self._rows(group, family)[: self.n_multiplied]
            grids = kappa_grids(family, group.table[rows])[:, :, None]
            parts.append(group.scan(family, term_rows(family.code, rows), grids, multipliers))
            if family.code in OSCILLATING:
                few = rows[: self.n_frequency_arguments // 2]
                terms, bands = frequency_bands(group, family, few, self.max_periods)
                parts.append(group.scan(family, terms, bands, multipliers))
        if parts:
            yield Starts.joined(parts)

    def double(self, group: Group) -> Iterator[Starts]:
        """Functions of two constants: of one argument with a shift, then of two cheap arguments."""
        n = min(self.n_pair_arguments, 8 + 8 * group.problem.n_features, len(group.args))
        pairs = np.array([(i, j) for i in range(1, n + 1) for j in range(i + 1, n + 1)], dtype=np.int64).reshape(-1, 2)
        shifted, paired = [], []
        for family in families(group.problem, log=group.log):
            rows = self._rows(group, family)
            if not OFFSET[family.code] and family.code not in SHIFT_FREE:
                some = rows[: 3 * n]
                terms = term_rows(family.code, some, group.one)
                shifted.append(group.scan(family, terms, shift_grids(family, group.table[some])))
        if shifted:
            yield Starts.joined(shifted)
        for family in families(group.problem, log=group.log):
            used = pairs[np.isin(pairs, self._rows(group, family)).all(axis=1)]
            terms = term_rows(family.code, used[:, 0], used[:, 1])
            grids = pair_grids(family, group.table[used[:, 0]], group.table[used[:, 1]])
            paired.append(group.scan(family, terms, grids))
        if paired:
            yield Starts.joined(paired)

    def _multipliers(self, group: Group) -> list[int]:
        """The cheapest monomials."""
        plain = [group.as_multiplier(i + 1) for i, a in enumerate(group.args) if a.plain]
        d = group.problem.n_features
        return plain[: max(8, 2 * d)]

    def _rows(self, group: Group, family: Family) -> Ints:
        limit = self.max_cost - family.cost
        fits = [i + 1 for i, a in enumerate(group.args) if a.cost <= limit and sensible(a, family)]
        return np.array(fits, dtype=np.int64)


def plans(problem: Problem, *, weighted: bool) -> Iterator[list[Space]]:
    """Groups of spaces in the order in which they are tried."""
    # Views that bend y strongly are for exact laws; noise only spoils them.
    views = views_of(problem, SMOOTH_VIEWS if weighted else None)
    in_log = [view for view in views if view.name in ("y", "ln(y)", "sin(y)", "cos(y)")]
    inputs = [Part(Var(i)) for i in range(problem.n_features)]
    dips = weighted or crosses_zero(problem)
    order: list[tuple[list[View], bool, list[Part]]] = [
        (in_log[:1], True, log_basis(problem)),
        (views, False, [Part(ONE)]),
        (in_log[1:], True, log_basis(problem)),
        ([v for v in views if not weighted or v.name in ("y", "1/y", "ln(y)")], False, [Part(ONE), *inputs]),
        (in_log[:1], True, log_basis(problem, with_inputs=True)),
        (views[:1], False, polynomial_basis(problem)),
    ]
    for chosen, log, basis in order:
        yield from groups_of(problem, chosen, log=log, basis=basis, weighted=dips if log else weighted)


def sensible(argument: Argument, family: Family) -> bool:
    """No logarithm of an exponential (a line), no hyperbolic function of a logarithm (powers are in the dictionary).

    exp(κ·ln t) is kept: it is a power with a free exponent.
    """
    if not isinstance(argument.expr, Call):
        return True
    if argument.expr.op == "ln":
        return family.name not in ("cosh", "sinh", "tanh", "asin", "atan", "tan", "hyperbolic")
    return argument.expr.op != "exp" or family.name in ("1+s", "1/(1+s)", "sqrt(1+s)", "1/sqrt(1+s)", "exp", "wave")


def pair_grids(family: Family, t: Floats, t2: Floats) -> Floats:
    """Starts for two constants (M, G, 2)."""
    first, second = _thin(family, t), _thin(family, t2)
    if not family.even:
        first = np.hstack([first, -first])
    both = np.hstack([second, -second])
    a = np.repeat(first, both.shape[1], axis=1)
    b = np.tile(both, (1, first.shape[1]))
    return np.stack([a, b], axis=2)


def shift_grids(family: Family, t: Floats) -> Floats:
    """Starts (M, G, 2) for u(κ·(t − τ)): the shift lies in or near the range of t."""
    first = _thin(family, t)
    if not family.even:
        first = np.hstack([first, -first])
    low, width = t.min(axis=1), np.ptp(t, axis=1)
    shifts = low[:, None] + width[:, None] * np.array([-0.5, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5])
    a = np.repeat(first, shifts.shape[1], axis=1)
    return np.stack([a, -a * np.tile(shifts, (1, first.shape[1]))], axis=2)


def _thin(family: Family, t: Floats) -> Floats:
    if OFFSET[family.code]:
        return np.array([0.3, 1.0, 4.0, 15.0]) / np.maximum(np.median(np.abs(t), axis=1), TINY)[:, None]
    steps = [0.7, 2.0, 3.5, 5.0, 7.0] if family.code in OSCILLATING else [0.4, 1.2, 3.5, 10.0]
    return np.array(steps) / np.maximum(np.ptp(t, axis=1), TINY)[:, None]


LEADING = (Codes.EXP, Codes.WAVE)
FACTORS = (*LEADING, Codes.TANH, Codes.LN1, Codes.INV1, Codes.SQRT1, Codes.RSQRT1)


@dataclass(frozen=True)
class _Factor:
    """An inner function of one argument on its grid: values (columns, G, n) in single precision."""

    family: Family
    row: int
    kappas: Floats
    values: list[np.ndarray]
    cost: float


@dataclass(frozen=True)
class Products(Screen):
    """Settings: arguments of leading factors and of the others, limits of the grids, refinements a target."""

    name: str = "products"
    n_coarse_rows: int = 90
    n_arguments: int = 8
    max_cost: float = 7.0
    max_periods: float = 30.0
    n_refined: int = 250

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, rng, deadline = task.problem, task.rng, task.deadline
        args = arguments(problem, limit=self.n_arguments + 2 * problem.n_features)
        inputs = [Part(Var(i)) for i in range(problem.n_features)]
        for weighted, basis in itertools.product(weightings(problem), ([Part(ONE)], [Part(ONE), *inputs])):
            n_rows = self.n_noisy_rows if weighted else self.n_rows
            if weighted and len(basis) > 1:
                continue
            views = views_of(problem, ["y", "ln(y)"] if weighted else ["y", "y**2", "1/y", "ln(y)", "exp(y)"])
            for spaces in groups_of(problem, views, log=False, basis=basis, weighted=weighted):
                group = Group.start(spaces, args, n_rows=n_rows, n_few=self.n_coarse_rows, rng=rng)
                for dense in (False, True):
                    pool = Pool(problem, self.name)
                    batches = self.batches(group, dense=dense, deadline=deadline)
                    group.search(batches, pool, deadline, n_refined=self.n_refined, keep=self.keep)
                    yield from pool.proposals(self.keep)
                    if pool.exact() or deadline.expired():
                        return

    def batches(self, group: Group, *, dense: bool, deadline: Deadline) -> Iterator[Starts]:
        """All products of a leading factor and another as one batch; ``dense``: high frequencies of the inputs."""
        factors = self._factors(group, dense=dense)
        leading = [f for f in factors if f.family.code in LEADING]
        parts = []
        for k, first in enumerate(leading):
            for second in [*leading[k:], *(f for f in factors if f.family.code not in LEADING)]:
                same = first.row == second.row and first.family.code == second.family.code
                if first.cost + second.cost > self.max_cost or (same and first.family.code == Codes.EXP):
                    continue
                if deadline.expired():
                    break
                parts.append(self._scored(group, first, second))
        if parts:
            yield Starts.joined(parts)

    def _factors(self, group: Group, *, dense: bool) -> list[_Factor]:
        found = []
        for family in families(group.problem, log=False):
            if family.code not in FACTORS:
                continue
            for i, argument in enumerate(group.args):
                if not sensible(argument, family) or (dense and not isinstance(argument.expr, Var)):
                    continue
                t = group.table[i + 1]
                kappas = _grid(family, t, _periods(self, group) if dense else 4.0)
                with np.errstate(all="ignore"):
                    s = OFFSET[family.code] + kappas[:, None] * t[: group.few]
                    values = [np.asarray(c, dtype=np.float32) for c in inner(family.code, s)]
                found.append(_Factor(family, i + 1, kappas, values, argument.cost + family.cost))
        return sorted(found, key=lambda f: f.cost)

    def _scored(self, group: Group, first: _Factor, second: _Factor) -> Starts:
        """The best start of every band of constants of one product, for each target."""
        n_first, n_second = len(first.kappas), len(second.kappas)
        weight = group.table[0, : group.few].astype(np.float32)
        shares = np.empty((n_first * n_second, len(group.targets)), dtype=np.float32)
        step = max(1, 150_000 // (n_second * group.few * len(first.values) * len(second.values)))
        for low in range(0, n_first, step):
            part = slice(low, low + step)
            with np.errstate(all="ignore"):
                columns = [
                    (a[part, None, :] * (b * weight)[None, :, :]).reshape(-1, group.few)
                    for a in first.values
                    for b in second.values
                ]
                shares[low * n_second : (low + step) * n_second] = coarse(columns, group.outer_few, group.targets_few)
        a, b = np.meshgrid(first.kappas, second.kappas, indexing="ij")
        grid = np.column_stack([a.ravel(), b.ravel()])
        term = np.array([0, first.family.code, first.row, -1, second.family.code, second.row, -1])
        return _best_of_bands(term, grid, shares, n_second)


def _best_of_bands(term: np.ndarray, grid: Floats, shares: np.ndarray, n_second: int, band: int = 8) -> Starts:
    """The best start of every few values of the first constant, for each target."""
    n_targets = shares.shape[1]
    edges = range(0, len(grid), band * n_second)
    best = np.array([low + shares[low : low + band * n_second].argmax(axis=0) for low in edges])
    which = np.tile(np.arange(n_targets), len(best))
    terms = np.tile(term, (len(which), 1))
    return Starts(terms, grid[best.ravel()], which, shares[best.ravel(), which].astype(np.float64))


def _periods(stage: Products, group: Group) -> float:
    return min(stage.max_periods, group.problem.n_rows / 4)


def _grid(family: Family, t: Floats, periods: float) -> Floats:
    """Starts for one constant of a product."""
    span = float(np.ptp(t))
    if family.code in OSCILLATING:
        steps = np.linspace(0.5, 2 * math.pi * periods, max(12, int(5 * periods)))
        return np.concatenate([NICE, steps / span])
    if OFFSET[family.code]:
        size = np.abs(t)
        steps = np.geomspace(0.1 / np.max(size), 20.0 / max(float(np.median(size)), 1e-3 * float(np.max(size))), 8)
        return np.concatenate([[1.0], steps, -steps])
    steps = np.geomspace(0.4, 20.0, 7) / span
    return np.concatenate([[1.0], steps]) if family.even else np.concatenate([[1.0, -1.0], steps, -steps])
