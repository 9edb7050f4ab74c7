"""The user's own formula: its unknown constants fitted from many starts, with errors and a score.

"a*x/(b + x)" with a column x: a and b are found. Does not search for other formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Floats, evenly
from ..candidate import EXACT, Proposal, Status
from ..deadline import Deadline
from ..errors import DataError, quoted
from ..formula import Formula
from ..formula.constants import Constant, refit, report, robust_errors
from ..formula.given import numbers, truth_and_weights
from ..judge.judge import make_judge
from ..problem import make_problem
from ..symbolic.expr import Expr, Var, bind, evaluate, n_params, rebuild
from ..symbolic.own import Operator
from ..symbolic.parse import free_names, parse
from ..symbolic.rewrite.simplify import present, simplify
from .table import Entry, gain
from .validation import Operators, own_operators

MAX_NAMED_ROWS = 20_000
LEAST_ROWS = 10  # fewer do not show how noise depends on the value
ROUNDS = 4  # of fitting and weighing
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
    operators: Operators = None,
) -> Formula:
    """Fit the constants of a formula to data.

    Any name in the text that is no column is a constant to fit, and the numbers stay as they are; in a formula without
    such names the numbers are start values and are refined. `X` is a table with column names, or an array with `names`
    (x0, x1, … without them). `operators` are the user's own, as the estimator takes them.
    """
    return fit_named(formula, X, y, names, target, sample_weight, random_state, max_time, operators)[0]


@np.errstate(all="ignore")  # formulas of a user may overflow on the way to their constants
def fit_named(
    formula: str | Formula | Expr,
    X: Any,
    y: Any,
    names: Sequence[str] | None = None,
    target: str = "y",
    sample_weight: Any = None,
    random_state: int = 0,
    max_time: float = 10.0,
    operators: Operators = None,
) -> tuple[Formula, dict[str, Constant]]:
    """As `fit_formula`, and the constants by the names that the user gave them."""
    columns = getattr(X, "columns", None)
    table = numbers(X, "X")
    if table.ndim != 2:
        raise DataError(f"X must be a table with rows and columns, got shape {table.shape}")
    if names is None:
        names = [f"x{i}" for i in range(table.shape[1])] if columns is None else [str(c) for c in columns]
    expr = as_expr(formula, names, operators)
    truth, weights = truth_and_weights(y, sample_weight, len(table))
    problem = make_problem(table, truth, names=names, weights=weights)
    rng = np.random.default_rng(random_state)
    wanted = free_names(formula, names, _by_name(operators)) if isinstance(formula, str) else ()
    if wanted:
        expr, named, own = _fit_names(expr, wanted, table, truth, weights, rng)
        if named:
            return Formula(expr, tuple(names), target, report(expr, table, truth, own)), named
    elif not n_params(expr) and not np.isfinite(evaluate(expr, table)).any():
        raise DataError(f"the formula {_shown(formula)} is undefined on all of these rows")
    from ..fit.polish import Polish

    deadline = Deadline.after(max_time)
    candidate = Polish().fit(Proposal(problem.to_scaled(expr), "own"), problem, rng=rng, deadline=deadline)
    if candidate.status is not Status.OK:
        raise DataError(f"the formula {_shown(formula)} cannot be fitted to these rows: {candidate.status.value}")
    found = candidate.expr
    for _ in range(ROUNDS):
        own = noise_weights(found, table, truth, weights)
        if own is None:
            break
        found, _ = refit(found, table, truth, own)
    return Formula(found, tuple(names), target, report(found, table, truth, weights if own is None else own)), {}


def _shown(formula: Any) -> str:
    """A formula as a message shows it."""
    return quoted(str(formula))[1:-1]


def noise_weights(expr: Expr, X: Floats, y: Floats, weights: Floats | None) -> Floats | None:
    """Weights of the rows under the noise model that the residuals show; None if all rows have the same noise."""
    from ..fit.settle import shortest

    spread = float(np.std(y))
    exact = float(np.mean((y - evaluate(expr, X)) ** 2)) <= (EXACT * spread) ** 2
    judged = None if exact or len(y) < LEAST_ROWS else shortest(expr, make_judge(X, y, weights))
    if judged is None or judged[1].model.kind == "equal":
        return None
    values = evaluate(expr, X)
    return judged[1].model.roots(values, y - values) ** 2 * (1.0 if weights is None else weights)


def _fit_names(
    expr: Expr, names: Sequence[str], X: Floats, y: Floats, weights: Floats | None, rng: np.random.Generator
) -> tuple[Expr, dict[str, Constant], Floats | None]:
    """The formula with fitted constants, these by name, and the weights that the noise gives the rows; as it was, and
    nothing, where no fit settles."""
    from ..fit.constants import fit_constants
    from ..fit.kernels.fit import covariance, fit_tape
    from ..fit.kernels.tape import compile_tape

    thin = evenly(len(y), MAX_NAMED_ROWS)
    rows, truth, given = X[thin], y[thin], None if weights is None else weights[thin]
    found = fit_constants(expr, rows, truth, rng=rng, weights=given, n_starts=20)
    if found.status is not Status.OK:
        return expr, {}, weights
    tape, params, own = compile_tape(expr, X.shape[1]), np.asarray(found.params), given
    for _ in range(ROUNDS):
        new = noise_weights(bind(expr, params.tolist()), rows, truth, given)
        fit = None if new is None else fit_tape(tape, rows, truth, params[None, :], weights=new)
        if fit is None or fit.status is not Status.OK:
            break
        params, own = np.asarray(fit.params), new
    known = np.isfinite(covariance(tape, rows, params, own, 1.0).diagonal())
    errors = robust_errors(expr, tuple(params.tolist()), rows, truth, own) if known.all() else [None] * len(names)
    named = {}
    for name, value, error in zip(names, params.tolist(), errors):
        named[name] = Constant(value, None if error is None else value, error)
    bound = present(simplify(bind(expr, params.tolist())))
    whole = own if len(thin) == len(y) else weights
    return (bound, named, whole) if np.isfinite(evaluate(bound, rows)).any() else (expr, {}, weights)


def add_formula(model: Any, formula: Formula, X: Any, y: Any) -> int:
    """Put a formula of the user into the table of a fitted model, by its size; its place there.

    It stays even if a formula of the table is both simpler and better: the user wants to compare.
    """
    rest = np.asarray(y, dtype=np.float64) - formula.predict(X)
    loss = float(np.mean(rest**2)) if np.isfinite(rest).all() else float("inf")
    kept = [entry for entry in model.front_ if str(entry.formula) != str(formula)]
    place = sum(entry.complexity <= formula.complexity for entry in kept)
    score = gain(kept[place - 1].loss, loss, formula.complexity - kept[place - 1].complexity) if place else 0.0
    # A formula that the table has already was also measured on the rows kept back: that stays.
    same = next((entry for entry in model.front_ if str(entry.formula) == str(formula)), None)
    valid = None if same is None else same.r2_valid
    entry = Entry(formula, formula.complexity, loss, formula.score(X, y), valid, score, OWN)
    picked = model.front_[model.picked_]
    model.front_ = (*kept[:place], entry, *kept[place:])
    model.picked_ = model.front_.index(picked) if picked in model.front_ else place
    return place


def as_expr(formula: str | Formula | Expr, names: Sequence[str], operators: Operators = None) -> Expr:
    """A formula in any of the forms a user may hold it; unknown names become constants to fit, and the user's own
    operators are written out."""
    if isinstance(formula, Formula):
        return formula.expr
    if isinstance(formula, Expr):
        return formula
    return parse(formula, names, free=True, own=_by_name(operators))


def _by_name(operators: Operators) -> dict[str, Operator]:
    return {operator.name: operator for operator in own_operators(operators)}


def suspected_of(guesses: Any, names: Sequence[str], operators: Operators) -> list[Expr]:
    """The user's guesses as formulas of these columns; one alone need not stand in a list."""
    given = [guesses] if isinstance(guesses, str | Formula | Expr) else guesses or ()
    if not isinstance(given, Iterable):
        raise TypeError(f"guesses must be a list of formulas, got {quoted(guesses)}")
    return [as_expr(guess, names, operators) for guess in given]


def in_columns(formulas: Sequence[Formula], names: Sequence[str]) -> tuple[Formula, ...]:
    """Formulas of an earlier fit in the columns of this one; those that use a column that is gone are left out."""
    place = {name: index for index, name in enumerate(names)}
    found = []
    for formula in formulas:
        if formula.groups is None and all(name in place for name in formula.columns):
            found.append(replace(formula, expr=_moved(formula, place), names=tuple(names)))
    return tuple(found)


def _moved(formula: Formula, place: dict[str, int]) -> Expr:
    names = formula.names
    return rebuild(formula.expr, lambda node: Var(place[names[node.index]]) if isinstance(node, Var) else node)
