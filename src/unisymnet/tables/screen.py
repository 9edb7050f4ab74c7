"""Which of many columns the target depends on, in time linear in rows times columns, interactions included.

Forward: the column that says most about what the chosen ones leave unexplained joins them, by a few shapes of its own,
by their products with shapes of the chosen columns, or, when no column says anything alone, by the product of two that
are both new. Backward: a column that the others can do without goes. Every test pays for the number of columns that it
was chosen from, so that noise seldom enters however many there are. Does not know formulas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc, ndtri

from ..arrays import Floats
from ..deadline import Deadline
from .marginals import Shapes, shapes_of

MAX_VALUES = 6_000_000  # rows times columns looked at
VALUES_A_SECOND = 3_000_000.0  # so many are ranked; with little time, fewer rows are looked at
MAX_ROWS, MIN_ROWS = 4000, 400
CHANCE, CHANCE_OF_FEW, FEW = 0.05, 0.5, 400  # columns of noise taken, on average; more where rows are few
ROWS_A_TERM = 5
MAX_PAIRED = 4000  # columns whose pairs are all looked at
WORTH = 4.0  # squared standard errors that a further term of a column must explain
MIXED = 2  # shapes of a chosen column and of a new one that are multiplied


@dataclass(frozen=True)
class Screening:
    """Columns that matter, the one that matters most first, and whether there was time to look at everything."""

    columns: tuple[int, ...]
    complete: bool


def screen_columns(
    X: Floats,
    y: Floats,
    weights: Floats,
    *,
    most: int,
    rng: np.random.Generator,
    deadline: Deadline,
    places: NDArray[np.intp] | None = None,
    columns: Sequence[int] | None = None,
) -> Screening:
    """At most `most` columns that y depends on, and at least one; counted in `columns`, where only these are looked at.

    `places` are the rows of X that y belongs to; None: all of them.
    """
    looked = X.shape[1] if columns is None else len(columns)
    rows = _some_rows(len(y), looked, rng, min(MAX_VALUES, VALUES_A_SECOND * deadline.remaining()))
    X = X[rows if places is None else places[rows]]
    X = X if looked == X.shape[1] else X[:, list(columns or ())]
    y, root = y[rows], np.sqrt(weights[rows] / weights[rows].mean())
    shapes = shapes_of(X)
    found: dict[int, float] = {}
    complete = True
    searches = [_Forward(shapes, target, root, most, deadline) for target in _targets(y)]
    for search in searches:
        complete &= search.run()
        for column, gain in search.needed().items():
            found[column] = max(gain, found.get(column, 0.0))
    best = sorted(found, key=lambda column: (-found[column], column))
    return Screening(tuple(best[:most]) or (searches[0].first,), complete)


def _some_rows(n: int, d: int, rng: np.random.Generator, n_values: float) -> NDArray[np.intp]:
    most = max(MIN_ROWS, min(MAX_ROWS, int(n_values / d)))
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def _targets(y: Floats) -> list[Floats]:
    """The target as it is, and by its ranks where a few large values would drown the others."""
    place = np.empty(len(y))
    place[np.argsort(y, kind="stable")] = np.arange(len(y))
    ranked = ndtri((place + 0.5) / len(y))
    unit = (y - y.mean()) / (float(np.std(y)) or 1.0)
    return [unit, ranked] if float(np.mean(unit**4)) > 6.0 else [unit]


class _Forward:
    """One forward and backward pass for one target."""

    def __init__(self, shapes: Shapes, target: Floats, root: Floats, most: int, deadline: Deadline) -> None:
        self.shapes, self.root, self.most, self.deadline = shapes, root, most, deadline
        self.target = target * root
        self.n = len(target)
        self.squares = [values * values for values in shapes.values]
        self.chance = CHANCE if self.n >= FEW else CHANCE_OF_FEW
        self.first = 0  # the best column, whether or not it says anything
        self.chosen: list[int] = []
        self.terms: list[tuple[frozenset[int], Floats]] = []  # columns of a term, its weighted values
        self.basis = (root / np.linalg.norm(root))[:, None]
        self.residual = self.target - self.basis[:, 0] * float(self.basis[:, 0] @ self.target)

    def run(self) -> bool:
        """Take columns until none helps; False if time was up first."""
        while len(self.chosen) < min(self.most, self.shapes.n_columns) and self.room() > 0:
            if self.deadline.expired():
                return False
            if float(self.residual @ self.residual) < 1e-18 * float(self.target @ self.target):
                return True
            columns, chance = self.best_single()
            if not self.chosen:
                self.first = columns[0]
            if chance > self.chance and self.shapes.n_columns <= MAX_PAIRED:
                columns, chance = self.best_pair()
            if chance > self.chance:
                return True
            for column in columns:
                self.take(column)
        return True

    def room(self) -> int:
        """How many more terms the rows bear."""
        return self.n // ROWS_A_TERM - self.basis.shape[1]

    def best_single(self) -> tuple[list[int], float]:
        """The column that explains most of the residual, alone or times one of the chosen, and its chance."""
        r = self.residual * self.root
        counts = self.shapes.counts
        alone = sum(self.sizes(r, k) for k in range(len(self.shapes.values)))
        tests = float(len(counts))
        chances = np.where(counts > 0, chdtrc(np.maximum(counts, 1), alone), 1.0)
        for s in self.chosen:
            for factor in self.shapes.of(s)[:, :MIXED].T:
                for k in range(MIXED):
                    chances = np.minimum(chances, chdtrc(1.0, self.sizes(r * factor, k)))
                    tests += len(counts)
        chances[self.chosen] = 1.0
        best = int(np.argmin(chances))
        return [best], float(chances[best]) * tests

    def sizes(self, r: Floats, k: int) -> Floats:
        """For shape k of every column: its squared correlation with r, in units of what chance makes of it.

        The unit is measured row by row, since the residuals of a wrong model are seldom alike everywhere.
        """
        small = (r / math.sqrt(float(np.mean(r * r)) or 1.0)).astype(np.float32)
        values, squares = self.shapes.values[k], self.squares[k]
        return np.asarray((values.T @ small) ** 2 / np.maximum(squares.T @ (small * small), 1e-12), dtype=np.float64)

    def best_pair(self) -> tuple[list[int], float]:
        """The two new columns whose product explains most, and its chance."""
        r = (self.residual * self.root).astype(np.float32)
        line, bend = self.shapes.values[:2]
        best, place = 0.0, (0, 0)
        for other in (line, bend):
            if self.deadline.expired():
                break
            size = (line * r[:, None]).T @ other
            np.fill_diagonal(size, 0.0)
            size[self.chosen, :] = 0.0
            size[:, self.chosen] = 0.0
            i, j = divmod(int(np.argmax(np.abs(size))), size.shape[1])
            unit = float(np.sum((r * line[:, i] * other[:, j]) ** 2)) or 1.0
            if float(size[i, j]) ** 2 / unit > best:
                best, place = float(size[i, j]) ** 2 / unit, (i, j)
        tests = 1.5 * self.shapes.n_columns**2
        return [int(i) for i in place], float(chdtrc(1.0, best)) * tests

    def take(self, column: int) -> None:
        """Let a column explain what it can, alone and with each of the chosen; what adds nothing is left out."""
        own = self.shapes.of(column)
        new = [(frozenset((column,)), values) for values in own.T]
        for s in self.chosen:
            new += [(frozenset((column, s)), a * b) for a in own[:, :MIXED].T for b in self.shapes.of(s)[:, :MIXED].T]
        self.chosen.append(column)
        first = True
        for columns, values in new:
            if self.room() <= 0:
                break
            weighted = values * self.root
            part = weighted - self.basis @ (self.basis.T @ weighted)
            size = float(np.linalg.norm(part))
            if size < 1e-6 * float(np.linalg.norm(weighted)):
                continue
            gain = float(part @ self.residual) / size
            unit = float(self.residual @ self.residual) / max(self.n - self.basis.shape[1], 1)
            if first or gain * gain > WORTH * unit:
                self.terms.append((columns, weighted))
                self.basis = np.column_stack([self.basis, part / size])
                self.residual = self.residual - part * (gain / size)
            first = False

    def fit(self) -> None:
        self.basis = _basis([self.root, *(values for _, values in self.terms)])
        self.residual = self.target - self.basis @ (self.basis.T @ self.target)

    def needed(self) -> dict[int, float]:
        """Chosen columns that the others cannot replace, with the share of the target that each explains."""
        full = float(self.residual @ self.residual)
        total = float(self.target @ self.target)
        kept = list(self.chosen)
        gains = dict.fromkeys(kept, 1.0)
        while kept and not self.deadline.expired():
            p = self.basis.shape[1]
            chances: dict[int, float] = {}
            for column in kept:
                smaller = _basis([self.root, *(values for columns, values in self.terms if column not in columns)])
                rest = self.target - smaller @ (smaller.T @ self.target)
                lost = max(float(rest @ rest) - full, 0.0)
                gains[column] = lost / total
                spare, free = p - smaller.shape[1], max(self.n - p, 1)
                ratio = lost / max(spare, 1) / max(full / free, 1e-300)
                chances[column] = float(fdtrc(max(spare, 1), free, ratio)) if math.isfinite(ratio) else 0.0
            worst = max(kept, key=lambda column: chances[column])
            if chances[worst] * self.shapes.n_columns <= self.chance or len(kept) == 1:
                break
            kept.remove(worst)
            self.terms = [(columns, values) for columns, values in self.terms if worst not in columns]
            self.fit()
            full = float(self.residual @ self.residual)
        return {column: gains[column] for column in kept}


def _basis(columns: list[Floats]) -> Floats:
    """Orthonormal columns that span the given ones."""
    A = np.column_stack(columns)
    A = A / np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    q, r = np.linalg.qr(A)
    return np.asarray(q[:, np.abs(np.diag(r)) > 1e-7])
