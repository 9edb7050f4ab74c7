"""Constants that need not be free: those that agree with ±1, or with another constant, within their errors.

What a tie saves is known from the covariance of the fit alone: χ² grows by (difference)² over its variance, and a
constant need not be told.  Nothing is fitted again until a system is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..knowledge.units.unit import Unit
from .shooting import Shot, spectrum

UNIT_PRICE = 1.0  # nats for saying that a constant is ±1
TIE_PRICE = 1.0  # nats for saying that it is that of another, and the logarithm of how many there are


@dataclass(frozen=True)
class Ties:
    """``saved`` nats; ``units`` are the constants at ±1, ``pairs`` those that equal another up to sign."""

    saved: float
    units: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()


def find_ties(shot: Shot, least: float, dimensions: Sequence[Unit] | None = None) -> Ties:
    """The ties that shorten the description, most useful first; χ² per value never counts as less than ``least``.

    Where the ``dimensions`` of the constants are known, only equal ones are tied, and only plain numbers are ±1.
    """
    p = len(shot.params)
    if not p or not math.isfinite(shot.chi2) or not shot.information.any():
        return Ties(0.0)
    spread = max(shot.reduced, least)
    scale = np.sqrt(np.maximum(np.diag(shot.information), 1e-300))
    parts = spectrum(shot.information / np.outer(scale, scale))
    if parts is None or not parts[0][0] > 1e-12 * parts[0][-1]:
        return Ties(0.0)
    values, vectors = parts
    covariance = spread * ((vectors / values) @ vectors.T) / np.outer(scale, scale)
    mean = shot.params.copy()
    free = 0.5 * math.log(max(shot.n, 2))
    total, units, pairs = 0.0, [], []
    open_ = set(range(p))
    if dimensions is not None and len(dimensions) != p:
        dimensions = None
    while open_:
        best: tuple[float, Floats, float, tuple[int, int]] | None = None
        for i in sorted(open_):
            for j in [-1, *range(i)]:
                if dimensions is not None and not dimensions[i].same(Unit() if j < 0 else dimensions[j]):
                    continue
                direction = np.zeros(p)
                direction[i] = 1.0
                target = math.copysign(1.0, mean[i])
                if j >= 0:
                    sign = math.copysign(1.0, mean[i] * mean[j])
                    direction[j], target = -sign, 0.0
                price = UNIT_PRICE if j < 0 else TIE_PRICE + math.log(p)
                variance = float(direction @ covariance @ direction)
                gap = float(direction @ mean) - target
                if variance <= 1e-30 * float(mean[i] ** 2):
                    continue
                gain = free - price - 0.5 * gap**2 / variance
                if gain > 0.0 and (best is None or gain > best[0]):
                    best = gain, direction, gap, (i, j)
        if best is None:
            break
        gain, direction, gap, (i, j) = best
        along = covariance @ direction
        variance = float(direction @ along)
        mean = mean - along * (gap / variance)
        covariance = covariance - np.outer(along, along) / variance
        total += gain
        open_.discard(i)
        if j < 0:
            units.append(i)
        else:
            pairs.append((i, j))
    return Ties(total, tuple(units), tuple(pairs))
