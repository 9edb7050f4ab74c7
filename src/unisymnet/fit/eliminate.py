"""From a full basis to a few columns: exact elimination for clean data, description length for noisy data.

From above, where subset.py comes from below.  Works on plain matrices; knows no formulas.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import DIGITS_9, DIGITS_15, TINY, Floats, Ints

__all__ = ["FLOOR", "TOKEN", "Selection", "exact_support", "plain_length", "residual_norms", "selections", "triangle"]

# Rounding floor of residuals: description lengths below it are not compared.
FLOOR = 1e-13
TOKEN = math.log(14.0)  # nats of a token of a formula
LEAST_TOLERANCE = 3e-15  # of the target's norm: rounding


def triangle(columns: Floats) -> Floats:
    return np.asarray(np.linalg.qr(columns, mode="r"), dtype=np.float64)


def _inverse(triangle: Floats) -> Floats:
    diagonal = np.abs(np.diag(triangle))
    if diagonal.min() > DIGITS_9 * diagonal.max():
        return np.asarray(np.linalg.inv(triangle), dtype=np.float64)
    return np.asarray(np.linalg.pinv(triangle, rcond=1e-10), dtype=np.float64)


def residual_norms(columns: Floats, targets: Floats) -> Floats:
    """‖t − projection of t on the columns‖ / ‖t − mean‖ for every target, by one QR of [columns, targets]."""
    p = columns.shape[1]
    square = triangle(np.column_stack([columns, targets]))
    left = np.linalg.norm(square[p:, p:], axis=0)
    spread = np.linalg.norm(targets - targets.mean(axis=0), axis=0)
    return np.asarray(left / np.where(spread > 0, spread, np.inf))


def exact_support(columns: Floats, target: Floats, tol: float, largest: int) -> Ints | None:
    """The fewest columns (of unit length) that give the target up to ``tol``·‖target‖; None if there are none.

    Columns are ordered by the size of their coefficients; one QR in that order gives the residual of every
    leading part, and the shortest exact part is kept, until nothing more falls away.
    """
    limit = max(tol, LEAST_TOLERANCE) * float(np.linalg.norm(target))
    keep = np.arange(columns.shape[1])
    for _ in range(12):
        solution = np.linalg.lstsq(columns[:, keep], target, rcond=DIGITS_15)[0]
        keep = keep[np.argsort(-np.abs(solution), kind="stable")]
        tails = _tails(columns[:, keep], target)
        count = int(np.argmax(tails <= limit)) if np.any(tails <= limit) else len(tails)
        if count >= len(keep):
            if tails[-1] > limit:
                return None
            break
        keep = keep[: max(count, 1)]
        if count == 0:
            break
    if len(keep) > largest:
        return None
    return _without_idle(columns, target, keep, limit)


def _tails(columns: Floats, target: Floats) -> Floats:
    """Residual norm of the target by the first 0, 1, 2, … columns."""
    p = columns.shape[1]
    square = triangle(np.column_stack([columns, target]))
    shares = square[:, p] ** 2
    sums = np.cumsum(shares[::-1])[::-1]
    tails = np.zeros(p + 1)
    tails[: len(sums)] = np.sqrt(sums)
    return tails


def _without_idle(columns: Floats, target: Floats, keep: Ints, limit: float) -> Ints:
    """Leave out single columns as long as the rest is exact."""
    for k in keep[::-1]:
        if len(keep) == 1:
            break
        rest = keep[keep != k]
        solution = np.linalg.lstsq(columns[:, rest], target, rcond=DIGITS_15)[0]
        if np.linalg.norm(columns[:, rest] @ solution - target) <= limit:
            keep = rest
    return keep


@dataclass(frozen=True)
class Selection:
    """Chosen columns, their coefficients, the residual sum of squares and the description length."""

    support: Ints
    coefficients: Floats
    rss: float
    length: float


def selections(
    columns: Floats,
    target: Floats,
    tokens: Floats,
    *,
    spread: float,
    largest: int,
    keep: int = 3,
    enough: float = math.inf,
    seed: Ints | None = None,
) -> list[Selection]:
    """The best few subsets of columns by description length.

    Backward elimination and stepwise building give one subset of every size each, and single columns are
    exchanged: columns that stand for each other (x, x', x + x') mislead either way alone.  ``target`` and
    ``columns`` carry the weights; ``spread`` is the unit of residuals.  Nothing is returned if even the noise
    level of the full basis cannot lead below the length ``enough``.  ``seed`` is a likely subset to start from.
    """
    n = len(target)
    path = _Path(columns, target)
    floor = path.full_rss() * n / max(1, n - columns.shape[1])
    if plain_length(floor, n, np.argsort(tokens)[:2], tokens, spread) > enough:
        return []
    found: dict[tuple[int, ...], Selection] = {}
    ranked = []
    for support, rss in path.eliminate():
        if len(support) <= largest:
            ranked.append((plain_length(rss, n, support, tokens, spread), support))
    ranked = [(length, path.exchanged(s)) for length, s in sorted(ranked, key=lambda item: item[0])[:keep]]
    built = [*path.build(largest, floor, tokens), *(path.grow(seed, tokens) if seed is not None else ())]
    ranked += [(plain_length(rss, n, support, tokens, spread), support) for support, rss in built]
    for _, support in sorted(ranked, key=lambda item: item[0])[: 2 * keep]:
        key = tuple(sorted(int(k) for k in support))
        if key not in found:
            chosen = np.array(key, dtype=np.intp)
            solution = np.asarray(np.linalg.lstsq(columns[:, chosen], target, rcond=None)[0], np.float64)
            rss = float(np.sum((columns[:, chosen] @ solution - target) ** 2))
            found[key] = Selection(chosen, solution, rss, plain_length(rss, n, chosen, tokens, spread))
    return sorted(found.values(), key=lambda s: s.length)[:keep]


def plain_length(rss: float, n: int, support: Ints, tokens: Floats, spread: float) -> float:
    """Description length of a sum of columns as it stands, not compacted."""
    fit = 0.5 * n * math.log(max(rss / n / spread**2, FLOOR**2))
    return fit + 0.5 * len(support) * math.log(n) + TOKEN * float(np.sum(tokens[support]))


class _Path:
    """Least squares on subsets of columns by updates of the inverse Gram matrix."""

    def __init__(self, columns: Floats, target: Floats) -> None:
        self.gram = columns.T @ columns
        self.slope = columns.T @ target
        self.energy = float(target @ target)
        self.n_rows = len(target)
        # The inverse comes from the triangle, whose condition is the square root of the Gram matrix's.
        inverse_root = _inverse(triangle(columns))
        self.inverse = inverse_root @ inverse_root.T
        self.solution = self.inverse @ self.slope

    def full_rss(self) -> float:
        """Residual sum of squares of all columns together."""
        return max(self.energy - float(self.slope @ self.solution), 0.0)

    def eliminate(self) -> Iterator[tuple[Ints, float]]:
        """Subsets of falling size, the least useful column left out each time."""
        alive = np.arange(len(self.slope))
        inverse, solution, rss = self.inverse, self.solution, self.full_rss()
        while len(alive):
            yield alive, rss
            diagonal = np.diag(inverse)
            rises = np.where(diagonal > 0, solution**2 / np.where(diagonal > 0, diagonal, 1.0), 0.0)
            j = int(np.argmin(rises))
            rss += float(rises[j])
            if diagonal[j] > 0:
                row = inverse[j] / diagonal[j]
                solution = solution - solution[j] * row
                inverse = inverse - np.outer(inverse[j], row)
            rest = np.arange(len(alive)) != j
            alive, solution, inverse = alive[rest], solution[rest], inverse[np.ix_(rest, rest)]

    def build(self, largest: int, floor: float, tokens: Floats) -> Iterator[tuple[Ints, float]]:
        """Subsets of rising size: the most useful column for its price is taken in, then some are exchanged."""
        chosen: list[int] = []
        noise = max(floor / 1e3, TINY)
        best = self.energy
        for _ in range(min(largest, len(self.slope) - 1)):
            gains = self._gains(chosen)
            if gains is None:
                return
            left = np.maximum(best - gains, noise)
            chosen.append(int(np.argmin(0.5 * self.n_rows * np.log(left) + TOKEN * tokens)))
            support = self.exchanged(np.array(chosen, dtype=np.intp), rounds=3)
            chosen = support.tolist()
            rss = self._rss(chosen)
            if not math.isfinite(rss):
                return
            yield support, rss
            if rss <= floor:
                return
            best = rss

    def grow(self, seed: Ints, tokens: Floats, steps: int = 3) -> Iterator[tuple[Ints, float]]:
        """Subsets near ``seed``: some columns more, exchanged, and without those that do not pay."""
        chosen = seed.tolist()
        for _ in range(steps):
            pruned = self._pruned(chosen, tokens)
            yield np.array(pruned, dtype=np.intp), self._rss(pruned)
            gains = self._gains(chosen)
            if gains is None:
                return
            left = np.maximum(self._rss(chosen) - gains, TINY)
            chosen = [*chosen, int(np.argmin(0.5 * self.n_rows * np.log(left) + TOKEN * tokens))]
            chosen = self.exchanged(np.array(chosen, dtype=np.intp), rounds=3).tolist()

    def _pruned(self, chosen: list[int], tokens: Floats) -> list[int]:
        """Leave out columns as long as the description becomes shorter."""
        while len(chosen) > 1:
            try:
                inverse = np.linalg.inv(self.gram[np.ix_(chosen, chosen)])
            except np.linalg.LinAlgError:
                break
            diagonal = np.diag(inverse)
            rss = self._rss(chosen)
            if not np.all(diagonal > 0) or not rss > 0:
                break
            rises = (inverse @ self.slope[chosen]) ** 2 / diagonal
            price = TOKEN * tokens[chosen] + 0.5 * math.log(self.n_rows)
            change = 0.5 * self.n_rows * np.log1p(rises / rss) - price
            if change.min() >= 0.0:
                break
            chosen = [k for place, k in enumerate(chosen) if place != int(np.argmin(change))]
        return chosen

    def _gains(self, chosen: list[int]) -> Floats | None:
        """By how much each column outside lowers the residual sum of squares."""
        if not chosen:
            return np.asarray(self.slope**2 / np.diag(self.gram))
        try:
            rest = np.column_stack([self.gram[chosen], self.slope[chosen]])
            half = np.linalg.solve(self.gram[np.ix_(chosen, chosen)], rest)
        except np.linalg.LinAlgError:
            return None
        left = self.slope - self.gram[:, chosen] @ half[:, -1]
        room = np.diag(self.gram) - np.einsum("ij,ij->j", self.gram[chosen], half[:, :-1])
        gains = np.where(room > DIGITS_9, left**2 / np.where(room > DIGITS_9, room, 1.0), 0.0)
        gains[chosen] = 0.0
        return np.asarray(gains)

    def exchanged(self, support: Ints, rounds: int = 8) -> Ints:
        """Take in the most useful column outside and leave out the least useful inside, while that helps."""
        chosen = list(map(int, support))
        best = self._rss(chosen)
        for _ in range(rounds):
            gains = self._gains(chosen)
            if gains is None:
                break
            trial = [*chosen, int(np.argmax(gains))]
            try:
                inverse = np.linalg.inv(self.gram[np.ix_(trial, trial)])
            except np.linalg.LinAlgError:
                break
            diagonal = np.diag(inverse)
            if not np.all(diagonal > 0):
                break
            trial.pop(int(np.argmin((inverse @ self.slope[trial]) ** 2 / diagonal)))
            rss = self._rss(trial)
            if not rss < best * (1.0 - 1e-6):
                break
            chosen, best = trial, rss
        return np.array(chosen, dtype=np.intp)

    def _rss(self, chosen: list[int]) -> float:
        try:
            solution = np.linalg.solve(self.gram[np.ix_(chosen, chosen)], self.slope[chosen])
        except np.linalg.LinAlgError:
            return math.inf
        return max(self.energy - float(self.slope[chosen] @ solution), 0.0)
