"""What it costs to write down the target once a formula is known, in nats, the noise level integrated out."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from ..arrays import Floats
from .noise import TAILS, NoiseModel, robust_scale

MAX_READ = 400
MAX_DIGITS = 13  # numbers with more are taken for full precision
ROUNDING = 1e-11  # of the target's spread: smaller residuals are no information


def last_digit(y: Floats) -> float:
    """One unit in the last place of the numbers as they are written; 0 for full precision."""
    rows = y[:: max(1, len(y) // MAX_READ)]
    written = [Decimal(repr(float(value))).normalize().as_tuple() for value in rows if value != 0.0]
    exponents = [number.exponent for number in written if isinstance(number.exponent, int)]
    if not exponents or max(len(number.digits) for number in written) > MAX_DIGITS:
        return 0.0
    return 10.0 ** min(exponents)


def squares(residuals: Floats, roots: Floats, floor: float) -> float:
    """Q: the weighted squares, none smaller than what the last digit leaves open."""
    return float(np.sum(roots**2 * (residuals**2 + floor)))


def data_nats(residuals: Floats, roots: Floats, model: NoiseModel, floor: float, sigma: float | None = None) -> float:
    """D: with a known ``sigma`` (of a row of weight 1) the likelihood, else that with prior 1/sigma integrated out."""
    n = len(residuals)
    if model.kind == "heavy tails":
        return _student_nats(residuals, floor)
    total = squares(residuals, roots, floor)
    jacobian = -float(np.sum(np.log(roots)))
    if sigma is not None:
        return 0.5 * total / sigma**2 + n * math.log(sigma * math.sqrt(2.0 * math.pi)) + jacobian
    return level_nats(total / n, n) + jacobian


def level_nats(mean_square: float, n: int) -> float:
    """D of n rows with this mean square residual and equal noise."""
    return 0.5 * n * math.log(math.pi * n * mean_square) - math.lgamma(0.5 * n) + math.log(2.0)


def spread_nats(total: float, n: int, k: int) -> float:
    """ln(2 pi s^2) of the Student form that belongs to the integrated noise level, k constants fitted."""
    k = min(k, n - 1)
    if k < 1:
        return math.log(2.0 * math.pi * total / n)
    return math.log(math.pi * total) + 2.0 / k * (math.lgamma(0.5 * (n - k)) - math.lgamma(0.5 * n))


def _student_nats(residuals: Floats, floor: float) -> float:
    """Student's distribution at its best scale, and half a ln(n) for that scale."""
    n, open_ends = len(residuals), np.sqrt(residuals**2 + floor)
    scale = robust_scale(open_ends)
    constant = math.lgamma(0.5 * (TAILS + 1.0)) - math.lgamma(0.5 * TAILS) - 0.5 * math.log(math.pi * TAILS)
    spread = 0.5 * (TAILS + 1.0) * float(np.sum(np.log1p((open_ends / scale) ** 2 / TAILS)))
    return n * (math.log(scale) - constant) + spread + 0.5 * math.log(n)
