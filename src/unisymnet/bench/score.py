"""Scores of one finished run: accuracy, size, and whether the law was found, by both judges.

Does not know methods, processes or files. The judges themselves are in `unisymnet.metrics`; this file only
gives them the fresh points they need.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics import complexity, is_solution_srbench, is_solution_strict, r2, srbench_complexity
from ..symbolic import Expr, evaluate
from ..symbolic.simplify import present, simplify
from .problems import BenchProblem

__all__ = ["numeric_scores", "score_run", "symbolic_scores"]

Floats = NDArray[np.float64]
JUDGE_POINTS = 400  # in the range, and again in the range widened by JUDGE_MARGIN on each side
JUDGE_MARGIN = 0.1
JUDGE_SEED = 20_250  # the judge's points are the same for every method and run


def score_run(
    problem: BenchProblem,
    expr: Expr | None,
    X_test: Floats,
    y_test: Floats,
    *,
    y_pred: Floats | None = None,
    judge_time: float = 60.0,
) -> dict[str, Any]:
    """Everything that is recorded of a result.

    `r2`, `complexity` and `srbench_complexity` of the formula, `true_complexity` and
    `true_srbench_complexity` of the truth, and the verdicts `strict` and `srbench`; a score that has no
    meaning here (no formula, no known truth) is None. `y_pred` are the method's own predictions on the test
    rows; without them the formula is used.
    """
    scores = numeric_scores(problem, expr, X_test, y_test, y_pred=y_pred)
    return scores | symbolic_scores(problem, expr, scores["r2"], judge_time=judge_time)


def numeric_scores(
    problem: BenchProblem,
    expr: Expr | None,
    X_test: Floats,
    y_test: Floats,
    *,
    y_pred: Floats | None = None,
) -> dict[str, Any]:
    """The scores that need no computer algebra and so cost next to nothing."""
    truth = problem.expr
    if y_pred is None and expr is not None:
        y_pred = evaluate(expr, X_test)
    return {
        "r2": None if y_pred is None else _accuracy(y_test, y_pred),
        "complexity": None if expr is None else complexity(expr),
        "true_complexity": None if truth is None else _true_size(truth),
        "strict": None if truth is None else expr is not None and _strict(problem, truth, expr),
    }


def symbolic_scores(
    problem: BenchProblem, expr: Expr | None, r2_test: float | None, *, judge_time: float = 60.0
) -> dict[str, Any]:
    """The scores that simplify with sympy, which may take long."""
    truth = problem.expr
    solved = False
    if truth is not None and expr is not None and r2_test is not None:
        solved = is_solution_srbench(truth, expr, r2_test, max_time=judge_time)
    return {
        "srbench": None if truth is None else solved,
        "srbench_complexity": None if expr is None else srbench_complexity(expr),
        "true_srbench_complexity": None if truth is None else srbench_complexity(truth),
    }


def _accuracy(y: Floats, y_pred: Floats) -> float | None:
    value = float(r2(y, y_pred)) if np.all(np.isfinite(y_pred)) else -np.inf
    return value if np.isfinite(value) else None


def _true_size(truth: Expr) -> int:
    """The shortest of the ways to write the truth: a catalog's 1/(4*pi) must not excuse a long answer."""
    return min(complexity(form) for form in (truth, simplify(truth), present(truth)))


def _strict(problem: BenchProblem, truth: Expr, expr: Expr) -> bool:
    rng = np.random.default_rng(JUDGE_SEED)
    inside, _ = problem.sample(JUDGE_POINTS, rng=rng, part="test")
    outside, _ = problem.sample(JUDGE_POINTS, rng=rng, part="wide", factor=JUDGE_MARGIN)
    return bool(is_solution_strict(truth, expr, inside, outside))
