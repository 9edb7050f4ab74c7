"""How a found system is judged: R² of both trajectories from their clean starts, and whether it has the true form.

The form is true if every rate, its constants fitted to the true one on the points of both trajectories, has an error
below 1e-3 of that rate's size and needs each of its terms; ``strict`` asks for 1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Floats
from ...dynamics import System
from ...dynamics.rate import sum_of, terms_of
from ...formula.constants import refit
from ...symbolic.expr import Const, Expr, evaluate
from .catalog import Task

FORM, STRICT = 1e-3, 1e-6
MAX_SIMULATION = 60.0  # seconds of a clock on the wall; a busy machine must not decide


def judge_system(task: Task, found: System | None) -> dict[str, Any]:
    """Scores of one system; None where a method failed."""
    if found is None:
        return {"r2": None, "r2_second": None, "form": False, "strict": False, "true": False}
    scores = [_r2(task, found, start) for start in range(2)]
    points = np.concatenate([task.truth(start)[1] for start in range(2)])
    points = points[np.isfinite(points).all(axis=1)]
    rates = task.system.rhs(points)
    checks = [_form(expr, points, rates[:, k]) for k, expr in enumerate(found.exprs)]
    return {
        "r2": scores[0],
        "r2_second": scores[1],
        "form": all(check[0] for check in checks),
        "strict": all(check[1] for check in checks),
        "true": all(check[2] for check in checks),
    }


def _r2(task: Task, found: System, start: int) -> float | None:
    """Variance-weighted over the states, as sklearn's; None where the simulation fails."""
    times, truth = task.truth(start)
    good = np.isfinite(truth).all(axis=1)
    simulated = found.simulate(task.starts[start], times, rtol=1e-9, max_seconds=MAX_SIMULATION)[good]
    if not np.isfinite(simulated).all():
        return None
    truth = truth[good]
    spread = float(np.sum((truth - truth.mean(axis=0)) ** 2))
    return 1.0 - float(np.sum((simulated - truth) ** 2)) / spread if spread > 0.0 else None


def _form(expr: Expr, points: Floats, rate: Floats) -> tuple[bool, bool, bool]:
    """The true form, the same strictly, and true with the constants as they are."""
    size = float(np.sqrt(np.mean(rate**2))) or 1.0
    columns = np.column_stack([points, np.zeros(len(points))])

    def error(candidate: Expr, fitted: bool) -> float:
        if fitted:
            candidate = refit(candidate, columns, rate)[0]
        with np.errstate(all="ignore"):
            left = evaluate(candidate, columns) - rate
            value = float(np.sqrt(np.mean(left**2)) / size)
        return value if np.isfinite(value) else np.inf

    as_found, fitted = error(expr, False), error(expr, True)
    if fitted > FORM:
        return False, False, as_found < FORM
    terms = terms_of(expr)
    for out in range(len(terms)):
        rest = [term for place, term in enumerate(terms) if place != out]
        if (error(sum_of(rest), True) if rest else error(Const(0.0), False)) < FORM:
            return False, False, as_found < FORM
    return True, fitted < STRICT, as_found < FORM
