"""Sums of exponentials: view(y) = Σ_k c_k · exp(Σ r_ki x_i) with K = 2, 3, 4 terms and all rates continuous.

Decays with several rates, logistic curves (1/y is 1 plus an exponential), sinh and cosh.  With exp(x) for x these are
signomials, whose stage does all the work.  ``mixed`` terms are power laws times exponentials, of squares too where
inputs are few: a peak on a constant, x·exp(-x) beside a line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, Ints
from ...problem import Problem
from ..linear.monomial import LogInputs
from .signomial import Signomial

__all__ = ["Exponentials"]

MOST_SQUARED = 2  # inputs whose squares may stand in an exponential


@dataclass(frozen=True)
class Exponentials(Signomial):
    """The stage; it is cheaper than looking for each exponential as an inner function."""

    name: str = "exponentials"
    mixed: bool = False
    most_inputs: int = 20
    starts: int = 8
    seconds: float = 1.5

    def _inputs(self, problem: Problem, rows: Ints) -> LogInputs:
        X = problem.X[rows]
        usable = [int(i) for i in np.flatnonzero(np.ptp(X, axis=0))]
        if not problem.allows("exp") or len(usable) > self.most_inputs:
            usable = []
        positive = [i for i in usable if self.mixed and X[:, i].min() > 0.0]
        powers = (1, 2) if self.mixed and len(usable) <= MOST_SQUARED else (1,)
        # The square of a column of 1 and -1 is constant.
        inside = tuple((i, power) for power in powers for i in usable if np.ptp(X[:, i] ** power) > 0.0)
        grown = X[:, [i for i, _ in inside]] ** np.array([power for _, power in inside], dtype=np.float64)
        # Rates of order one for functions that change a few times over the range.
        scales = np.std(grown, axis=0) / 2.0
        logs = np.column_stack([np.log(X[:, positive]), grown / scales])
        return LogInputs(tuple(positive), rows, logs, np.ones_like(logs), (), inside, scales)

    def _start(self, kind: int, k_terms: int, inputs: LogInputs, lead: Floats, rng: np.random.Generator) -> Floats:
        shape = (k_terms, inputs.logs.shape[1])
        if not self.mixed:
            return super()._start(kind, k_terms, inputs, lead, rng)
        start = rng.normal(0.0, 1.0, shape) * (rng.random(shape) < 0.5)
        d = len(inputs.columns)
        whole = rng.integers(-1, 3, (k_terms, d)) * (rng.random((k_terms, d)) < 0.5)
        start[:, :d] = whole + 0.02 * rng.normal(0.0, 1.0, (k_terms, d))
        if kind % 2:
            start[0] = 0.0  # a constant is the most usual term
        return start
