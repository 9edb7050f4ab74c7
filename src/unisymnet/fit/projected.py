"""One constant κ that is not linear, all others projected out: where a scan of it dips, and Gauss–Newton."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import TINY, Floats, Ints

__all__ = ["Columns", "dips", "refined", "taken_out"]

Columns = Callable[[Floats], Floats]  # of constants (G,): values (G, n, p)

NUDGE = 1e-6  # of κ, for slopes
SLOW = 0.999  # of what was left: a step that leaves more leads nowhere


def taken_out(values: Floats, basis: Floats) -> Floats:
    """Columns (…, n, p) without their part along orthonormal columns (…, n, q)."""
    return np.asarray(values - basis @ (np.swapaxes(basis, -1, -2) @ values))


def dips(values: Floats, most: int, below: float = np.inf) -> Ints:
    """Places on a grid where the values are smaller than beside them: the lowest few."""
    around = np.r_[np.inf, values, np.inf]
    places = np.flatnonzero((values <= around[:-2]) & (values <= around[2:]) & (values < below))
    return np.asarray(places[np.argsort(values[places])][:most], dtype=np.intp)


def refined(columns: Columns, basis: Floats, target: Floats, kappa: float, steps: int) -> tuple[float, Floats, float]:
    """κ, the coefficients of its columns, and the norm that they leave of the target; ``basis`` is orthonormal.

    The target has no part along the basis.
    """
    best: tuple[float, Floats, float] = kappa, np.zeros(0), np.inf
    for _ in range(steps):
        shift = NUDGE * kappa
        here, up, down = taken_out(columns(np.array([kappa, kappa + shift, kappa - shift])), basis)
        norms = np.linalg.norm(here, axis=0).clip(TINY)
        span, triangle = np.linalg.qr(here / norms)
        rest = target - span @ (span.T @ target)
        left = float(np.linalg.norm(rest))
        if not left < SLOW * best[2]:
            break
        coefficients = np.linalg.lstsq(triangle, span.T @ target, rcond=1e-14)[0] / norms
        best = kappa, coefficients, left
        change = taken_out(((up - down) @ coefficients / (2.0 * shift))[:, None], span)[:, 0]
        size = float(change @ change)
        if size == 0.0:
            break
        kappa += float(change @ rest) / size
    return best
