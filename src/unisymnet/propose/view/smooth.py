"""Polynomial regressions as a microscope: can some coordinates predict some view of y?  Is there noise?

A frame is the view of the target and the coordinates (inputs or their logarithms) in which a polynomial of limited size
predicts best.  Restricted designs (a variable left out, stripped, merged with another) are compared with it by their
residual variances; that is all a reduction needs to be believed.  Noise is judged before a search, from the data alone,
and during it, from what a formula leaves; what polynomials cannot follow, waves for one, shows in residuals of
neighbouring rows that agree.  The search is not known here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import DIGITS_9, DIGITS_12, TINY, Floats, Ints, evenly
from ...judge.replicates import chance_of_noise
from ...problem import Problem
from ...symbolic.constants import free_constants
from ...symbolic.expr import Expr, evaluate
from .views import View, views_of

__all__ = [
    "Frame",
    "best_frame",
    "followed",
    "frames_of",
    "looks_noisy",
    "noise_beyond_doubt",
    "only_noise_left",
    "polynomial",
    "share_in_y",
    "smooth_residual",
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
    X, y = problem.X[rows], problem.y[rows]
    columns = min(max_columns, len(rows) // (each or (5 if noisy else 3)))
    d = X.shape[1]
    # A polynomial that cannot bend every input and every pair of them proves nothing.
    if columns < math.comb(d + (2 if noisy or d > 4 else 3), d) or problem.spread == 0.0:
        return
    mixed = np.any((X.min(axis=0) < 0) & (X.max(axis=0) > 0))
    for view in views_of(problem, [*POWERS]):
        made = [_frame(problem, view, X, y, rows, X, False, columns, noisy)]
        if not mixed and not np.any(X == 0):
            made.append(_frame(problem, view, X, y, rows, np.log(np.abs(X)), True, columns, noisy))
        found = [frame for frame in made if frame is not None]
        if found:
            yield min(found, key=lambda frame: frame.share)


def _frame(
    problem: Problem, view: View, X: Floats, y: Floats, rows: Ints, coordinates: Floats, logs: bool,
    columns: int, noisy: bool,
) -> Frame | None:  # fmt: skip
    target = view.values(y)
    weight = np.sqrt(problem.weights[rows]) * (view.weights(y) if noisy else 1.0)
    good = np.isfinite(target) & (weight > 0) & np.isfinite(weight)
    if np.sum(good) < 0.9 * len(y):
        return None
    target, weight = target[good], weight[good]
    if not noisy and view.name != "y" and _spiky(target):
        return None
    design = polynomial(standardised(coordinates[good]), columns)
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
    return Frame(X[good], coordinates[good], logs, power, target, weight, columns, max(variance, floor), share)


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


def smooth_residual(problem: Problem) -> tuple[float, bool]:
    """What a flexible polynomial leaves of y, in units of std(y), and whether a smaller one leaves as little.

    The first is an upper bound for the noise.  If polynomials of different sizes leave the same, what they leave is
    noise; a law that they cannot follow would let the larger one win.
    """
    large = best_frame(problem, noisy=True)
    if large is None:
        return 1.0, False
    small = best_frame(problem, noisy=True, max_columns=large.max_columns // 3)
    return math.sqrt(large.share), small is not None and small.share < 1.15 * large.share


def noise_beyond_doubt(problem: Problem) -> bool:
    """Is it known that there is noise, or does a smooth fit show nothing but noise beyond it?"""
    if problem.noise is not None:
        return problem.noise > DIGITS_9 * problem.spread
    residual, flat = smooth_residual(problem)
    return flat and 3e-3 <= residual < 0.7


# Residuals over std(y): below CLEAN there is no noise worth the name, above OPAQUE polynomials see nothing, and above
# MURKY what they cannot follow is easily taken for noise.
CLEAN, MURKY, OPAQUE = DIGITS_9, 0.25, 0.6
# One degree less raises the residual variance of exact data at least by this factor.
PLATEAU, MURKY_PLATEAU = 1.4, 1.08
# Standard deviations by which residuals must be more orderly than the same residuals with random signs.
SURPRISE, N_FLIPS = 4.0, 60
# The same for the test of neighbours, which takes the largest of many numbers; and how many rows count as near.
NEAR_SURPRISE, NEIGHBOURS = 3.0, (2, 6, 20)
# Of the typical residual, and of the root mean square: a formula that does much for the latter alone explains few rows.
HARDLY_LESS, MUCH_LESS = 0.5, 0.1
# Chance by which rows with equal inputs refuse a formula, and above which they alone speak for it, where rows are few.
UNLIKELY, LIKELY = 1e-4, 0.05
# A test says nothing on fewer rows.  That of neighbours compares all pairs of rows.
LEAST_ROWS = 24
TEST_ROWS, PAIRED_ROWS = 1500, 300


def looks_noisy(problem: Problem) -> bool:
    """Have residuals of smooth fits reached a floor that one more degree does not lower?

    Exact smooth data go on improving with every degree, or are fitted to rounding; data that no polynomial follows
    (many waves, poles) say nothing, and count as exact.
    """
    if problem.noise is not None:
        return problem.noise > DIGITS_9 * problem.spread
    if problem.noisy is not None:
        return problem.noisy
    frame = best_frame(problem, noisy=True, max_rows=1000, max_columns=300, each=3)
    if frame is None or not CLEAN < math.sqrt(frame.share) < OPAQUE:
        return False
    coordinates = standardised(frame.coordinates)
    full = polynomial(coordinates, frame.max_columns)
    smaller = polynomial(coordinates, full.shape[1] - 1)
    left = residual_variance(smaller, frame.target, frame.weight)
    limit = PLATEAU if math.sqrt(frame.share) < MURKY else MURKY_PLATEAU
    return left < limit * residual_variance(full, frame.target, frame.weight)


def only_noise_left(problem: Problem, expr: Expr, least: float = CLEAN) -> bool:
    """Can no polynomial predict the residuals of the formula (in the caller's units), not even one of its values?

    A law that is missing a term leaves something that inputs explain; noise is explained by nothing.  Residuals below
    ``least`` of the target's spread are no noise, whatever they look like.
    """
    rows = evenly(problem.n_rows, TEST_ROWS)
    X = problem.X[rows]
    with np.errstate(all="ignore"):
        values = evaluate(expr, X * problem.x_scales) / problem.y_scale
    left = (problem.y[rows] - values) * np.sqrt(problem.weights[rows])
    if not np.isfinite(left).all() or not np.std(left) > least * problem.spread:
        return False
    chance = chance_of_noise(X, left, len(free_constants(expr)[1]))
    if len(rows) < LEAST_ROWS or (chance is not None and chance < UNLIKELY):
        return chance is not None and chance > LIKELY
    if _explains_few(problem.y[rows], problem.y[rows] - values):
        return False
    coordinates = [X, np.column_stack([values])]
    if np.all(X > 0.0):
        coordinates.append(np.log(X))
    # A few large residuals, where a law has a pole, must not hide what the many others say.
    clipped = _clipped(left)
    sizes = np.abs(values) + 0.01 * np.median(np.abs(values))
    shares = _clipped(left / np.where(sizes > 0.0, sizes, 1.0))  # what a missing factor leaves
    return all(
        _explains_nothing(polynomial(standardised(z), size), residuals)
        for z in coordinates
        for size in (len(rows) // 12, len(rows) // 4)
        for residuals in (left, clipped)
    ) and not _neighbours_agree(X, (left, clipped, shares))


def _explains_few(y: Floats, left: Floats) -> bool:
    """Does the formula fit some huge values and leave most rows as they were?  Then nothing is known about these."""
    typical = float(np.median(np.abs(y - np.median(y))))
    return bool(np.median(np.abs(left)) > HARDLY_LESS * typical and np.std(left) < MUCH_LESS * np.std(y))


def _clipped(left: Floats) -> Floats:
    return np.asarray(np.clip(left, *(np.median(np.abs(left)) * np.array([-2.0, 2.0]))), dtype=np.float64)


def _explains_nothing(design: Floats, left: Floats) -> bool:
    """Is what the design explains no more than it explains of the same residuals with random signs?

    Unlike an F test this holds for noise of any distribution that is the same up and down, growing with y for one.
    """
    basis, triangle = np.linalg.qr(design)
    size = np.abs(np.diag(triangle))
    basis = basis[:, size > DIGITS_9 * size.max()]
    chance = np.sum((basis.T @ _flipped(left)) ** 2, axis=0)
    return bool(np.sum((basis.T @ left) ** 2) <= chance.mean() + SURPRISE * chance.std())


def _neighbours_agree(X: Floats, kinds: Sequence[Floats]) -> bool:
    """Are residuals of rows that lie close together, in one input, in two or in all, more alike than with random signs?

    Each closeness has a sum of products of residuals; the largest in units of its spread is compared.
    """
    rows = evenly(len(X), PAIRED_ROWS)
    tables = [np.column_stack([left[rows], _flipped(left[rows])]) for left in kinds]
    largest = np.full((len(kinds), N_FLIPS + 1), -math.inf)
    for near in _closeness(X[rows]):
        for i, table in enumerate(tables):
            alike = np.einsum("ij,ij->j", table, near @ table)
            largest[i] = np.maximum(largest[i], alike / max(float(np.std(alike[1:])), TINY))
    chance = largest[:, 1:]
    return bool(np.any(largest[:, 0] > chance.mean(axis=1) + NEAR_SURPRISE * chance.std(axis=1)))


def _closeness(X: Floats) -> Iterator[Floats]:
    """Symmetric tables (n, n) of how close two rows are, by rank; a row is not close to itself."""
    n, d = X.shape
    ranks = np.argsort(np.argsort(X, axis=0, kind="stable"), axis=0) / n
    sets = [*itertools.combinations(range(d), 1), *itertools.islice(itertools.combinations(range(d), 2), 10)]
    if d > 2:
        sets.append(tuple(range(d)))
    for chosen in sets:
        distance = sum((ranks[:, None, j] - ranks[None, :, j]) ** 2 for j in chosen)
        for k in NEIGHBOURS:
            width = 0.5 * (k / n) ** (1.0 / len(chosen))
            table = np.exp(distance / (-2.0 * width**2))
            np.fill_diagonal(table, 0.0)
            yield table


def _flipped(left: Floats) -> Floats:
    """The residuals with random signs, a column each."""
    return np.random.default_rng(0).choice([-1.0, 1.0], size=(len(left), N_FLIPS)) * left[:, None]
