"""The user's own formula: its unknown constants fitted from many starts, with errors and a score.

"a*x/(b + x)" with a column x: a and b are found. Does not search for other formulas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..candidate import Proposal, Status
from ..deadline import Deadline
from ..errors import DataError
from ..formula import Formula
from ..formula.constants import report
from ..problem import make_problem
from ..symbolic.expr import Expr
from ..symbolic.parse import parse
from .entry import Entry

OWN = "yours"  # the source of a formula that the user has put into the table


def fit_formula(
    formula: str | Formula | Expr,
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    target: str = "y",
    sample_weight: Any = None,
    random_state: int = 0,
    max_time: float = 10.0,
) -> Formula:
    """Fit the constants of a formula to data.

    Any name in the text that is no column is a constant to fit; numbers in it are start values and are refined.
    `X` is a table with column names, or an array with `names` (x0, x1, … without them).
    """
    columns = getattr(X, "columns", None)
    if names is None:
        names = [f"x{i}" for i in range(np.shape(X)[1])] if columns is None else [str(c) for c in columns]
    expr = as_expr(formula, names)
    table = np.asarray(X, dtype=np.float64)
    truth = np.asarray(y, dtype=np.float64)
    problem = make_problem(table, truth, names=names, weights=sample_weight)
    from ..fit.polish import Polish

    rng = np.random.default_rng(random_state)
    deadline = Deadline.after(max_time)
    candidate = Polish().fit(Proposal(problem.to_scaled(expr), "own"), problem, rng=rng, deadline=deadline)
    if candidate.status is not Status.OK:
        raise DataError(f"the formula {formula} cannot be fitted to these rows: {candidate.status.value}")
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    constants = report(candidate.expr, table, truth, weights)
    return Formula(candidate.expr, tuple(names), target, constants)


def add_formula(model: Any, formula: Formula, X: Any, y: Any) -> int:
    """Put a formula of the user into the table of a fitted model, by its size; its place there.

    It stays even if a formula of the table is both simpler and better: the user wants to compare.
    """
    rest = np.asarray(y, dtype=np.float64) - formula.predict(X)
    loss = float(np.mean(rest**2)) if np.isfinite(rest).all() else float("inf")
    kept = [entry for entry in model.front_ if str(entry.formula) != str(formula)]
    place = sum(entry.complexity <= formula.complexity for entry in kept)
    gain, step = 0.0, 0
    if place and math.isfinite(loss):
        gain = math.log(max(kept[place - 1].loss, 1e-300)) - math.log(max(loss, 1e-300))
        step = formula.complexity - kept[place - 1].complexity
    score = gain / step if step and math.isfinite(gain) else 0.0
    entry = Entry(formula, formula.complexity, loss, formula.score(X, y), None, score, OWN)
    picked = model.front_[model.picked_]
    model.front_ = (*kept[:place], entry, *kept[place:])
    model.picked_ = model.front_.index(picked) if picked in model.front_ else place
    return place


def as_expr(formula: str | Formula | Expr, names: Sequence[str]) -> Expr:
    """A formula in any of the forms a user may hold it; unknown names become constants to fit."""
    if isinstance(formula, Formula):
        return formula.expr
    if isinstance(formula, Expr):
        return formula
    return parse(formula, names, free=True)
