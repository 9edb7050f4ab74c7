"""Sums of features found one by one: the next feature is the one that predicts rows left out best for its size.

The gain of every feature is known from two products with the table of all features, updated as the sum grows; the best
few are then compared by their leave-one-out error in closed form, which sees what a gain does not: a feature that lives
on a single row. A feature that has joined brings its children into the race. At the end features leave one by one:
what came first is often not needed any more. Rows of weight zero take no part. Knows only arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, power_of_two
from .pool import LINEAR, Pool, children
from .ridge import LARGEST_LEVERAGE, loo_error

Singles = NDArray[np.float32]

NEW_SHARE = 0.02  # of a feature that the sum must not have yet
COMPARED = 24  # features whose leave-one-out error is computed at each step


@dataclass(frozen=True)
class Settings:
    """`price` is what one more node of a formula costs, in nats; `grow` says whether features have children."""

    price: float = 0.3
    max_terms: int = 20
    max_size: int = 60
    grow: bool = False
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Step:
    """Features of a sum, its size and its leave-one-out mean square."""

    features: tuple[int, ...]
    size: int
    loo: float


@dataclass
class Path:
    """Sums of rising size; `pool` has grown on the way."""

    pool: Pool
    steps: list[Step] = field(default_factory=list)

    def within(self, size: int, n: int, price: float) -> Step:
        """The best sum of at most this size: leave-one-out error and size as they are priced."""
        fit = [step for step in self.steps if step.size <= size]
        return min(fit, key=lambda s: 0.5 * n * np.log(max(s.loo, 1e-300)) + price * s.size)


def find_sums(pool: Pool, y: Floats, weights: Floats, settings: Settings) -> Path:
    """Forward, then backward."""
    root = np.sqrt(weights)
    unit = power_of_two(y)  # products in single precision end at 1e38
    race = _Race(pool, y / unit * root, root, settings)
    race.run()
    path = Path(race.pool, race.steps)
    path.steps += _backward(race, settings)
    path.steps = [replace(step, loo=step.loo * unit**2) for step in path.steps if step.size <= settings.max_size]
    return path


class _Race:
    """The state of a forward selection."""

    def __init__(self, pool: Pool, target: Floats, root: Floats, settings: Settings) -> None:
        self.settings, self.root, self.target = settings, root, target
        self.small = root.astype(np.float32)[:, None]
        self.n = int((root > 0.0).sum())
        unit = root / np.linalg.norm(root)
        self.basis = [unit]
        self.residual = target - unit * float(unit @ target)
        self.leverage = unit**2
        self.chosen: list[int] = []
        self.size = 1
        self.steps = [Step((), 1, loo_error(self.residual, self.leverage, self.n))]
        self.pool = pool
        self.sizes = pool.sizes
        self.weighted = pool.table * self.small
        self.full, self.norms, self.dots = self.measured(self.weighted)

    def measured(self, weighted: Singles) -> tuple[Singles, Singles, Singles]:
        """Of features: squared norms, the same beside the sum so far, products with the residual."""
        full = np.einsum("ij,ij->j", weighted, weighted)
        along = np.column_stack(self.basis).astype(np.float32).T @ weighted
        norms = full - np.einsum("ij,ij->j", along, along)
        return full, norms, weighted.T @ self.residual.astype(np.float32)

    def run(self) -> None:
        limit = min(self.settings.max_terms, self.n // 3)
        while len(self.chosen) < limit and self.pool.features:
            if float(self.residual @ self.residual) <= 1e-14 * float(self.target @ self.target):
                break
            best = self.best()
            if best is None:
                break
            self.take(*best)
            if self.settings.grow:
                self.grow(self.chosen[-1])

    def best(self) -> tuple[int, Floats] | None:
        """The next feature and its new direction."""
        rss = float(self.residual @ self.residual)
        fresh = self.norms > NEW_SHARE * self.full
        fresh[self.chosen] = False
        if not fresh.any():
            return None
        gain = np.where(fresh, self.dots.astype(np.float64) ** 2 / np.where(fresh, self.norms, 1.0), 0.0)
        rough = 0.5 * self.n * np.log(np.maximum(1.0 - gain / rss, 1e-12)) + self.settings.price * self.sizes
        rough[~fresh] = np.inf
        few = np.argsort(rough, kind="stable")[:COMPARED]
        few = few[fresh[few]]
        Q = np.column_stack(self.basis)
        F = self.weighted[:, few].astype(np.float64)
        for _ in range(2):  # twice is enough for orthogonality
            F = F - Q @ (Q.T @ F)
        F = F / np.maximum(np.linalg.norm(F, axis=0), 1e-12)
        left = self.residual[:, None] - F * (self.residual @ F)
        room = np.maximum(1.0 - self.leverage[:, None] - F**2, 1.0 - LARGEST_LEVERAGE)
        errors = np.sum((left / room) ** 2, axis=0) / self.n
        scores = 0.5 * self.n * np.log(np.maximum(errors, 1e-300)) + self.settings.price * self.sizes[few]
        at = int(np.argmin(scores))
        return int(few[at]), F[:, at]

    def take(self, index: int, q: Floats) -> None:
        self.chosen.append(index)
        self.size += int(self.sizes[index])
        self.basis.append(q)
        share = float(q @ self.residual)
        self.residual = self.residual - q * share
        self.leverage = self.leverage + q * q
        along = self.weighted.T @ q.astype(np.float32)
        self.norms = self.norms - along**2
        self.dots = self.dots - along * np.float32(share)
        self.steps.append(Step(tuple(self.chosen), self.size, loo_error(self.residual, self.leverage, self.n)))

    def grow(self, index: int) -> None:
        new = children(self.pool, index, self.settings.allowed)
        known = {feature.expr for feature in self.pool.features if feature.kind > LINEAR}
        kept = [i for i, feature in enumerate(new.features) if feature.expr not in known]
        if not kept:
            return
        new = Pool(tuple(new.features[i] for i in kept), new.raw[:, kept], new.table[:, kept])
        self.pool = self.pool.with_more(new)
        self.sizes = self.pool.sizes
        weighted = new.table * self.small
        self.weighted = np.hstack([self.weighted, weighted])
        full, norms, dots = self.measured(weighted)
        self.full = np.concatenate([self.full, full])
        self.norms = np.concatenate([self.norms, norms])
        self.dots = np.concatenate([self.dots, dots])


def _backward(race: _Race, settings: Settings) -> list[Step]:
    """Sums that remain when the feature that is needed least leaves, again and again."""
    kept = list(race.chosen)
    steps: list[Step] = []
    while len(kept) > 1:
        A = np.column_stack([race.root, race.weighted[:, kept].astype(np.float64)])
        inverse = np.linalg.pinv(A.T @ A)
        solution = inverse @ (A.T @ race.target)
        rest = race.target - A @ solution
        rss = float(rest @ rest)
        lost = solution[1:] ** 2 / np.maximum(np.diag(inverse)[1:], 1e-300)
        costs = 0.5 * race.n * np.log1p(lost / max(rss, 1e-300)) - settings.price * race.sizes[kept]
        kept.pop(int(np.argmin(costs)))
        steps.append(_measured(race, kept))
    return steps


def _measured(race: _Race, kept: Sequence[int]) -> Step:
    A = np.column_stack([race.root, race.weighted[:, list(kept)].astype(np.float64)])
    Q = np.linalg.qr(A)[0]
    residual = race.target - Q @ (Q.T @ race.target)
    leverage = np.einsum("ij,ij->i", Q, Q)
    size = 1 + int(race.sizes[list(kept)].sum())
    return Step(tuple(kept), size, loo_error(residual, leverage, race.n))
