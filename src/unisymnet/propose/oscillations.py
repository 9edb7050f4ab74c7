"""Waves in one input, damped or not, on a straight line: y = a + b·x + Σ exp(−k·x)·(A·cos(ωx) + B·sin(ωx)).

The strongest wave of a grid of frequencies and rates is taken, all constants are refined together, and the next wave is
looked for in what is left.  Damped oscillations, beats and tides are of this kind.  Waves times other functions, or
in several inputs, are products.py's and pairs.py's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..candidate import ParetoFront, Proposal
from ..deadline import Deadline
from ..problem import Problem
from ..symbolic.expr import Call, Const, Expr, Var, product, total
from .score import Pool, is_constant, least_squares, sample_rows

__all__ = ["Oscillations"]

Floats = NDArray[np.float64]

RATES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, -0.5, -1.0, -2.0)  # over the span of x
STEPS_A_PERIOD = 4  # frequencies within which one more period fits the span
LEAST_GAIN = 0.2  # of what is left, that a wave must explain to be one
LEAST_ANGLE = 0.5  # radians to either side of the middle: less is a bend, not a wave
DONE = 1e-9  # residual over the spread below which nothing is left
# Waves follow anything smooth: what they leave is noise if it is larger than this, over the spread, and else a hint
# that the law is another one.
VISIBLE = 1e-3


@dataclass(frozen=True)
class Oscillations:
    """Settings: waves at most, periods in the span of the input at most, rows."""

    name: str = "oscillations"
    n_waves: int = 3
    max_periods: float = 40.0
    max_rows: int = 400

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        rows = sample_rows(problem.n_rows, self.max_rows, rng)
        if problem.n_features > 1 or len(rows) < 12 or not problem.allows("sin") or is_constant(problem):
            return
        data = _Rows.of(problem, rows)
        pool = Pool(problem, self.name)
        params, off = np.zeros(2), 1.0
        for _ in range(min(self.n_waves, len(rows) // 8)):
            before = data.left(params)
            start = data.strongest(params, min(self.max_periods, len(rows) / 4.0))
            params, rss, _ = least_squares(data.model, np.concatenate([params, start]), data.y, data.weight, steps=60)
            bent = np.abs(params[5::4]).min() < LEAST_ANGLE
            if deadline.expired() or bent or not rss < (1.0 - LEAST_GAIN) * before:
                break
            off = math.sqrt(rss / len(rows)) / problem.spread
            for expr in data.spellings(params, off, damped=problem.allows("exp")):
                pool.add(expr)
            if off < DONE:
                break
        if off > VISIBLE or off < DONE:
            pool.settle(6, deadline)
            yield from pool.proposals(2)


@dataclass(frozen=True)
class _Rows:
    """The one input (from its middle, in half spans), the target, and roots of the weights."""

    t: Floats
    y: Floats
    weight: Floats
    middle: float
    half: float

    @classmethod
    def of(cls, problem: Problem, rows: NDArray[np.intp]) -> _Rows:
        x = problem.X[rows, 0]
        middle, half = (float(x.max()) + float(x.min())) / 2.0, float(np.ptp(x)) / 2.0 or 1.0
        return cls((x - middle) / half, problem.y[rows], np.sqrt(problem.weights[rows]), middle, half)

    def model(self, params: Floats) -> tuple[Floats, Floats]:
        """Values and Jacobian; parameters are a, b, then A, B, k, ω of every wave."""
        columns = [np.ones_like(self.t), self.t]
        values = params[0] + params[1] * self.t
        for A, B, k, w in params[2:].reshape(-1, 4):
            fade = np.exp(-k * self.t)
            cosine, sine = fade * np.cos(w * self.t), fade * np.sin(w * self.t)
            wave = A * cosine + B * sine
            values = values + wave
            columns += [cosine, sine, -self.t * wave, self.t * (B * cosine - A * sine)]
        return values, np.column_stack(columns)

    def left(self, params: Floats) -> float:
        """What the best line and the waves of ``params`` leave of the target: a sum of squares."""
        residual = self._residual(params)
        return float(residual @ residual)

    def _residual(self, params: Floats) -> Floats:
        """Without waves of the target less the best line; with them of the model as it is."""
        if len(params) == 2:
            line = np.column_stack([np.ones_like(self.t), self.t]) * self.weight[:, None]
            target = self.y * self.weight
            return np.asarray(target - line @ np.linalg.lstsq(line, target, rcond=None)[0])
        return np.asarray(self.weight * (self.y - self.model(params)[0]))

    def strongest(self, params: Floats, periods: float) -> Floats:
        """A, B, k, ω of the wave of the grid that explains most of what is left beside a line."""
        line = np.linalg.qr(np.column_stack([np.ones_like(self.t), self.t]) * self.weight[:, None])[0]
        target = self._residual(params)
        frequencies = np.arange(1, int(STEPS_A_PERIOD * periods) + 1) * (math.pi / STEPS_A_PERIOD)
        best, found = -1.0, np.zeros(4)
        cosines, sines = np.cos(np.outer(frequencies, self.t)), np.sin(np.outer(frequencies, self.t))
        for k in np.array(RATES) / 2.0:
            fade = np.exp(-k * self.t) * self.weight
            c, s = (wave * fade - ((wave * fade) @ line) @ line.T for wave in (cosines, sines))
            cc, cs, ss = (np.einsum("ij,ij->i", p, q) for p, q in ((c, c), (c, s), (s, s)))
            cy, sy = c @ target, s @ target
            det = np.maximum(cc * ss - cs * cs, 1e-12 * cc * ss + 1e-300)
            A, B = (ss * cy - cs * sy) / det, (cc * sy - cs * cy) / det
            gain = A * cy + B * sy
            i = int(np.argmax(gain))
            if gain[i] > best:
                best, found = float(gain[i]), np.array([A[i], B[i], k, frequencies[i]])
        return found

    def spellings(self, params: Floats, off: float, *, damped: bool) -> Iterator[Expr]:
        """The law in the problem's own input, with and without rates, and with as much of the line as may be needed."""
        size = float(np.std(self.y)) * max(off, DONE)
        for rates in (True, False) if damped else (False,):
            waves = [self._wave(*map(float, wave), damped=rates) for wave in params[2:].reshape(-1, 4)]
            slope = float(params[1]) / self.half
            level = float(params[0]) - slope * self.middle
            yield total([Const(level), product([Const(slope), Var(0)]), *waves])
            if abs(slope) * self.half < size:
                yield total([Const(float(params[0])), *waves])
                if abs(float(params[0])) < size:
                    yield total(waves)

    def _wave(self, A: float, B: float, k: float, w: float, *, damped: bool) -> Expr:
        rate, frequency = k / self.half, w / self.half
        phase = math.remainder(math.atan2(A, B) - frequency * self.middle, 2.0 * math.pi)
        shift: list[Expr] = [Const(phase)] if abs(phase) > DONE else []
        wave = Call("sin", (total([product([Const(frequency), Var(0)]), *shift]),))
        height = Const(math.hypot(A, B) * (math.exp(rate * self.middle) if damped else 1.0))
        return product([height, wave, *([Call("exp", (product([Const(-rate), Var(0)]),))] if damped else [])])
