"""Losses: mean squares, Huber and quantile, and how the last two are fitted with weighted squares.

By majorisation: each round replaces the loss by parabolas that touch it at the present residuals and lie above it
elsewhere (Hunter & Lange 2000 for quantiles), and fits those; what lowers the parabolas lowers the loss.  Knows no
formula: the caller passes how to fit weighted squares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Floats

LOSSES = ("mse", "huber", "quantile")
_MAX_ROUNDS = 200
_TOL = 1e-9


@dataclass(frozen=True)
class Loss:
    """``kind`` is one of LOSSES; ``parameter`` is Huber's threshold or the quantile's level."""

    kind: str = "mse"
    parameter: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in LOSSES:
            raise ValueError(f"unknown loss {self.kind!r}; known are {', '.join(LOSSES)}")
        if self.kind == "huber" and not self.parameter > 0:
            raise ValueError(f"the threshold of the Huber loss must be positive, got {self.parameter}")
        if self.kind == "quantile" and not 0 < self.parameter < 1:
            raise ValueError(f"the level of the quantile loss must lie between 0 and 1, got {self.parameter}")

    def rows(self, residuals: Floats) -> Floats:
        """The loss of each row; residuals are y minus prediction."""
        size = np.abs(residuals)
        if self.kind == "mse":
            return np.asarray(size * size)
        if self.kind == "huber":
            return np.where(size <= self.parameter, 0.5 * size * size, self.parameter * (size - 0.5 * self.parameter))
        return np.where(residuals >= 0, self.parameter, 1.0 - self.parameter) * size

    def mean(self, residuals: Floats, weights: Floats | None) -> float:
        """(Weighted) mean loss; residuals are y minus prediction."""
        values = self.rows(residuals)
        return float(values.mean() if weights is None else weights @ values / weights.sum())

    def in_squares(self, value: float) -> float:
        """A mean loss L as a mean square, so that n/2 ln of it is the likelihood that belongs to the loss.

        Mean squares are that already; Huber's loss is half of them near zero; for quantiles, Laplace's n ln L.
        """
        return {"mse": value, "huber": 2.0 * value, "quantile": value * value}[self.kind]

    def scaled(self, unit: float) -> Loss:
        """The same loss for residuals that are counted in ``unit``."""
        return Loss(self.kind, self.parameter / unit) if self.kind == "huber" else self

    @property
    def keywords(self) -> dict[str, Any]:
        """What ``fit_tape`` and ``fit_constants`` are told."""
        named = {"huber": {"delta": self.parameter}, "quantile": {"tau": self.parameter}}
        return {"loss": self.kind, **named.get(self.kind, {})}

    def slope(self, residuals: Floats) -> Floats:
        """Derivative of the loss by each residual."""
        if self.kind == "mse":
            return 2.0 * residuals
        if self.kind == "huber":
            return np.clip(residuals, -self.parameter, self.parameter)
        return np.where(residuals >= 0.0, self.parameter, self.parameter - 1.0)

    def parabola(self, residuals: Floats, edge: float) -> tuple[Floats, Floats]:
        """(shift, weight): weight * (residual + shift)^2 touches the loss, up to a factor; ``edge`` > 0 rounds |r|."""
        size = np.abs(residuals)
        if self.kind == "huber":
            return np.zeros_like(size), self.parameter / np.maximum(size, self.parameter)
        return (2.0 * self.parameter - 1.0) * (size + edge), 1.0 / (size + edge)


def refine(
    loss: Loss,
    params: Floats,
    y: Floats,
    weights: Floats | None,
    predict: Callable[[Floats], Floats],
    fit_squares: Callable[[Floats, Floats, Floats], Floats],
) -> tuple[Floats, float]:
    """Improve ``params`` for the loss; ``fit_squares(params, y, weights)`` improves weighted squares."""
    best, best_value = params, loss.mean(y - predict(params), weights)
    for _ in range(_MAX_ROUNDS):
        residuals = y - predict(best)
        # The parabola of |r| needs a smallest width; as a part of the loss it vanishes with it.
        shift, weight = loss.parabola(residuals, 1e-5 * best_value)
        if not best_value > 0.0 or not np.isfinite(weight).all():
            break
        params = fit_squares(best, y + shift, weight if weights is None else weight * weights)
        value = loss.mean(y - predict(params), weights)
        if not value < best_value:
            break
        settled = best_value - value <= _TOL * best_value
        best, best_value = params, value
        if settled:
            break
    return best, best_value
