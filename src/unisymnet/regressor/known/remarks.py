"""What is known about a law, written beside the formulas of the table: units of constants, remarks, the refused."""

from __future__ import annotations

from dataclasses import replace

from ...candidate import ParetoFront, select
from ...deadline import Deadline
from ...knowledge.known import Knowledge
from ..entry import Entry
from ..outcome import Rows, measure
from ..validation import Data

SECONDS = 1.0  # for the constants of a refused formula
LEAST_GAIN = 0.02  # of the loss that a refused formula must take away to be shown


def annotated(entries: tuple[Entry, ...], knowledge: Knowledge) -> tuple[Entry, ...]:
    """The table with units of constants and further columns."""
    return tuple(
        replace(entry, formula=knowledge.dressed(entry.formula), remarks=knowledge.remarks(entry.formula))
        for entry in entries
    )


def best_refused(knowledge: Knowledge, rows: Rows, data: Data, picked: Entry, noise: float | None) -> tuple[Entry, ...]:
    """The best of the formulas that were turned away, if it fits better than the pick: what is known may be wrong."""
    front = ParetoFront(knowledge.refused)
    if not len(front):
        return ()
    y = rows.fit[1]
    best = front[select(front, n_rows=len(y), spread=float(y.std()), noise=noise)]
    found, _ = measure(
        ParetoFront([best]),
        rows,
        data,
        range(data.X.shape[1]),
        rule="accuracy",
        noise=noise,
        deadline=Deadline.after(SECONDS),
    )
    if not found[0].loss < (1.0 - LEAST_GAIN) * picked.loss:
        return ()
    return (replace(found[0], remarks=knowledge.remarks(found[0].formula)),)
