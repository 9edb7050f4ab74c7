"""A line and a few components in one input, found one after the other: y = a + b·x + Σ components.

The strongest component of a grid is taken, all constants are refined together, and the next is looked for in what is
left.  Two kinds: waves, damped or not, exp(−k·x)·(A·cos(ωx) + B·sin(ωx)), as in beats and tides, also along x², 1/x or
ln x; peaks and steps c·u((x − m)/s) with u = exp(−s²), 1/(1 + s²), tanh (a logistic curve is one) or atan, as in
spectra and switches.  Waves times other functions, or in several inputs, are for modulated, planewaves and evolution.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product as combinations_of
from typing import Protocol

import numpy as np

from ...arrays import DIGITS_9, TINY, Floats, Ints
from ...candidate import Proposal
from ...deadline import Deadline
from ...fit.steps import least_squares
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, evaluate, product, rebuild, total
from ..pool import Pool, Stage, Task

__all__ = ["Component", "Curves", "DONE", "Oscillations", "Peaks", "Unit"]

LEAST_ROWS = 12
FAR_LESS, INPUT = 0.3, Var(0)
LEAST_GAIN = 0.2  # of what is left, that a component must explain to be one
DONE = DIGITS_9  # residual over the spread below which nothing is left


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
class Curves(Stage):
    """Sums of up to ``most`` components: exact laws only, unless the data are ``noisy``.

    Waves or peaks follow anything smooth nearly, so that on clean data nearly is not enough.
    """

    most: int = 3
    noisy: bool = False
    max_rows: int = 400

    def suits(self, problem: Problem) -> bool:
        return problem.n_features == 1 and problem.n_rows >= LEAST_ROWS

    def kinds(self, problem: Problem) -> Sequence[Component]:
        """The kinds of components that the operators allow."""
        raise NotImplementedError

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, pool, deadline = task.problem, task.pool, task.deadline
        rows = task.some_rows(self.max_rows)
        done = False
        for data in (data for kind in self.kinds(problem) for data in self._tables(problem, rows, kind)):
            done = self._added_one_by_one(data, pool, deadline) < DONE
            if done or deadline.expired():
                break
        if self.noisy or done:
            pool.settle(6, deadline)
            yield from pool.proposals(2)

    def arguments(self, problem: Problem) -> Sequence[Expr]:
        """What components may run along beside the input itself."""
        return ()

    def _tables(self, problem: Problem, rows: Ints, kind: Component) -> Iterator[_Rows]:
        """Another argument first, if one component along it leaves far less than one along the input."""
        plain = _Rows.of(problem, rows, kind)
        others = [_Rows.of(problem, rows, kind, argument) for argument in self.arguments(problem)]
        best = min(others, key=lambda data: data.after_one(), default=plain)
        if best.after_one() < FAR_LESS * plain.after_one():
            yield best
        yield plain

    def _added_one_by_one(self, data: _Rows, pool: Pool, deadline: Deadline) -> float:
        """Fill the pool; the residual over the spread in the end."""
        params, off = np.zeros(2), 1.0
        for _ in range(min(self.most, len(data.t) // 8)):
            before = data.left(params)
            start = np.concatenate([params, data.strongest(params)[0]])
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
    argument: Expr

    @classmethod
    def of(cls, problem: Problem, rows: Ints, kind: Component, argument: Expr = INPUT) -> _Rows:
        x = evaluate(argument, problem.X[rows])
        unit = Unit((float(x.max()) + float(x.min())) / 2.0, float(np.ptp(x)) / 2.0 or 1.0)
        return cls((x - unit.middle) / unit.half, problem.y[rows], np.sqrt(problem.weights[rows]), unit, kind, argument)

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

    def after_one(self) -> float:
        """What a line and the strongest component of the grid leave: a sum of squares."""
        return self.left(np.zeros(2)) - self.strongest(np.zeros(2))[1]

    def strongest(self, params: Floats) -> tuple[Floats, float]:
        """Constants of the component of the grid that explains most of what is left beside a line, and the sum of
        squares that it explains."""
        line, target, grid = self._line(), self._residual(params), self.kind.grid(self.t)
        columns = self.kind.columns(grid, self.t) * self.weight
        columns = columns - (columns @ line) @ line.T
        gram = columns @ columns.transpose(0, 2, 1)
        cross = columns @ target
        ridge = DIGITS_9 * np.trace(gram, axis1=1, axis2=2)[:, None, None] + TINY
        linear = np.linalg.solve(gram + ridge * np.eye(self.kind.n_linear), cross[:, :, None])[:, :, 0]
        explained = np.einsum("gc,gc->g", linear, cross)
        best = int(np.argmax(explained))
        return np.concatenate([linear[best], grid[best]]), float(explained[best])

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
            law = total([*line, *parts])
            yield rebuild(law, lambda node: self.argument if node == INPUT else node)


RATES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, -0.25, -0.5, -1.0)  # over half the range of the input
STEPS_A_PERIOD = 4  # frequencies within which one more period fits the range
MAX_LOG_HEIGHT = 30.0
LEAST_ANGLE = 0.5  # radians to either side of the middle: less is a bend, not a wave


@dataclass(frozen=True)
class Oscillations(Curves):
    """Waves; so many periods in the range of the input at most."""

    name: str = "oscillations"
    max_periods: float = 40.0

    def kinds(self, problem: Problem) -> Sequence[Component]:
        wave = _Wave(self.max_periods, n_spellings=2 if problem.allows("exp") else 1)
        return [wave] if problem.allows("sin", "cos") else []

    def arguments(self, problem: Problem) -> Sequence[Expr]:
        """Chirps, and fringes over the wavelength."""
        x = Var(0)
        if not np.all(problem.X > 0.0):
            return (Call("pow", (x, Const(2.0))),) if problem.allows("pow") else ()
        powers = [Call("pow", (x, Const(p))) for p in (2.0, 0.5, -1.0, -2.0) if problem.allows("pow")]
        return [*powers, *([Call("ln", (x,))] if problem.allows("ln") else [])]


@dataclass(frozen=True)
class _Wave:
    """exp(−k·t)·cos(ωt) and the same with a sine; spelling 1 keeps the damping, 0 leaves it out."""

    max_periods: float
    n_spellings: int
    n_linear = 2
    n_inner = 2

    def grid(self, t: Floats) -> Floats:
        periods = min(self.max_periods, len(t) / 4.0)
        frequencies = np.arange(1, int(STEPS_A_PERIOD * periods) + 1) * (math.pi / STEPS_A_PERIOD)
        return np.array([(k, w) for k in RATES for w in frequencies])

    def columns(self, inner: Floats, t: Floats) -> Floats:
        k, w = inner[..., :1], inner[..., 1:]
        fade, angle = np.exp(-k * t), w * t
        return np.stack([fade * np.cos(angle), fade * np.sin(angle)], axis=-2)

    def slopes(self, inner: Floats, t: Floats) -> Floats:
        cosine, sine = self.columns(inner, t)
        return np.array([[-t * cosine, -t * sine], [-t * sine, t * cosine]])

    def is_sound(self, inner: Floats) -> bool:
        return bool(abs(inner[1]) >= LEAST_ANGLE)

    def written(self, linear: Floats, inner: Floats, unit: Unit, spelling: int) -> Expr:
        (a, b), (rate, frequency) = linear.tolist(), (inner / unit.half).tolist()
        angle = math.atan2(a, b) - frequency * unit.middle
        # As the sine or cosine with the smallest phase: noise may hide that there is none.
        turns = round(2.0 * angle / math.pi)
        phase = angle - turns * math.pi / 2.0
        shift: list[Expr] = [Const(phase)] if abs(phase) > DONE else []
        inside = total([product([Const(frequency), Var(0)]), *shift])
        wave = Call("cos" if turns % 2 else "sin", (inside,))
        height = math.hypot(a, b) * (-1.0 if turns % 4 in (2, 3) else 1.0)
        if spelling == 0:
            return product([Const(height), wave])
        # Far from 0, as years are, the height at 0 may be beyond all numbers: then the height is that in the middle.
        start = 0.0 if abs(rate * unit.middle) < MAX_LOG_HEIGHT else unit.middle
        since = total([Var(0), Const(-start)]) if start else Var(0)
        fading = Call("exp", (product([Const(-rate), since]),))
        return product([Const(height * math.exp(rate * (unit.middle - start))), wave, fading])


PLACES = np.linspace(-1.2, 1.2, 49)  # 0 is the middle of the range, 1 its end
WIDTHS = np.geomspace(0.02, 2.0, 10)
SHAPES = {"gauss": "exp", "lorentz": "div", "tanh": "tanh", "atan": "atan"}  # and the operator that each needs
NARROWEST, WIDEST, FARTHEST = 2e-3, 20.0, 3.0


@dataclass(frozen=True)
class Peaks(Curves):
    """Peaks or steps."""

    name: str = "peaks"

    def kinds(self, problem: Problem) -> Sequence[Component]:
        return [_Peak(shape) for shape, needed in SHAPES.items() if problem.allows(needed)]


@dataclass(frozen=True)
class _Peak:
    """u(k·(t − m)): the inner constants are m and k."""

    shape: str
    n_linear = 1
    n_inner = 2
    n_spellings = 1

    def grid(self, t: Floats) -> Floats:
        return np.array([(m, 1.0 / s) for m in PLACES for s in WIDTHS])

    def columns(self, inner: Floats, t: Floats) -> Floats:
        return self._function(inner[..., 1:] * (t - inner[..., :1]))[0][..., None, :]

    def slopes(self, inner: Floats, t: Floats) -> Floats:
        m, k = inner
        slope = self._function(k * (t - m))[1]
        return np.array([[-k * slope], [(t - m) * slope]])

    def _function(self, s: Floats) -> tuple[Floats, Floats]:
        """u(s) and u'(s)."""
        if self.shape == "gauss":
            values = np.exp(-np.minimum(s * s, 700.0))
            return values, -2.0 * s * values
        if self.shape == "tanh":
            values = np.tanh(s)
            return values, 1.0 - values * values
        bell = 1.0 / (1.0 + s * s)
        return (bell, -2.0 * s * bell * bell) if self.shape == "lorentz" else (np.arctan(s), bell)

    def is_sound(self, inner: Floats) -> bool:
        m, k = np.abs(inner)
        return bool(m < FARTHEST and 1.0 / WIDEST < k < 1.0 / NARROWEST)

    def written(self, linear: Floats, inner: Floats, unit: Unit, spelling: int) -> Expr:
        place, rate = float(inner[0]) * unit.half + unit.middle, abs(float(inner[1])) / unit.half
        height = float(linear[0]) * (1.0 if self.shape in ("gauss", "lorentz") else float(np.sign(inner[1])))
        apart = total([Var(0), Const(-place)])
        if self.shape in ("tanh", "atan"):
            return product([Const(height), Call(self.shape, (product([Const(rate), apart]),))])
        square = product([Const(rate * rate), Call("pow", (apart, Const(2.0)))])
        if self.shape == "gauss":
            return product([Const(height), Call("exp", (product([Const(-1.0), square]),))])
        return product([Const(height), Call("pow", (total([square, Const(1.0)]), Const(-1.0)))])
