"""From the front of a search to what a user reads: formulas in all columns, R² on both kinds of rows, the pick.

The pick follows a named rule among the formulas that hold on the rows kept back. Constants are then fitted once
more on all rows, except those that are simple numbers, and get their standard errors. Does not know the search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats
from ..candidate import EXACT, Candidate, ParetoFront, description_length, is_exact, select
from ..deadline import Deadline
from ..fit.clean.convention import conventional, phased
from ..fit.clean.respell import respelled
from ..fit.clean.snap import snap
from ..fit.kernels.robust import Loss
from ..formula import Constant, Formula
from ..formula.constants import free, report, settle, simple_name
from ..judge.noise import NoiseModel
from ..symbolic.expr import Expr, evaluate, renumbered, variables
from ..symbolic.rewrite.simplify import present, simplify
from .judged import UNTOLD, Beliefs, believed, judged_table
from .losses import MEAN_SQUARES, Judgement, minimised
from .table import Entry, scored
from .validation import Data

CHUNK = 100_000
MAX_SETTLE_ROWS = 20_000
LEAST_GAIN = 1e-3  # share of the loss that one more row of the table must take away
MAX_SNAP = 1.0  # seconds for the constants of one formula
ROWS_A_CONSTANT = 4
OVERFIT_ERRORS = 2.0  # standard errors by which a simpler formula must win on the rows kept back


@dataclass(frozen=True)
class Rows:
    """The rows that a result is measured on, weights included; `valid` is None for small data."""

    fit: tuple[Floats, Floats, Floats]
    valid: tuple[Floats, Floats, Floats] | None
    judgement: Judgement = MEAN_SQUARES
    every: tuple[Floats, Floats, Floats] | None = None  # all rows in their own order, equal ones joined
    beliefs: Beliefs = UNTOLD

    @property
    def loss(self) -> Loss:
        return self.judgement.loss


def measure(
    front: ParetoFront,
    rows: Rows,
    data: Data,
    *,
    rule: str,
    noise: float | None,
    deadline: Deadline,
    watch: Callable[[], AbstractContextManager[None]] = nullcontext,
    allows: Callable[[Expr], bool] | None = None,
    listed: Sequence[Candidate] = (),
    models: Sequence[NoiseModel] = (),
) -> tuple[tuple[Entry, ...], int]:
    """The table in the columns of `data`, and its pick; `watch` may raise KeyboardInterrupt when time is up.

    `allows` says of a formula with cleaned constants whether it still agrees with what is known.  With noise `models`
    and no exact formula the judge decides, among the front and what the search has `listed`.
    """
    spread = _spread(rows.fit[1], rows.fit[2])
    exact = [candidate.expr for candidate in front if is_exact(candidate, spread)]
    if models and not believed(exact, listed, rows.every or rows.fit, rows.beliefs):
        found = [*listed, *reversed(front)]
        table = judged_table(
            found, rows.fit, rows.valid, data, models, noise, deadline, watch(), allows, rows.every, rows.beliefs
        )
        if table:
            return table, _chosen(table, rule, len(data.y), spread)
    candidates = [candidate.expr for candidate in front]
    held = None if rows.valid is None else [_residuals(expr, *rows.valid[:2]) for expr in candidates]
    picked = _pick(front, rows, held, rule, noise)
    cleaner = _Cleaner(data, _spread(rows.fit[1], rows.fit[2]), noise, deadline, rows.judgement, allows)
    # The pick first: should time run out, the others keep the constants of the search.
    order = sorted(range(len(front)), key=lambda i: (i != picked, -i))
    formulas = cleaner.clean_all({i: (candidates[i], front[i].loss) for i in order}, watch())
    if rows.valid is None and rule == "best":
        picked = _pick_of_few(formulas, rows, noise)
    entries: list[Entry] = []
    few = data.thinned(CHUNK)
    for index, candidate in enumerate(front):
        r2_valid = None if rows.valid is None or held is None else _r2_of(held[index] ** 2, *rows.valid[1:])
        rows_of = data if index == picked else few  # the pick is checked on every row
        entries.append(_entry(formulas[index], candidate.source, rows_of, r2_valid, rows.loss))
    losses = {id(entry): _fitted_loss(entry, rows) for entry in entries}
    return _tidy(entries, picked, losses)


def _chosen(table: Sequence[Entry], rule: str, n_rows: int, spread: float) -> int:
    """The pick: the shortest whole, unless another rule is asked for."""
    if rule == "best":
        return min(range(len(table)), key=lambda i: (table[i].nats, i))
    front = ParetoFront(Candidate(e.formula.expr, e.loss, e.complexity, len(e.formula.constants)) for e in table)
    wanted = front[select(front, rule, n_rows=n_rows, spread=spread)].expr
    return next(i for i, entry in enumerate(table) if entry.formula.expr == wanted)


def _fitted_loss(entry: Entry, rows: Rows) -> float:
    """What decides between rows of the table: outliers would drown the differences."""
    if rows.judgement.trusted.all():
        return entry.loss
    X, y, weights = rows.fit
    return rows.loss.mean(_residuals(entry.formula.expr, X, y), weights)


def lifted(entries: Sequence[Entry], columns: Sequence[int], names: tuple[str, ...]) -> tuple[Entry, ...]:
    """A table of the columns searched in all columns of the caller."""
    if list(columns) == list(range(len(names))):
        return tuple(entries)
    return tuple(
        replace(e, formula=replace(e.formula, expr=renumbered(e.formula.expr, columns), names=names)) for e in entries
    )


def r2_on(expr: Expr, X: Floats, y: Floats, weights: Floats | None = None) -> float:
    """R² on any number of rows, in bounded memory; -inf where the formula is undefined."""
    weights = np.ones(len(y)) if weights is None else weights
    return _r2_of(_squares(expr, X, y), y, weights)


def mean_square(expr: Expr, X: Floats, y: Floats, weights: Floats | None = None) -> float:
    weights = np.ones(len(y)) if weights is None else weights
    return float(np.average(_squares(expr, X, y), weights=weights))


def _squares(expr: Expr, X: Floats, y: Floats) -> Floats:
    """Squared residuals row by row."""
    return np.asarray(_residuals(expr, X, y) ** 2)


def _residuals(expr: Expr, X: Floats, y: Floats) -> Floats:
    """Target minus formula row by row, a chunk at a time: every node of a formula costs an array."""
    parts = []
    with np.errstate(all="ignore"):
        for start in range(0, len(y), CHUNK):
            part = slice(start, start + CHUNK)
            parts.append(y[part] - evaluate(expr, X[part]))
    return np.concatenate(parts)


def _r2_of(squares: Floats, y: Floats, weights: Floats) -> float:
    rest = float(np.average(squares, weights=weights))
    spread = _spread(y, weights)
    if not math.isfinite(rest):
        return -math.inf
    return 1.0 - rest / spread**2 if spread > 0.0 else float(rest == 0.0)


def _spread(y: Floats, weights: Floats) -> float:
    mean = np.average(y, weights=weights)
    return float(np.sqrt(np.average((y - mean) ** 2, weights=weights)))


def _pick(front: ParetoFront, rows: Rows, held: list[Floats] | None, rule: str, noise: float | None) -> int:
    _, y, weights = rows.fit
    spread = _spread(y, weights)
    # Fitted exponents count as constants here: each was chosen by looking at the data.
    counted = [replace(c, n_constants=len(free(c.expr, hold_simple=True)[1]), structure=None) for c in front]
    sound = [c for c in counted if _is_supported(c, len(y), spread)]
    if held is not None:
        losses = [rows.loss.rows(residuals) for residuals in held]
        sound = [c for i, c in enumerate(counted) if c in sound and not _overfits(i, losses, rows)]
    survivors = ParetoFront(sound or counted)
    chosen = survivors[select(survivors, rule, n_rows=len(y), spread=spread, noise=noise)]
    return counted.index(chosen)


def _is_supported(candidate: Candidate, n_rows: int, spread: float) -> bool:
    """Are there rows enough for this many constants?  Four each, or one more than constants if it is exact."""
    if candidate.loss <= (EXACT * spread) ** 2:
        return candidate.n_constants < n_rows or candidate.n_constants <= 1
    return ROWS_A_CONSTANT * candidate.n_constants <= max(n_rows, ROWS_A_CONSTANT)


def _overfits(index: int, held: list[Floats], rows: Rows) -> bool:
    """Is the formula undefined on the rows kept back, or clearly worse there than a simpler one?"""
    assert rows.valid is not None
    _, y, weights = rows.valid
    mine = held[index]
    if not np.isfinite(mine).all():
        return True
    floor = (EXACT * _spread(y, weights)) ** 2
    for simpler in held[:index]:
        if not np.isfinite(simpler).all():
            continue
        difference = (mine - simpler) * weights / weights.mean()
        error = float(np.std(difference)) / math.sqrt(len(difference))
        if float(np.mean(difference)) > max(OVERFIT_ERRORS * error, floor):
            return True
    return False


def _pick_of_few(formulas: dict[int, Formula], rows: Rows, noise: float | None) -> int:
    """Description length with every constant paid to the digits it is given: with few rows, that is the price.

    ln(value/error) nats each, as many as the data determine, instead of the ln(n)/2 that holds for many rows.
    """
    X, y, weights = rows.fit
    spread, n_rows = _spread(y, weights), len(y)
    lengths: dict[int, float] = {}
    for index, formula in formulas.items():
        loss = rows.loss.in_squares(rows.loss.mean(_residuals(formula.expr, X, y), weights))
        paid = [c for c in formula.constants if c.snapped_to is None]
        bare = Candidate(formula.expr, loss, formula.complexity, 0)
        counted = replace(bare, n_constants=len(paid))
        if math.isfinite(loss) and _is_supported(counted, n_rows, spread):
            length = description_length(bare, n_rows, spread, noise)
            lengths[index] = length + sum(_digits_in_nats(c, n_rows) for c in paid)
    return min(lengths, key=lambda i: (lengths[i], i)) if lengths else min(formulas)


def _digits_in_nats(constant: Constant, n_rows: int) -> float:
    least = 0.5 * math.log(max(n_rows, 2))
    if constant.stderr is None or constant.stderr <= 0.0:
        return least
    # Beyond nine digits it is rounding that is being described, not the constant.
    return min(max(math.log1p(abs(constant.value) / constant.stderr), least), 20.0)


def _tidy(entries: list[Entry], picked: int, losses: dict[int, float]) -> tuple[tuple[Entry, ...], int]:
    """A front again: by size, without formulas that gained nothing once their constants were clean, with scores.

    Cleaning brings formulas to the same optimum that were only different ways to write it; of those the pick, or
    else the first, stays.
    """
    chosen = entries[picked]
    ordered = sorted(entries, key=lambda e: (e.complexity, e is not chosen, -e.r2, str(e.formula)))
    kept: list[Entry] = []
    for entry in ordered:
        if not kept or entry is chosen or losses[id(entry)] < (1.0 - LEAST_GAIN) * losses[id(kept[-1])]:
            kept.append(entry)
    return scored(kept, [losses[id(entry)] for entry in kept]), kept.index(chosen)


class _Cleaner:
    """Constants from all rows: fitted once more, made simple where the data allow it, and their errors."""

    def __init__(
        self,
        data: Data,
        spread: float,
        noise: float | None,
        deadline: Deadline,
        judgement: Judgement,
        allows: Callable[[Expr], bool] | None = None,
    ) -> None:
        self.names, self.target = data.names, data.target
        self.few = data.thinned(MAX_SETTLE_ROWS)
        self.exact = (EXACT * spread) ** 2
        self.noise = noise
        self.deadline = deadline
        self.judgement = judgement
        self.allows = allows

    def clean_all(
        self, found: dict[int, tuple[Expr, float]], watch: AbstractContextManager[None]
    ) -> dict[int, Formula]:
        """The formulas as they will be shown, the first in any case; as the search left them when time is up."""
        formulas = {i: Formula(expr, self.names, self.target) for i, (expr, _) in found.items()}
        with suppress(KeyboardInterrupt), watch:
            for place, (index, (expr, loss)) in enumerate(found.items()):
                if place and self.deadline.expired():
                    break
                formulas[index] = self.clean(expr, loss)
        return formulas

    def clean(self, expr: Expr, loss: float) -> Formula:
        if loss > self.exact:
            expr = self.allowed(self.settled(expr), expr)
            if variables(expr) and self.judgement.loss.kind != "quantile":
                expr = self.allowed(self.simple(expr), expr)
        expr = self.allowed(respelled(phased(expr), self.few.X), expr)
        return Formula(expr, self.names, self.target, self.reported(expr))

    def allowed(self, changed: Expr, before: Expr) -> Expr:
        """The changed formula, unless it now contradicts what is known, as a constant, there to compare with, may."""
        return changed if self.allows is None or not variables(changed) or self.allows(changed) else before

    def settled(self, expr: Expr) -> Expr:
        X, y, weights = self.few.X, self.few.y, self.few.weights
        if self.judgement.loss.kind == "mse":
            return settle(expr, X, y, weights, self.deadline)
        return minimised(expr, X, y, weights, self.judgement.loss)

    def reported(self, expr: Expr) -> tuple[Constant, ...]:
        X, y = self.few.X, self.few.y
        if self.judgement.loss.kind == "quantile":  # errors of squares would be wrong
            return tuple(Constant(value, snapped_to=simple_name(value)) for value in free(expr)[1])
        return report(expr, X, y, self.judgement.weights(expr, X, y, self.few.weights), self.deadline)

    def simple(self, expr: Expr) -> Expr:
        X, y = self.few.X, self.few.y
        weights = self.judgement.weights(expr, X, y, self.few.weights)
        limit = self.deadline.sooner(MAX_SNAP)
        snapped = snap(conventional(expr), X, y, weights=weights, noise=self.noise, deadline=limit)
        cleaned = present(simplify(snapped.expr))
        return cleaned if np.isfinite(evaluate(cleaned, X)).all() else expr


def _entry(formula: Formula, source: str, data: Data, r2_valid: float | None, wanted: Loss) -> Entry:
    weights = np.ones(len(data.y)) if data.weights is None else data.weights
    residuals = _residuals(formula.expr, data.X, data.y)
    loss = wanted.mean(residuals, weights)
    return Entry(formula, formula.complexity, loss, _r2_of(residuals**2, data.y, weights), r2_valid, 0.0, source)
