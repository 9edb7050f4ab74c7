"""Points for a random formula: the paper's "Input Sampling", and whether the formula is worth keeping.

Rows are padded with zero columns to d_max and undefined rows are replaced by zero rows, as in the paper; a zero row
therefore means "no point" to a model.  Beyond the paper, as options of the settings: heavy-tailed ranges, noise on
the target, trajectories instead of independent points, fewer points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..symbolic.expr import Expr, evaluate
from .settings import CorpusSettings

# Half floats end at 65504; a model reads scaled values, so only the ratio of extremes to typical values matters.
LARGEST = 1e12
N_PROBES = 16


def probes(n_features: int) -> Floats:
    """The fixed generic points of the fingerprint of ADR 7: positive and negative, no round numbers."""
    rng = np.random.default_rng(20250507)
    return rng.uniform(0.3, 3.7, (N_PROBES, n_features)) * np.where(np.arange(N_PROBES) % 4 == 3, -1.0, 1.0)[:, None]


def fingerprint(values: Floats) -> bytes:
    """Values on the probes, rounded to ten digits; which are undefined is part of it."""
    with np.errstate(all="ignore"):
        scale = 10.0 ** (10 - np.ceil(np.log10(np.abs(values))))
        rounded = np.where(np.isfinite(scale), np.round(values * scale) / scale, values)
    return np.nan_to_num(rounded + 0.0, nan=np.nan, posinf=np.nan, neginf=np.nan).tobytes()


def sample_inputs(n_features: int, n_points: int, settings: CorpusSettings, *, rng: np.random.Generator) -> Floats:
    """Independent rows, every column uniform in its own random interval."""
    ends = np.sort(rng.uniform(settings.low, settings.high, (2, n_features)), axis=0)
    narrow = ends[1] - ends[0] < settings.min_width
    if narrow.any():
        middle = np.clip(ends.mean(axis=0), settings.low + settings.min_width, settings.high - settings.min_width)
        ends[0] = np.where(narrow, middle - settings.min_width / 2, ends[0])
        ends[1] = np.where(narrow, middle + settings.min_width / 2, ends[1])
    if settings.trajectories and rng.random() < settings.trajectories:
        return _trajectory(ends, n_points, rng=rng)
    X = ends[0] + (ends[1] - ends[0]) * rng.random((n_points, n_features))
    if settings.heavy_tails and rng.random() < settings.heavy_tails:
        X *= 10.0 ** rng.uniform(-2.0, 2.0, n_features)
    return X


def _trajectory(ends: Floats, n_points: int, *, rng: np.random.Generator) -> Floats:
    """Points along a smooth curve through the box: columns depend on each other as in a simulated system."""
    time = np.linspace(0.0, 1.0, n_points)[:, None]
    turns = rng.uniform(0.2, 2.0, ends.shape[1])
    phase = rng.uniform(0.0, 2.0 * np.pi, ends.shape[1])
    damping = rng.uniform(0.0, 3.0, ends.shape[1])
    wave = np.exp(-damping * time) * np.sin(2.0 * np.pi * turns * time + phase)
    return ends[0] + (ends[1] - ends[0]) * (wave + 1.0) / 2.0


def sample_points(
    expr: Expr, n_features: int, settings: CorpusSettings, fixed: Floats, *, rng: np.random.Generator
) -> tuple[NDArray[np.float32], bytes] | str:
    """Rows (x0 … x(d_max-1), y) and the fingerprint, or the reason why the formula is rejected.

    A formula that is undefined on most of one box gets another box: a logarithm is not to be blamed for a
    negative interval.
    """
    n_points = settings.n_points
    if settings.min_points is not None:
        n_points = int(rng.integers(settings.min_points, n_points + 1))
    reason = "undefined"
    for _ in range(settings.box_tries):
        X = sample_inputs(n_features, n_points, settings, rng=rng)
        values = evaluate(expr, np.concatenate([X, fixed[:, :n_features]]))
        y = values[:n_points]
        with np.errstate(all="ignore"):
            good = np.abs(y) < LARGEST
        if good.sum() < settings.min_defined * n_points:
            continue
        reason = _dull(y[good])
        if not reason:
            if settings.noise and rng.random() < settings.noisy:
                level = settings.noise * 10.0 ** rng.uniform(-2.0, 0.0)
                y = y + level * np.sqrt(np.mean(y[good] ** 2)) * rng.standard_normal(n_points)
            rows = np.zeros((settings.n_points, settings.n_features + 1), dtype=np.float32)
            rows[:n_points][good, :n_features] = X[good]
            rows[:n_points][good, -1] = y[good]
            return rows, fingerprint(values[n_points:])
    return reason


def _dull(y: Floats) -> str:
    """ "constant" where y does not vary beyond rounding, "extreme" where a few points dwarf all others, or ""."""
    low, high = float(y.min()), float(y.max())
    size = max(abs(low), abs(high))
    if high - low <= 1e-6 * size:
        return "constant"
    if size > 1e9 * float(np.median(np.abs(y))):
        return "extreme"
    return ""
