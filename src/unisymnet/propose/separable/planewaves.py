"""A wave along several columns, which may fade: view(y) = c + b·x + m·exp(k·x)·sin(w·x + φ), m a power of a column.

A sine of a sum is no sum of functions of single columns, and looks like noise to most other stages.  All frequencies
of all columns together are a spectrum, which one product of matrices computes; its highest peaks are refined.  Waves
in one column are curves.py's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray

from ...arrays import DIGITS_9, Bools, Floats, Ints
from ...candidate import Proposal
from ...fit.steps import least_squares
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, product, total
from ..pool import Pool, Stage, Task
from ..view.views import View, views_of

__all__ = ["PlaneWaves"]


VIEWS = ("y", "1/y", "y**2", "ln(y)")
EXPONENTS = (1.0, -1.0, 2.0)
CELLS = {2: 61, 3: 33, 4: 17}  # frequencies of a column, of either sign, half a period apart
LEAST_STEPS = 2  # half periods over the ranges of all columns: less is a bend, not a wave
LEAST_ROWS = 30
LEAST_GAIN = 0.3  # of what a line leaves, that a wave must explain under noise
DONE = DIGITS_9
CHANCE = 3.0  # times the height that the highest peak of noise has


@dataclass(frozen=True)
class PlaneWaves(Stage):
    """Settings: exact laws only unless the data are ``noisy``; rows, peaks to refine for each target, seconds."""

    name: str = "planewaves"
    noisy: bool = False
    max_rows: int = 300
    n_peaks: int = 3
    seconds: float = 1.5

    def suits(self, problem: Problem) -> bool:
        return problem.n_features in CELLS and problem.n_rows >= LEAST_ROWS and problem.allows("sin", "cos")

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, pool, deadline = task.problem, task.pool, task.deadline
        rows = task.some_rows(self.max_rows)
        spectrum = _Spectrum.of(problem.X[rows])
        for view, factor in _targets(problem):
            wave = _Wave.of(problem, rows, view, factor)
            for start in [] if wave is None else spectrum.peaks(wave.rest(), self.n_peaks):
                if deadline.expired():
                    return
                if wave is not None and wave.into(pool, start) < DONE:
                    yield from pool.proposals(1)
                    return
        if self.noisy:
            pool.settle(4, deadline)
            yield from pool.proposals(2)


def _targets(problem: Problem) -> Iterator[tuple[View, tuple[int, float] | None]]:
    """Views of y, and for y itself the power of a column that the wave is multiplied with."""
    views = views_of(problem, VIEWS)
    for view in views:
        yield view, None
    for j in range(problem.n_features):
        if np.all(problem.X[:, j] != 0.0):
            for exponent in EXPONENTS:
                yield views[0], (j, exponent)


@dataclass(frozen=True)
class _Spectrum:
    """Cosine and sine of every frequency along every column."""

    steps: Floats  # between two frequencies, for each column
    waves: list[NDArray[np.complex128]]  # (frequencies, rows) of each column; of the first only those >= 0

    @classmethod
    def of(cls, X: Floats) -> _Spectrum:
        reach = CELLS[X.shape[1]] // 2
        spans = np.ptp(X, axis=0)
        steps = math.pi / np.where(spans > 0.0, spans, np.inf)
        middle = X - (X.max(axis=0) + X.min(axis=0)) / 2.0
        waves = []
        for j, step in enumerate(steps):
            counts = np.arange(0 if j == 0 else -reach, reach + 1)
            waves.append(np.exp(1j * np.outer(counts * step, middle[:, j])))
        return cls(steps, waves)

    def peaks(self, target: Floats, count: int) -> list[Floats]:
        """Frequencies of the highest peaks that are higher than chance makes them."""
        half = len(self.waves) // 2
        left, right = (reduce(_all_products, part) for part in (self.waves[:half], self.waves[half:]))
        power = np.abs((left * target) @ right.T) ** 2
        power = power.reshape([len(w) for w in self.waves])
        reach = CELLS[len(self.waves)] // 2
        places = [np.abs(np.arange(len(w)) - (0 if j == 0 else reach)) for j, w in enumerate(self.waves)]
        far = reduce(np.add.outer, places)
        power[far < LEAST_STEPS] = 0.0
        least = CHANCE * float(target @ target) * math.log(power.size)
        found: list[Floats] = []
        for _ in range(count):
            best = np.unravel_index(int(power.argmax()), power.shape)
            if not power[best] > least:
                break
            centre = np.array([b if j == 0 else b - reach for j, b in enumerate(best)])
            found.append(centre * self.steps)
            power[tuple(slice(max(b - 1, 0), b + 2) for b in best)] = 0.0
        return found


def _all_products(a: NDArray[np.complex128], b: NDArray[np.complex128]) -> NDArray[np.complex128]:
    return (a[:, None, :] * b[None, :, :]).reshape(-1, a.shape[1])


@dataclass(frozen=True)
class _Wave:
    """v = line @ c + m·exp(k·x)·(A·cos(w·x) + B·sin(w·x)); parameters are c, A, B, w, k."""

    X: Floats
    target: Floats
    factor: Floats
    power: tuple[int, float] | None
    view: View
    fades: bool

    @classmethod
    def of(cls, problem: Problem, rows: Ints, view: View, power: tuple[int, float] | None) -> _Wave | None:
        X, target = problem.X[rows], view.values(problem.y[rows])
        factor = np.ones(len(rows)) if power is None else X[:, power[0]] ** power[1]
        fine = np.isfinite(target).all() and np.isfinite(factor).all()
        fades = view.name == "y" and problem.allows("exp")
        return cls(X, target, factor, power, view, fades) if fine and np.ptp(target) > 0.0 else None

    @property
    def line(self) -> Floats:
        return np.column_stack([np.ones(len(self.X)), self.X])

    def rest(self) -> Floats:
        """What a line leaves of the target, over the wave's factor."""
        target, columns = self.target / self.factor, self.line / self.factor[:, None]
        rest = target - columns @ np.linalg.lstsq(columns, target, rcond=None)[0]
        return np.asarray(rest - rest.mean())

    def into(self, pool: Pool, start: Floats) -> float:
        """Refine a wave from its frequencies and put it into the pool; the share that it leaves, in norm."""
        columns, off = self.line, math.inf
        least = np.linalg.lstsq(columns, self.target, rcond=None)[0]
        size, left = (float(np.sum((self.target - v) ** 2)) for v in (self.target.mean(), columns @ least))
        waves = self._waves(start, np.zeros_like(start))
        linear = np.linalg.lstsq(np.column_stack([columns, waves]), self.target, rcond=None)[0]
        params = np.concatenate([linear, start, np.zeros_like(start)])
        for moving in self._variants(start):
            model = partial(self.model, moving=moving)
            found, rss, _ = least_squares(model, params, self.target, steps=25)
            off = math.sqrt(rss / size) if math.isfinite(rss) else math.inf
            if not rss < (1.0 - LEAST_GAIN) * left:
                break
            for expr in self.spellings(found, off):
                pool.add(expr)
            if off < DONE:
                break
        return off

    def _variants(self, start: Floats) -> Iterator[Bools]:
        """Which frequencies and which rates of fading may move: those of the peak, all frequencies, everything."""
        none = np.zeros(len(start), dtype=bool)
        yield np.concatenate([start != 0.0, none])
        if (start == 0.0).any():
            yield np.concatenate([~none, none])
        if self.fades:
            yield np.ones(2 * len(start), dtype=bool)

    def model(self, params: Floats, moving: Bools) -> tuple[Floats, Floats]:
        """Values and Jacobian; frequencies and rates that are not ``moving`` stay what they are."""
        d = self.X.shape[1]
        line, (a, b), w, k = np.split(params, [d + 1, d + 3, 2 * d + 3])
        waves = self._waves(w, k)
        slope, height = b * waves[:, 0] - a * waves[:, 1], waves @ (a, b)
        moves = np.hstack([self.X * slope[:, None], self.X * height[:, None]])
        return self.line @ line + height, np.column_stack([self.line, waves, np.where(moving, moves, 0.0)])

    def _waves(self, w: Floats, k: Floats) -> Floats:
        angle = self.X @ w
        fading = self.factor * np.exp(self.X @ k)
        return np.column_stack([np.cos(angle), np.sin(angle)]) * fading[:, None]

    def spellings(self, params: Floats, off: float) -> Iterator[Expr]:
        """The law with as much of the line as may be needed, and without any."""
        d = self.X.shape[1]
        line, (a, b), w, k = np.split(params, [d + 1, d + 3, 2 * d + 3])
        turns = round(2.0 * math.atan2(a, b) / math.pi)
        phase = math.atan2(a, b) - turns * math.pi / 2.0
        shift: list[Expr] = [Const(phase)] if abs(phase) > DONE else []
        wave = Call("cos" if turns % 2 else "sin", (total([*self._sum(w, max(off, DONE)), *shift]),))
        height = math.hypot(a, b) * (-1.0 if turns % 4 in (2, 3) else 1.0)
        parts: list[Expr] = [Const(height)]
        if self.power is not None:
            parts.append(Var(self.power[0]) if self.power[1] == 1.0 else Var(self.power[0]) ** self.power[1])
        fading = self._sum(k, max(off, DONE))
        parts += [Call("exp", (total(fading),))] if fading else []
        least = float(np.std(self.target)) * max(off, DONE)
        terms: list[Expr] = [Const(float(line[0]))] if abs(line[0]) > least else []
        terms += self._sum(line[1:], least)
        for some in (terms, terms[:1], []) if len(terms) > 1 else (terms, []) if terms else ([],):
            yield self.view.invert(total([*some, product([*parts, wave])]))

    def _sum(self, coefficients: Floats, least: float) -> list[Expr]:
        """The columns with coefficients that matter."""
        felt = np.abs(coefficients) * np.std(self.X, axis=0) > least
        return [product([Const(float(coefficients[j])), Var(j)]) for j in range(len(felt)) if felt[j]]
