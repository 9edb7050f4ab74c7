"""Views of the target: y = h(f(x)) is searched as view(y) = f(x), with h the inverse of the view.

A view knows its values, its slope, where it is defined, and how to write its inverse as a formula.  Rows are weighted
with 1/|view'(y)|, so that residuals of the view count as they would in the space of y: a ``Target`` is y seen so on
some rows.  Nothing here knows what is fitted to it.

Power views and ln act on one sign of y, the one that most of the target has.  Rows of the other sign are noise (or
prove the view wrong): powers are continued oddly through zero, which keeps a fit unbiased, and ln leaves such rows out.
``strict`` says that no such row exists; only then can the view be exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import MAX_LOG, Bools, Floats, Ints
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, call

__all__ = ["Target", "VIEW_NAMES", "View", "signed", "views_of"]

Values = Callable[[Floats], Floats]

VIEW_NAMES = ("y", "y**2", "1/y", "1/y**2", "sqrt(y)", "ln(y)", "exp(y)", "sin(y)", "cos(y)", "tan(y)", "logit(y)")
# An arctangent is mostly an angle: only where y is told to be one is it worth the time.
GENERAL = tuple(name for name in VIEW_NAMES if name != "tan(y)")

# More of the target's energy than this on the other sign is not noise: the view does not apply.
MAX_OPPOSED = 0.05
# exp(y) is of no use where it spans more than this many powers of e (and overflows soon after).
MAX_EXP_RANGE = 60.0


@dataclass(frozen=True)
class View:
    """One monotone function of the target.

    ``forward``, ``slope`` and ``backward`` are the function, its derivative and its inverse on arrays (nan
    outside their domain); ``invert`` writes the inverse as a formula.
    """

    name: str
    forward: Values
    slope: Values
    backward: Values
    invert: Callable[[Expr], Expr]
    strict: bool = True

    def values(self, y: Floats) -> Floats:
        """view(y); nan where it is undefined."""
        with np.errstate(all="ignore"):
            values = self.forward(y)
        return np.where(np.isfinite(values), values, np.nan)

    def weights(self, y: Floats) -> Floats:
        """1/|view'(y)|, the factor that turns a residual of the view into one of y; 0 on invalid rows."""
        with np.errstate(all="ignore"):
            weights = 1.0 / np.abs(self.slope(y))
        return np.where(self.valid(y) & np.isfinite(weights), weights, 0.0)

    def valid(self, y: Floats) -> Bools:
        """Rows on which the view is defined."""
        return np.isfinite(self.values(y))

    def back(self, values: Floats) -> Floats:
        """y for values of the view; nan where there is none."""
        with np.errstate(all="ignore"):
            return np.asarray(self.backward(values), dtype=np.float64)


def views_of(problem: Problem, names: Sequence[str] | None = None) -> list[View]:
    """The views that this target and the problem's operators permit, in the order of VIEW_NAMES."""
    makers = {
        "y": _identity,
        "y**2": lambda p: _power_view(p, "y**2", 2.0),
        "1/y": lambda p: _power_view(p, "1/y", -1.0),
        "1/y**2": lambda p: _power_view(p, "1/y**2", -2.0),
        "sqrt(y)": lambda p: _power_view(p, "sqrt(y)", 0.5),
        "ln(y)": _ln_view,
        "exp(y)": _exp_view,
        "sin(y)": lambda p: _wave_view(p, "sin(y)", np.sin, np.cos, "asin", SINES),
        "cos(y)": lambda p: _wave_view(p, "cos(y)", np.cos, lambda y: -np.sin(y), "acos", COSINES),
        "tan(y)": _tan_view,
        "logit(y)": _logit_view,
    }
    wanted = GENERAL if names is None else names
    unknown = set(wanted) - set(makers)
    if unknown:
        raise ValueError(f"unknown views {sorted(unknown)}; use some of {', '.join(VIEW_NAMES)}")
    made = [makers[name](problem) for name in VIEW_NAMES if name in wanted]
    return [view for view in made if view is not None]


def _identity(problem: Problem) -> View:
    return View("y", lambda y: y, np.ones_like, lambda t: t, lambda e: e)


def main_sign(y: Floats) -> tuple[float, float]:
    """The sign that most of y's energy has, and the share of the other one."""
    energy = float(np.sum(y * y))
    positive = float(np.sum(y[y > 0] ** 2))
    if energy == 0.0:
        return 1.0, 1.0
    return (1.0, 1.0 - positive / energy) if positive >= energy / 2 else (-1.0, positive / energy)


def _power_view(problem: Problem, name: str, exponent: float) -> View | None:
    """|y|^exponent with the sign of s*y, where s is the target's main sign."""
    sign, opposed = main_sign(problem.y)
    # An odd power is invertible on both signs.
    odd = exponent == -1.0
    if not odd and (opposed > MAX_OPPOSED or not _may_power(problem, 1.0 / exponent)):
        return None
    if odd and not _may_power(problem, -1.0):
        return None
    if odd:
        sign = 1.0

    def invert(expr: Expr) -> Expr:
        return signed(sign, _power(expr, 1.0 / exponent))

    return View(
        name,
        lambda y: np.sign(sign * y) * np.abs(y) ** exponent,
        lambda y: sign * exponent * np.abs(y) ** (exponent - 1.0),
        lambda t: sign * np.sign(t) * np.abs(t) ** (1.0 / exponent),
        invert,
        strict=odd or not bool(np.any(sign * problem.y < 0)),
    )


