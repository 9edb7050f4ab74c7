"""Statistics of a data set that say at a glance what a small model would need millions of examples to learn to see.

For views of the target (y, ln|y|, 1/y, …) and functions of single columns: correlations, and how much of each view is
left after least squares on a few sets of functions.  A monomial shows as a residual of zero of ln|y| over the ln|x|, a
sum of functions of single columns as one of y over all of them.  Symmetric in the points; the paper's presets do
without.  No torch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .bits import normalise

Floats = NDArray[np.floating]

N_VIEWS = 7
N_FUNCTIONS = 6
N_SETS = 5
_RIDGE = 1e-9
_FLOOR = 1e-7


def summary_size(n_features: int) -> int:
    """Length of a summary for tables of ``n_features`` columns."""
    return N_VIEWS * (n_features * N_FUNCTIONS + N_SETS) + 4 * (n_features + 1) + 1


def summarise(rows: Floats) -> NDArray[np.float32]:
    """Summaries (batch, size) of data sets given as rows (batch, n, d + 1), zero rows being no points."""
    present = np.any(rows != 0.0, axis=-1)
    weight = present / np.maximum(present.sum(axis=1, keepdims=True), 1)
    scaled = normalise(rows).astype(np.float64)
    x, y = scaled[:, :, :-1], scaled[:, :, -1:]
    with np.errstate(all="ignore"):
        views = np.concatenate(_target_views(y), axis=2)
        functions = _column_functions(x)
        views = _standard(views, weight)
        singles = [_standard(f, weight) for f in functions]
        pairs = _standard(_products(x), weight)
        additive = np.concatenate(singles, axis=2)
        correlations = (views * weight[:, :, None]).transpose(0, 2, 1) @ additive
        raw, logs = singles[0], singles[1]
        quadratic = np.concatenate([raw, pairs], axis=2)
        mixed = np.concatenate([logs, raw], axis=2)
        rest = [_left_over(views, basis, weight) for basis in (raw, logs, quadratic, additive, mixed)]
        parts = [correlations, np.stack(rest, axis=2), _shapes(scaled, weight)]
    flat = [part.reshape(len(rows), -1) for part in parts] + [present.mean(axis=1, keepdims=True)]
    return np.nan_to_num(np.concatenate(flat, axis=1), nan=0.0, posinf=0.0, neginf=0.0).astype(np.float32)


def _target_views(y: Floats) -> list[Floats]:
    size = np.abs(y) + 1e-12
    inverse = 1.0 / (y + np.where(y < 0, -1e-9, 1e-9))
    return [y, np.log(size), inverse, y * y, np.sqrt(size), 1.0 / (y * y + 1e-9), np.arcsinh(y)]


def _column_functions(x: Floats) -> list[Floats]:
    size = np.abs(x) + 1e-12
    used = (x != 0.0).any(axis=1, keepdims=True)
    functions = [x, np.log(size), 1.0 / (x + np.where(x < 0, -1e-6, 1e-6)), x * x, np.sqrt(size), np.exp(-size)]
    return [np.where(used, f, 0.0) for f in functions]


def _products(x: Floats) -> Floats:
    """x_i·x_j for all i <= j."""
    first, second = np.triu_indices(x.shape[2])
    return x[:, :, first] * x[:, :, second]


def _standard(values: Floats, weight: Floats) -> Floats:
    """Mean 0 and mean square 1 over the points, by column; constant columns become 0."""
    values = np.clip(values, -1e12, 1e12)
    values = values - _mean(values, weight)[:, None]
    spread = np.sqrt(_mean(values * values, weight))[:, None]
    return np.where(spread > 1e-9, values / np.maximum(spread, 1e-9), 0.0)


def _mean(values: Floats, weight: Floats) -> Floats:
    return (weight[:, None, :] @ values)[:, 0]


def _left_over(views: Floats, basis: Floats, weight: Floats) -> Floats:
    """log10 of the unexplained share of every view after least squares on the basis, between -7 and 0, over 7."""
    weighted = (basis * weight[:, :, None]).transpose(0, 2, 1)
    gram = weighted @ basis + _RIDGE * np.eye(basis.shape[2])
    cross = weighted @ views
    explained = (cross * np.linalg.solve(gram, cross)).sum(axis=1)
    return np.log10(np.clip(1.0 - explained, _FLOOR, 1.0)) / -np.log10(_FLOOR)


def _shapes(scaled: Floats, weight: Floats) -> Floats:
    """Of each column: share of negative values, spread of the logarithm, skewness (bounded), is it there."""
    negative = _mean(np.where(scaled < 0, 1.0, 0.0), weight)
    logs = np.log(np.abs(scaled) + 1e-12)
    spread = np.sqrt(_mean((logs - _mean(logs, weight)[:, None]) ** 2, weight))
    skew = np.tanh(_mean(_standard(scaled, weight) ** 3, weight) / 3.0)
    used = (scaled != 0.0).any(axis=1)
    return np.stack([negative, np.minimum(spread, 5.0) / 5.0, skew, used], axis=2)
