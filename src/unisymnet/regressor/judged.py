"""Rows of the table under noise: what fit/clean/verdict.py chose, with ± from the noise model, measured on all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats, evenly
from ..candidate import Candidate
from ..deadline import Deadline
from ..fit.clean.verdict import Ruled, verdict
from ..fit.kernels.robust import Loss
from ..fit.settle import settled, stepped, under_other_noise
from ..formula import Formula
from ..formula.band import make_band
from ..formula.constants import Constant, report
from ..judge.judge import Judge, UnitPrice, make_judge
from ..judge.noise import EQUAL, NoiseModel
from ..judge.scales import assumed_nats
from ..metrics import r2
from ..problem import NOTHING_TOLD, Problem, Told
from ..search.loop import SearchSettings
from ..symbolic.expr import Expr, evaluate
from ..symbolic.rewrite.simplify import present
from .rows import canonical
from .table import Entry, scored
from .validation import Data

Rows = tuple[Floats, Floats, Floats]

MAX_JUDGED = 3000  # rows; more would not change a verdict
MAX_REPORTED = 20_000
MAX_DOUBTED = 100  # rows; more tell how their noise grows
MAX_WATCHED = 600  # rows on which formulas are compared while the search runs


@dataclass(frozen=True)
class Beliefs:
    """Before any row is seen: how many columns a formula could have used, where rows hold only the chosen ones, what
    its units cost, and which columns have units that hide laws."""

    n_columns: int | None = None
    units: UnitPrice = assumed_nats
    told: Told = NOTHING_TOLD


UNTOLD = Beliefs()


def judge_of(problem: Problem, units: UnitPrice = assumed_nats) -> Judge:
    """The judge of the rows that a search sees, in the caller's units."""
    rows = evenly(problem.n_rows, MAX_WATCHED)
    X, y = problem.X[rows] * problem.x_scales, problem.y[rows] * problem.y_scale
    noise = None if problem.noise is None else problem.noise * problem.y_scale
    return make_judge(X, y, problem.weights[rows], sigma=noise, units=units, told=problem.told)


def with_judge(settings: SearchSettings, loss: Loss, units: UnitPrice) -> SearchSettings:
    """The settings of a search whose formulas are compared under noise; the judge knows least squares only."""
    if loss.kind != "mse":
        return settings
    return replace(settings, judge=lambda problem: judge_of(problem, units))


def believed(exact: Sequence[Expr], listed: Sequence[Candidate], rows: Rows, beliefs: Beliefs) -> bool:
    """Is there a formula that leaves nothing, and is it a law?"""
    if not exact or not listed:
        return bool(exact)
    judge = make_judge(*rows, n_columns=beliefs.n_columns, units=beliefs.units, told=beliefs.told)
    return judge.believes(exact, [candidate.expr for candidate in listed])


def judged_table(
    candidates: Sequence[Candidate],
    fit: Rows,
    valid: Rows | None,
    data: Data,
    models: Sequence[NoiseModel],
    noise: float | None,
    deadline: Deadline,
    watch: AbstractContextManager[None],
    allows: Callable[[Expr], bool] | None = None,
    every: Rows | None = None,
    beliefs: Beliefs = UNTOLD,
) -> tuple[Entry, ...]:
    """The table from short to long; empty if nothing can be judged.  ``allows`` as in fit/clean/verdict.py."""
    if every is None:
        rows = canonical(data.X, data.y, data.weights)
        every = rows.of(data.X), rows.y, rows.weights
    X, y, weights = every
    judge = _judge(replace(data, X=X, y=y, weights=weights).thinned(MAX_JUDGED), models, noise, beliefs)
    ruled = verdict(candidates, judge, deadline, watch, allows or (lambda expr: True))
    kept_back = (
        None
        if valid is None
        else (_judge(replace(data, X=fit[0], y=fit[1], weights=fit[2]), models, noise, beliefs), valid)
    )
    entries = [entry_of(replace(one, expr=present(one.expr)), data, kept_back, deadline, judge) for one in ruled]
    table = scored(sorted(entries, key=lambda e: (e.complexity, e.formula_nats, str(e.formula))))
    return tuple(replace(entry, score=max(entry.score, 0.0)) for entry in table)  # a longer one may fit worse


