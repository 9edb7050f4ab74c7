"""How good a formula is: R², complexity, and whether it *is* the law (two judges).

The strict judge compares values on fresh points; the SRBench judge repeats SRBench's symbolic procedure, for
comparison with published figures (ADR 11).  Judges never raise and never hang.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .symbolic.expr import Call, Const, Expr, children, evaluate, variables, walk

Floats = NDArray[np.float64]


def r2(y: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Coefficient of determination; 1 for a perfect fit, -inf if a prediction is undefined.

    A constant target has no variance to explain: then 1 for a perfect fit and 0 otherwise.
    """
    y, predicted = np.asarray(y, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if not np.isfinite(predicted).all():
        return -np.inf
    mean = np.average(y, weights=weights)
    with np.errstate(over="ignore"):
        residual = float(np.average((y - predicted) ** 2, weights=weights))
        total = float(np.average((y - mean) ** 2, weights=weights))
    if total == 0.0:
        return 1.0 if residual == 0.0 else 0.0
    return 1.0 - residual / total


def accuracy_rate(scores: Iterable[float], threshold: float = 0.99) -> float:
    """The share of R² values above the threshold (Acc of the paper)."""
    scores = list(scores)
    return sum(score > threshold for score in scores) / len(scores) if scores else 0.0


def complexity(expr: Expr) -> int:
    """Definition 2 of the paper: operators, features and constants of the formula as written.

    A sum or product of k terms counts k - 1 operators; the sign of a number is free; ``square(x)``, ``sqrt(x)`` and
    ``inv(x)`` count like the powers they are.
    """
    return sum(_own_complexity(node) for node in walk(expr)) - sum(_free_signs(node) for node in walk(expr))


def _own_complexity(node: Expr) -> int:
    if not isinstance(node, Call):
        return 1
    if node.op in ("square", "sqrt", "inv"):
        return 2
    return max(1, len(node.args) - 1)


def _free_signs(node: Expr) -> int:
    """``-2`` written as neg(2), or neg of a product that starts with a number, is one number."""
    if not (isinstance(node, Call) and node.op == "neg"):
        return 0
    inner = node.args[0]
    leading = children(inner)[0] if isinstance(inner, Call) and inner.op in ("mul", "div") else inner
    return int(isinstance(leading, Const))


def extrapolation_r2(truth: Expr, found: Expr, X: ArrayLike) -> float:
    """R² of Definition 4 on points X of the extended interval, over the rows where the truth is defined."""
    y = evaluate(truth, X)
    usable = np.isfinite(y)
    return r2(y[usable], evaluate(found, np.asarray(X)[usable])) if usable.any() else -np.inf


def is_solution_strict(
    truth: Expr, found: Expr, X_in: ArrayLike, X_out: ArrayLike | None = None, *, tol: float = 1e-5
) -> bool:
    """Is ``truth - found`` or ``truth / found`` constant to ``tol`` on all points where the truth is defined?

    ``X_out`` are points outside the training range; a formula that fits only inside it is not the law.
    """
    X = np.asarray(X_in, dtype=np.float64)
    if X_out is not None and len(np.asarray(X_out)):
        X = np.vstack([X, np.asarray(X_out, dtype=np.float64)])
    if not variables(found):
        return False
    a, b = evaluate(truth, X), evaluate(found, X)
    usable = np.isfinite(a)
    if usable.sum() < 2 or not np.isfinite(b[usable]).all():
        return False
    a, b = a[usable], b[usable]
    if np.ptp(b) <= tol * np.abs(b).max() and np.ptp(a) > tol * np.abs(a).max():
        return False
    return _is_constant(a - b, np.abs(a), tol) or _ratio_is_constant(a, b, tol)


def _is_constant(difference: Floats, size: Floats, tol: float) -> bool:
    centre = np.median(difference)
    return bool((np.abs(difference - centre) <= tol * np.maximum(size, 1e-3 * np.median(size) + 1e-300)).all())


def _ratio_is_constant(a: Floats, b: Floats, tol: float) -> bool:
    """Constant a/b != 0, tested as |a - ratio·b| so that zeros of the truth are no special case."""
    usable = np.abs(b) > 1e-9 * np.abs(b).max()
    if not usable.any():
        return False
    ratio = float(np.median(a[usable] / b[usable]))
    return ratio != 0.0 and np.isfinite(ratio) and _is_constant(a - ratio * b, np.abs(a), tol)