def _ln_view(problem: Problem) -> View | None:
    sign, opposed = main_sign(problem.y)
    if opposed > MAX_OPPOSED or not problem.allows("exp"):
        return None
    return View(
        "ln(y)",
        lambda y: np.log(np.where(sign * y > 0, sign * y, np.nan)),
        lambda y: 1.0 / y,
        lambda t: sign * np.exp(t),
        lambda e: signed(sign, Call("exp", (e,))),
        strict=not bool(np.any(sign * problem.y < 0)),
    )


def _exp_view(problem: Problem) -> View | None:
    if not problem.allows("ln") or np.ptp(problem.y) > MAX_EXP_RANGE or np.max(np.abs(problem.y)) > MAX_LOG:
        return None
    return View("exp(y)", np.exp, np.exp, np.log, lambda e: Call("ln", (e,)))


# Of a wave: between which values of y it can be inverted, the inverse there, and how it is written.
Branches = tuple[tuple[float, float, Values, Callable[[Expr], Expr]], ...]
HALF = math.pi / 2
SINES: Branches = (
    (-HALF, HALF, np.arcsin, lambda e: call("asin", e)),
    (HALF, 3 * HALF, lambda t: math.pi - np.arcsin(t), lambda e: math.pi - call("asin", e)),
)
COSINES: Branches = (
    (0.0, math.pi, np.arccos, lambda e: call("acos", e)),
    (-math.pi, 0.0, lambda t: -np.arccos(t), lambda e: -call("acos", e)),
)
LEAST_ARC = 1e-3  # of which a wave can be told from a line


def _wave_view(
    problem: Problem, name: str, forward: Values, slope: Values, inverse: str, branches: Branches
) -> View | None:
    """A wave is inverted on the branch that holds the whole target."""
    low, high = float(problem.y.min()), float(problem.y.max())
    if problem.allows(inverse) and high - low >= LEAST_ARC:
        for start, end, backward, invert in branches:
            if start <= low and high <= end:
                return View(name, forward, slope, backward, invert)
    return None


def _tan_view(problem: Problem) -> View | None:
    if not problem.allows("atan") or not -HALF < float(problem.y.min()) <= float(problem.y.max()) < HALF:
        return None
    return View("tan(y)", np.tan, lambda y: 1.0 + np.tan(y) ** 2, np.arctan, lambda e: Call("atan", (e,)))


def _logit_view(problem: Problem) -> View | None:
    """ln(y/(1 − y)) of shares and probabilities: 1/(1 + exp(−f)) is searched as f."""
    low, high = float(problem.y.min()), float(problem.y.max())
    if problem.y_scale != 1.0 or not 0.0 < low <= high < 1.0:
        return None
    if not problem.allows("exp") or not _may_power(problem, -1.0):
        return None
    return View(
        "logit(y)",
        lambda y: np.log(y) - np.log1p(-y),
        lambda y: 1.0 / (y * (1.0 - y)),
        lambda t: 1.0 / (1.0 + np.exp(-t)),
        lambda e: Const(1.0) / (Const(1.0) + Call("exp", (Call("neg", (e,)),))),
    )


def _may_power(problem: Problem, exponent: float) -> bool:
    """Can expr**exponent be written with the problem's operators?"""
    if problem.allows("pow"):
        return True
    if exponent < 0 and not (problem.allows("div") or problem.allows("inv")):
        return False
    if abs(exponent) == 0.5:
        return problem.allows("sqrt")
    return abs(exponent) == 1.0 or problem.allows("square") or problem.allows("mul")


def _power(expr: Expr, exponent: float) -> Expr:
    """expr**exponent as a person writes it."""
    root = Call("sqrt", (expr,)) if abs(exponent) == 0.5 else expr
    if abs(exponent) == 2.0:
        root = Call("pow", (expr, Const(2.0)))
    return Call("div", (Const(1.0), root)) if exponent < 0 else root


def signed(sign: float, expr: Expr) -> Expr:
    """The formula, or its negative."""
    return expr if sign > 0 else Call("neg", (expr,))


# Times the median weight: noise may have pushed a row to a flat spot of the view, where 1/slope explodes.
STEEPEST = 4.0


@dataclass(frozen=True)
class Target:
    """``values`` of the view and ``weights`` of residuals, on the ``rows`` of a problem where both are finite."""

    view: View
    rows: Ints
    values: Floats
    weights: Floats

    @staticmethod
    def see(problem: Problem, view: View, rows: Ints) -> Target:
        y = problem.y[rows]
        values = view.values(y)
        weights = capped(view.weights(y)) * np.sqrt(problem.weights[rows])
        good = np.isfinite(values) & (weights > 0)
        return Target(view, rows[good], values[good], weights[good])

    def among(self, rows: Ints) -> Bools:
        """Which of the rows that were looked at are these?"""
        return np.isin(rows, self.rows, assume_unique=True)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def weighted(self) -> Floats:
        """The values times their weights."""
        return self.values * self.weights


def capped(weights: Floats) -> Floats:
    """Weights 1/|view'(y)| without those that grow beyond all bounds."""
    positive = weights[weights > 0]
    return np.minimum(weights, STEEPEST * np.median(positive)) if len(positive) else weights
