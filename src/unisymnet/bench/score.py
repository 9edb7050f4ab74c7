"""Scores of one finished run: accuracy, size, and whether the law was found, by both judges.

Does not know methods, processes or files. The judges themselves are in `unisymnet.metrics`; this file only
gives them the fresh points they need.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats
from ..candidate import Proposal, Status
from ..deadline import Deadline
from ..fit.clean.numbers import is_plain
from ..fit.kernels.fit import fit_tape
from ..fit.kernels.tape import compile_tape
from ..fit.polish import Polish
from ..metrics import complexity, is_solution_srbench, is_solution_strict, r2, srbench_complexity
from ..problem import Problem, make_problem
from ..symbolic.constants import free_constants
from ..symbolic.expr import Call, Const, Expr, Param, bind, evaluate, rebuild
from ..symbolic.rewrite.simplify import present, simplify
from .problems import BenchProblem

JUDGE_POINTS = 400  # in the range, and again in the range widened by JUDGE_MARGIN on each side
JUDGE_MARGIN = 0.1
JUDGE_SEED = 20_250  # the judge's points are the same for every method and run
DOUBT_TIME = 3.0  # seconds for sympy where values already say that the formula is not the law


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
    `true_srbench_complexity` of the truth, and the verdicts `strict`, `form` and `srbench`; a score that has no
    meaning here (no formula, no known truth) is None. `y_pred` are the method's own predictions on the test
    rows; without them the formula is used.
    """
    scores = numeric_scores(problem, expr, X_test, y_test, y_pred=y_pred)
    return scores | symbolic_scores(problem, expr, scores, judge_time=judge_time)


def numeric_scores(
    problem: BenchProblem,
    expr: Expr | None,
    X_test: Floats,
    y_test: Floats,
    *,
    y_pred: Floats | None = None,
) -> dict[str, Any]:
    """The scores that need no computer algebra and so cost next to nothing.

    `strict` asks for the law with its constants, `form` for a formula that becomes the law once its constants are
    fitted to data without noise.
    """
    truth = problem.expr
    if y_pred is None and expr is not None:
        y_pred = evaluate(expr, X_test)
    return {
        "r2": None if y_pred is None else accuracy(y_test, y_pred),
        "complexity": None if expr is None else complexity(expr),
        "true_complexity": None if truth is None else _true_size(truth),
        **_verdicts(problem, truth, expr),
    }


def symbolic_scores(
    problem: BenchProblem, expr: Expr | None, scores: dict[str, Any], *, judge_time: float = 60.0
) -> dict[str, Any]:
    """The scores that simplify with sympy, which may take long; `scores` are the numeric ones."""
    truth, r2_test = problem.expr, scores["r2"]
    solved = False
    if truth is not None and expr is not None and r2_test is not None:
        likely = scores["strict"] or scores["form"]
        limit = judge_time if likely else min(judge_time, DOUBT_TIME)
        solved = is_solution_srbench(truth, expr, r2_test, max_time=limit)
    return {
        "srbench": None if truth is None else solved,
        "srbench_complexity": None if expr is None else srbench_complexity(expr),
        "true_srbench_complexity": None if truth is None else srbench_complexity(truth),
    }


def _verdicts(problem: BenchProblem, truth: Expr | None, expr: Expr | None) -> dict[str, bool | None]:
    if truth is None:
        return {"strict": None, "form": None}
    strict = expr is not None and _strict(problem, truth, expr)
    return {"strict": strict, "form": strict or (expr is not None and _same_form(problem, truth, expr))}


def _same_form(problem: BenchProblem, truth: Expr, expr: Expr) -> bool:
    X, y = problem.sample(JUDGE_POINTS, rng=np.random.default_rng(JUDGE_SEED), part="test")
    clean = make_problem(X, y)
    scaled = clean.to_scaled(expr)
    for form in dict.fromkeys((scaled, _with_fitted_exponents(scaled, clean))):
        proposal = Proposal(form, "judge")
        fitted = Polish().fit(proposal, clean, rng=np.random.default_rng(0), deadline=Deadline.after(DOUBT_TIME))
        if fitted.status is Status.OK and _strict(problem, truth, fitted.expr):
            return True
    return False


def _with_fitted_exponents(expr: Expr, clean: Problem) -> Expr:
    """Exponents such as 0.4294 are constants, too; 2 or 1/3 are not, they are part of the form."""
    skeleton, start = free_constants(expr)
    values = list(start)

    def freed(node: Expr) -> Expr:
        if not (isinstance(node, Call) and node.op == "pow" and isinstance(node.args[1], Const)):
            return node
        if is_plain(node.args[1].value):
            return node
        values.append(node.args[1].value)
        return Call("pow", (node.args[0], Param(len(values) - 1)))

    skeleton = rebuild(skeleton, freed)
    if len(values) == len(start):
        return expr
    fit = fit_tape(compile_tape(skeleton, clean.n_features), clean.X, clean.y, np.array([values]))
    return bind(skeleton, list(fit.params)) if fit.status is Status.OK else expr


def accuracy(y: Floats, y_pred: Floats) -> float | None:
    """R², or None where predictions are not finite."""
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
