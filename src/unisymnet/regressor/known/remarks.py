"""What is known about a law, written beside the formulas of the table: units of constants, remarks, the refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ...candidate import ParetoFront, select
from ...deadline import Deadline
from ...knowledge.known import Knowledge
from ...symbolic.expr import renumbered, variables
from ..entry import Entry
from ..outcome import Rows, lifted, measure
from ..validation import Data

SECONDS = 1.0  # for the constants of a refused formula
LEAST_GAIN = 0.02  # of the loss that a refused formula must take away to be shown


def annotated(entries: tuple[Entry, ...], picked: int, knowledge: Knowledge) -> tuple[tuple[Entry, ...], int]:
    """The table with units of constants and further columns, and the place of the pick.

    The full check of constraints looks at more points than the search did; what it finds to break one goes, but for
    constants, which stand there to compare with.
    """
    kept = [e for e in entries if not variables(e.formula.expr) or knowledge.holds(e.formula.expr)] or list(entries)
    pick = entries[picked] if entries[picked] in kept else min(kept, key=_cost)
    told = tuple(
        replace(entry, formula=knowledge.dressed(entry.formula), remarks=knowledge.remarks(entry.formula))
        for entry in kept
    )
    return told, kept.index(pick)


def _cost(entry: Entry) -> tuple[float, float]:
    return (math.inf if entry.nats is None else entry.nats), entry.loss


def best_refused(
    knowledge: Knowledge,
    rows: Rows,
    data: Data,
    columns: Sequence[int],
    picked: Entry,
    noise: float | None,
    deadline: Deadline,
) -> tuple[Entry, ...]:
    """The best of the formulas that were turned away, if it fits better than the pick: what is known may be wrong."""
    front = ParetoFront(knowledge.refused)
    if not len(front):
        return ()
    y = rows.fit[1]
    best = front[select(front, n_rows=len(y), spread=float(y.std()), noise=noise)]
    place = {column: index for index, column in enumerate(columns)}  # the rows hold the columns of the search only
    inner = renumbered(best.expr, place)
    front = ParetoFront([replace(best, expr=inner)])
    limit = deadline.sooner(SECONDS)
    found, _ = measure(front, rows, data.only(columns), rule="accuracy", noise=noise, deadline=limit)
    found = lifted(found, columns, data.names)
    if not found[0].loss < (1.0 - LEAST_GAIN) * picked.loss:
        return ()
    return (replace(found[0], remarks=knowledge.remarks(found[0].formula)),)
