"""Products of two inner functions with free constants, u(κt)·v(κ't'), beside a small linear basis.

Damped oscillations exp(−κx)·sin(ωx + φ), products of two waves, an exponential or a wave times a root, a logarithm or
a fraction.  A wave counts as sine and cosine, so a product has up to four linear columns.  Both constants come from a
grid, the best products are refined together.  Products without an offset are found in log space by pairs.py too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...candidate import Proposal
from ...deadline import Deadline
from ...symbolic.expr import Var
from ..pool import Pool
from ..stage import Stage, Task
from ..view.views import views_of
from .dictionary import ONE, Family, arguments, families
from .features import sensible
from .group import NICE, OSCILLATING, Group, Starts, groups_of
from .scan import OFFSET, Codes, coarse, inner
from .spaces import Part, weightings

__all__ = ["Products"]

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
class Products(Stage):
    """Settings: rows, arguments of leading factors and of the others, limits of the grids, refinements a target."""

    name: str = "products"
    n_rows: int = 200
    n_noisy_rows: int = 250
    n_coarse_rows: int = 90
    n_arguments: int = 8
    max_cost: float = 7.0
    max_periods: float = 30.0
    n_refined: int = 250
    keep: int = 3

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
