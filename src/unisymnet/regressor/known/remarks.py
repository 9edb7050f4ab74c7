"""What is known about a law, in one fit: searches that it asks for, and what is written beside the formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...candidate import ParetoFront, select
from ...deadline import Deadline
from ...fit.kernels.robust import Loss
from ...judge.scales import assumed_nats
from ...knowledge.known import Knowledge, Solvers, solver
from ...knowledge.units.nats import no_units
from ...protocols import Fitter
from ...symbolic.expr import renumbered, variables
from ..judged import with_judge
from ..options import Options
from ..outcome import Rows, lifted, measure
from ..table import Entry
from ..validation import Data

SECONDS = 1.0  # for the constants of a refused formula
LEAST_GAIN = 0.02  # of the loss that a refused formula must take away to be shown


def make_solvers(options: Options, loss: Loss, fitter: Callable[[], Fitter], stop: Callable[[], bool]) -> Solvers:
    """By the same proposers as the whole search, or by the quick ones among them."""
    told, plain = (with_judge(options.settings, loss, units) for units in (assumed_nats, no_units))
    return Solvers(
        solver(options.proposers, fitter, told, stop),
        solver(options.proposers, fitter, plain, stop),
        solver(options.brief, fitter, plain, stop),
    )


def annotated(entries: tuple[Entry, ...], picked: int, knowledge: Knowledge) -> tuple[tuple[Entry, ...], int]:
    """The table with units of constants and further columns, and the place of the pick.

    The full check of constraints looks at more points than the search did; what it finds to break one goes, but for
    constants, which stand there to compare with.
    """
    kept = [e for e in entries if not variables(e.formula.expr) or knowledge.holds(e.formula.expr)] or list(entries)
    pick = (
        entries[picked]
        if entries[picked] in kept
        else min(kept, key=lambda e: (math.inf if e.nats is None else e.nats, e.loss))
    )
    told = tuple(
        replace(entry, formula=knowledge.dressed(entry.formula), remarks=knowledge.remarks(entry.formula))
        for entry in kept
    )
    return told, kept.index(pick)


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
    shown = found[0].formula.expr
    if knowledge.allows(shown) and knowledge.holds(shown):
        return ()  # its last fit has moved it to where nothing is broken
    if not found[0].loss < (1.0 - LEAST_GAIN) * picked.loss:
        return ()
    return (replace(found[0], remarks=knowledge.remarks(found[0].formula)),)
