"""Statistics of a data set that say at a glance what a small model would need millions of examples to learn to see.

For views of the target (y, ln|y|, 1/y, …) and functions of the columns: correlations, and for a few sets of functions
what least squares leaves of each view, the constant term, and the coefficients where the fit is good.  A monomial shows
as nothing left of ln|y| over the ln|x|, a sum of functions of single columns as nothing left of y over all of them.
Sines and exponentials of one column are scanned over octaves of their frequency.  Symmetric in the points; the paper's
presets do without.  No torch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .bits import Floats, normalise

N_VIEWS = 7
Y, LN_Y, INVERSE, SQUARE = range(4)
N_FUNCTIONS = 6
N_SETS = 6
RAW, LOGS, QUADRATIC, ADDITIVE, MIXED, RATIOS = range(N_SETS)
# Coefficients are told for these (view, set) pairs.
TOLD = ((Y, QUADRATIC), (LN_Y, LOGS), (INVERSE, QUADRATIC), (SQUARE, QUADRATIC), (Y, ADDITIVE), (INVERSE, ADDITIVE))
SCANNED = (Y, LN_Y, INVERSE)
SINES, EXPONENTIALS = (-1, 0, 1, 2, 3), (-1, 0, 1)
# Beyond so many columns the coefficients of the products with one column are not told: they would be two thirds.
MANY = 5
_RIDGE = 1e-9
_FLOOR = 1e-7


class _Standard(NamedTuple):
    """Columns with mean 0 and mean square 1, and what their mean was in units of their spread."""

    values: Floats
    mean: Floats


class _Fit(NamedTuple):
    """Of every view: log10 of the share left, over 7 (-1: nothing); the constant term; the coefficients."""

    left: Floats
    constant: Floats
    coefficients: Floats


def summarise(rows: Floats) -> NDArray[np.float32]:
    """Summaries (batch, size) of data sets given as rows (batch, n, d + 1), zero rows being no points."""
    present = np.any(rows != 0.0, axis=-1)
    weight = present / np.maximum(present.sum(axis=1, keepdims=True), 1)
    scaled = normalise(rows).astype(np.float64)
    x, y = scaled[:, :, :-1], scaled[:, :, -1:]
    with np.errstate(all="ignore"):
        views = _standard(np.concatenate(_target_views(y), axis=2), weight)
        sets = _sets(x, weight)
        additive = sets[ADDITIVE].values
        correlations = (views.values * weight[:, :, None]).transpose(0, 2, 1) @ additive
        fits = [_fit(views, basis, weight) for basis in sets]
        parts = [
            correlations,
            np.stack([fit.left for fit in fits[:-1]], axis=2),
            _shapes(scaled, weight),
            present.mean(axis=1, keepdims=True),
            np.stack([fit.constant for fit in fits], axis=2),
            fits[-1].left,
            *[_told(fits[s], view) for view, s in TOLD],
            _scan(views.values[:, :, list(SCANNED)], sets[RAW].values, _waves(x), weight),
            *_divided(x, y, sets, weight),
        ]
    flat = np.concatenate([part.reshape(len(rows), -1) for part in parts], axis=1)
    return np.nan_to_num(flat, nan=0.0, posinf=0.0, neginf=0.0).astype(np.float32)


def _target_views(y: Floats) -> list[Floats]:
    size = np.abs(y) + 1e-12
    inverse = 1.0 / (y + np.where(y < 0, -1e-9, 1e-9))
    return [y, np.log(size), inverse, y * y, np.sqrt(size), 1.0 / (y * y + 1e-9), np.arcsinh(y)]


def _sets(x: Floats, weight: Floats) -> list[_Standard]:
    """The sets of functions, in the order of their names above; functions of absent columns are 0."""
    size = np.abs(x) + 1e-12
    used = (x != 0.0).any(axis=1, keepdims=True)
    inverse = 1.0 / (x + np.where(x < 0, -1e-6, 1e-6))
    functions = [x, np.log(size), inverse, x * x, np.sqrt(size), np.exp(-size)]
    singles = [_standard(np.where(used, f, 0.0), weight) for f in functions]
    first, second = np.triu_indices(x.shape[2])
    pairs = _standard(x[:, :, first] * x[:, :, second], weight)
    over, under = np.nonzero(~np.eye(x.shape[2], dtype=bool))
    ratios = _standard(np.where(used[:, :, under], x[:, :, over] * inverse[:, :, under], 0.0), weight)
    raw, logs, inverses = singles[:3]
    groups = [[raw], [logs], [raw, pairs], singles, [logs, raw], [raw, inverses, ratios]]
    return [_Standard(*(np.concatenate(p, axis=-1) for p in zip(*group))) for group in groups]


def _standard(values: Floats, weight: Floats) -> _Standard:
    """Mean 0 and mean square 1 over the points, by column; constant columns become 0."""
    values = np.clip(values, -1e12, 1e12)
    mean = _mean(values, weight)
    values = values - mean[:, None]
    spread = np.sqrt(_mean(values * values, weight))
    inverse = np.where(spread > 1e-9, 1.0 / np.maximum(spread, 1e-9), 0.0)
    return _Standard(values * inverse[:, None], mean * inverse)


def _mean(values: Floats, weight: Floats) -> Floats:
    return (weight[:, None, :] @ values)[:, 0]


def _fit(views: _Standard, basis: _Standard, weight: Floats) -> _Fit:
    """Least squares of every view on the basis and a constant."""
    weighted = (basis.values * weight[:, :, None]).transpose(0, 2, 1)
    gram = weighted @ basis.values + _RIDGE * np.eye(basis.values.shape[2])
    cross = weighted @ views.values
    coefficients = np.linalg.solve(gram, cross)
    left = _log_share(1.0 - (cross * coefficients).sum(axis=1))
    constant = views.mean - (basis.mean[:, None] @ coefficients)[:, 0]
    return _Fit(left, np.log10(np.clip(np.abs(constant), 1e-4, 1e2)) / 4.0, coefficients)


def _log_share(share: Floats) -> Floats:
    return np.log10(np.clip(share, _FLOOR, 1.0)) / -np.log10(_FLOOR)


def _divided(x: Floats, y: Floats, sets: list[_Standard], weight: Floats) -> list[Floats]:
    """The same for y·x_j, y/x_j, x_j/y and 1/(y·x_j): a factor that is one column alone comes off like this."""
    used = (x != 0.0).any(axis=1, keepdims=True)
    over_x, over_y = (1.0 / (v + np.where(v < 0, -1e-6, 1e-6)) for v in (x, y))
    products = [np.where(used, v, 0.0) for v in (y * x, y * over_x, x * over_y, over_x * over_y)]
    views = _standard(np.concatenate(products, axis=2), weight)
    fits = [_fit(views, sets[s], weight) for s in (RAW, QUADRATIC)]
    there = np.tile(used[:, 0], (1, 4))
    told = range(views.values.shape[2]) if x.shape[2] <= MANY else ()
    coefficients = [_told(fits[1], view) for view in told]
    return [*(fit.left * there for fit in fits), *(fit.constant * there for fit in fits), *coefficients]


def _told(fit: _Fit, view: int) -> Floats:
    """Coefficients over the largest of them, faded out where more than about a hundredth is left."""
    coefficients = fit.coefficients[:, :, view]
    good = np.clip((-fit.left[:, view, None] - 0.25) * 2.0, 0.0, 1.0)
    return good * coefficients / np.maximum(np.abs(coefficients).max(axis=1, keepdims=True), 1e-9)


def _waves(x: Floats) -> Floats:
    """Pairs (batch, n, pairs, 2): sine and cosine, growing and falling exponential of each column, by octave."""
    used = (x != 0.0).any(axis=1, keepdims=True)[:, :, :, None]
    sines = [(np.sin(2.0**k * x), np.cos(2.0**k * x)) for k in SINES]
    growths = [np.clip(2.0**k * x, -30.0, 30.0) for k in EXPONENTIALS]
    pairs = sines + [(np.exp(g), np.exp(-g)) for g in growths]
    return np.concatenate([np.where(used, np.stack(pair, axis=3), 0.0) for pair in pairs], axis=2)


def _scan(views: Floats, raw: Floats, waves: Floats, weight: Floats) -> Floats:
    """What is left of the views over the raw columns and one pair of waves: (batch, views, pairs)."""
    n_pairs = waves.shape[2]
    flat = _standard(waves.reshape(*waves.shape[:2], -1), weight).values
    weighted = (raw * weight[:, :, None]).transpose(0, 2, 1)
    gram = weighted @ raw + _RIDGE * np.eye(raw.shape[2])
    both = np.concatenate([views, flat], axis=2)
    both = both - raw @ np.linalg.solve(gram, weighted @ both)
    views, flat = both[:, :, : views.shape[2]], both[:, :, views.shape[2] :]
    first, second = np.moveaxis(flat.reshape(*flat.shape[:2], n_pairs, 2), 3, 0)
    heavy = first * weight[:, :, None], second * weight[:, :, None]
    a, b, c = ((p * q).sum(axis=1) for p, q in ((heavy[0], first), (heavy[0], second), (heavy[1], second)))
    u, v = (views.transpose(0, 2, 1) @ h for h in heavy)
    det = np.maximum(a * c - b * b, 0.0)[:, None] + 1e-12
    a, b, c = a[:, None], b[:, None], c[:, None]
    explained = np.where(det > 1e-10, (c * u * u - 2 * b * u * v + a * v * v) / det, u * u / np.maximum(a, 1e-9))
    total = _mean(views * views, weight)[:, :, None]
    return _log_share(total - explained)


def _shapes(scaled: Floats, weight: Floats) -> Floats:
    """Of each column: share of negative values, spread of the logarithm, skewness (bounded), is it there."""
    negative = _mean(np.where(scaled < 0, 1.0, 0.0), weight)
    logs = np.log(np.abs(scaled) + 1e-12)
    spread = np.sqrt(_mean((logs - _mean(logs, weight)[:, None]) ** 2, weight))
    skew = np.tanh(_mean(_standard(scaled, weight).values ** 3, weight) / 3.0)
    used = (scaled != 0.0).any(axis=1)
    return np.stack([negative, np.minimum(spread, 5.0) / 5.0, skew, used], axis=2)
