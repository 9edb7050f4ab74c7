"""How the size of the noise depends on the value: equal, relative, as of counts, both kinds, heavy tails, by a factor.

A model gives each row a weight in units of 1/standard deviation, up to one common factor that the judge integrates
out.  Which model holds is paid for with ``nats``.  Noise by a factor is normal in the logarithm of the target: what
data over several powers of ten have, where relative noise would be as large as the value and still symmetric.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats

SMALLEST = 1e-3  # of the median size: nearer to zero, relative noise would vanish
LEAST = 1e-150  # of a noise that is told: its square can still be stored
LARGEST = 1e100  # values whose squares can still be stored
ROUGHLY = 0.05  # the same for weights from noisy values
FARTHEST = 1e60  # times the median size: squares of its squares can still be stored
MOST_WIDENED = 2.0
TAILS = 3.0  # degrees of freedom of Student's distribution


@dataclass(frozen=True)
class NoiseModel:
    """``kind`` is a name of KINDS; ``ratio`` is relative to equal noise at the median value, for "both"."""

    kind: str
    nats: float
    ratio: float = 0.0

    def residuals(self, values: Floats, y: Floats) -> Floats | None:
        """What is left of each row in units of the target; None where the model cannot hold.

        For noise by a factor it is ln(y/value)·value, whose weighted squares and their slopes are those of ln(y/value).
        """
        if self.kind != "factor":
            return y - values
        if not (values > 0.0).all() or not (y > 0.0).all():
            return None
        return np.asarray(values * (np.log(y) - np.log(values)))

    def widening(self, residuals: Floats) -> float:
        """By what standard errors of a fit with fixed weights are too small.

        A row far out loses weight, so that constants move more than fixed weights would let them; by how much says the
        slope of weight times residual.
        """
        if self.kind != "heavy tails" or not len(residuals):
            return 1.0
        u = np.minimum(np.abs(residuals / robust_scale(residuals)), 1e50) ** 2
        slope = float(np.sum((TAILS + 1.0) * (TAILS - u) / (TAILS + u) ** 2))
        weight = float(np.sum((TAILS + 1.0) / (TAILS + u)))
        return min(weight / max(slope, 1e-300), MOST_WIDENED)

    def excess(self, values: Floats, y: Floats) -> float:
        """Nats of the data beside those of the weighted residuals: a density in ln(y) is one in y, divided by y."""
        return float(np.sum(np.log(y) - np.log(values))) if self.kind == "factor" else 0.0

    def roots(self, values: Floats, residuals: Floats) -> Floats:
        """1/standard deviation of each row, up to a common factor."""
        if self.kind == "equal":
            return np.ones(len(values))
        if self.kind == "heavy tails":
            scale = robust_scale(residuals)
            return np.asarray(np.sqrt((TAILS + 1.0) / (TAILS + (residuals / scale) ** 2)))
        sizes = np.abs(values)
        middle = float(np.median(sizes)) or 1.0
        if self.kind == "factor":
            return 1.0 / np.clip(sizes / middle, 1.0 / FARTHEST, FARTHEST)
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
    "counts": "growing with the square root of the value, as for counts",
    "both": "partly the same for every row, partly proportional to the value",
    "heavy tails": "the same for every row, with outliers",
    "factor": "multiplicative, the same factor for small and large values",
}
MODELS: tuple[NoiseModel, ...] = (
    NoiseModel("equal", -math.log(0.55)),
    NoiseModel("relative", -math.log(0.14)),
    NoiseModel("counts", -math.log(0.08)),
    *(NoiseModel("both", -math.log(0.03), ratio) for ratio in (0.3, 1.0, 3.0)),
    NoiseModel("heavy tails", -math.log(0.07)),
    NoiseModel("factor", -math.log(0.07)),
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
    if isinstance(given, bool) or not isinstance(given, numbers.Real) or not LEAST < float(given) < math.inf:
        names = ", ".join(map(repr, WORDS))
        raise ValueError(f"noise must be a positive number (above {LEAST:g}), None or one of {names}, got {given!r}")
    return float(given), None


def told_weights(kind: str | None, y: Floats) -> Floats:
    """Weights for a search before any formula is known: the noisy values stand for the true ones."""
    if kind not in ("relative", "counts", "both", "factor"):
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
