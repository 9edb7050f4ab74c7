"""What stands around a sum: nothing, or an exponential for positive targets that change by factors.

Features are chosen for the inner target, where the sum is linear; coefficients always minimise errors of the target
itself. Only arrays and the one outer function.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..symbolic.expr import Call, Expr
from .ridge import Sum, ridge

LEAST_FACTOR = 3.0  # between the tenth and the ninetieth percentile, for an exponential
ROUNDS = 12


@dataclass(frozen=True)
class Fitted:
    """Coefficients of a sum and what stands around it."""

    sum: Sum
    link: Link

    @property
    def intercept(self) -> float:
        return self.sum.intercept

    @property
    def coefficients(self) -> Floats:
        return self.sum.coefficients

    def predict(self, F: Floats) -> Floats:
        inner = self.sum.predict(F)
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(inner)) if self.link.name == "exp" else inner


@dataclass(frozen=True)
class Link:
    """`size` nodes around the sum."""

    name: str
    size: int = 0

    def suits(self, y: Floats, allowed: frozenset[str]) -> bool:
        if self.name == "id":
            return True
        low, high = np.quantile(y, (0.1, 0.9))
        return bool(y.min() > 0.0 and high > LEAST_FACTOR * low and (not allowed or "exp" in allowed))

    def inner(self, y: Floats) -> Floats:
        return np.log(y) if self.name == "exp" else y

    def weights(self, y: Floats, weights: Floats) -> Floats:
        """So that errors of the inner target count as the errors of y that they become, within bounds."""
        if self.name == "id":
            return weights
        return np.asarray(weights * np.clip(y / np.median(y), 0.2, 5.0))

    def outer(self, inner: Expr) -> Expr:
        return Call("exp", (inner,)) if self.name == "exp" else inner

    def fit(self, F: Floats, y: Floats, weights: Floats) -> Fitted:
        first = ridge(F, self.inner(y), self.weights(y, weights))
        return Fitted(first if self.name == "id" else _gauss_newton(F, y, weights, first), self)


def _gauss_newton(F: Floats, y: Floats, weights: Floats, start: Sum) -> Sum:
    """Errors of y = exp(sum) made smaller step by step, by damped least squares from where the logarithms lead."""
    used = weights > 0.0
    root = np.sqrt(weights[used] / weights[used].mean())
    scale = np.maximum(F[used].std(axis=0), 1e-300)
    A = np.column_stack([np.ones(int(used.sum())), F[used] / scale])
    target = y[used]
    values = np.concatenate([[start.intercept], start.coefficients * scale])
    damping = 1e-2

    def rss(at: Floats) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            found = float(np.sum((root * (target - np.exp(A @ at))) ** 2))
        return found if np.isfinite(found) else np.inf

    best = rss(values)
    for _ in range(ROUNDS):
        shown = np.exp(np.minimum(A @ values, 700.0))
        J = A * (root * shown)[:, None]
        normal = J.T @ J
        normal[np.diag_indices_from(normal)] *= 1.0 + damping
        step = np.linalg.lstsq(normal, J.T @ (root * (target - shown)), rcond=None)[0]
        found = rss(values + step)
        if found < best:
            values, better, damping = values + step, best - found, damping / 5.0
            if better < 1e-7 * best:
                break
            best = found
        else:
            damping *= 10.0
    return Sum(float(values[0]), values[1:] / scale, start.loo)


LINKS = {"id": Link("id"), "exp": Link("exp", 1)}
