"""How well gradient boosting predicts rows left out: the yardstick for what a formula leaves on the table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..deadline import Deadline
from .folds import N_FOLDS, Folds

Floats = NDArray[np.float64]

LEAST_TIME = 1.0  # seconds that must be left for each fold
LEAST_ROWS = 40


def boosting_error(X: Floats, y: Floats, weights: Floats, folds: Folds, deadline: Deadline) -> float | None:
    """Mean square error over one cut of the rows; None where there are too few rows or no time."""
    if len(y) < LEAST_ROWS:
        return None
    from sklearn.ensemble import HistGradientBoostingRegressor

    errors = []
    leaf = max(5, min(20, len(y) // 30))
    unit = float(np.std(y)) or 1.0
    for k, held in enumerate(folds.held[:N_FOLDS]):
        if deadline.remaining() < LEAST_TIME:
            return None
        used = folds.weights(k, weights) > 0.0
        trees = HistGradientBoostingRegressor(max_iter=100, min_samples_leaf=leaf, early_stopping=False, random_state=0)
        trees.fit(X[used], y[used] / unit, sample_weight=weights[used])
        errors.append(float(np.average((y[held] - unit * trees.predict(X[held])) ** 2, weights=weights[held])))
    return float(np.mean(errors))
