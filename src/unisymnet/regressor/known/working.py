"""A fit by a loss that plain squares cannot hold: searches on weighted squares around a formula, twice.

The whole search runs on working rows (work.py), first around a rough guess, then around what it found; constants and
the table are fitted and measured by the true loss.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np

from ...candidate import TOKEN_NATS, Status
from ...deadline import Deadline, now
from ...errors import DataError
from ...fit.kernels.fit import fit_tape
from ...fit.kernels.tape import compile_tape
from ...formula.constants import free, report
from ...metrics import complexity, r2
from ...symbolic.expr import Expr, bind, evaluate
from ...symbolic.rewrite.simplify import present, simplify
from ..options import Call, Options, Outcome
from ..run import run_fit
from ..table import Entry
from ..validation import Data
from .work import Logistic, OwnResiduals, Sigma, Target, Work, work_of

FIRST_SHARE = 0.45  # of the time, for the search around the rough guess
LEAST_LEFT = 0.2  # seconds that make a second search worth while
ROUNDS, LEAST_GAIN = 12, 1e-9
SHRUNK = (1.0, 0.5, 0.25, 0.1)  # parts of a step that are tried


def run_known(data: Data, options: Options, call: Call, sigma: Sigma | None = None) -> Outcome:
    """One fit: as `run_fit`, or around working targets where the loss or errors of inputs need them."""
    if options.loss[0] == "relative":
        data, options = _relative(data), replace(options, loss=("mse", None))
    work = work_of(options.loss, data, sigma)
    if work is None:
        return run_fit(data, options, call)
    known = options.known
    if isinstance(work, Logistic) and (known.units or known.constraints or known.template):
        raise DataError('loss="logistic" searches log-odds: units, constraints and template cannot be given with it')
    began, limit = call.began(), options.settings.max_time
    squares = replace(options, loss=("mse", None), noise_kind="equal", checkpoint=None)
    guesses = [work.hidden(expr) for expr in call.guesses]
    start = [replace(formula, expr=work.hidden(formula.expr)) for formula in call.start]
    call = replace(call, guesses=guesses, start=start, called=None)
    first = _run(data, work.first(data), squares, work, call, limit and FIRST_SHARE * limit)
    end = Deadline.never() if limit is None else Deadline.after(max(limit - (now() - began), 0.0))
    entries, picked = measured(first, data, work, end.sooner(FIRST_SHARE * max(end.remaining(), 0.0)))
    outcome = first
    left = None if limit is None else limit - (now() - began)
    if not call.interrupts.requested and (left is None or left > LEAST_LEFT):
        around = work.search(data, entries[picked].formula.expr)
        call = replace(call, start=[entry.formula for entry in first.entries])
        second = _run(data, around, squares, work, call, left)
        outcome = replace(
            second,
            trace=(*first.trace, *second.trace),
            n_evaluations=first.n_evaluations + second.n_evaluations,
            entries=(*first.entries, *second.entries),
        )
        entries, picked = measured(outcome, data, work, end)
    # These speak of the working target or of rows of its table.
    spoken = ("noise looks", "R²", "cannot tell", 'noise="counts"')
    kept = [note for note in outcome.notes if not any(words in note for words in spoken)]
    return replace(outcome, entries=entries, picked=picked, notes=(work.said, *kept), seconds=now() - began)


def _run(data: Data, target: Target, options: Options, work: Work, call: Call, seconds: float | None) -> Outcome:
    """A whole search on working rows."""
    y, weights = target
    own = np.ones(len(y)) if data.weights is None else data.weights
    counted = weights * own
    noise = options.noise if work.noise is None else work.noise / math.sqrt(float(np.mean(counted)))
    limit = options.settings.max_evaluations
    settings = replace(options.settings, max_time=seconds, max_evaluations=limit and (limit + 1) // 2)
    rows = replace(data, y=y, weights=counted)
    return run_fit(rows, replace(options, settings=settings, noise=noise), call)


def measured(
    outcome: Outcome, data: Data, work: Work, deadline: Deadline = Deadline.never()
) -> tuple[tuple[Entry, ...], int]:
    """The table with constants and losses of the true loss, and its pick: the fewest nats.  When time is up, of those
    that are done: the shortest descriptions of the working target come first."""
    best: dict[str, Entry] = {}
    for entry in sorted(outcome.entries, key=lambda e: math.inf if e.nats is None else e.nats):
        if best and deadline.expired():
            break
        expr = minimised(present(simplify(work.shown(entry.formula.expr))), data, work, deadline)
        found = _entry(expr, entry, data, work)
        if math.isfinite(found.loss):
            best.setdefault(str(found.formula), found)
    ordered = sorted(best.values(), key=lambda e: (e.complexity, e.loss, str(e.formula)))
    kept: list[Entry] = []
    for found in ordered:
        if not kept or found.loss < kept[-1].loss:
            kept.append(found)
    if not kept:
        raise DataError("no formula has a finite loss on these rows; is it the right loss for this target?")
    scored = kept[:1]
    for before, after in itertools.pairwise(kept):
        step = after.complexity - before.complexity
        scored.append(replace(after, score=max(before.loss - after.loss, 0.0) / (abs(before.loss) * step or 1.0)))
    lengths = [math.inf if e.nats is None else e.nats for e in scored]
    return tuple(scored), lengths.index(min(lengths))


def minimised(expr: Expr, data: Data, work: Work, deadline: Deadline = Deadline.never()) -> Expr:
    """The formula with its constants at the smallest loss, as far as time allows; simple numbers are held."""
    form, values = free(expr, hold_simple=True)
    if not values or len(values) >= len(data.y):
        return expr
    tape, params = compile_tape(form, data.X.shape[1]), np.asarray(values)
    best = _total(expr, data, work)
    for _ in range(ROUNDS):
        if deadline.expired():
            break
        target, weights = work.near(data, expr)
        own = weights if data.weights is None else weights * data.weights
        if not np.isfinite(own).all() or not own.sum() > 0.0:
            break
        fit = fit_tape(tape, data.X, target, params[None, :], weights=own)
        if fit.status is not Status.OK:
            break
        step, before = np.asarray(fit.params) - params, best
        for part in SHRUNK:
            trial = bind(form, (params + part * step).tolist())
            value = _total(trial, data, work)
            if value < best:
                expr, params, best = trial, params + part * step, value
                break
        if not before - best > LEAST_GAIN * abs(before):
            break
    return expr


def _total(expr: Expr, data: Data, work: Work) -> float:
    value = float(np.average(work.rows(data, expr), weights=data.weights))
    return value if math.isfinite(value) else math.inf


def _entry(expr: Expr, entry: Entry, data: Data, work: Work) -> Entry:
    loss = _total(expr, data, work)
    _, weights = work.near(data, expr)
    own = weights if data.weights is None else weights * data.weights
    constants = report(expr, data.X, data.y, own) if math.isfinite(loss) else ()
    formula = replace(entry.formula, expr=expr, constants=constants)
    n = len(data.y)
    # Deviances are nats, two of them; squares of unknown size count by their logarithm.
    misfit = 0.5 * n * math.log(max(loss, 1e-300)) if isinstance(work, OwnResiduals) else 0.5 * n * loss
    own_nats = entry.formula_nats if entry.formula_nats is not None else TOKEN_NATS * complexity(expr)
    truth = r2(data.y, evaluate(expr, data.X), np.ones(n) if data.weights is None else data.weights)
    nats = misfit + own_nats if math.isfinite(loss) else math.inf
    return replace(
        entry, formula=formula, complexity=complexity(expr), loss=loss, r2=truth, r2_valid=None, nats=nats, noise=""
    )


def _relative(data: Data) -> Data:
    """Rows that count by 1/y²."""
    zero = np.flatnonzero(data.y == 0.0)
    if len(zero):
        raise DataError(f'loss="relative" divides by the target, which is 0 in row {int(zero[0])}; leave such rows out')
    own = np.ones(len(data.y)) if data.weights is None else data.weights
    # In units of the typical size, since squares of 1e200 and of 1e-200 cannot be stored.
    size = np.abs(data.y) / float(np.median(np.abs(data.y)))
    weights = own / np.clip(size, 1e-100, 1e100) ** 2
    return replace(data, weights=weights * (own.sum() / weights.sum()))
