"""Outer spaces: where the top of the network is linear, and how a solution there is written as a formula of y.

In a linear space  view(y) = Σ c·b(x) + Σ c·g(x);  in a log space  ln|view(y)| is such a sum, so
view(y) = c·∏ b(x)^a·∏ g(x)^n.  A space holds the rows on which this makes sense, the target, the row weights and the
outer basis b; it does not know how the inner functions g are found.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import DIGITS_9, DIGITS_12, Floats, Ints
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, evaluate, product, total
from ..view.smooth import smooth_residual
from ..view.views import View
from .dictionary import ONE, power

__all__ = [
    "Part",
    "Space",
    "crosses_zero",
    "log_basis",
    "make_space",
    "polynomial_basis",
    "read_exponent",
    "weightings",
]


FRACTIONS = (1, 2, 3, 4)  # denominators that exponents are read with
MAX_EXPONENT_ERROR = 0.1


@dataclass(frozen=True)
class Part:
    """A column of a space.  In log space ``raised`` parts are powers expr**a, the others factors exp(a·expr)."""

    expr: Expr
    raised: bool = False


@dataclass(frozen=True)
class Space:
    """ln|view(y)| or view(y) on the ``rows`` where it is defined, with an outer basis."""

    problem: Problem
    view: View
    log: bool
    basis: tuple[Part, ...]
    rows: Ints
    target: Floats
    weight: Floats  # multiplies target and columns
    design: Floats  # (n, q), weighted columns of the basis

    @property
    def name(self) -> str:
        return f"{'ln ' if self.log else ''}{self.view.name} on {len(self.basis)}"

    def sample(self, n: int, rng: np.random.Generator) -> Space:
        """The same space on at most n random rows."""
        return self.sample_together([self], n, rng)[0]

    def sample_together(self, spaces: Sequence[Space], n: int, rng: np.random.Generator) -> list[Space]:
        """Spaces with the same rows, cut to the same random sample of at most n rows."""
        if n >= len(self.rows):
            return list(spaces)
        pick = np.sort(rng.choice(len(self.rows), size=n, replace=False))
        return [
            replace(
                s,
                rows=s.rows[pick],
                target=s.target[pick],
                weight=s.weight[pick],
                design=np.ascontiguousarray(s.design[pick]),
            )
            for s in spaces
        ]

    def project(self) -> tuple[Floats, Floats]:
        """Orthonormal rows spanning the basis, and the unit target beside it."""
        scale = np.linalg.norm(self.design, axis=0)
        outer = _orthonormal(self.design / np.where(scale > 0, scale, 1.0))
        target = self.weight * self.target
        free = target - outer.T @ (outer @ target)
        free -= outer.T @ (outer @ free)
        norm = float(np.linalg.norm(free))
        return outer, free / norm if norm > 0 else free

    def values(self, expr: Expr) -> Floats:
        return evaluate(expr, self.problem.X[self.rows])

    def column(self, part: Part) -> Floats:
        """Unweighted column of a part."""
        values = self.values(part.expr)
        if not (self.log and part.raised):
            return values
        with np.errstate(all="ignore"):
            return np.log(np.abs(values))

    def compose(self, parts: Sequence[Part], coefs: Sequence[float]) -> Expr | None:
        """The formula of y with these coefficients, or None where signs or domains forbid it."""
        return self._product(parts, coefs) if self.log else self._sum(parts, coefs)

    def _sum(self, parts: Sequence[Part], coefs: Sequence[float]) -> Expr | None:
        terms = [_scaled(c, part.expr) for part, c in zip(parts, coefs) if c != 0.0]
        return self.view.invert(total(terms)) if terms else None

    def _product(self, parts: Sequence[Part], coefs: Sequence[float]) -> Expr | None:
        X = self.problem.X[self.rows]
        factors: list[Expr] = []
        mixed: list[int] = []
        for part, a in zip(parts, coefs):
            if a == 0.0 or part.expr == ONE:
                continue
            if not part.raised:
                factors.append(Call("exp", (_scaled(a, part.expr),)))
                continue
            values, base = evaluate(part.expr, X), part.expr
            whole = float(a).is_integer()
            if not whole and not np.all(values > 0):
                base = Call("neg", (base,)) if np.all(values < 0) else Call("abs", (base,))
            if whole and a % 2 and np.any(values > 0) and np.any(values < 0):
                mixed.append(len(factors))
            factors.append(power(base, float(a)))
        target = self.view.values(self.problem.y)[self.rows]
        for n_abs in range(len(mixed) + 1):
            for chosen in itertools.combinations(mixed, n_abs):
                trial = [Call("abs", (f,)) if i in chosen else f for i, f in enumerate(factors)]
                found = self._with_constant(trial, target)
                if found is not None:
                    return found
        return None

    def _with_constant(self, factors: list[Expr], target: Floats) -> Expr | None:
        """The leading constant by least squares in the view, if the product has the target's signs."""
        body = product(factors)
        if isinstance(body, Call) and body.op == "abs" and not self.problem.allows("abs"):
            return None
        values = evaluate(body, self.problem.X[self.rows])
        energy = (self.weight * np.abs(target)) ** 2
        agree = float(np.sum(energy[values * target > 0]) / np.sum(energy)) if np.sum(energy) > 0 else 0.0
        if not np.isfinite(values).all() or 0.02 < agree < 0.98:
            return None
        # Relative residuals, as in log space, unless the weights say how residuals count.
        with np.errstate(all="ignore"):
            w = self.weight / np.abs(target)
            constant = float(np.sum((w**2) * values * target) / np.sum((w * values) ** 2))
        if not math.isfinite(constant) or constant == 0.0:
            return None
        return self.view.invert(_scaled(constant, body))


