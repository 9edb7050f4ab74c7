"""Sums of exponentials: view(y) = Σ_k c_k · exp(Σ r_ki x_i) with K = 2, 3, 4 terms and all rates continuous.

Decays with several rates, logistic curves (1/y is 1 plus an exponential), sinh and cosh.  With exp(x) for x these are
signomials, whose stage does all the work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..problem import Problem
from .monomial import LogInputs
from .signomial import Signomial

__all__ = ["Exponentials"]


@dataclass(frozen=True)
class Exponentials(Signomial):
    """The stage; it is cheaper than looking for each exponential as an inner function."""

    name: str = "exponentials"
    starts: int = 8
    seconds: float = 1.5

    def _inputs(self, problem: Problem, rows: NDArray[np.intp]) -> LogInputs:
        X = problem.X[rows]
        usable = tuple(int(i) for i in np.flatnonzero(np.ptp(X, axis=0))) if problem.allows("exp") else ()
        used = X[:, usable]
        # Rates of order one for functions that change a few times over the range.
        scales = np.std(used, axis=0) / 2.0
        return LogInputs(usable, rows, used / scales, np.ones_like(used), (), scales)
