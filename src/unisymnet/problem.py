"""The data a search works on: checked, float64, finite, with names, weights and a recorded scaling.

Scaling divides by powers of two and never shifts: it is exact in floating point, and it keeps every skeleton
(ADR 10).  It is applied only where a column's magnitude is extreme, so that ordinary data keep their own
"nice" constants.  Angles in degrees are scaled to radians, because only these need no constant in a sine (ADR 65).
This file does not know formulas' constants or the search.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats
from .errors import DataError
from .symbolic.expr import Call, Const, Expr, Var, product, rebuild, walk

# Between these magnitudes a column is left as it is.
SMALLEST_PLAIN, LARGEST_PLAIN = 1e-3, 1e3
LARGEST_INPUT = 1e302  # of which a million can be added up
LARGEST_STATE = 1e50  # of a dynamical system: terms are products of several
SMALLEST_TARGET = 1e-150  # and the inverse of it the largest: losses are mean squares in the caller's units
POWERS = ("pow", "div", "inv", "sqrt", "square")  # operators each of which a power can stand for
# Numbers with more significant digits are taken for full precision; so many are looked at.
MAX_DIGITS, MAX_READ = 13, 200
HELD, FEWEST = 0.99, 40  # the share of all weight that some rows hold, and how many are kept in any case
DEGREES = 180.0 / math.pi  # in a radian
KELVIN = 273.15  # at 0 °C
TARGET = -1  # its place among columns


@dataclass(frozen=True)
class Told:
    """Columns, and TARGET, in units that hide laws: angles in degrees, temperatures in °C."""

    degrees: frozenset[int] = frozenset()
    celsius: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.degrees or self.celsius)

    def moved(self, places: Mapping[int, int]) -> Told:
        """The same of columns that stand elsewhere now; others are forgotten."""
        return Told(*(frozenset(places[i] for i in some if i in places) for some in (self.degrees, self.celsius)))


NOTHING_TOLD = Told()


@dataclass(frozen=True)
class Problem:
    """Training rows in scaled units: ``X = X_original / x_scales``, ``y = y_original / y_scale``.

    ``weights`` are positive with mean 1.  ``noise`` is the known standard deviation of the target's noise in
    scaled units, or None when it has to be estimated.
    """

    X: Floats
    y: Floats
    names: tuple[str, ...]
    weights: Floats
    x_scales: Floats
    y_scale: float
    noise: float | None = None
    operators: frozenset[str] = field(default_factory=frozenset)
    rounding: float = 0.0  # rms error that a target written with few decimals carries, scaled units
    noisy: bool | None = None  # what the rows of a larger problem, from which this one was made, have shown
    told: Told = NOTHING_TOLD

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def spread(self) -> float:
        """Weighted standard deviation of y: the unit in which residuals are judged."""
        mean = float(np.average(self.y, weights=self.weights))
        return float(np.sqrt(np.average((self.y - mean) ** 2, weights=self.weights)))

    @property
    def kelvin(self) -> tuple[Expr, ...]:
        """Each temperature that is told to be in °C, in kelvin (in scaled units)."""
        zeros = {i: KELVIN / float(self.x_scales[i]) for i in sorted(self.told.celsius - {TARGET})}
        return tuple(Call("add", (Var(i), Const(zero))) for i, zero in zeros.items())

    def allows(self, *operators: str) -> bool:
        """May a formula use all of these operators?  An empty set of operators allows all."""
        return not self.operators or all(op in self.operators for op in operators)

    def allows_formula(self, expr: Expr) -> bool:
        """May a formula be this one?  A network writes roots, quotients and squares as powers: any of them will do."""
        ops = {node.op for node in walk(expr) if isinstance(node, Call)}
        return all(any(map(self.allows, POWERS)) if op == "pow" else self.allows(op) for op in ops)

    def to_original(self, expr: Expr) -> Expr:
        """A formula in scaled units rewritten for the caller's units."""

        def unscale(node: Expr) -> Expr:
            if isinstance(node, Var) and self.x_scales[node.index] != 1.0:
                return node * Const(1.0 / self.x_scales[node.index])
            return node

        expr = rebuild(expr, unscale)
        return expr if self.y_scale == 1.0 else product([Const(self.y_scale), expr])

    def to_scaled(self, expr: Expr) -> Expr:
        """A formula in the caller's units rewritten for scaled units (inverse of ``to_original``)."""

        def scale(node: Expr) -> Expr:
            if isinstance(node, Var) and self.x_scales[node.index] != 1.0:
                return node * Const(self.x_scales[node.index])
            return node

        expr = rebuild(expr, scale)
        return expr if self.y_scale == 1.0 else product([Const(1.0 / self.y_scale), expr])


