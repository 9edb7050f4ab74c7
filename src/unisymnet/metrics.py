"""How good and how simple a formula is: R², complexity, and two judges of "is this the true law?".

``is_solution_srbench`` follows SRBench 2021 step by step, for comparison with published figures; it rounds constants
to three decimals and so forgives a lot.  ``is_solution_strict`` compares values, also outside the training range
(ADR 11).  The judges never raise and never hang; doubt counts as "not solved".  sympy is imported on first need.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Floats
from .symbolic.expr import Call, Const, Expr, children, evaluate, rebuild, variables, walk
from .symbolic.rewrite.simplify import simplify

MIN_R2 = 0.5  # SRBench asks for the symbolic form only above this test R²
MIN_DEFINED = 0.99  # share of the truth's points on which a solution must be defined as well
_N_PROBES = 64


def r2(y: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Coefficient of determination; -inf for predictions that are not finite.

    For a constant y it is 1 if every prediction is exact, else 0, as in scikit-learn.
    """
    y, predicted = np.asarray(y, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if y.shape != predicted.shape or y.ndim != 1 or not len(y):
        raise ValueError(
            f"y and predicted must be columns of the same length >= 1, got {y.shape} and {predicted.shape}"
        )
    if not np.isfinite(predicted).all():
        return -math.inf
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    unit = float(np.max(np.abs(y))) or 1.0  # so that no square of y overflows or vanishes
    with np.errstate(over="ignore"):
        residual = float(np.sum(w * (y / unit - predicted / unit) ** 2))
    spread = float(np.sum(w * (y / unit - np.average(y / unit, weights=w)) ** 2))
    if spread == 0.0:
        return 1.0 if residual == 0.0 else 0.0
    return 1.0 - residual / spread


def accuracy_rate(scores: Iterable[float], threshold: float = 0.99) -> float:
    """Share of runs whose R² exceeds ``threshold`` (the paper: 0.99, SRBench: 0.999); 0 without runs."""
    passed = [score > threshold for score in scores]
    return sum(passed) / len(passed) if passed else 0.0


def extrapolation_r2(true: Expr, found: Expr, X: ArrayLike) -> float:
    """Definition 4 of the paper: R² on points X of the extended interval, over the rows where the truth is defined.

    -inf if the truth is defined on none of them.
    """
    X = np.asarray(X, dtype=np.float64)
    y = evaluate(true, X)
    defined = np.isfinite(y)
    return r2(y[defined], evaluate(found, X[defined])) if defined.any() else -math.inf


def complexity(expr: Expr) -> int:
    """Operators, features and constants (Definition 2 of the paper) of the formula as it is written.

    Operators are those of the paper's set {+, -, ×, ÷, sin, cos, exp, ln, pow, abs} and other functions: a sum of
    k terms has k - 1 of them, sqrt(x) and x² are powers with a constant (3 nodes), 1/x is a quotient (3 nodes).  A
    sign is free in front of a number (-2, -2*x) and in a sum (a - b is one operator); elsewhere -x is one.
    """
    if not isinstance(expr, Call):
        return 1
    op, args = expr.op, expr.args
    if op in ("add", "sub"):
        return len(args) - 1 + complexity(args[0]) + sum(complexity(_unsigned(a)) for a in args[1:])
    inner = _unsigned(expr)
    if inner is not expr:
        return complexity(inner) + (not _starts_with_number(inner))
    if op == "mul":
        return len(args) - 1 + sum(map(complexity, args))
    if op in ("sqrt", "square", "inv"):
        return 2 + complexity(args[0])
    return 1 + sum(map(complexity, args))


def srbench_complexity(expr: Expr) -> int:
    """SRBench's node count: the nodes of sympy's tree, where x/y is Mul(x, Pow(y, -1)) and has five."""
    from .symbolic.writers.sympy_bridge import n_nodes

    return n_nodes(expr)


def is_solution_srbench(true: Expr, found: Expr, r2_test: float, *, max_time: float = 10.0) -> bool:
    """SRBench's symbolic solution: test R² > 0.5, constants rounded, difference or ratio constant for sympy.

    False when sympy fails or needs more than ``max_time`` seconds.  Pairs whose rounded forms are plainly the same,
    or plainly different, are decided without sympy.
    """
    if not r2_test > MIN_R2:
        return False
    try:
        moved = _moves_rounded_constants(true) or _moves_rounded_constants(found)
        quick = _plain_verdict(_srbench_rounded(true), _srbench_rounded(found), moved)
        if quick is not None:
            return quick
        from .symbolic.writers.sympy_bridge import same_up_to_constant

        return same_up_to_constant(true, found, max_time)
    except Exception:  # SRBench counts every exception as unsolved
        return False


def is_solution_strict(
    true: Expr, found: Expr, X_in: ArrayLike, X_out: ArrayLike | None = None, tol: float = 1e-5
) -> bool:
    """Is found - true, or found / true, constant to ``tol`` on all points where the truth is defined?

    The unit is the truth's spread on ``X_in`` (at points far outside, its distance from the mean), so a large
    constant hides nothing.  A solution must be defined where the truth is, and must not be constant.
    """
    try:
        X = np.atleast_2d(np.asarray(X_in, dtype=np.float64))
        n_in = len(X)
        if X_out is not None and len(np.atleast_2d(X_out)):
            X = np.vstack([X, np.atleast_2d(np.asarray(X_out, dtype=np.float64))])
        t, f = evaluate(true, X), evaluate(found, X)
        inside = np.arange(len(X)) < n_in
        defined = np.isfinite(t)
        both = defined & np.isfinite(f)
        if 2 * np.sum(defined & inside) <= n_in or np.sum(both) < MIN_DEFINED * np.sum(defined):
            return False
        return _strictly_same(t[both], f[both], inside[both], tol)
    except Exception:  # a judge does not raise: formulas that cannot be evaluated are no solutions
        return False


def _strictly_same(t: Floats, f: Floats, inside: NDArray[np.bool_], tol: float) -> bool:
    with np.errstate(all="ignore"):
        mean, spread = float(np.mean(t[inside])), float(np.std(t[inside]))
        if not spread > 1e-12 * abs(mean) or not np.std(f[inside]) > 1e-12 * np.max(np.abs(f[inside])):
            return False  # a constant truth or a constant answer
        unit = np.maximum(spread, np.abs(t - mean))
        shift = f - t
        if np.all(np.abs(shift - np.median(shift[inside])) <= tol * unit):
            return True
        large = inside & (np.abs(t) >= np.median(np.abs(t[inside])))
        factor = float(np.median(f[large] / t[large]))
        return factor != 0.0 and bool(np.all(np.abs(f - factor * t) <= tol * abs(factor) * unit))


def _unsigned(expr: Expr) -> Expr:
    """What is left of -x, and of -1*x, without the sign."""
    if isinstance(expr, Call):
        if expr.op == "neg":
            return expr.args[0]
        if expr.op == "mul" and expr.args[0] == Const(-1.0):
            return expr.args[1] if len(expr.args) == 2 else Call("mul", expr.args[1:])
    return expr


def _starts_with_number(expr: Expr) -> bool:
    while isinstance(expr, Call) and expr.op in ("mul", "div"):
        expr = expr.args[0]
    return isinstance(expr, Const)


def _srbench_rounded(expr: Expr) -> Expr:
    """SRBench's rounding of numbers (whole ones are sympy Integers and stay) after simplification, as it does it."""

    def rounded(node: Expr) -> Expr:
        if not isinstance(node, Const) or node.value.is_integer():
            return node
        return Const(0.0 if abs(node.value) < 1e-4 else float(f"{round(node.value, 3):.3g}"))

    return simplify(rebuild(expr, rounded))


def _moves_rounded_constants(expr: Expr) -> bool:
    """May simplifying join a rounded constant with one inside exp, ln or a root?  SRBench rounds before it joins."""
    for node in walk(expr):
        if isinstance(node, Call) and node.op in ("exp", "ln", "sqrt", "pow"):
            parts = [a for arg in node.args for a in (arg, *children(arg))]
            whole = node.op == "pow" and isinstance(node.args[1], Const) and node.args[1].value.is_integer()
            if not whole and any(isinstance(a, Const) for a in parts if a is not node.args[-1] or node.op != "pow"):
                return True
    return False


def _plain_verdict(true: Expr, found: Expr, moved: bool) -> bool | None:
    """True or False if the rounded formulas are the same, or differ, beyond any doubt; else None."""
    if isinstance(found, Const):
        return None if found.value != 0.0 else False
    if isinstance(simplify(found - true), Const) or isinstance(simplify(found / true), Const):
        return None if moved else True
    rng = np.random.default_rng(0)
    width = 1 + max((*variables(true), *variables(found)), default=0)
    X = rng.uniform(0.5, 1.5, (_N_PROBES, width))
    t, f = evaluate(true, X), evaluate(found, X)
    if not (np.isfinite(t).all() and np.isfinite(f).all() and np.std(t) > 0.05 and np.min(np.abs(t)) > 1e-3):
        return None
    # Rounding moves a term by less than 1 %, so a difference and a ratio that both vary by much more are not constant.
    ratio = f / t
    apart = np.std(f - t) > 0.2 * np.std(t) and np.std(ratio) > 0.2 * np.max(np.abs(ratio))
    return False if apart else None
