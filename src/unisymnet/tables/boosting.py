"""How well gradient boosting predicts rows left out: the yardstick for what a formula leaves on the table."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..deadline import Deadline
from ..threads import one_thread
from .folds import N_FOLDS, Folds

LEAST_TIME = 1.0  # seconds that must be left for each fold
LEAST_ROWS = 40


def boosting_errors(X: Floats, y: Floats, weights: Floats, folds: Folds, deadline: Deadline) -> Floats:
    """Mean square errors on the first folds, as many of one cut as there is time for; none where rows are too few."""
    if len(y) < LEAST_ROWS or deadline.remaining() < LEAST_TIME:  # before loading, which takes half a second
        return np.zeros(0)
    from sklearn.ensemble import HistGradientBoostingRegressor

    errors = []
    leaf = max(5, min(20, len(y) // 30))
    unit = float(np.std(y)) or 1.0
    # Again here, because scikit-learn has brought OpenMP: a limit of 8 s was passed by a minute beside a busy program.
    with one_thread():
        for k, held in enumerate(folds.held[:N_FOLDS]):
            if deadline.remaining() < LEAST_TIME:
                break
            used = folds.weights(k, weights) > 0.0
            trees = HistGradientBoostingRegressor(
                max_iter=100, min_samples_leaf=leaf, early_stopping=False, random_state=0
            )
            trees.fit(X[used], y[used] / unit, sample_weight=weights[used])
            errors.append(float(np.average((y[held] - unit * trees.predict(X[held])) ** 2, weights=weights[held])))
    return np.array(errors)
