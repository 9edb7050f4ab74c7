"""Is there noise?  Asked of the data alone before a search, and during it of what a formula leaves.

Exact smooth data go on improving with every degree of a polynomial; noise does not.  What polynomials cannot follow,
waves for one, shows in residuals of neighbouring rows that agree.  The search is not known here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from ...arrays import DIGITS_9, TINY, Floats, evenly
from ...judge.replicates import chance_of_noise
from ...problem import Problem
from ...symbolic.constants import free_constants
from ...symbolic.expr import Expr, evaluate
from .smooth import best_frame, polynomial, residual_variance, standardised

__all__ = ["looks_noisy", "noise_beyond_doubt", "only_noise_left", "smooth_residual"]


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
LEAST_EACH, MAX_COLUMNS = 2, 300  # rows for a term of the largest polynomial that is tried, and its terms
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
    frame = best_frame(problem, noisy=True, max_rows=1000, max_columns=MAX_COLUMNS, each=3)
    if frame is None or not CLEAN < math.sqrt(frame.share) < OPAQUE:
        return False
    coordinates = standardised(frame.coordinates)
    full = polynomial(coordinates, frame.max_columns)
    smaller = polynomial(coordinates, full.shape[1] - 1)
    left = residual_variance(full, frame.target, frame.weight)
    limit = PLATEAU if math.sqrt(frame.share) < MURKY else MURKY_PLATEAU
    if residual_variance(smaller, frame.target, frame.weight) < limit * left:
        return True
    # Of several inputs a degree has so many terms that only the highest may reach the floor; then the next one, with
    # as few as two rows for a term, must not go below it.
    larger = polynomial(coordinates, min(len(frame.target) // LEAST_EACH, MAX_COLUMNS))
    return larger.shape[1] > full.shape[1] and left < limit * residual_variance(larger, frame.target, frame.weight)


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
