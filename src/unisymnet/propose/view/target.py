"""A target: y seen through a view on some rows, weighted so that residuals count as they do in y.

Every stage looks at one.  It does not know what is fitted to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Bools, Floats, Ints
from ...problem import Problem
from .views import View

__all__ = ["Target"]


STEEPEST = (
    4.0  # times the median weight: noise may have pushed a row to a flat spot of the view, where 1/slope explodes
)


@dataclass(frozen=True)
class Target:
    """``values`` of the view and ``weights`` of residuals, on the ``rows`` of a problem where both are finite."""

    view: View
    rows: Ints
    values: Floats
    weights: Floats

    @staticmethod
    def see(problem: Problem, view: View, rows: Ints) -> Target:
        y = problem.y[rows]
        values = view.values(y)
        weights = capped(view.weights(y)) * np.sqrt(problem.weights[rows])
        good = np.isfinite(values) & (weights > 0)
        return Target(view, rows[good], values[good], weights[good])

    def among(self, rows: Ints) -> Bools:
        """Which of the rows that were looked at are these?"""
        return np.isin(rows, self.rows, assume_unique=True)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def weighted(self) -> Floats:
        """The values times their weights."""
        return self.values * self.weights


def capped(weights: Floats) -> Floats:
    """Weights 1/|view'(y)| without those that grow beyond all bounds."""
    positive = weights[weights > 0]
    return np.minimum(weights, STEEPEST * np.median(positive)) if len(positive) else weights
