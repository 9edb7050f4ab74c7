"""Sentences about a finished fit: few rows, outliers, weak formulas, formulas as good as the chosen one, failures."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from ..arrays import Floats
from ..candidate import EXACT, Candidate, description_length
from ..formula import Formula
from ..judge.noise import EQUAL, WORDS
from ..judge.replicates import lack_of_fit, pure_error
from ..judge.told import suspected
from ..metrics import r2
from ..search.trace import TraceRow
from .losses import Judgement
from .rows import FAR_BEYOND, SLIP, Ordered, slip_rows
from .table import Entry

FEW_ROWS = 20
LACK_OF_FIT = 0.01
SMALL = 5000  # rows that are looked at for repetitions even when time is up
WEAK = 0.5
TOLD_APART = 3.0  # nats by which the judge must prefer a formula before the data can be said to
RIVAL_NATS = 6.0  # a description longer by this is e^6 times less likely
SMALL_GAIN = 0.01  # of the loss; a longer formula that gains less is the chosen one with something more
MOST_NAMED = 2
SAID_AS_WELL = 0.1  # of a value: nearer, a formula that has not seen it explains it


def careful_notes(
    n_rows: int,
    n_fit: int,
    entries: Sequence[Entry],
    picked: int,
    trace: Sequence[TraceRow],
    judgement: Judgement,
    X: Floats,
    every: Ordered,
    *,
    is_law: bool = True,
) -> list[str]:
    """What a careful person would say about this result; who predicts has compared formulas on folds."""
    notes, chosen = [], entries[picked]
    if n_rows < FEW_ROWS:
        notes.append(f"only {n_rows} different row{'s' * (n_rows != 1)}: several formulas may fit them by chance")
    if n_fit < 0.5 * n_rows:
        notes.append(f"searched on {n_fit} of {n_rows} rows, checked on all")
    n_outliers = int((~judgement.trusted).sum())
    if n_outliers:
        far = f"{n_outliers} of {n_fit} rows lie far from every formula"
        notes.append(f"{far}: the search and the Huber loss hardly count them, R² counts them in full")
    elif n_rows > 1 and judgement.loss.kind == "mse":
        notes += weakness_note(chosen, X, every)
    if chosen.noise and chosen.noise != str(EQUAL):
        notes.append(f"the noise looks {chosen.noise}; the constants and their ± allow for that")
    others = rivals(entries, picked, n_rows) if judgement.loss.kind == "mse" and is_law else []
    if others:
        named = " or ".join(f"pick {index}, {entries[index].formula.text(4)}" for index in others[:MOST_NAMED])
        notes.append(f"the data cannot tell the chosen formula apart from {named}")
    notes += [f"the proposer {row.stage} failed: {row.failure}" for row in trace if row.failure]
    return notes


def angle_note(entries: Sequence[Entry], picked: int, told: Collection[int], X: Floats) -> list[str]:
    """A word about a column that seems to be an angle in degrees, in the chosen formula or one hardly worse."""
    best = entries[picked].nats
    near = [entry for entry in entries if best is None or (entry.nats or math.inf) <= best + RIVAL_NATS]
    for entry in (entries[picked], *near):
        for column in suspected(entry.formula.expr, X):
            if column not in told:
                name = entry.formula.names[column]
                cure = f'if it is, give its unit, "{name}": "deg"'
                return [f"{name} looks like an angle in degrees in {entry.formula.text(4)}: {cure}"]
    return []


def repeated_note(given: Floats, weights: Floats | None, different: Floats) -> list[str]:
    """A word about equal rows, which were made one."""
    n_given = len(given) if weights is None else int((weights > 0.0).sum())
    n_repeated = n_given - len(different)
    if n_repeated <= 0:
        return []
    return [f"{n_repeated} of {n_given} rows are duplicates: each is counted once, with more weight"]


def outlier_note(y: Floats) -> list[str]:
    """A word about values far beyond all others: least squares would follow them alone."""
    rows = slip_rows(y, FAR_BEYOND)
    if not len(rows):
        return []
    cure = "if it is a mistake, remove its row" if len(rows) == 1 else "if they are mistakes, remove their rows"
    return [f"{_far_values(y[rows], FAR_BEYOND)}: {cure} or use the Huber loss"]


def slip_note(formula: Formula, X: Floats, values: Floats) -> str:
    """What was left out as mistakes, and what the formula says about it."""
    with np.errstate(all="ignore"):
        there = formula.predict(X)
        explained = np.abs(there - values) <= SAID_AS_WELL * np.abs(values)
    far, one = _far_values(values, SLIP), len(values) == 1
    seen = f"the search did not see {'its row' if one else 'their rows'}"
    if explained.all():
        return f"{far}: {seen}, and the formula gives {'it' if one else 'them'} all the same"
    if one and not np.isfinite(there[0]):
        return f"{far}: {seen}, and the formula has no value there: a mistake, or a pole of the law"
    if one:
        return f"{far}: treated as a mistake and left out; the formula gives {there[0]:.6g} there"
    return f"{far}: treated as mistakes and left out; the formula explains {int(explained.sum())} of them"


def _far_values(values: Floats, times: float) -> str:
    if len(values) == 1:
        return f"one value of the target, {values[0]:.6g}, lies {times:g} times further out than any other"
    largest = values[np.argmax(np.abs(values))]
    return f"{len(values)} values of the target, such as {largest:.6g}, lie {times:g} times further out than any other"


def weakness_note(chosen: Entry, X: Floats, every: Ordered) -> list[str]:
    """That a formula explains little, if it does.

    R² is ruled by the largest values; where noise is a factor, they are the least certain, and logarithms tell more.
    """
    plain = chosen.r2 if chosen.r2_valid is None else chosen.r2_valid
    if plain >= WEAK:
        return []
    if chosen.noise == WORDS["factor"]:
        with np.errstate(all="ignore"):
            explained = r2(np.log(every.y), np.log(chosen.formula.predict(every.of(X))))
        if explained >= WEAK:
            ruled = f"R² is {max(plain, 0.0):.2f} because a few large values rule it"
            return [f"{ruled}; R² of the logarithms is {explained:.2f}"]
    return [f"R² is only {max(plain, 0.0):.2f}: this formula misses most of the variation in the target"]


def replicates_note(chosen: Entry, X: Floats, every: Ordered, used: Sequence[int], late: bool) -> list[str]:
    """What repeated measurements at the same inputs say about the noise and about the chosen formula.

    `used` are the columns that the search has used; when it is late, only small tables are looked at.
    """
    y, weights = every.y, every.weights
    if chosen.r2 >= 1.0 - EXACT or (late and len(y) > SMALL):
        return []
    # Rows that differ in a few columns differ in all; most tables are told apart by one.
    if len(used) < X.shape[1] and pure_error(every.of(X, used), y, weights) is None:
        return []
    X = every.of(X)
    pure = pure_error(X, y, weights)
    if pure is None:
        return []
    left = y - chosen.formula.predict(X)
    model = chosen.formula.band
    roots = np.ones(len(y)) if model is None else model.roots(chosen.formula.expr, X)
    weighted = pure_error(X, left * roots, weights)
    if weighted is None or not np.isfinite(left).all():
        return []
    squares = float(np.sum(weights * (left * roots) ** 2))
    n_constants = sum(constant.snapped_to is None for constant in chosen.formula.constants)
    chance = lack_of_fit(weighted, squares, n_constants)
    said = f"repeated measurements at {pure.n_places} inputs scatter by {pure.noise:.2g}"
    if chance < LACK_OF_FIT:
        return [f"{said}; the chosen formula is off by more (lack of fit, p = {chance:.1g}): something is missing"]
    return [f"{said}; the chosen formula is off by no more (lack of fit: p = {chance:.2f})"]


def rivals(entries: Sequence[Entry], picked: int, n_rows: int) -> list[int]:
    """Rows of the table whose description is about as short as the pick's; an exact formula has none."""
    chosen = entries[picked]
    if chosen.nats is not None:
        lengths = {i: entry.nats for i, entry in enumerate(entries) if i != picked and entry.nats is not None}
        near = [i for i, nats in lengths.items() if nats <= chosen.nats + TOLD_APART]
        return sorted(near, key=lambda i: lengths[i])
    if chosen.r2 >= 1.0 - EXACT or any(entry.nats is not None for entry in entries):
        return []  # one that was picked for its predictions has no length to compare
    most = _length(chosen, n_rows) + RIVAL_NATS
    near = [i for i, entry in enumerate(entries) if i != picked and _length(entry, n_rows) < most]
    return [i for i in near if i < picked or entries[i].loss < (1.0 - SMALL_GAIN) * chosen.loss]


def _length(entry: Entry, n_rows: int) -> float:
    paid = sum(constant.snapped_to is None for constant in entry.formula.constants)
    return description_length(Candidate(entry.formula.expr, entry.loss, entry.complexity, paid), n_rows, 1.0)
