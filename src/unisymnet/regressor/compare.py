"""Laws beside sums of features: both measured on the same folds, and the pick that holds there.

With `goal="law"` the search's pick stands unless the linear model predicts better; with `goal="predict"` the table also
has the sums of tables/, and a longer formula is picked only if it wins in most folds. What gradient boosting would do
on these folds is said in one line. Does not search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ..candidate import EXACT
from ..deadline import Deadline
from ..fit.clean.verdict import SAME_VALUES, tidied
from ..formula import Formula
from ..formula.constants import report, settle
from ..symbolic.expr import Const, Expr, evaluate
from ..symbolic.rewrite.simplify import present
from ..tables.additive import WAYS, Additive, Row, find_additive
from ..tables.boosting import boosting_error
from ..tables.folds import clearly_wins, likely_wins, wins
from ..tables.targets import target_note
from .entry import Entry
from .outcome import r2_on
from .validation import NAMED_LOSSES, Data

if TYPE_CHECKING:
    from .kinds import Options

Floats = NDArray[np.float64]
Rows = tuple[Floats, Floats, Floats]

ADDITIVE_SHARE = 0.6  # of the time, with goal="predict"
BEYOND_CHANCE = 6.0  # nats on rows left out that a formula must gain over a constant: e^-6 is rare even among many
CHOICE = 1.0  # nats that a node of a law costs: the search has chosen it on all rows, which folds cannot see
LEAST_SIZE = 2  # a constant is left only for a formula that wins in most folds
SOURCES = ("mean", "linear")
MAX_LINEAR_ROWS = 20_000
GROWING = ("relative", "counts", "both")  # noise models under which large values say less
FEW_ENTRIES = 14  # of the search's table are compared, the pick among them
NEAR = 0.01  # of R² that gradient boosting may be ahead and still count as level


@dataclass(frozen=True)
class Rivals:
    """Sums of features found before the search, and the rows that the folds cut."""

    additive: Additive
    rows: Rows
    goal: str
    boosting: float | None = None  # mean square error of gradient boosting on the folds


def find_rivals(rows: Rows, options: Options, deadline: Deadline) -> Rivals | None:
    """With goal="law" the linear model only; None for other losses, and where the law is known in part."""
    if options.loss[0] != "mse" or (options.goal == "law" and options.selection != "best"):
        return None
    if options.goal == "law" and options.knowledge is not None:
        return None  # whoever knows units or shapes asks for a law that keeps to them, not for a line that predicts
    limit = deadline if math.isinf(deadline.remaining()) else deadline.sooner(ADDITIVE_SHARE * deadline.remaining())
    if options.goal == "law" and len(rows[1]) > MAX_LINEAR_ROWS:  # a line needs no more, and time is short here
        few = np.linspace(0, len(rows[1]) - 1, MAX_LINEAR_ROWS).astype(int)
        rows = rows[0][few], rows[1][few], rows[2][few]
    # One thread for linear algebra: more would change the last bits.
    with np.errstate(all="ignore"), threadpool_limits(1):
        found = find_additive(
            *rows,
            max_size=options.settings.max_complexity,
            allowed=options.operators,
            ways=WAYS if options.goal == "predict" else WAYS[:1],
            rng=np.random.default_rng(len(rows[1])),
            deadline=limit,
        )
    if options.knowledge is not None:
        kept = [row for row in found.rows[1:] if options.knowledge.allows(row.expr)]
        found = replace(found, rows=(found.rows[0], *kept))
    X, y, weights = rows
    used = found.rows_used
    some = X[used], y[used], weights[used]
    trees = boosting_error(*some, found.folds, deadline) if options.goal == "predict" else None
    return Rivals(found, some, options.goal, trees)


def before_folds(deadline: Deadline, options: Options, share: float = 0.85) -> Deadline:
    """An earlier end for what comes before, with goal="predict": measuring formulas on folds takes time, too."""
    if options.goal == "law" or math.isinf(deadline.remaining()):
        return deadline
    return deadline.sooner(share * deadline.remaining())


def is_exact_entry(entry: Entry) -> bool:
    """Does the formula leave nothing to any rival?"""
    return entry.r2 >= 1.0 - EXACT


def compare(
    entries: Sequence[Entry], picked: int, rivals: Rivals | None, data: Data, deadline: Deadline
) -> tuple[tuple[Entry, ...], int, list[str]]:
    """The table, the pick and what is to be said about it."""
    table, place, said = _compared(entries, picked, rivals, data, deadline)
    kind = None if is_exact_entry(table[place]) else target_note(data.y, data.target, NAMED_LOSSES)
    return table, place, said if kind is None else [*said, kind]


def _compared(
    entries: Sequence[Entry], picked: int, rivals: Rivals | None, data: Data, deadline: Deadline
) -> tuple[tuple[Entry, ...], int, list[str]]:
    if rivals is None or len(rivals.additive.rows) == 1:  # other losses; too few rows; a constant target
        return tuple(entries), picked, []
    if rivals.goal == "law":
        return _held_to_linear(entries, picked, rivals, data, deadline)
    return _predicting(entries, picked, rivals, data, deadline)


def _held_to_linear(
    entries: Sequence[Entry], picked: int, rivals: Rivals, data: Data, deadline: Deadline
) -> tuple[tuple[Entry, ...], int, list[str]]:
    linear = rivals.additive.linear
    if linear.source == "mean":
        return tuple(entries), picked, []
    band = entries[picked].formula.band
    if band is not None and band.kind in GROWING:
        return tuple(entries), picked, []  # squares on folds would hear the few largest values only
    mine = fold_errors(entries[picked].formula.expr, rivals, deadline)
    constant = isinstance(entries[picked].formula.expr, Const)
    better = wins(linear.errors, mine)
    if constant:
        better = _beats(linear, Row(entries[picked].formula.expr, 1, mine, "mean"), rivals)
    if not better:
        return tuple(entries), picked, []
    added = _entry(linear, rivals, data)
    same = _repeated(entries, added, data)
    if same == picked:
        return tuple(entries), picked, []
    added = entries[same] if same >= 0 else added
    table = tuple(entries) if same >= 0 else _ordered([*entries, added])
    note = (
        f"the linear model is picked: left-out rows are predicted with R² {_r2(linear, rivals):.2f}, "
        f"by the best short formula with {1.0 - float(np.mean(mine)) / rivals.additive.constant.error:.2f}"
    )
    return table, table.index(next(e for e in table if e.formula is added.formula)), [note]


def _repeated(entries: Sequence[Entry], added: Entry, data: Data) -> int:
    """The place of the row that already says what the added one says; -1 if there is none."""
    mine = evaluate(added.formula.expr, data.X)
    noise = max(added.loss, 1e-300)
    for place, entry in enumerate(entries):
        with np.errstate(all="ignore"):
            if float(np.sum((evaluate(entry.formula.expr, data.X) - mine) ** 2)) <= SAME_VALUES * noise:
                return place
    return -1


def _predicting(
    entries: Sequence[Entry], picked: int, rivals: Rivals, data: Data, deadline: Deadline
) -> tuple[tuple[Entry, ...], int, list[str]]:
    laws = _laws(entries, picked, rivals, deadline)
    rows = sorted([*rivals.additive.rows, *laws], key=lambda row: (row.size, row.error))
    best = rows[0]
    for row in rows[1:]:
        if row.error < 1e299 and _beats(row, best, rivals):
            best = row
    if rivals.additive.linear.error < best.error and best.size >= LEAST_SIZE:
        best = rivals.additive.linear
    front: list[Row] = []
    for row in rows:
        if row is best or row.source in SOURCES or row.error < min((r.error for r in front), default=math.inf):
            front.append(row)
    front = _without_weaker_linear(front, best)
    found = {id(row): _entry(row, rivals, data, constants=row is best) for row in front}
    table = _ordered(list(found.values()))
    place = next(i for i, entry in enumerate(table) if entry.formula is found[id(best)].formula)
    notes = [] if rivals.additive.complete else ["there was no time for every kind of feature; a longer max_time helps"]
    return table, place, [*notes, *_distance(best, rivals)]


def _beats(longer: Row, shorter: Row, rivals: Rivals) -> bool:
    """A longer formula must win by a standard error; a constant gives way only beyond doubt, because of many formulas
    some look better than it on pure noise."""
    n_cuts = rivals.additive.folds.n_cuts
    if not isinstance(shorter.expr, Const):
        return likely_wins(longer.errors, shorter.errors, n_cuts)
    gained = 0.5 * len(rivals.rows[1]) * math.log(max(shorter.error, 1e-300) / max(longer.error, 1e-300))
    return gained > BEYOND_CHANCE and clearly_wins(longer.errors, shorter.errors, n_cuts)


def _without_weaker_linear(front: list[Row], best: Row) -> list[Row]:
    """Of the linear models only the one that predicts best."""
    lines = [row for row in front if row.source == "linear"]
    if not lines:
        return front
    kept = min(lines, key=lambda row: row.error)
    return [row for row in front if row.source != "linear" or row is kept or row is best]


def _laws(entries: Sequence[Entry], picked: int, rivals: Rivals, deadline: Deadline) -> list[Row]:
    """Formulas of the search with their errors on the folds, raised for the freedom that the search had."""
    n = len(rivals.rows[1])
    order = sorted(range(len(entries)), key=lambda i: (i != picked, -i))[:FEW_ENTRIES]
    found = []
    for place, i in enumerate(order):
        if place and deadline.expired():
            break
        expr, size = entries[i].formula.expr, entries[i].complexity
        if not isinstance(expr, Const):
            errors = fold_errors(expr, rivals, deadline) * math.exp(min(2.0 * CHOICE * size / n, 50.0))
            found.append(Row(expr, size, errors, entries[i].source))
    return found


def fold_errors(expr: Expr, rivals: Rivals, deadline: Deadline) -> Floats:
    """Mean square errors on the rows of every fold, constants fitted to the others while there is time."""
    X, y, weights = rivals.rows
    errors = []
    for k, held in enumerate(rivals.additive.folds.held):
        used = rivals.additive.folds.weights(k, weights) > 0.0
        with np.errstate(all="ignore"):
            refitted = settle(expr, X[used], y[used], weights[used], deadline)
            residuals = y[held] - evaluate(refitted, X[held])
            error = float(np.average(residuals**2, weights=weights[held]))
        errors.append(error if math.isfinite(error) else 1e300)
    return np.array(errors)


def _r2(row: Row, rivals: Rivals) -> float:
    return 1.0 - row.error / max(rivals.additive.constant.error, 1e-300)


def _entry(row: Row, rivals: Rivals, data: Data, *, constants: bool = True) -> Entry:
    """A row as the table shows it; the R² of left-out rows stands where that of validation rows stands elsewhere."""
    X, y, weights = rivals.rows
    expr = present(tidied(row.expr, X, float(np.std(y))))
    with np.errstate(all="ignore"):
        if not np.allclose(evaluate(expr, X), evaluate(row.expr, X), rtol=1e-6, atol=1e-9 * float(np.std(y))):
            expr = row.expr
        known = report(expr, X, y, weights) if constants else ()
    formula = Formula(expr, data.names, data.target, known)
    r2 = r2_on(expr, data.X, data.y, data.weights)
    spread = float(np.average((data.y - np.average(data.y, weights=data.weights)) ** 2, weights=data.weights))
    loss = (1.0 - r2) * spread if math.isfinite(r2) else math.inf
    return Entry(formula, formula.complexity, loss, r2, _r2(row, rivals), 0.0, row.source)


def _ordered(entries: list[Entry]) -> tuple[Entry, ...]:
    """By size, with scores: what a row gains over the one before for each node more."""
    ordered = sorted(entries, key=lambda e: (e.complexity, -e.r2, str(e.formula)))
    scored = [replace(ordered[0], score=0.0)]
    for entry in ordered[1:]:
        before, step = scored[-1], entry.complexity - scored[-1].complexity
        gain = math.log(max(before.loss, 1e-300)) - math.log(max(entry.loss, 1e-300))
        scored.append(replace(entry, score=gain / step if step and math.isfinite(gain) else 0.0))
    return tuple(scored)


def _distance(best: Row, rivals: Rivals) -> list[str]:
    """One line: how far from gradient boosting."""
    if rivals.boosting is None:
        return []
    tree = 1.0 - rivals.boosting / max(rivals.additive.constant.error, 1e-300)
    ours = _r2(best, rivals)
    head = f"left-out rows: R² {ours:.3f} by this formula, {tree:.3f} by gradient boosting"
    if tree > ours + NEAR:
        return [f"{head}; what no formula of the table catches is worth {tree - ours:.3f}"]
    return [f"{head}; the formula leaves nothing on the table"]
