"""Least squares of y by exp(table·numbers): linear in the logarithm, while the noise stays that of y.

The logarithms of the large rows are where Gauss and Newton start.  Knows no formula and no input.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import DIGITS_12, Floats

__all__ = ["LogLinear", "fit_logarithm"]

LARGE = 0.1  # of the root of the mean square: rows whose logarithms say something
STEPS, HALVINGS, SETTLED = 25, 6, 1e-6


@dataclass(frozen=True)
class LogLinear:
    """exp(table·numbers) fitted to y: numbers, their covariance in units of the noise, what is left of y."""

    numbers: Floats
    covariance: Floats
    left: float
    n_rows: int

    @property
    def variance(self) -> float:
        return self.left / max(1, self.n_rows - len(self.numbers))


def fit_logarithm(table: Floats, target: Floats, weights: Floats) -> LogLinear | None:
    """Least squares of y by Gauss and Newton, from the logarithms of the rows that have one."""
    root = np.sqrt(weights)
    some = target > LARGE * float(np.sqrt(np.mean(target**2)))
    if np.sum(some) < 2 * table.shape[1]:
        some = target > 0.0
    by_logs = (root * target)[some]
    weighted = table[some] * by_logs[:, None]
    numbers: Floats = np.asarray(np.linalg.lstsq(weighted, np.log(target[some]) * by_logs, rcond=DIGITS_12)[0])
    with np.errstate(all="ignore"):
        values = np.exp(table @ numbers)
        left = float(np.sum(weights * (target - values) ** 2))
        for _ in range(STEPS):
            if not math.isfinite(left):
                return None
            slopes = table * (root * values)[:, None]
            step = np.linalg.lstsq(slopes, root * (target - values), rcond=DIGITS_12)[0]
            for halving in range(HALVINGS):
                moved = numbers + step * 0.5**halving
                new_values = np.exp(table @ moved)
                new_left = float(np.sum(weights * (target - new_values) ** 2))
                if new_left < left:
                    break
            else:
                break
            settled = left - new_left < SETTLED * left
            numbers, values, left = moved, new_values, new_left
            if settled:
                break
        slopes = table * (root * values)[:, None]
        covariance: Floats = np.asarray(np.linalg.pinv(slopes.T @ slopes, rcond=DIGITS_12, hermitian=True))
    return LogLinear(numbers, covariance, left, len(target)) if np.isfinite(covariance).all() else None
