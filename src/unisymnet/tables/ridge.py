"""Coefficients of a sum by ridge regression, its strength by the leave-one-out error in closed form. Only arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats

LARGEST_LEVERAGE = 0.95
STRENGTHS = (0.0, *(float(10.0**k) for k in np.arange(-6.0, 2.01, 0.5)))


@dataclass(frozen=True)
class Sum:
    """y = intercept + Σ coefficient · feature, for features as they are written."""

    intercept: float
    coefficients: Floats
    loo: float

    def predict(self, F: Floats) -> Floats:
        return np.asarray(self.intercept + F @ self.coefficients)


def ridge(F: Floats, y: Floats, weights: Floats, strengths: tuple[float, ...] = STRENGTHS) -> Sum:
    """The sum with the least leave-one-out error; features count alike whatever their units."""
    n = int((weights > 0.0).sum())
    w = weights / weights.sum()
    mean, center = float(w @ y), w @ F
    scale = np.sqrt(w @ (F - center) ** 2)
    scale[scale == 0.0] = 1.0
    root = np.sqrt(w * n)
    A = (F - center) / scale * root[:, None]
    t = (y - mean) * root
    if F.shape[1] == 0:
        return Sum(mean, np.zeros(0), loo_error(t, w, n))
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    sound = s > 1e-10 * s[0]
    U, s, Vt = U[:, sound], s[sound], Vt[sound]
    along = U.T @ t
    best: tuple[float, Floats] | None = None
    for strength in strengths:
        shrink = s**2 / (s**2 + strength * n)
        error = loo_error(t - U @ (shrink * along), (U**2) @ shrink + w, n)
        if best is None or error < best[0]:
            best = error, (Vt.T @ (shrink * along / s)) / scale
    assert best is not None
    return Sum(mean - float(center @ best[1]), best[1], best[0])


def loo_error(residual: Floats, leverage: Floats, n: int) -> float:
    """Mean square of the errors that rows would have had if they had not been there."""
    return float(np.sum((residual / np.maximum(1.0 - leverage, 1.0 - LARGEST_LEVERAGE)) ** 2) / n)
