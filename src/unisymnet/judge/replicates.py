"""Rows measured again at the same inputs: what they say about the noise, whatever the formula.

No formula can explain why two measurements at the same inputs differ, so their scatter is the noise itself (pure
error), and what a formula leaves beyond it is a lack of fit.  Knows rows and residuals, no formulas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats

LEAST_FREEDOM = 4  # degrees of freedom; fewer replicates say next to nothing
MAX_ROWS = 100_000
MOST_COUNTED = 1e7  # rows; larger weights are no counts of measurements


@dataclass(frozen=True)
class PureError:
    """``squares`` of replicates around their means, ``freedom`` of these, ``n_places`` with more than one row, and
    ``n_rows`` of all."""

    squares: float
    freedom: int
    n_places: int
    n_rows: int

    @property
    def noise(self) -> float:
        """Standard deviation of one measurement."""
        return math.sqrt(self.squares / self.freedom)


def pure_error(X: Floats, y: Floats, weights: Floats | None = None) -> PureError | None:
    """The scatter of ``y`` (a target, or what a formula leaves of it) among rows with equal inputs; None where too few
    rows repeat.  Whole-number weights count how often a row was seen, others how much it says."""
    if not 2 <= len(y) <= MAX_ROWS:
        return None
    weight = np.ones(len(y)) if weights is None else weights
    counted = bool((weight % 1.0 == 0.0).all()) and float(weight.sum()) <= MOST_COUNTED
    # Sorting whole rows takes a second for hundreds of columns; where one column tells all rows apart, nothing repeats.
    if any(len(np.unique(column)) == len(column) for column in X.T[:3]):
        place = np.arange(len(y))
    else:
        place = np.ravel(np.unique(X, axis=0, return_inverse=True)[1])
    seen = np.bincount(place, weights=weight if counted else None)
    freedom = round(float(np.sum(np.maximum(seen - 1.0, 0.0))))
    if freedom < LEAST_FREEDOM:
        return None
    total = np.bincount(place, weights=weight)
    mean = np.bincount(place, weights=weight * y) / total
    squares = float(np.sum(weight * (y - mean[place]) ** 2))
    if not counted:
        squares /= float(np.mean(weight))
    if not math.isfinite(squares) or squares <= 0.0:
        return None
    n_rows = round(float(np.sum(weight))) if counted else len(y)
    return PureError(squares, freedom, int(np.sum(seen > 1.0)), n_rows)


def lack_of_fit(pure: PureError, squares: float, n_constants: int) -> float:
    """Probability that noise alone leaves this much more than the replicates scatter (F test); 1 where no row is left
    to test with.  ``squares`` is what the formula leaves on the same rows."""
    from scipy.stats import f as fisher

    left = pure.n_rows - n_constants - pure.freedom
    if left < 1:
        return 1.0
    ratio = max(squares - pure.squares, 0.0) / left / (pure.squares / pure.freedom)
    return float(fisher.sf(ratio, left, pure.freedom))


def chance_of_noise(X: Floats, left: Floats, n_constants: int) -> float | None:
    """How likely noise alone leaves what a formula leaves, judged by rows with equal inputs; None without such."""
    pure = pure_error(X, left)
    return None if pure is None else lack_of_fit(pure, float(np.sum(left**2)), n_constants)