def _judge(data: Data, models: Sequence[NoiseModel], noise: float | None, beliefs: Beliefs) -> Judge:
    return make_judge(
        data.X,
        data.y,
        data.weights,
        n_columns=beliefs.n_columns,
        models=models,
        sigma=noise,
        units=beliefs.units,
        told=beliefs.told,
    )


def entry_of(
    one: Ruled,
    data: Data,
    kept_back: tuple[Judge, Rows] | None,
    deadline: Deadline = Deadline.never(),
    judge: Judge | None = None,
) -> Entry:
    """One row; when time is up, measured on some of the rows only, and without a band.

    With a ``judge``, errors of constants count that few rows hardly tell how their noise grows.
    """
    late = deadline.expired()
    few = data.thinned(MAX_REPORTED)
    weights = np.ones(len(data.y)) if data.weights is None else data.weights
    model, own, seen, constants = _with_errors(one.expr, one.lengths.model, few, deadline)
    if judge is not None and not late and len(few.y) <= MAX_DOUBTED:
        # The same numbers must stand at the same places, with the same signs before them.
        written = present if one.expr == present(one.expr) else (lambda expr: expr)
        others = [
            (chance, written(moved), other) for chance, moved, other in under_other_noise(one.expr, one.lengths, judge)
        ]
        rest = [(chance, _with_errors(moved, other, few, deadline)[3]) for chance, moved, other in others]
        constants = _doubted(constants, [one for one in rest if len(one[1]) == len(constants)])
    mean = 1.0 if few.weights is None else float(np.mean(few.weights))  # the band is that of a row of usual weight
    band = None if late else make_band(one.expr, few.X, seen, np.sqrt(own / mean), model.kind, model.ratio)
    data, weights = (few, np.ones(len(few.y)) if few.weights is None else few.weights) if late else (data, weights)
    formula = Formula(one.expr, data.names, data.target, constants, band=band)
    residuals = data.y - evaluate(one.expr, data.X)
    return Entry(
        formula,
        formula.complexity,
        float(np.average(residuals**2, weights=weights)),
        r2(data.y, data.y - residuals, weights),
        None if kept_back is None else _r2_kept_back(one, *kept_back, late=late),
        0.0,
        one.source,
        nats=one.lengths.total,
        formula_nats=one.lengths.formula,
        noise=str(one.lengths.model),
    )


def _with_errors(
    expr: Expr, model: NoiseModel, rows: Data, deadline: Deadline
) -> tuple[NoiseModel, Floats, Floats, tuple[Constant, ...]]:
    """The noise model, its weights, the target as it sees it, and the constants with their errors."""
    values = evaluate(expr, rows.X)
    left = model.residuals(values, rows.y)
    if left is None:  # on rows that the judge has not seen: least squares stands for the noise model
        model, left = EQUAL, rows.y - values
    own = model.roots(values, left) ** 2 * (1.0 if rows.weights is None else rows.weights)
    seen = values + left
    wider = model.widening(left)
    constants = tuple(
        constant if constant.stderr is None else replace(constant, stderr=wider * constant.stderr)
        for constant in report(expr, rows.X, seen, own, deadline)
    )
    return model, own, seen, constants


def _doubted(
    constants: tuple[Constant, ...], others: Sequence[tuple[float, tuple[Constant, ...]]]
) -> tuple[Constant, ...]:
    """Errors as the mean square over noise models, each by its chance, from where the constants stand."""
    chances = np.array([1.0, *(chance for chance, _ in others)])
    wider = []
    for place, constant in enumerate(constants):
        rivals = [found[place] for _, found in others]
        if constant.stderr is None or any(rival.stderr is None for rival in rivals):
            wider.append(constant)
            continue
        at = constant.value if constant.fitted is None else constant.fitted
        apart = [0.0, *((rival.value if rival.fitted is None else rival.fitted) - at for rival in rivals)]
        errors = [constant.stderr, *(rival.stderr or 0.0 for rival in rivals)]
        squares = np.square(apart) + np.square(errors)
        wider.append(replace(constant, stderr=float(np.sqrt(np.average(squares, weights=chances)))))
    return tuple(wider)


def _r2_kept_back(one: Ruled, fit: Judge, valid: Rows, *, late: bool) -> float:
    """R² on the rows kept back, with the constants that the other rows give, or one step towards them if it is late."""
    X, y, weights = valid
    move = stepped if late else settled
    expr = move(one.expr, fit, one.lengths.free, one.lengths.model)
    values = evaluate(one.expr if expr is None else expr, X)
    return r2(y, values, weights)
