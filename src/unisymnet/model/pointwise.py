"""What a model that reads points is told about each of them: scaled values, logarithms, signs, waves, local slopes.

Every number belongs to one point; nothing is summed over the data set, which is the network's business (reader.py).
Scales are medians of magnitudes, so zero stays zero (ADR 10).  A row of zeros stands for "no point".  No torch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Features = NDArray[np.float32]

# The numbers of each value of each column, the target included: of the scaled value, but for the last four.
BASE = ("value", "square", "inverse", "log", "root", "size", "sign", "sin", "cos", "exp", "raw log")
_LARGEST = 1e4
_FARTHEST = 1e8  # whose square and whose neighbours can still be counted with
_EXPONENT = 60.0


def n_local(n_features: int) -> int:
    """Slopes, elasticities and a sign of use for each column, and how well the plane fits."""
    return 3 * n_features + 1


def pointwise_size(n_features: int) -> int:
    """How many numbers each point has."""
    return (n_features + 1) * len(BASE) + n_local(n_features)


def pointwise(rows: Floats) -> tuple[Features, NDArray[np.bool_]]:
    """Numbers (batch, n, k) of rows (batch, n, d + 1), and which rows are points."""
    rows = np.asarray(rows, dtype=np.float64)
    present = np.any(rows != 0.0, axis=-1)
    seen = present[..., None] & (rows != 0.0)
    scale = np.nanmedian(np.where(seen.any(axis=-2, keepdims=True), np.where(seen, np.abs(rows), np.nan), 1.0), axis=-2)
    with np.errstate(over="ignore"):
        scaled = np.clip(rows / scale[..., None, :], -_FARTHEST, _FARTHEST)
    base = _base(rows, scaled, present)
    local = _local(scaled, present)
    features = np.concatenate([base.reshape(*rows.shape[:2], -1), local], axis=-1)
    return (features * present[..., None]).astype(np.float32), present


def _base(values: Floats, scaled: Floats, present: NDArray[np.bool_]) -> Floats:
    """(batch, n, d + 1, numbers of `BASE`): simple functions of each value, scaled and as it is."""
    size = np.abs(scaled)
    used = np.where(size == 0.0, 1.0, size)
    top = np.max(np.where(present[..., None], values, -np.inf), axis=-2, keepdims=True)
    kinds = [
        scaled, scaled**2, np.sign(scaled) / used, np.log(used), np.sqrt(size), size, np.sign(scaled),
        np.sin(values), np.cos(values), np.exp(np.clip(values - top, -_EXPONENT, 0.0)),
        np.log(np.where(values == 0.0, 1.0, np.abs(values))),
    ]  # fmt: skip
    return np.clip(np.nan_to_num(np.stack(kinds, axis=-1)), -_LARGEST, _LARGEST)


def _local(scaled: Floats, present: NDArray[np.bool_]) -> Floats:
    """A plane through the neighbours of each point: slopes, elasticities, which columns are used, the misfit."""
    x, y = scaled[..., :-1], scaled[..., -1]
    batch, n, d = x.shape
    used = np.asarray(np.any(x != 0.0, axis=1))  # (batch, d)
    spread = np.where(used, x.std(axis=1), 1.0) + 1e-12
    z = x / spread[:, None]
    squares = (z**2).sum(axis=-1)
    apart = squares[:, :, None] + squares[:, None, :] - 2.0 * z @ z.transpose(0, 2, 1)
    apart = np.where(present[:, None, :], apart, np.inf)
    k = min(2 * d + 4, n)
    near = np.argpartition(apart, k - 1, axis=-1)[..., :k]  # (batch, n, k)
    rank = np.arange(batch)[:, None, None]
    shift = z[rank, near] - z[:, :, None]
    level = np.sign(y) * np.log1p(np.abs(y))  # a bounded target: poles must not drown their neighbours
    rise = level[rank, near] - level[:, :, None]
    gram = shift.transpose(0, 1, 3, 2) @ shift
    gram += (1e-6 * np.trace(gram, axis1=-2, axis2=-1)[..., None, None] + 1e-12) * np.eye(d)
    slope = np.linalg.solve(gram, shift.transpose(0, 1, 3, 2) @ rise[..., None])[..., 0]
    misfit = ((rise - (shift @ slope[..., None])[..., 0]) ** 2).sum(axis=-1) / ((rise**2).sum(axis=-1) + 1e-12)
    elastic = slope / spread[:, None] * x * (1.0 + np.abs(y))[..., None] / np.where(y == 0.0, 1.0, y)[..., None]
    flags = np.broadcast_to(used[:, None], slope.shape)
    return np.clip(np.concatenate([slope, elastic, flags, misfit[..., None]], axis=-1), -_LARGEST, _LARGEST)
