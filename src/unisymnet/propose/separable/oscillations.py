"""Waves in one input, damped or not, on a straight line: y = a + b·x + Σ exp(−k·x)·(A·cos(ωx) + B·sin(ωx)).

Damped oscillations, beats and tides are of this kind.  Waves times other functions, or in several inputs, are
products.py's, pairs.py's and modulated.py's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...candidate import Proposal
from ...symbolic.expr import Call, Const, Expr, Var, product, total
from ..stage import Stage, Task
from .curves import DONE, Component, Curves, Unit

__all__ = ["Oscillations"]

RATES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, -0.25, -0.5, -1.0)  # over half the range of the input
STEPS_A_PERIOD = 4  # frequencies within which one more period fits the range
MAX_LOG_HEIGHT = 30.0
LEAST_ANGLE = 0.5  # radians to either side of the middle: less is a bend, not a wave


@dataclass(frozen=True)
class Oscillations(Stage):
    """Settings: waves at most, periods in the range of the input at most, rows; ``noisy`` as in curves.py."""

    name: str = "oscillations"
    n_waves: int = 3
    max_periods: float = 40.0
    noisy: bool = False
    max_rows: int = 400

    def asked(self, task: Task) -> Iterator[Proposal]:
        curves = Curves(self.n_waves, self.noisy, self.max_rows)
        wave = _Wave(self.max_periods, n_spellings=2 if task.problem.allows("exp") else 1)
        kinds: list[Component] = [wave] if task.problem.allows("sin", "cos") else []
        yield from curves.proposals(task, kinds)


@dataclass(frozen=True)
class _Wave:
    """exp(−k·t)·cos(ωt) and the same with a sine; spelling 1 keeps the damping, 0 leaves it out."""

    max_periods: float
    n_spellings: int
    n_linear: int = 2
    n_inner: int = 2

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
