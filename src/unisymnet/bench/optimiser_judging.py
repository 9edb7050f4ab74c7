"""Data and verdicts of the comparison of inner strategies (optimisers.py): a function's rows, and what a fit is worth.

Knows nothing of how anything is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..arrays import Floats
from ..candidate import Candidate, ParetoFront, Proposal, Status
from ..corpus import LOW, Corpus
from ..deadline import Deadline
from ..fit.dno.dno import DNOResult
from ..fit.polish import Polish
from ..metrics import complexity, is_solution_strict, r2
from ..problem import Problem, make_problem
from ..symbolic.expr import Expr, evaluate
from ..symbolic.network.skeleton import network_to_expr
from .problems import add_noise
from .records import Record

Predictor = Callable[[Floats], Floats]
Rows = tuple[Floats, Floats, Floats, Floats]  # X and y that were fitted, X and y to choose by
N_CHOOSING = 40
N_BOX = 5000
NEARLY_AS_WELL = 1.25  # times the share of the variance that the best leaves
TOO_FAR = 10.0  # times the largest target


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


@dataclass(frozen=True)
class _Choice:
    """Something that predicts."""

    predict: Predictor
    complexity: int


def judged(fitted: Fitted, data: Data, problem: Problem, X_choosing: Floats, y_choosing: Floats) -> Record:
    """``solved`` judges the picked formula; ``r2`` is that of what predicts the rows kept back best, be it a formula or
    a network, ``r2_network`` that of the best network."""
    record: Record = {"r2_formula": None, "r2_network": None, "solved": False, "complexity": None, "expression": None}
    formula = fitted.picked
    if formula is not None:
        record["r2_formula"] = r2(data.y_test, evaluate(formula.expr, data.X_test))
        record["solved"] = _is_law(formula.expr, data)
        record["complexity"], record["expression"] = formula.complexity, str(formula.expr)
    networks = [_Choice(partial(_predicted, result, problem), _size(result)) for result in fitted.networks]
    formulas = [
        _Choice(partial(evaluate, one.expr), one.complexity) for one in (*fitted.front, *([formula] if formula else []))
    ]
    rows = (data.X[:-N_CHOOSING], problem.y * problem.y_scale, X_choosing, y_choosing)
    if networks:
        chosen = _choose(networks, rows)
        record["r2_network"] = r2(data.y_test, chosen.predict(data.X_test))
        record["network_complexity"] = chosen.complexity
    # A formula that is undefined on rows to predict is no choice, whatever it does elsewhere.
    usable = [one for one in (*formulas, *networks) if np.isfinite(one.predict(data.X_test)).all()]
    if usable:
        record["r2"] = r2(data.y_test, _choose(usable, rows).predict(data.X_test))
    return record | {"r2": record.get("r2")}


def _predicted(result: DNOResult, problem: Problem, X: Floats) -> Floats:
    return result.predict(X / problem.x_scales) * problem.y_scale


def _size(result: DNOResult) -> int:
    assert result.network is not None
    return complexity(network_to_expr(result.network.network(0)))


def _choose(choices: Sequence[_Choice], rows: Rows) -> _Choice:
    """The simplest of those that predict nearly as well as the best, those without spikes between the rows first.

    R² is that on the rows to choose by or on those it was fitted to, whichever is smaller: a few rows near a pole
    decide the R² of either.
    """
    X, y, X_choosing, y_choosing = rows
    scores = []
    for one in choices:
        both = [r2(y, one.predict(X)), r2(y_choosing, one.predict(X_choosing))]
        scores.append(min(both) if np.isfinite(both).all() else -np.inf)
    best = max(scores)
    near = [one for one, score in zip(choices, scores) if 1.0 - score <= NEARLY_AS_WELL * (1.0 - best) + 1e-9]
    return min(near or choices, key=lambda one: (not _bounded(one.predict, X, y), one.complexity))


def _bounded(predict: Predictor, X: Floats, y: Floats) -> bool:
    """Does it stay within reason everywhere in the box of the data?"""
    low, high = X.min(axis=0), X.max(axis=0)
    box = low + (high - low) * np.random.default_rng(0).random((N_BOX, X.shape[1]))
    with np.errstate(all="ignore"):
        return bool((np.abs(predict(box)) <= TOO_FAR * np.abs(y).max()).all())


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
