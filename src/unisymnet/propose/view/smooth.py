"""Polynomial regressions as a microscope: can some coordinates predict some view of y?

A frame is the view of the target and the coordinates (inputs or their logarithms) in which a polynomial of limited size
predicts best.  Restricted designs (a variable left out, stripped, merged with another) are compared with it by their
residual variances; that is all a reduction needs to be believed.  Whether there is noise is asked in noise.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import DIGITS_12, Floats, Ints, evenly
from ...problem import Problem
from .views import View, views_of

__all__ = [
    "Frame",
    "best_frame",
    "followed",
    "frames_of",
    "polynomial",
    "residual_variance",
    "share_in_y",
    "standardised",
]

# Powers of y that the power views take; ln is none of them.
SMOOTH_EACH = (24, 12, 6)  # rows for a column of a polynomial that smooths
POWERS = {"y": 1.0, "y**2": 2.0, "1/y": -1.0, "1/y**2": -2.0, "sqrt(y)": 0.5, "ln(y)": 0.0}


@dataclass(frozen=True)
class Frame:
    """A view of the target on some rows, with coordinates and the residual variance of the full polynomial."""

    X: Floats
    coordinates: Floats
    logs: bool
    view: View
    power: float  # of y in the view; 0 stands for ln
    target: Floats
    weight: Floats
    max_columns: int
    variance: float
    share: float  # variance in units of the target's

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    def design(self, coordinates: Floats) -> Floats:
        """The largest full polynomial in the coordinates that the frame's budget allows."""
        return polynomial(standardised(coordinates), self.max_columns)

    def coordinate(self, values: Floats) -> Floats:
        """Values of a new input as the frame measures inputs."""
        return np.log(np.abs(values)) if self.logs else values

    def ratio(self, design: Floats, target: Floats | None = None) -> float:
        """Residual variance of a design in units of the full polynomial's: about 1 or less if nothing is lost."""
        left = residual_variance(design, self.target if target is None else target, self.weight)
        return left / self.variance if self.variance > 0 else math.inf


def best_frame(
    problem: Problem, *, noisy: bool, max_rows: int = 700, max_columns: int = 160, each: int | None = None
) -> Frame | None:
    """The view and coordinates in which a polynomial leaves least, or None if nothing can be fitted."""
    best: Frame | None = None
    for frame in frames_of(problem, noisy=noisy, max_rows=max_rows, max_columns=max_columns, each=each):
        # Under noise only a clear gain justifies another view than y itself.
        if best is None or frame.share < best.share * (0.9 if noisy else 1.0):
            best = frame
    return best


