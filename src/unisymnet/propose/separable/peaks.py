"""Peaks and steps in one input on a straight line: y = a + b·x + Σ c·u((x − m)/s).

u is exp(−s²), 1/(1 + s²), tanh (a logistic curve is one) or atan.  Spectra, dose-response curves and switches are of
this kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...candidate import Proposal
from ...symbolic.expr import Call, Const, Expr, Var, product, total
from ..stage import Stage, Task
from .curves import Curves, Unit

__all__ = ["Peaks"]

PLACES = np.linspace(-1.2, 1.2, 49)  # 0 is the middle of the range, 1 its end
WIDTHS = np.geomspace(0.02, 2.0, 10)
SHAPES = {"gauss": "exp", "lorentz": "div", "tanh": "tanh", "atan": "atan"}  # and the operator that each needs
NARROWEST, WIDEST, FARTHEST = 2e-3, 20.0, 3.0


@dataclass(frozen=True)
class Peaks(Stage):
    """Settings: peaks or steps at most, rows; ``noisy`` as in curves.py."""

    name: str = "peaks"
    n_peaks: int = 3
    noisy: bool = False
    max_rows: int = 400

    def asked(self, task: Task) -> Iterator[Proposal]:
        curves = Curves(self.n_peaks, self.noisy, self.max_rows)
        kinds = [_Peak(shape) for shape, needed in SHAPES.items() if task.problem.allows(needed)]
        yield from curves.proposals(task, kinds)


@dataclass(frozen=True)
class _Peak:
    """u(k·(t − m)): the inner constants are m and k."""

    shape: str
    n_linear: int = 1
    n_inner: int = 2
    n_spellings: int = 1

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