def rows_that_count(problem: Problem) -> Problem:
    """Without rows that a factor taken out has left nothing but noise: views of such values are no use."""
    order = np.argsort(-problem.weights, kind="stable")
    held = np.cumsum(problem.weights[order]) / np.sum(problem.weights)
    n = max(FEWEST, 1 + int(np.searchsorted(held, HELD)))
    if n >= problem.n_rows:
        return problem
    rows = np.sort(order[:n])
    weights = problem.weights[rows]
    mean = float(np.mean(weights))
    noise = None if problem.noise is None else problem.noise / math.sqrt(mean)
    return replace(problem, X=problem.X[rows], y=problem.y[rows], weights=weights / mean, noise=noise)


def check_size(y: Floats) -> None:
    """Refuse a target whose squares overflow or vanish."""
    scale, most = _scale(y), float(np.max(np.abs(y)))
    if most > 1.0 / SMALLEST_TARGET or 0.0 < scale < SMALLEST_TARGET:
        raise DataError(
            f"y is about {most:.0e}, and its squares, by which formulas are compared, cannot be stored; "
            f"divide y by {scale:.0e} and multiply the law by it"
        )


def check_inputs(X: Floats, names: Sequence[str]) -> None:
    """Refuse inputs of which differences and means overflow."""
    for name, low, high in zip(names, X.min(axis=0), X.max(axis=0), strict=True):
        worst = float(low if -low > high else high)
        if abs(worst) > LARGEST_INPUT:
            raise DataError(f"{name} has a value of {worst:.0e}; correct it, or measure {name} in another unit")


def check_powers(values: Floats, what: str) -> None:
    """Refuse states and fields whose powers and derivatives overflow or vanish."""
    most = float(np.nanmax(np.abs(values), initial=0.0))
    if most > LARGEST_STATE or 0.0 < most < 1.0 / LARGEST_STATE:
        raise DataError(f"{what} is about {most:.0e}, and powers of it cannot be stored; measure it in another unit")


def make_problem(
    X: ArrayLike,
    y: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    weights: ArrayLike | None = None,
    noise: float | None = None,
    operators: frozenset[str] = frozenset(),
    told: Told = NOTHING_TOLD,
) -> Problem:
    """Check and scale.  Raises DataError for what no search can repair (shape, nan, no rows)."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    y = np.ascontiguousarray(y, dtype=np.float64)
    if X.ndim != 2 or y.ndim != 1 or len(X) != len(y):
        raise DataError(f"X must be (n, d) and y (n,), got {X.shape} and {y.shape}")
    if len(y) == 0 or X.shape[1] == 0:
        raise DataError(f"at least one row and one column are needed, got {X.shape[0]} rows and {X.shape[1]} columns")
    if not np.isfinite(X).all() or not np.isfinite(y).all():
        raise DataError("X and y must be finite; drop or fill the rows with missing or infinite values")
    names = tuple(f"x{i}" for i in range(X.shape[1])) if names is None else tuple(str(n) for n in names)
    if len(names) != X.shape[1]:
        raise DataError(f"{X.shape[1]} columns need as many names, got {len(names)}: {names}")
    x_scales = np.array([DEGREES if i in told.degrees else _scale(column) for i, column in enumerate(X.T)])
    y_scale = DEGREES if TARGET in told.degrees else _scale(y)
    check_size(y)
    return Problem(
        X=np.ascontiguousarray(X / x_scales),
        y=y / y_scale,
        names=names,
        weights=_weights(weights, len(y)),
        x_scales=x_scales,
        y_scale=y_scale,
        noise=None if noise is None else noise / y_scale,
        operators=operators,
        rounding=_rounding(y) / y_scale,
        told=told,
    )


def _rounding(y: Floats) -> float:
    """Rms rounding error of numbers written with a fixed number of decimals; 0 for full precision.

    Tables from files are rounded: a law cannot fit them better than this, and need not.  Coarse numbers (counts) say
    nothing about a law's precision.
    """
    written = [Decimal(repr(float(value))).normalize().as_tuple() for value in y[:: max(1, len(y) // MAX_READ)]]
    exponents = [number.exponent for number in written if isinstance(number.exponent, int)]
    if max(len(number.digits) for number in written) > MAX_DIGITS:
        return 0.0
    step = 10.0 ** min(exponents)
    return step / math.sqrt(12.0) if step < 1e-5 * float(np.std(y)) else 0.0


def _weights(weights: ArrayLike | None, n_rows: int) -> Floats:
    if weights is None:
        return np.ones(n_rows)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.shape != (n_rows,) or not np.isfinite(weights).all() or (weights < 0).any() or weights.sum() <= 0:
        raise DataError(f"weights must be {n_rows} finite numbers >= 0 with a positive sum")
    return weights * (n_rows / weights.sum())


def _scale(column: Floats) -> float:
    """1, or the power of two nearest the geometric mean of the magnitudes if that is extreme."""
    magnitudes = np.abs(column[column != 0.0])
    if not len(magnitudes):
        return 1.0
    exponent = float(np.mean(np.log2(magnitudes)))
    if np.log2(SMALLEST_PLAIN) <= exponent <= np.log2(LARGEST_PLAIN):
        return 1.0
    return float(2.0 ** round(exponent))
