"""Data and verdicts of the comparison of inner strategies (optimisers.py): a function's rows, and what a fit is worth.

Knows nothing of how anything is fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..candidate import Candidate, ParetoFront, Proposal, Status
from ..corpus import LOW, Corpus
from ..deadline import Deadline
from ..fit.dno import DNOResult
from ..fit.polish import Polish
from ..metrics import complexity, is_solution_strict, r2
from ..problem import Floats, Problem, make_problem
from ..symbolic.expr import Expr, evaluate
from ..symbolic.skeleton import network_to_expr
from .problems import add_noise

Record = dict[str, Any]
Predictor = Callable[[Floats], Floats]
N_CHOOSING = 40
N_BOX = 1000
TOO_FAR, NEARLY_EXACT = 10.0, 0.9999  # times the largest target nobody believes; unless R² is that high


@dataclass(frozen=True)
class Data:
    """A random function with rows to fit (the last ``N_CHOOSING`` to choose by) and fresh rows of the same box."""

    truth: Expr
    X: Floats
    y: Floats
    X_test: Floats
    y_test: Floats

    def noisy(self, level: float, *, rng: np.random.Generator) -> tuple[Problem, Floats, Floats]:
        """The problem to fit, and the rows to choose among its solutions by."""
        y = add_noise(self.y, level, rng=rng)
        problem = make_problem(self.X[:-N_CHOOSING], y[:-N_CHOOSING])
        return problem, self.X[-N_CHOOSING:], y[-N_CHOOSING:]


def draw_data(number: int, *, seed: int, domain: str = "own", n_rows: int = 200) -> Data | None:
    """Function ``number`` on its own box or on one as large in another domain; None if it is undefined there."""
    example = next(Corpus(LOW, seed=seed).starting_at(number))
    points = example.points.astype(np.float64)
    X = points[np.any(points != 0.0, axis=1), : example.n_features]
    low, high = X.min(axis=0), X.max(axis=0)
    reach = np.maximum(np.abs(low), np.abs(high))
    if domain != "own":
        low, high = -reach, -0.05 * reach if domain == "negative" else reach
    rng = np.random.default_rng([seed, number])
    fresh = low + (high - low) * rng.random((8 * n_rows, example.n_features))
    y = evaluate(example.expr, fresh)
    with np.errstate(all="ignore"):
        usable = np.flatnonzero(np.abs(y) < 1e12)
    if len(usable) < 2 * n_rows or np.ptp(y[usable]) == 0.0:
        return None
    a, b = usable[:n_rows], usable[n_rows : 2 * n_rows]
    return Data(example.expr, fresh[a], y[a], fresh[b], y[b])


@dataclass(frozen=True)
class Fitted:
    """The front (caller's units), the formula picked from it with clean constants, and the trained networks."""

    front: ParetoFront
    picked: Candidate | None
    networks: tuple[DNOResult, ...]


def judged(fitted: Fitted, data: Data, problem: Problem, X_choosing: Floats, y_choosing: Floats) -> Record:
    """``solved`` judges the picked formula; ``r2`` is that of what predicts the rows kept back best, be it a formula or
    a network, ``r2_network`` that of the best network."""
    record: Record = {"r2_formula": None, "r2_network": None, "solved": False, "complexity": None, "expression": None}
    formula = fitted.picked
    if formula is not None:
        record["r2_formula"] = r2(data.y_test, evaluate(formula.expr, data.X_test))
        record["solved"] = _is_law(formula.expr, data)
        record["complexity"], record["expression"] = formula.complexity, str(formula.expr)
    formulas = [one.expr for one in (*fitted.front, *([formula] if formula else []))]
    predictors: list[Predictor] = [partial(evaluate, expr) for expr in formulas]
    networks: list[Predictor] = [partial(_predicted, result, problem) for result in fitted.networks]
    X = data.X[:-N_CHOOSING]
    rank = partial(_trusted, problem=problem, X=X, X_choosing=X_choosing, y_choosing=y_choosing)
    if networks:
        chosen = max(range(len(networks)), key=lambda i: rank(networks[i]))
        record["r2_network"] = r2(data.y_test, networks[chosen](data.X_test))
        module = fitted.networks[chosen].network
        assert module is not None
        record["network_complexity"] = complexity(network_to_expr(module.network(0)))
    # A formula that is undefined on rows to predict is no choice, whatever it does elsewhere.
    usable = [one for one in (*predictors, *networks) if np.isfinite(one(data.X_test)).all()]
    if usable:
        record["r2"] = r2(data.y_test, max(usable, key=rank)(data.X_test))
    return record | {"r2": record.get("r2")}


def _predicted(result: DNOResult, problem: Problem, X: Floats) -> Floats:
    return result.predict(X / problem.x_scales) * problem.y_scale


def _trusted(
    predict: Predictor, *, problem: Problem, X: Floats, X_choosing: Floats, y_choosing: Floats
) -> tuple[bool, float]:
    """How much to trust a prediction: first, that it stays within reason everywhere in the box of the data, unless it
    is nearly exact; then its R² on the rows to choose by or on those it was fitted to, whichever is smaller."""
    y = problem.y * problem.y_scale
    scores = [r2(y, predict(X)), r2(y_choosing, predict(X_choosing))]
    score = min(scores) if np.isfinite(scores).all() else -np.inf
    low, high = X.min(axis=0), X.max(axis=0)
    box = low + (high - low) * np.random.default_rng(0).random((N_BOX, X.shape[1]))
    with np.errstate(all="ignore"):
        bounded = bool((np.abs(predict(box)) <= TOO_FAR * np.abs(y).max()).all())
    return bounded or score > NEARLY_EXACT, score


def _is_law(found: Expr, data: Data) -> bool:
    """Is it the law up to the values of its constants?  They are refitted without noise and then judged strictly."""
    clean = make_problem(data.X, data.y)
    proposal = Proposal(clean.to_scaled(found), "judge")
    fitted = Polish().fit(proposal, clean, rng=np.random.default_rng(0), deadline=Deadline.after(5.0))
    if fitted.status is not Status.OK:
        return False
    low, high = data.X_test.min(axis=0), data.X_test.max(axis=0)
    rng = np.random.default_rng(1)
    wide = low - 0.1 * (high - low) + 1.2 * (high - low) * rng.random(data.X_test.shape)
    return is_solution_strict(data.truth, fitted.expr, data.X_test, wide)