def frames_of(
    problem: Problem, *, noisy: bool, max_rows: int, max_columns: int, each: int | None = None
) -> Iterator[Frame]:
    """A frame for every view, in the coordinates (inputs or logarithms) that suit it better; y comes first.

    A polynomial has at most one column for ``each`` so many rows.
    """
    rows = evenly(problem.n_rows, max_rows)
    X = problem.X[rows]
    columns = min(max_columns, len(rows) // (each or (5 if noisy else 3)))
    d = X.shape[1]
    # A polynomial that cannot bend every input and every pair of them proves nothing.
    if columns < math.comb(d + (2 if noisy or d > 4 else 3), d) or problem.spread == 0.0:
        return
    mixed = np.any((X.min(axis=0) < 0) & (X.max(axis=0) > 0))
    both = (False,) if mixed or np.any(X == 0) else (False, True)
    for view in views_of(problem, [*POWERS]):
        made = (_frame(problem, view, rows, logs, columns, noisy) for logs in both)
        found = [frame for frame in made if frame is not None]
        if found:
            yield min(found, key=lambda frame: frame.share)


def _frame(problem: Problem, view: View, rows: Ints, logs: bool, columns: int, noisy: bool) -> Frame | None:
    X, y = problem.X[rows], problem.y[rows]
    target = view.values(y)
    weight = np.sqrt(problem.weights[rows]) * (view.weights(y) if noisy else 1.0)
    good = np.isfinite(target) & (weight > 0) & np.isfinite(weight)
    if np.sum(good) < 0.9 * len(y):
        return None
    target, weight = target[good], weight[good]
    if not noisy and view.name != "y" and _spiky(target):
        return None
    coordinates = np.log(np.abs(X[good])) if logs else X[good]
    design = polynomial(standardised(coordinates), columns)
    if noisy:
        # Residuals of the back-transformed fit: weights made of noisy y flatter the steeper views.
        share = share_in_y(view, design, target, weight, y[good])
    else:
        centred = target - np.average(target, weights=weight**2)
        share = residual_variance(design, target, weight) / float(np.mean((weight * centred) ** 2) or 1.0)
    variance = residual_variance(design, target, weight)
    # Below rounding all designs look equally good.
    floor = 1e-24 * float(np.mean((weight * target) ** 2))
    power = POWERS[view.name]
    return Frame(X[good], coordinates, logs, view, power, target, weight, columns, max(variance, floor), share)


def _spiky(target: Floats) -> bool:
    """Do a few rows hold most of the variance (1/y near a zero of y)?  Then only they would be fitted."""
    deviation = np.sort((target - np.median(target)) ** 2)
    few = max(2, len(target) // 50)
    return bool(np.sum(deviation[-few:]) > 0.6 * np.sum(deviation))


def share_in_y(view: View, design: Floats, target: Floats, weight: Floats, y: Floats) -> float:
    """The share of the variance of y itself that a fit of the view leaves."""
    fitted = design @ np.linalg.lstsq(design * weight[:, None], target * weight, rcond=DIGITS_12)[0]
    back = view.back(fitted)
    back = np.where(np.isfinite(back), back, np.mean(y))
    return float(np.mean((y - back) ** 2) / np.var(y)) * len(y) / max(1, len(y) - design.shape[1])


def residual_variance(design: Floats, target: Floats, weight: Floats) -> float:
    """Weighted RSS / (n - p), from the triangular factor alone."""
    n, p = design.shape
    if n <= p:
        return math.inf
    table = np.column_stack([design, target]) * weight[:, None]
    scale = np.linalg.norm(table, axis=0)
    if not np.isfinite(scale).all():
        return math.inf
    r = np.asarray(np.linalg.qr(table / np.where(scale > 0, scale, 1.0), mode="r"))
    return float((r[p, p] * scale[p]) ** 2 / (n - p))


def standardised(z: Floats) -> Floats:
    """Columns mapped to [-1, 1]."""
    low, high = z.min(axis=0), z.max(axis=0)
    return (2.0 * z - low - high) / np.where(high > low, high - low, 1.0)


def polynomial(z: Floats, max_columns: int, *, max_degree: int = 30) -> Floats:
    """Products of Chebyshev polynomials of the columns of z (in [-1, 1]) up to a total degree.

    The degree is the largest one that keeps at most ``max_columns`` columns.
    """
    n, d = z.shape
    degree = 1
    while degree < max_degree and math.comb(d + degree + 1, d) <= max_columns:
        degree += 1
    angles = np.arccos(np.clip(z.T, -1.0, 1.0))
    single = np.stack([np.cos(k * angles) for k in range(degree + 1)])  # (degree, d, n)
    level: list[tuple[int, Floats]] = [(0, np.ones(n))]
    for j in range(d):
        level = [(used + k, v * single[k, j] if k else v) for used, v in level for k in range(degree + 1 - used)]
    return np.column_stack([v for _, v in sorted(level, key=lambda item: item[0])])


def followed(X: Floats, y: Floats, weight: Floats) -> Floats:
    """y without most of its noise: the polynomial with the least error by generalised cross-validation."""
    coordinates = [X] if np.any(X <= 0.0) else [X, np.log(X)]
    designs = [polynomial(standardised(z), max(2, len(y) // each)) for z in coordinates for each in SMOOTH_EACH]
    fits = [design @ np.linalg.lstsq(design * weight[:, None], y * weight, rcond=DIGITS_12)[0] for design in designs]
    errors = [
        float(np.sum((weight * (y - fit)) ** 2)) / (1.0 - design.shape[1] / len(y)) ** 2
        for fit, design in zip(fits, designs, strict=True)
    ]
    return np.asarray(fits[int(np.argmin(errors))], dtype=np.float64)
