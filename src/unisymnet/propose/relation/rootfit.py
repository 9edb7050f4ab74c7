"""The root of a quadratic equation fitted to noisy data, terms eliminated by description length.

A(x)·y² + B(x)·y + C(x) = 0 with the largest coefficient fixed.  Start: the linearised problem, weighted with the
inverse slope of the equation, which turns its error into one of y.  Then Levenberg–Marquardt steps in the space of y,
and one term less each round.  Knows its three bases and the data; writing is not done here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...problem import Problem
from ..linear.basis import Basis
from ..pool import FLOOR, TOKEN, Model, least_squares, standard_errors
from ..write.polynomial import Poly, Powers
from .ratiofit import tolerance, tolerances

__all__ = ["RootFit", "RootLaw"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

ROUNDS = 6


@dataclass(frozen=True)
class RootLaw:
    """A, B and C; ``length`` counts the law as it stands, ``tol`` is what the errors allow in writing it."""

    length: float
    a: Poly
    b: Poly
    c: Poly
    tol: float

    @property
    def terms(self) -> tuple[tuple[Powers, ...], ...]:
        """Which monomials each polynomial has."""
        return tuple(tuple(powers for powers, _ in poly.terms) for poly in (self.a, self.b, self.c))

    def tolerances(self) -> tuple[float, float, float]:
        return tolerances(self.tol)


class RootFit:
    """One of the two roots, on some rows of a problem."""

    def __init__(self, problem: Problem, c: Basis, b: Basis, a: Basis, rows: Ints) -> None:
        self.bases = (c, b, a)
        self.y, self.root, self.spread = problem.y[rows], np.sqrt(problem.weights[rows]), problem.spread
        columns = np.concatenate([basis.columns(problem.X[rows]) for basis in self.bases], axis=1)
        self.power = np.repeat(np.arange(3), [len(basis) for basis in self.bases])
        self.norms = np.linalg.norm(columns, axis=0) / math.sqrt(len(rows))
        with np.errstate(all="ignore"):
            self.columns = columns / self.norms
        self.tokens = np.concatenate([basis.tokens() for basis in self.bases])

    def selected(self, count: int = 2) -> list[RootLaw]:
        """The best few laws by description length."""
        if not np.isfinite(self.columns).all():
            return []
        found = []
        for sign in (1.0, -1.0):
            start = self._start(sign)
            if start is not None:
                found += list(self._path(start, sign))
        return sorted(found, key=lambda law: law.length)[:count]

    def _sums(self, keep: Ints, params: Floats) -> list[Floats]:
        """C, B and A on the rows."""
        power = self.power[keep]
        return [self.columns[:, keep[power == k]] @ params[power == k] for k in range(3)]

    def _solved(self, keep: Ints, params: Floats, sign: float) -> tuple[Floats, Floats]:
        """y and the slope 2·A·y + B of the equation there; the smaller root is computed without cancellation."""
        c, b, a = self._sums(keep, params)
        with np.errstate(all="ignore"):
            slope = sign * np.sqrt(b * b - 4.0 * a * c)
            y = np.where(b * slope > 0.0, -2.0 * c / (b + slope), (slope - b) / (2.0 * a))
        return y, slope

    def _start(self, sign: float) -> Floats | None:
        """Coefficients of the linearised problem whose root of this sign is nearest to y."""
        keep = np.arange(len(self.power))
        weights = self.root.copy()
        best: tuple[float, Floats | None] = (math.inf, None)
        for _ in range(ROUNDS):
            vector = self._linearised(weights)
            if vector is None:
                break
            _, b, a = self._sums(keep, vector)
            slope = 2.0 * a * self.y + b
            if sign * np.median(slope) < 0.0:
                vector = -vector
            rss = float(np.sum(((self._solved(keep, vector, sign)[0] - self.y) * self.root) ** 2))
            if math.isfinite(rss) and rss < best[0]:
                best = (rss, vector)
            size = np.abs(slope)
            weights = self.root / np.maximum(size, 0.05 * np.median(size) + 1e-300)
        return best[1]

    def _linearised(self, weights: Floats) -> Floats | None:
        """The vector with the smallest ‖C + B·y + A·y²‖ over ‖B + 2·A·y‖, what noise of y makes of the former."""
        free = self.power == 0
        table = self.columns * self.y[:, None] ** self.power * weights[:, None]
        rates = self.power * self.y[:, None] ** np.maximum(self.power - 1, 0)
        slopes = (self.columns * rates * weights[:, None])[:, ~free]
        span, triangle = np.linalg.qr(table[:, free])
        left = table[:, ~free] - span @ (span.T @ table[:, ~free])
        try:
            metric = np.asarray(np.linalg.qr(slopes, mode="r"), dtype=np.float64)
            unit = np.linalg.solve(metric.T, left.T).T
            upper = np.linalg.solve(metric, np.linalg.svd(np.linalg.qr(unit, mode="r"))[2][-1])
            lower = -np.linalg.lstsq(triangle, span.T @ (table[:, ~free] @ upper), rcond=1e-13)[0]
        except np.linalg.LinAlgError:
            return None
        vector = np.concatenate([lower, upper])
        return vector if np.isfinite(vector).all() else None

    def _path(self, params: Floats, sign: float) -> Iterator[RootLaw]:
        keep = np.arange(len(params))
        n = len(self.y)
        while len(set(self.power[keep])) == 3:
            anchor = int(np.argmax(np.abs(params)))
            params = params / abs(params[anchor])  # the sign of the slope must not change
            free = np.arange(len(keep)) != anchor
            model = self._model(keep, free, params, sign)
            found, rss, jacobian = least_squares(model, params[free], self.y, self.root, steps=6)
            if not math.isfinite(rss):
                return
            params = params.copy()
            params[free] = found
            errors = np.zeros(len(keep))
            errors[free] = standard_errors(jacobian, rss)
            relative = np.where(free, errors / np.maximum(np.abs(params), 1e-300), 0.0)
            fit = 0.5 * n * math.log(max(rss / n / self.spread**2, FLOOR**2))
            length = fit + 0.5 * len(found) * math.log(n) + TOKEN * float(np.sum(self.tokens[keep]))
            yield self._law(length, keep, params, tolerance(relative))
            rest = np.arange(len(keep)) != int(np.argmax(relative))
            keep, params = keep[rest], params[rest]

    def _model(self, keep: Ints, free: NDArray[np.bool_], fixed: Floats, sign: float) -> Model:
        def model(some: Floats) -> tuple[Floats, Floats]:
            params = fixed.copy()
            params[free] = some
            y, slope = self._solved(keep, params, sign)
            with np.errstate(all="ignore"):
                return y, -(self.columns[:, keep] * y[:, None] ** self.power[keep] / slope[:, None])[:, free]

        return model

    def _law(self, length: float, keep: Ints, params: Floats, tol: float) -> RootLaw:
        coefficients, polynomials, start = params / self.norms[keep], [], 0
        for k, basis in enumerate(self.bases):
            mine = self.power[keep] == k
            polynomials.append(basis.poly(keep[mine] - start, coefficients[mine]))
            start += len(basis)
        return RootLaw(length, polynomials[2], polynomials[1], polynomials[0], tol)
