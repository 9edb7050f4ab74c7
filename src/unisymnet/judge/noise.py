"""How the size of the noise depends on the value: equal, relative, as of counts, both kinds, heavy tails.

A model gives each row a weight in units of 1/standard deviation, up to one common factor that the judge integrates
out.  Which model holds is paid for with ``nats``.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SMALLEST = 1e-3  # of the median size: nearer to zero, relative noise would vanish
LARGEST = 1e100  # values whose squares can still be stored
ROUGHLY = 0.05  # the same for weights from noisy values
TAILS = 3.0  # degrees of freedom of Student's distribution


@dataclass(frozen=True)
class NoiseModel:
    """``kind`` is a name of KINDS; ``ratio`` is relative to equal noise at the median value, for "both"."""

    kind: str
    nats: float
    ratio: float = 0.0

    def roots(self, values: Floats, residuals: Floats) -> Floats:
        """1/standard deviation of each row, up to a common factor."""
        if self.kind == "equal":
            return np.ones(len(values))
        if self.kind == "heavy tails":
            scale = robust_scale(residuals)
            return np.asarray(np.sqrt((TAILS + 1.0) / (TAILS + (residuals / scale) ** 2)))
        sizes = np.abs(values)
        middle = float(np.median(sizes)) or 1.0
        sizes = np.clip(sizes / middle, SMALLEST, LARGEST)
        if self.kind == "relative":
            return 1.0 / sizes
        if self.kind == "counts":
            return 1.0 / np.sqrt(sizes)
        return 1.0 / np.sqrt(1.0 + (self.ratio * sizes) ** 2)

    def __str__(self) -> str:
        return WORDS[self.kind]


WORDS = {
    "equal": "the same for every row",
    "relative": "proportional to the value",
    "counts": "growing with the square root of the value, as of counts",
    "both": "partly the same for every row, partly proportional to the value",
    "heavy tails": "the same for every row, with outliers",
}
MODELS: tuple[NoiseModel, ...] = (
    NoiseModel("equal", -math.log(0.55)),
    NoiseModel("relative", -math.log(0.18)),
    NoiseModel("counts", -math.log(0.09)),
    *(NoiseModel("both", -math.log(0.03), ratio) for ratio in (0.3, 1.0, 3.0)),
    NoiseModel("heavy tails", -math.log(0.09)),
)
KINDS = tuple(WORDS)
EQUAL = MODELS[0]


def models_called(kind: str | None) -> tuple[NoiseModel, ...]:
    """The models to choose from: all, or those of a kind that the user knows."""
    return MODELS if kind is None else tuple(model for model in MODELS if model.kind == kind)


def read_noise(given: object) -> tuple[float | None, str | None]:
    """The noise that a user tells: a standard deviation, the name of a model, or nothing."""
    if given is None:
        return None, None
    if isinstance(given, str):
        if given not in WORDS:
            raise ValueError(f"noise must be a positive number or one of {', '.join(WORDS)}, got {given!r}")
        return None, given
    if isinstance(given, bool) or not isinstance(given, numbers.Real) or not float(given) > 0.0:
        names = ", ".join(map(repr, WORDS))
        raise ValueError(f"noise must be a positive number, None or one of {names}, got {given!r}")
    return float(given), None


def told_weights(kind: str | None, y: Floats) -> Floats:
    """Weights for a search before any formula is known: the noisy values stand for the true ones."""
    if kind not in ("relative", "counts", "both"):
        return np.ones(len(y))
    sizes = np.maximum(np.abs(y) / (float(np.median(np.abs(y))) or 1.0), ROUGHLY)
    return 1.0 / sizes if kind == "counts" else 1.0 / sizes**2


def robust_scale(residuals: Floats, rounds: int = 12) -> float:
    """Scale of Student's distribution with TAILS degrees of freedom, by its likelihood."""
    scale = 1.4826 * float(np.median(np.abs(residuals))) or float(np.sqrt(np.mean(residuals**2))) or 1e-300
    for _ in range(rounds):
        weights = (TAILS + 1.0) / (TAILS + (residuals / scale) ** 2)
        scale = float(np.sqrt(np.mean(weights * residuals**2))) or scale
    return scale
