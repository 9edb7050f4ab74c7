"""One inner function u(κt) with free constants beside a small basis.

Log space:  view(y) = c·∏ x_i^a·u(κt)^n;  linear space:  view(y) = Σ c·b(x) + c'·m·u(κt) with small bases b and
multipliers m.  All arguments t and functions u of the dictionary are scored on a grid of κ with the linear part
eliminated, the best are refined; then functions of two constants, u(κt + κ't').
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import TINY, Floats, Ints
from ...candidate import Proposal
from ...fit.kernels.scan import OFFSET, Codes
from ...problem import Problem
from ...symbolic.expr import Call, Var
from ..pool import Pool, Stage, Task
from ..view.views import View, views_of
from .dictionary import ONE, Argument, Family, arguments, families
from .group import OSCILLATING, Group, Starts, frequency_bands, groups_of, kappa_grids, term_rows
from .spaces import Part, Space, crosses_zero, log_basis, polynomial_basis, weightings

__all__ = ["Features"]

SMOOTH_VIEWS = ("y", "y**2", "1/y", "sqrt(y)", "ln(y)")
# exp(κt + c) differs from exp(κt) by a coefficient, and a wave has its phase already.
SHIFT_FREE = (Codes.EXP, Codes.WAVE, Codes.HYPERBOLIC)


@dataclass(frozen=True)
class Features(Stage):
    """Settings: rows in refinement (clean and noisy data) and in the coarse scan, numbers of arguments and refinements,
    proposals kept of each group."""

    name: str = "features"
    n_rows: int = 160
    n_noisy_rows: int = 250
    keep: int = 3
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
