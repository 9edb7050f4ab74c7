"""A line and a few components in one input, found one after the other: y = a + b·x + Σ components.

The strongest component of a grid is taken, all constants are refined together, and the next is looked for in what is
left.  What components are (waves, peaks, steps) is their own affair: oscillations.py and peaks.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product as combinations_of
from typing import Protocol

import numpy as np

from ...arrays import Floats, Ints
from ...candidate import Proposal
from ...deadline import Deadline
from ...problem import Problem
from ...symbolic.expr import Const, Expr, Var, product, total
from ..pool import Pool, least_squares
from ..stage import Task

__all__ = ["DONE", "Component", "Curves", "Unit"]


LEAST_ROWS = 12
LEAST_GAIN = 0.2  # of what is left, that a component must explain to be one
DONE = 1e-9  # residual over the spread below which nothing is left


@dataclass(frozen=True)
class Unit:
    """How the input is measured here: from the middle of its range, in half ranges."""

    middle: float
    half: float


class Component(Protocol):
    """One kind of component: a sum of linear coefficients times columns that depend on inner constants."""

    @property
    def n_linear(self) -> int: ...

    @property
    def n_inner(self) -> int: ...

    @property
    def n_spellings(self) -> int: ...

    def grid(self, t: Floats) -> Floats:
        """Inner constants (G, n_inner) to start from."""
        ...

    def columns(self, inner: Floats, t: Floats) -> Floats:
        """Columns (…, n_linear, n) for inner constants (…, n_inner)."""
        ...

    def slopes(self, inner: Floats, t: Floats) -> Floats:
        """Derivatives (n_inner, n_linear, n) of the columns by each inner constant."""
        ...

    def is_sound(self, inner: Floats) -> bool:
        """Is this still a component of its kind, after refinement?"""
        ...

    def written(self, linear: Floats, inner: Floats, unit: Unit, spelling: int) -> Expr:
        """The component as a formula of x0, in one of its spellings."""
        ...


@dataclass(frozen=True)
class Curves:
    """Sums of up to ``most`` components: exact laws only, unless the data are ``noisy``.

    Waves or peaks follow anything smooth nearly, so that on clean data nearly is not enough.
    """

    most: int
    noisy: bool
    max_rows: int

    def proposals(self, task: Task, kinds: Iterable[Component]) -> Iterator[Proposal]:
        problem, pool, deadline = task.problem, task.pool, task.deadline
        if problem.n_features > 1 or problem.n_rows < LEAST_ROWS:
            return
        rows = task.some_rows(self.max_rows)
        done = False
        for kind in kinds:
            done = self._added_one_by_one(_Rows.of(problem, rows, kind), pool, deadline) < DONE
            if done or deadline.expired():
                break
        if self.noisy or done:
            pool.settle(6, deadline)
            yield from pool.proposals(2)

    def _added_one_by_one(self, data: _Rows, pool: Pool, deadline: Deadline) -> float:
        """Fill the pool; the residual over the spread in the end."""
        params, off = np.zeros(2), 1.0
        for _ in range(min(self.most, len(data.t) // 8)):
            before = data.left(params)
            start = np.concatenate([params, data.strongest(params)])
            params, rss, _ = least_squares(data.model, start, data.y, data.weight, steps=60)
            sound = all(data.kind.is_sound(inner) for _, inner in data.components(params))
            if deadline.expired() or not sound or not rss < (1.0 - LEAST_GAIN) * before:
                break
            off = math.sqrt(rss / len(data.t)) / pool.problem.spread
            if self.noisy or off < DONE:
                for expr in data.spellings(params, off):
                    pool.add(expr)
            if off < DONE:
                break
        return off


@dataclass(frozen=True)
class _Rows:
    """The input, the target, roots of the weights; parameters are a, b, then linear and inner ones of components."""

    t: Floats
    y: Floats
    weight: Floats
    unit: Unit
    kind: Component

    @classmethod
    def of(cls, problem: Problem, rows: Ints, kind: Component) -> _Rows:
        x = problem.X[rows, 0]
        unit = Unit((float(x.max()) + float(x.min())) / 2.0, float(np.ptp(x)) / 2.0 or 1.0)
        return cls((x - unit.middle) / unit.half, problem.y[rows], np.sqrt(problem.weights[rows]), unit, kind)

    def components(self, params: Floats) -> list[tuple[Floats, Floats]]:
        """Linear and inner constants of each component."""
        n = self.kind.n_linear
        return [(row[:n], row[n:]) for row in params[2:].reshape(-1, n + self.kind.n_inner)]

    def model(self, params: Floats) -> tuple[Floats, Floats]:
        """Values and Jacobian."""
        jacobian = [np.ones_like(self.t), self.t]
        values = params[0] + params[1] * self.t
        for linear, inner in self.components(params):
            columns = self.kind.columns(inner, self.t)
            values = values + linear @ columns
            jacobian += [*columns, *(linear @ slope for slope in self.kind.slopes(inner, self.t))]
        return values, np.column_stack(jacobian)

    def left(self, params: Floats) -> float:
        """What the best line and the components leave of the target: a sum of squares."""
        residual = self._residual(params)
        return float(residual @ residual)

    def _residual(self, params: Floats) -> Floats:
        residual = self.weight * (self.y - self.model(params)[0])
        line = self._line()
        return np.asarray(residual - line @ (line.T @ residual))

    def _line(self) -> Floats:
        return np.asarray(np.linalg.qr(np.column_stack([np.ones_like(self.t), self.t]) * self.weight[:, None])[0])

    def strongest(self, params: Floats) -> Floats:
        """Constants of the component of the grid that explains most of what is left beside a line."""
        line, target, grid = self._line(), self._residual(params), self.kind.grid(self.t)
        columns = self.kind.columns(grid, self.t) * self.weight
        columns = columns - (columns @ line) @ line.T
        gram = columns @ columns.transpose(0, 2, 1)
        cross = columns @ target
        ridge = 1e-9 * np.trace(gram, axis1=1, axis2=2)[:, None, None] + 1e-300
        linear = np.linalg.solve(gram + ridge * np.eye(self.kind.n_linear), cross[:, :, None])[:, :, 0]
        best = int(np.argmax(np.einsum("gc,gc->g", linear, cross)))
        return np.concatenate([linear[best], grid[best]])

    def spellings(self, params: Floats, off: float) -> Iterator[Expr]:
        """The law in the problem's own input, with as much of the line as may be needed."""
        size = float(np.std(self.y)) * max(off, DONE)
        slope = float(params[1]) / self.unit.half
        level = float(params[0]) - slope * self.unit.middle
        lines: list[Sequence[Expr]] = [(Const(level), product([Const(slope), Var(0)]))]
        if abs(slope) * self.unit.half < size:
            lines.append((Const(float(params[0])),))
            if abs(float(params[0])) < size:
                lines.append(())
        for spelling, line in combinations_of(range(self.kind.n_spellings), lines):
            parts = [self.kind.written(*constants, self.unit, spelling) for constants in self.components(params)]
            yield total([*line, *parts])
