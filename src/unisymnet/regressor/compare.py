"""Laws beside sums of features: both measured on the same folds, and the pick that holds there.

With `goal="law"` the search's pick stands unless the linear model predicts better; with `goal="predict"` the table also
has the sums of tables/, and a longer formula is picked only if it wins in most folds. What gradient boosting would do
on these folds is said in one line. Does not search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Floats
from ..candidate import EXACT
from ..deadline import Deadline
from ..fit.clean.verdict import SAME_VALUES, tidied
from ..formula import Formula
from ..formula.constants import Constant, report, settle
from ..judge.noise import WORDS
from ..judge.tree import is_plane
from ..symbolic.expr import Const, Expr, evaluate
from ..symbolic.rewrite.simplify import present
from ..tables.additive import WAYS, Additive, Row, find_additive
from ..tables.boosting import LEAST_ROWS, boosting_errors
from ..tables.folds import clearly_wins, likely_wins, surely_wins, wins
from ..tables.targets import target_note
from .outcome import r2_on
from .rows import Ordered
from .table import Entry, scored
from .validation import NAMED_LOSSES, Data

if TYPE_CHECKING:
    from .options import Options

Rows = tuple[Floats, Floats, Floats]

ADDITIVE_SHARE = 0.6  # of the time, with goal="predict"
BEYOND_CHANCE = 6.0  # nats on rows left out that a formula must gain over a constant: e^-6 is rare even among many
CHOICE = 1.0  # nats that a node of a law costs: the search has chosen it on all rows, which folds cannot see
NODE, NODE_SHARE = 0.1, 1e-3  # a node's price when predicting: nats, and at least this share of the error
SOURCES = ("mean", "linear")
MAX_LINEAR_ROWS, LEAST_LINEAR_ROWS = 20_000, 2000
VALUES_A_SECOND = 2e7  # that can be copied and tried in the time left
GROWING = {WORDS[kind] for kind in ("relative", "counts", "both", "factor")}  # large values say less
FEW_ENTRIES = 14  # of the search's table are compared, the pick among them
NEARLY_ALWAYS = 0.8  # of the folds: however uneven they are, who is better in so many is better
TWIN = 0.01  # of the mean square error by which two formulas of one size may differ and say the same
NEAR = 0.01  # of R² that gradient boosting may be ahead and still count as level


@dataclass(frozen=True)
class Rivals:
    """Sums of features found before the search, and the rows that the folds cut."""

    additive: Additive
    rows: Rows
    goal: str
    boosting: Floats = field(default_factory=lambda: np.zeros(0))  # errors of gradient boosting on the first folds


def find_rivals(X: Floats, every: Ordered, options: Options, deadline: Deadline) -> Rivals | None:
    """With goal="law" the linear model only; None for other losses, and where the law is known in part."""
    if options.loss[0] != "mse" or (options.goal == "law" and options.selection != "best"):
        return None
    if options.goal == "law" and options.knowledge is not None:
        return None  # whoever knows units or shapes asks for a law that keeps to them, not for a line that predicts
    limit = deadline if math.isinf(deadline.remaining()) else deadline.sooner(ADDITIVE_SHARE * deadline.remaining())
    most = MAX_LINEAR_ROWS  # a line needs no more, and time is short here
    if math.isfinite(deadline.remaining()):
        most = min(most, max(LEAST_LINEAR_ROWS, int(VALUES_A_SECOND * deadline.remaining() / X.shape[1])))
    if options.goal == "law" and len(every.y) > most:
        few = np.linspace(0, len(every.y) - 1, most).astype(int)
        rows = X[every.places(few)], every.y[few], every.weights[few]
    else:
        rows = every.of(X), every.y, every.weights
    try:
        with np.errstate(all="ignore"):
            found = find_additive(
                *rows,
                max_size=options.settings.max_complexity,
                allowed=options.operators,
                ways=WAYS if options.goal == "predict" else WAYS[:1],
                rng=np.random.default_rng(len(rows[1])),
                deadline=limit,
            )
    except np.linalg.LinAlgError:
        return None  # a yardstick that fails must not cost the search its result
    if options.knowledge is not None:
        kept = [row for row in found.rows[1:] if options.knowledge.allows(row.expr)]
        whole = next((row for row in kept if row is found.whole), None)
        found = replace(found, rows=(found.rows[0], *kept), whole=whole)
    X, y, weights = rows
    used = found.rows_used
    some = X[used], y[used], weights[used]
    if options.goal == "law":
        return Rivals(found, some, options.goal)
    return Rivals(found, some, options.goal, boosting_errors(*some, found.folds, deadline))


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
    if entries[picked].noise in GROWING:
        return tuple(entries), picked, []  # squares on folds would hear the few largest values only
    mine = fold_errors(entries[picked].formula.expr, rivals, deadline)
    constant = isinstance(entries[picked].formula.expr, Const)
    if not (_beats_constant(linear, rivals) if constant else wins(linear.errors, mine)):
        return tuple(entries), picked, []
    if is_plane(entries[picked].formula.expr) and not clearly_wins(linear.errors, mine, rivals.additive.folds.n_cuts):
        return tuple(entries), picked, []  # a linear model already, of the columns that are worth their constant
    added = _entry(linear, rivals, data)
    same = _repeated(entries, added, data)
    if same == picked:
        return tuple(entries), picked, []
    added = entries[same] if same >= 0 else added
    table = tuple(entries) if same >= 0 else _ordered([*entries, added])
    note = (
        f"the linear model is picked: its R² on left-out rows is {_r2(linear, rivals):.2f}, "
        f"that of the best short formula {1.0 - float(np.mean(mine)) / rivals.additive.constant.error:.2f}"
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
    best = min(
        (row for row in rows[1:] if _beats_constant(row, rivals)), key=lambda row: _nats(row, rivals), default=rows[0]
    )
    if rivals.additive.whole is None and not isinstance(best.expr, Const):
        best = min(best, rivals.additive.linear, key=lambda row: row.error)
    best = _held_to_whole(best, rivals)
    front: list[Row] = []
    for row in rows:
        if row is best or row.source in SOURCES or row.error < min((r.error for r in front), default=math.inf):
            front.append(row)
    front = _without_weaker_linear(_without_twins(front, best, rivals), best)
    found = {id(row): _entry(row, rivals, data, constants=row is best) for row in front}
    table = _ordered(list(found.values()))
    places = {id(entry.formula): i for i, entry in enumerate(table)}
    place = places[id(found[id(best)].formula)]
    notes = [] if rivals.additive.complete else ["there was no time for every kind of feature; raise max_time"]
    alike = [places[id(found[id(row)].formula)] for row in front if _as_good(row, best, rivals)]
    return table, place, [*notes, *_distance(best, rivals), *_named(table, _shorter(table, alike, place))]


def _held_to_whole(best: Row, rivals: Rivals) -> Row:
    """The linear model of all columns unless the pick beats it beyond chance: on few rows, which columns and shapes
    help is chosen with an error that costs more than the columns that could have been left out."""
    whole = rivals.additive.whole
    if whole is None or isinstance(best.expr, Const):
        return best
    sure = likely_wins(best.errors, whole.errors, rivals.additive.folds.n_cuts)
    return best if sure or wins(best.errors, whole.errors, NEARLY_ALWAYS) else whole


def _without_twins(front: list[Row], best: Row, rivals: Rivals) -> list[Row]:
    """Rows without those that say what the linear model, or the pick, of the same size says."""
    X, y, _ = rivals.rows
    kept: list[Row] = []
    for row in sorted(front, key=lambda row: (row is not best, row.source not in SOURCES)):
        values = np.broadcast_to(evaluate(row.expr, X), y.shape)
        same = (o for o in kept if o.size == row.size and row.source not in SOURCES)
        left = TWIN * row.error
        if not any(float(np.mean((evaluate(other.expr, X) - values) ** 2)) <= left for other in same):
            kept.append(row)
    return [row for row in front if any(row is one for one in kept)]


def _as_good(row: Row, best: Row, rivals: Rivals) -> bool:
    """Can the folds not tell a formula from the pick?"""
    return not isinstance(row.expr, Const) and not likely_wins(best.errors, row.errors, rivals.additive.folds.n_cuts)


def _shorter(table: Sequence[Entry], alike: Sequence[int], place: int) -> list[int]:
    """Those that have fewer symbols than the pick, and not the same ones with other digits."""
    return [i for i in alike if table[i].complexity < table[place].complexity]


def _named(table: Sequence[Entry], shorter: Sequence[int]) -> list[str]:
    """A word about the shortest formula that does not predict clearly worse."""
    if not shorter:
        return []
    entry = table[min(shorter)]
    return [
        f"pick {min(shorter)} has only {entry.complexity} symbols and predicts about as well "
        f"(R² {entry.r2_valid:.3f} on left-out rows): it is easier to read"
    ]


def _beats_constant(row: Row, rivals: Rivals) -> bool:
    """A constant gives way only beyond doubt, because of many formulas some look better than it on pure noise."""
    constant, n_cuts = rivals.additive.constant, rivals.additive.folds.n_cuts
    gained = 0.5 * len(rivals.rows[1]) * math.log(max(constant.error, 1e-300) / max(row.error, 1e-300))
    return gained > BEYOND_CHANCE and surely_wins(row.errors, constant.errors, n_cuts)


def _nats(row: Row, rivals: Rivals) -> float:
    """What left-out rows and the formula itself cost: logarithms of the errors, so that a fold with an outlier counts
    as one fold, and a price for each node."""
    n, least = len(rivals.rows[1]), 1e-12 * rivals.additive.constant.error
    price = max(NODE, NODE_SHARE * 0.5 * n)
    return 0.5 * n * float(np.mean(np.log(np.maximum(row.errors, max(least, 1e-300))))) + price * row.size


def _without_weaker_linear(front: list[Row], best: Row) -> list[Row]:
    """Of the linear models the one that predicts best, and shorter ones that predict better than all before them."""
    kept = min((row for row in front if row.source == "linear"), key=lambda row: row.error, default=None)
    found: list[Row] = []
    for row in front:
        better = row.error < min((r.error for r in found), default=math.inf)
        if row.source != "linear" or row is kept or row is best or better:
            found.append(row)
    return found


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
        known = tuple(map(_as_shrunk, report(expr, X, y, weights))) if constants else ()
    formula = Formula(expr, data.names, data.target, known)
    r2 = r2_on(expr, data.X, data.y, data.weights)
    spread = float(np.average((data.y - np.average(data.y, weights=data.weights)) ** 2, weights=data.weights))
    loss = (1.0 - r2) * spread if math.isfinite(r2) else math.inf
    return Entry(formula, formula.complexity, loss, r2, _r2(row, rivals), 0.0, row.source)


def _as_shrunk(constant: Constant) -> Constant:
    """A coefficient that the ridge regression drew a little towards zero is the estimate; plain least squares is not
    what the reader asks for."""
    value, fitted, error = constant.value, constant.fitted, constant.stderr
    drawn = fitted is not None and error is not None and constant.snapped_to is None
    return (
        replace(constant, fitted=value)
        if drawn and abs(float(fitted or 0.0) - value) <= float(error or 0.0)
        else constant
    )


def _ordered(entries: list[Entry]) -> tuple[Entry, ...]:
    """By size, with scores."""
    return scored(sorted(entries, key=lambda e: (e.complexity, -e.r2, str(e.formula))))


def _distance(best: Row, rivals: Rivals) -> list[str]:
    """One line: how far from gradient boosting, on the folds that it had time for."""
    n = len(rivals.boosting)
    if not n:
        few = len(rivals.rows[1]) < LEAST_ROWS
        return [] if few else ["there was no time to compare with gradient boosting; a longer max_time would help"]
    ours = _r2(best, rivals)
    ahead = float(np.mean(best.errors[:n] - rivals.boosting)) / max(rivals.additive.constant.error, 1e-300)
    tree = ours + ahead
    head = f"R² on left-out rows: {ours:.3f} for this formula, {tree:.3f} for gradient boosting"
    if tree > ours + NEAR:
        return [f"{head}; a readable formula gives up {tree - ours:.3f}"]
    return [f"{head}; boosting does no better"]
