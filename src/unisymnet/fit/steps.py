"""A few Levenberg–Marquardt steps for any function that tells its slopes, and how sure its numbers are at their end.

For fits with few constants that are not compiled (kernels/ holds those).  Knows only arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..arrays import DIGITS_9, DIGITS_12, TINY, Floats

__all__ = ["Model", "least_squares", "standard_errors"]

Model = Callable[[Floats], tuple[Floats, Floats]]  # of parameters: values and Jacobian


def least_squares(
    model: Model, start: Floats, y: Floats, weights: Floats | float = 1.0, steps: int = 10
) -> tuple[Floats, float, Floats]:
    """A few Levenberg–Marquardt steps: parameters, RSS, and the Jacobian (weighted) at the end.

    ``model`` gives values and Jacobian; ``weights`` multiply residuals.  RSS is inf if no step is finite.
    """
    params = np.array(start, dtype=np.float64)
    with np.errstate(all="ignore"):
        values, jacobian = model(params)
        residual, jacobian = weights * (y - values), (jacobian.T * weights).T
        rss = float(residual @ residual)
        if not math.isfinite(rss):
            return params, math.inf, jacobian
        damping = 1e-4
        for _ in range(steps):
            gram, slope = jacobian.T @ jacobian, jacobian.T @ residual
            if not np.isfinite(gram).all():
                break
            scale = np.diag(gram) + TINY
            gained = False
            for _ in range(4):
                try:
                    step = np.linalg.solve(gram + damping * np.diag(scale), slope)
                except np.linalg.LinAlgError:
                    damping *= 10.0
                    continue
                values, trial = model(params + step)
                new = weights * (y - values)
                new_rss = float(new @ new)
                if math.isfinite(new_rss) and new_rss < rss:
                    gained = True
                    break
                damping = max(damping, 1e-8) * 10.0
            if not gained:
                break
            done = rss - new_rss <= DIGITS_9 * rss
            params, residual, jacobian, rss = params + step, new, (trial.T * weights).T, new_rss
            damping = damping * 0.1
            if done:
                break
    return params, rss, jacobian


def standard_errors(jacobian: Floats, rss: float) -> Floats:
    """Standard errors of parameters from a (weighted) Jacobian; inf where the data do not tell."""
    n, k = jacobian.shape
    with np.errstate(all="ignore"):
        norms = np.linalg.norm(jacobian, axis=0)
        unit = jacobian / norms
        if not np.isfinite(unit).all():
            return np.full(k, np.inf)
        spread = np.diag(np.linalg.pinv(unit.T @ unit, rcond=DIGITS_12, hermitian=True))
        return np.sqrt(np.abs(spread) * rss / max(1, n - k)) / norms
