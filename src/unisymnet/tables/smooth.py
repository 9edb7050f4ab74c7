"""What a smooth function of all columns makes of the targets of few rows: noise leaves, what many columns say stays.

Features chosen one by one on few noisy rows are often the wrong ones, since noise decides between neighbours. A kernel
ridge regression does not choose: a linear part of all columns and a smooth one, whose strengths come from the
leave-one-out error in closed form. Features that are chosen to explain its values instead of the targets are steadier,
and coefficients inherit its shrinkage. Only arrays.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats

MAX_ROWS = 150  # beyond them rows are enough to choose by, and the decompositions begin to cost
BENDS = (0.3, 1.0, 5.0)  # weights of the smooth part beside the linear one
WIDTHS = (0.7, 1.5, 3.0)  # of the smooth part, in standard deviations of the columns
STRENGTHS = tuple(float(10.0**k) for k in np.arange(-3.0, 2.01, 0.5))
FARTHEST = 4.0  # standard deviations: a row far out must not decide about all others


def smoothed(X: Floats, y: Floats, weights: Floats) -> Floats:
    """The values of the smooth function at the rows that count; zero at rows of weight zero."""
    used = weights > 0.0
    Z = X[used] - X[used].mean(axis=0)
    spread = Z.std(axis=0)
    sound = np.isfinite(spread) & (spread > 0.0)
    Z = np.clip(Z[:, sound] / spread[sound], -FARTHEST, FARTHEST)
    root = np.sqrt(weights[used] / weights[used].mean())
    mean, unit = float(np.average(y[used], weights=weights[used])), float(np.std(y[used])) or 1.0
    target = (y[used] - mean) / unit
    best, values = np.inf, np.zeros(len(target))
    for kernel in _kernels(Z):
        eigen, V = np.linalg.eigh(kernel * np.outer(root, root))
        along, eigen = V.T @ (target * root), np.maximum(eigen, 0.0)
        for strength in STRENGTHS:
            shrunk = V @ (along * strength / (eigen + strength))
            room = (V**2) @ (strength / (eigen + strength))
            error = float(np.mean((shrunk / np.maximum(room, 1e-12)) ** 2))
            if error < best:
                best, values = error, target - shrunk / root
    found = np.zeros(len(y))
    found[used] = mean + unit * values
    return found


def _kernels(Z: Floats) -> list[Floats]:
    """How alike rows are: along a line alone, and with bends of several weights and widths beside it."""
    d = max(Z.shape[1], 1)
    line = Z @ Z.T / d
    size = np.diag(line)
    apart = np.maximum(size[:, None] + size[None, :] - 2.0 * line, 0.0)
    bent = [np.exp(-apart / (2.0 * width**2)) for width in WIDTHS]
    return [line + 1.0, *(line + 1.0 + weight * bend for weight in BENDS for bend in bent)]
