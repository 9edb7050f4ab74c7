"""`fit(X, y, groups=…)`: one form for all groups of rows, some constants shared, the others with a value a group.

Forms come from searches on a few groups, each for itself, and on all rows together; every form is then fitted to all
groups, and the shortest description of all rows decides about the form and about which constants are shared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...arrays import evenly
from ...candidate import Candidate, description_length
from ...deadline import Deadline, now
from ...errors import DataError
from ...formula import Constant, Formula
from ...formula.constants import simple_name
from ...formula.grouped import GroupTable
from ...knowledge.group.joint import Rows, standard_errors
from ...knowledge.group.sharing import EXACT, Shared, all_shared, best_sharing, forms_of, share_more
from ...symbolic.expr import Const, Expr, Param, Var, evaluate, rebuild, renumbered
from ..options import Call, FitEvent, Options, Outcome
from ..run import run_fit
from ..table import Entry, scored
from ..validation import WORKING, Data

GROUPS_SEARCHED = 4
SEARCH_SHARE, POOLED_SHARE = 0.6, 0.15  # of the time: for groups alone, and for all rows together
FORMS_A_SEARCH, SEEN_A_SEARCH = 8, 24
MAX_ROWS_A_GROUP, LEAST_ROWS = 400, 6
MAX_GROUPS = 500  # more of them, and each form would take seconds: rather a column that was not meant
FINISHED, FINAL_SECONDS, FINAL_SHARE = 3, 1.5, 0.15  # forms whose sharing is settled in the end, and the time for that


def run_groups(data: Data, labels: Sequence[str], column: str, options: Options, call: Call) -> Outcome:
    """Search, fit every form to all groups, and choose."""
    if options.loss[0] in (*WORKING, "own"):
        raise DataError(f'groups= minimises squares; leave loss at "mse", got {options.loss[0]!r}')
    began, rng, interrupts = call.began(), call.rng, call.interrupts
    limit = options.settings.max_time
    names = list(dict.fromkeys(labels))
    if len(names) > MAX_GROUPS:
        raise DataError(
            f"groups: {column} has {len(names)} different labels, at most {MAX_GROUPS} are possible; choose a column "
            "whose labels many rows have in common"
        )
    end = Deadline.never() if limit is None else Deadline(began + limit)
    deadline = end if limit is None else Deadline(end.moment - min(FINAL_SECONDS, FINAL_SHARE * limit))
    groups = _rows(data, labels, names)
    small = [name for name, (_, y, _) in zip(names, groups, strict=True) if len(y) < 2]
    if len(names) < 2 or len(small) == len(names):
        raise DataError(f"groups: at least two groups of several rows are needed, got {len(names)}")
    best: dict[Expr, Shared] = {}
    outcomes: list[Outcome] = []
    _take(best, [(form, values) for form, values in forms_of(call.guesses)], groups, deadline, rng)
    for part, share in searched(data, labels, names):
        if deadline.expired() or interrupts.requested or _is_exact(best, data):
            break
        seconds = None if limit is None else max(min(share * limit, deadline.remaining()), 0.1)
        settings = replace(options.settings, max_time=seconds)
        seen = _Seen(data.names, options.callback)
        within = replace(options, settings=settings, checkpoint=None, callback=seen)
        outcome = run_fit(part, within, replace(call, start=(), called=None))
        outcomes.append(outcome)
        chosen = sorted(outcome.entries, key=lambda e: (e is not outcome.entries[outcome.picked], -e.r2))
        exprs = [e.formula.expr for e in chosen[:FORMS_A_SEARCH]] + seen.likely(len(part.y), float(np.std(part.y)))
        _take(best, forms_of(exprs), groups, deadline, rng)
    hurried = [] if best else ["there was no time to fit constants of each group; give more with max_time"]
    if not best:
        found = forms_of([outcome.entries[outcome.picked].formula.expr for outcome in outcomes])
        for form, values in [(Param(0), (float(np.mean(data.y)),)), *found]:
            best[form] = all_shared(form, values, groups, end.sooner(0.5 * end.remaining()))
    promising = sorted(best, key=lambda form: best[form].length)[:FINISHED]
    for place, form in enumerate(promising):
        share = end.remaining() / (len(promising) - place + 1)  # the last one is for the table
        best[form] = share_more(best[form], groups, end if limit is None else end.sooner(share))
    entries, picked = _table(best, data, labels, names, column, groups, end)
    own = entries[picked].formula.groups
    shared = "all constants are shared"
    if own is not None:
        differ = "one constant differs" if len(own.names) == 1 else f"{len(own.names)} constants differ"
        shared = f"{differ} by {column}"
    alone = [f"groups of a single row: {', '.join(small[:8])}"] if small else []
    return Outcome(
        entries=entries,
        picked=picked,
        notes=(f"{len(names)} groups by {column}: {shared}", *hurried, *alone),
        trace=tuple(row for outcome in outcomes for row in outcome.trace),
        stopped="interrupted" if interrupts.requested else outcomes[-1].stopped if outcomes else "exact",
        seconds=now() - began,
        n_evaluations=sum(outcome.n_evaluations for outcome in outcomes),
        n_train=len(data.y),
        n_valid=0,
    )


class _Seen:
    """Hears of every formula that was on the front of a search, because noise may have hidden the right one later."""

    def __init__(self, names: Sequence[str], callback: Callable[[FitEvent], object] | None) -> None:
        self.names, self.callback = list(names), callback
        self.found: dict[Expr, tuple[Candidate, tuple[str, ...]]] = {}

    def __call__(self, event: FitEvent) -> None:
        for candidate in event.front:
            self.found.setdefault(candidate.expr, (candidate, event.best.names))
        if self.callback is not None:
            self.callback(event)

    def likely(self, n_rows: int, spread: float) -> list[Expr]:
        """The formulas with the shortest descriptions, in all columns."""
        ranked = sorted(self.found.values(), key=lambda pair: description_length(pair[0], n_rows, spread or 1.0))
        chosen = []
        for candidate, names in ranked[:SEEN_A_SEARCH]:
            chosen.append(renumbered(candidate.expr, [self.names.index(name) for name in names]))
        return chosen


def searched(data: Data, labels: Sequence[str], names: Sequence[str]) -> list[tuple[Data, float]]:
    """What is searched, and the share of the time: the groups that show most, then all rows, thinned.

    Noise is often the same in all groups: the form is seen best where many rows differ much.
    """
    every = np.array(labels)
    shown = {name: float(np.var(data.y[every == name])) * int((every == name).sum()) for name in names}
    enough = [name for name in names if (every == name).sum() >= LEAST_ROWS]
    large = sorted(enough, key=lambda name: -shown[name])[:GROUPS_SEARCHED]
    parts = [(_of(data, every == name), SEARCH_SHARE / max(len(large), 1)) for name in large]
    return [*parts, (data, POOLED_SHARE if large else SEARCH_SHARE + POOLED_SHARE)]


def _of(data: Data, chosen: NDArray[np.bool_]) -> Data:
    weights = None if data.weights is None else data.weights[chosen]
    return replace(data, X=data.X[chosen], y=data.y[chosen], weights=weights)


def _rows(data: Data, labels: Sequence[str], names: Sequence[str]) -> list[Rows]:
    """The rows of each group, thinned, in one walk over the table."""
    places: dict[str, list[int]] = {name: [] for name in names}
    for row, label in enumerate(labels):
        places[label].append(row)
    weights = np.ones(len(data.y)) if data.weights is None else data.weights
    found = []
    for name in names:
        few = evenly(len(places[name]), MAX_ROWS_A_GROUP)
        chosen = np.array(places[name])[few]
        found.append((data.X[chosen], data.y[chosen], weights[chosen]))
    return found


def _take(
    best: dict[Expr, Shared],
    forms: Sequence[tuple[Expr, tuple[float, ...]]],
    groups: Sequence[Rows],
    deadline: Deadline,
    rng: np.random.Generator,
) -> None:
    """Fit forms that are new to all groups."""
    for form, values in forms:
        if deadline.expired() and best:
            return
        if form not in best:
            shortest = min((one.length for one in best.values()), default=math.inf)
            found = best_sharing(form, values, groups, deadline, rng, shortest)
            if found is not None and math.isfinite(found.length):
                best[form] = found


def _is_exact(best: dict[Expr, Shared], data: Data) -> bool:
    floor = (EXACT * (float(np.std(data.y)) or 1.0)) ** 2
    return any(found.loss <= floor for found in best.values())


def _table(
    best: dict[Expr, Shared],
    data: Data,
    labels: Sequence[str],
    names: Sequence[str],
    column: str,
    groups: Sequence[Rows],
    end: Deadline,
) -> tuple[tuple[Entry, ...], int]:
    """Of every size the form with the smallest loss, as long as that falls; the shortest description is picked."""
    if not best:
        raise DataError("no form could be fitted to all groups; give more time, or more rows in each group")
    chosen = min(best.values(), key=lambda found: (found.length, str(found.form)))
    kept: list[Shared] = []
    for found in sorted(best.values(), key=lambda f: (f.size, f.loss)):
        if found is chosen or not kept or found.loss < 0.98 * min(k.loss for k in kept):
            if not any(k.size == found.size for k in kept) or found is chosen:
                kept.append(found)
    first = _entry(chosen, data, labels, names, column, groups, with_errors=True)
    entries = [
        first if found is chosen else _entry(found, data, labels, names, column, groups, with_errors=not end.expired())
        for found in kept
    ]
    return scored(entries), kept.index(chosen)


def _entry(
    found: Shared,
    data: Data,
    labels: Sequence[str],
    names: Sequence[str],
    column: str,
    groups: Sequence[Rows],
    *,
    with_errors: bool,
) -> Entry:
    d, own = data.X.shape[1], list(found.fit.own)
    fit = found.fit
    errors = standard_errors(found.form, groups, fit) if with_errors else np.full(fit.values.shape, np.nan)
    taken = set(data.names)
    called = []
    for _ in own:
        number = next(i for i in range(1, 10_000) if f"c{i}" not in taken)
        called.append(f"c{number}")
        taken.add(called[-1])
    places = {index: Var(d + k) for k, index in enumerate(own)}
    values = found.fit.values

    def written(node: Expr) -> Expr:
        if not isinstance(node, Param):
            return node
        return places[node.index] if node.index in places else Const(float(values[0, node.index]))

    expr = rebuild(found.form, written)
    table = None
    if own:
        table = GroupTable(
            column,
            tuple(called),
            tuple(names),
            tuple(tuple(map(float, row)) for row in values[:, own]),
            tuple(tuple(float(e) if np.isfinite(e) else None for e in row) for row in errors[:, own]),
        )
    constants = tuple(
        Constant(float(values[0, i]), float(values[0, i]), _finite(errors[0, i]), simple_name(float(values[0, i])))
        for i in found.fit.shared
    )
    formula = Formula(expr, (*data.names, *called), data.target, constants, groups=table)
    wide = data.X if table is None else table.filled(data.X, labels, d)
    rest = data.y - evaluate(expr, wide)
    loss = float(np.mean(rest**2)) if np.isfinite(rest).all() else math.inf
    spread = float(np.var(data.y)) or 1.0
    return Entry(formula, found.size, loss, 1.0 - loss / spread, None, 0.0, "groups", (("per group", str(len(own))),))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
