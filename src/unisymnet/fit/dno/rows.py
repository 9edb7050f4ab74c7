"""The rows that a network is trained on, and how its values are compared with them.  Knows no network."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Rows:
    """Training rows as tensors; ``weights`` have mean 1.

    With ``chordal`` (for each restart) the target is bent: beside a pole a few rows would otherwise be all that
    counts, and no start comes near them.  True compares chords of the projective line, where +∞ and -∞ are one point
    and a pole is like any other place; False compares asinh, which is ln for what is large.
    """

    x: Tensor
    y: Tensor
    weights: Tensor
    chordal: Tensor | None = None

    def scaled(self, bend: float, n_restarts: int) -> tuple[Rows, Tensor, float]:
        """Columns and target of size one, and the scales; the target is bent if its median is below ``bend`` times
        its root mean square."""
        x_scales = self.x.square().mean(dim=0).sqrt()
        x_scales = torch.where(x_scales > 0.0, x_scales, torch.ones_like(x_scales))
        y_scale = float(self.y.square().mean().sqrt()) or 1.0
        usual = float(self.y.abs().median())
        chordal = None
        if bend * y_scale > usual > 0.0:
            y_scale = usual
            # Kinds change in fours: hints and plain exponents (network.py) change faster.
            chordal = torch.arange(n_restarts)[:, None] // 4 % 2 == 0
        return Rows(self.x / x_scales, self.y / y_scale, self.weights, chordal), x_scales, y_scale

    def straight(self) -> Rows:
        return replace(self, chordal=None)

    def all_chordal(self) -> Rows:
        """With one kind of comparison for all restarts, if the target is bent."""
        return self if self.chordal is None else replace(self, chordal=torch.tensor(True))

    def part(self, picked: Tensor | slice) -> Rows:
        return Rows(self.x[picked], self.y[picked], self.weights[picked], self.chordal)

    def errors(self, values: Tensor) -> Tensor:
        """What every restart misses in every row."""
        if self.chordal is None:
            return values - self.y
        chords = (values - self.y) / torch.sqrt((1.0 + values**2) * (1.0 + self.y**2))
        return torch.where(self.chordal, chords, torch.asinh(values) - torch.asinh(self.y))

    def bend(self, values: Tensor) -> Tensor:
        """The derivative of the errors by the values."""
        if self.chordal is None:
            return torch.ones_like(values)
        flat = 1.0 / torch.sqrt(1.0 + values**2)
        chords = (1.0 + values * self.y) * flat**3 / torch.sqrt(1.0 + self.y**2)
        return torch.where(self.chordal, chords, flat)

    def split(self, share: float, *, rng: np.random.Generator) -> tuple[Rows, Rows | None]:
        """Rows to train on and, where there are enough, a share of them on which an overfitted network shows."""
        if not share or len(self.y) < 50:
            return self, None
        order = rng.permutation(len(self.y))
        n_held = int(share * len(self.y))
        held, kept = (torch.from_numpy(np.sort(part)) for part in (order[:n_held], order[n_held:]))
        return self.part(kept), self.part(held)

    def losses(self, values: Tensor) -> Tensor:
        """Mean squared error of every restart, inf where it is undefined."""
        losses = (self.errors(values) ** 2 * self.weights).mean(dim=1)
        return torch.where(torch.isfinite(losses), losses, torch.inf)