def make_space(problem: Problem, view: View, *, log: bool, basis: Sequence[Part], weighted: bool) -> Space | None:
    """A space on all rows where target and basis are finite, or None if too few are left or y is constant there."""
    values = view.values(problem.y)
    with np.errstate(all="ignore"):
        target = np.log(np.abs(values)) if log else values
        columns = [_column(problem, part, log) for part in basis]
    weight = np.sqrt(problem.weights)
    if weighted:
        # A residual of ln|v| counts |v| times, and one of the view 1/|view'| times.
        weight = weight * view.weights(problem.y) * (np.abs(values) if log else 1.0)
    good = np.isfinite(target) & np.isfinite(weight) & (weight > 0)
    for column in columns:
        good &= np.isfinite(column)
    rows = np.flatnonzero(good)
    if len(rows) < max(8, len(basis) + 3, 0.6 * problem.n_rows):
        return None
    if np.ptp(target[rows]) <= DIGITS_12 * np.max(np.abs(target[rows])):
        return None
    weight = weight[rows] / np.sqrt(np.mean(weight[rows] ** 2))
    design = np.column_stack([column[rows] * weight for column in columns])
    return Space(problem, view, log, tuple(basis), rows, target[rows], weight, np.ascontiguousarray(design))


def log_basis(problem: Problem, *, with_inputs: bool = False) -> list[Part]:
    """1, ln|x_i| (columns with zeros in many rows left out) and, if asked for, x_i (factors exp(a·x_i))."""
    usable = [i for i in range(problem.n_features) if np.mean(problem.X[:, i] == 0.0) < 0.2]
    parts = [Part(ONE)] + [Part(Var(i), True) for i in usable]
    if with_inputs and problem.allows("exp"):
        parts += [Part(Var(i)) for i in range(problem.n_features)]
    return parts


def polynomial_basis(problem: Problem) -> list[Part]:
    """All powers of one input up to the third; of more, all products of two; as far as the rows allow."""
    inputs: list[Expr] = [Var(i) for i in range(problem.n_features)]
    degree = 3 if len(inputs) == 1 else 2
    parts = [Part(ONE)]
    for n_factors in range(1, degree + 1):
        for chosen in itertools.combinations_with_replacement(inputs, n_factors):
            powers = [power(x, float(chosen.count(x))) for x in dict.fromkeys(chosen)]
            parts.append(Part(product(powers)))
    return parts if 3 * len(parts) <= problem.n_rows and len(parts) <= 30 else parts[: 1 + len(inputs)]


def crosses_zero(problem: Problem) -> bool:
    """Does y come close to zero?  There ln|y| has spikes that hide the right constants from a search, even if exact."""
    size = np.abs(problem.y)
    return bool(np.min(size) < 1e-2 * np.median(size))


def weightings(problem: Problem) -> tuple[bool, ...]:
    """Should rows be weighted so that residuals count as in the space of y?

    Not for exact data, always for noisy ones; where nothing is known, a smooth fit may show that there can hardly be
    any noise, or that there is nothing but noise beyond it.  Else both.
    """
    if problem.noise is not None:
        return (problem.noise > DIGITS_9 * problem.spread,)
    residual, flat = smooth_residual(problem)
    if residual < 3e-3:
        return (False,)
    return (True,) if flat and residual < 0.7 else (False, True)


def read_exponent(value: float, error: float) -> float:
    """The simple fraction within a few standard errors of a fitted exponent, or the value itself."""
    tolerance = max(4.0 * error, DIGITS_9 * max(1.0, abs(value)))
    if tolerance > MAX_EXPONENT_ERROR:
        tolerance = MAX_EXPONENT_ERROR
    for denominator in FRACTIONS:
        nearest = round(value * denominator) / denominator
        # Finer fractions lie denser, so they need a better fit to mean anything.
        if abs(value - nearest) <= tolerance / denominator**2:
            return nearest
    return value


def _column(problem: Problem, part: Part, log: bool) -> Floats:
    values = evaluate(part.expr, problem.X)
    return np.log(np.abs(values)) if log and part.raised else values


def _scaled(c: float, expr: Expr) -> Expr:
    if expr == ONE:
        return Const(c)
    return expr if c == 1.0 else product([Const(c), expr])


def _orthonormal(design: Floats) -> Floats:
    """Rows that span the columns of a design; dependent columns are left out."""
    from scipy.linalg import qr

    q, r, _ = qr(design, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(r))
    rank = int(np.sum(diagonal > 1e-11 * diagonal[0])) if len(diagonal) else 0
    return np.ascontiguousarray(q[:, :rank].T)
