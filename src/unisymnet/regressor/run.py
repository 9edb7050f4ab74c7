"""One fit from checked data to a table: choose columns and rows, search, measure, within the time given.

The only file of this folder that knows the search. Everything that varies comes in through `Options`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace

import numpy as np

from ..arrays import Floats
from ..candidate import Candidate, ParetoFront, select
from ..deadline import Deadline, now
from ..fit.kernels.robust import Loss
from ..formula import Formula
from ..judge.noise import models_called, told_weights
from ..knowledge.known import unit_price
from ..metrics import complexity
from ..problem import TARGET, Problem, make_problem
from ..protocols import Fitter, Proposer
from ..search.loop import SearchSettings, search
from ..search.trace import Event, SearchResult
from ..symbolic.expr import Const, Expr, renumbered, variables
from ..tables.columns import Columns, choose_columns
from .checkpoint import Checkpoint, fingerprint, loss_on
from .compare import before_folds, compare, find_rivals, is_exact_entry
from .judged import Beliefs, with_judge
from .known.remarks import annotated, best_refused, make_solvers
from .losses import Judgement, Shifted
from .losses import Rows as Trusted
from .notes import angle_note, careful_notes, outlier_note, repeated_note, replicates_note
from .options import Call, FitEvent, Options, Outcome
from .outcome import Rows, lifted, measure
from .progress import Listeners, Progress
from .rows import canonical, sample_rows
from .table import Entry
from .validation import Data

FINAL_SHARE, FINAL_SECONDS, MAX_FINAL = 0.06, 0.2, 1.0  # of max_time, and seconds, kept for measuring
MOST_FINAL = 0.35  # of a short max_time
MEASURE_SHARE = 0.8  # of what is left after the search; the rest is for the linear model
LEAST_FINAL = 0.1  # seconds for the constants of the pick even when the search has overrun
COLUMNS_SHARE, MAX_COLUMNS_TIME = 0.1, 60.0  # of max_time for choosing columns; seconds where there is no limit
FIRST_SHARE = 0.4  # of the time for a first search where a second follows
GRACE = 0.1  # seconds over the limit that the linear model may take before it is cut off
AFTER_SEARCH, AFTER_INTERRUPT = 30.0, 1.5  # seconds for cleaning constants at most


def run_fit(data: Data, options: Options, call: Call) -> Outcome:
    """Find the formulas."""
    began, rng, interrupts = call.began(), call.rng, call.interrupts
    limit = options.settings.max_time
    deadline = Deadline.never() if limit is None else Deadline(began + limit)
    knowledge = options.known.of(data.names, data.target, data.X, data.y)
    options = replace(options, knowledge=knowledge)
    every = canonical(data.X, data.y, data.weights)
    y, weights = every.y, every.weights
    wanted = {i for expr in (*call.guesses, *(f.expr for f in call.start)) for i in variables(expr)}
    wanted |= knowledge.needed if knowledge is not None else set()
    columns = choose_columns(
        data.X,
        y,
        weights,
        data.names,
        max_columns=options.max_columns,
        wanted=wanted,
        seed=int(rng.integers(2**31)),
        deadline=deadline.sooner(COLUMNS_SHARE * (limit or MAX_COLUMNS_TIME / COLUMNS_SHARE)),
        places=every.index,
    )
    # From here on only the chosen columns: copies of hundreds would take longer than a short limit.
    narrow, X = data.only(columns.kept), every.of(data.X, columns.kept)
    sample = sample_rows(len(y), fraction=options.validation_fraction, max_rows=options.max_rows, rng=rng)
    fit = X[sample.fit], y[sample.fit], weights[sample.fit]
    valid = (X[sample.valid], y[sample.valid], weights[sample.valid]) if len(sample.valid) else None
    rivals = find_rivals(data.X, every, options, deadline) if options.goal == "predict" else None
    search_end = before_folds(deadline, options)
    ears = Listeners(options.callback)
    judgement, result = _searched(fit, columns, data, options, call, ears, search_end)
    # Whoever interrupts does not want to wait for the last digit.
    final = deadline.sooner(AFTER_INTERRUPT if interrupts.requested else AFTER_SEARCH)
    names = [data.names[i] for i in columns.kept]
    told = options.known.told(names, data.target)
    every_row, beliefs = (X, y, weights), Beliefs(len(data.names), unit_price(knowledge, columns.kept), told)
    rows = Rows(judgement.rows(fit), valid, judgement, every_row, beliefs)
    end = final if limit is None else final.sooner(max(MEASURE_SHARE * final.remaining(), LEAST_FINAL))
    entries, picked = measure(
        result.front,
        rows,
        narrow,
        rule=options.selection,
        noise=options.noise,
        deadline=before_folds(end, options, 0.4),
        watch=lambda: interrupts.watched(limit and max(end.remaining(), LEAST_FINAL), tidying=True),
        allows=None if knowledge is None else lambda expr: knowledge.allows(renumbered(expr, columns.kept)),
        listed=result.listed,
        models=models_called(options.noise_kind) if judgement.loss.kind == "mse" and result.stopped != "exact" else (),
    )
    entries = lifted(entries, columns.kept, data.names)
    said: list[str] = []
    with suppress(KeyboardInterrupt), interrupts.watched(limit and final.remaining() + GRACE, tidying=True):
        # The linear model, where it may be needed and there is time.
        if rivals is None and not is_exact_entry(entries[picked]) and not final.expired():
            rivals = find_rivals(data.X, every, options, deadline)
        entries, picked, said = compare(entries, picked, rivals, data, final)
    is_law = options.goal == "law"
    seen = len(y), len(sample.fit), entries, picked, result.trace, judgement, data.X, every
    notes = [*said, *careful_notes(*seen, is_law=is_law)]
    notes += angle_note(entries, picked, {columns.kept[i] for i in told.degrees if i != TARGET}, data.X)
    if judgement.loss.kind == "mse":
        notes += replicates_note(entries[picked], data.X, every, columns.kept, final.expired())
    beside: tuple[Entry, ...] = ()
    if knowledge is not None:
        beside = best_refused(knowledge, rows, data, columns.kept, entries[picked], options.noise, final)
        entries, picked = annotated(entries, picked, knowledge)
        notes = [*knowledge.notes(entries[picked].formula), *notes]
    return Outcome(
        entries=entries,
        picked=picked,
        notes=(
            *columns.notes,
            *options.known.told_notes(names, data.target),
            *repeated_note(data.y, data.weights, y),
            *outlier_note(y),
            *notes,
            *ears.notes,
        ),
        trace=result.trace,
        stopped=_reason(result.stopped, interrupts.requested, search_end),
        seconds=now() - began,
        n_evaluations=result.n_evaluations,
        n_train=len(sample.fit),
        n_valid=len(sample.valid),
        beside=beside,
        proven=result.proven,
    )


def _searched(
    rows: Trusted,
    columns: Columns,
    data: Data,
    options: Options,
    call: Call,
    ears: Listeners,
    deadline: Deadline,
) -> tuple[Judgement, SearchResult]:
    """Search once, or a second time with the outliers that the best formula of the first search shows."""
    X, y, weights = rows
    weights = weights * told_weights(options.noise_kind, y)
    rows = X, y, weights
    judgement = Judgement.first(options.loss, rows, options.noise)
    first = options
    if not judgement.final:
        limit = options.settings.max_evaluations
        first = replace(options, settings=replace(options.settings, max_evaluations=limit and (limit + 1) // 2))
    task = _Task(judgement.rows(rows), columns, data, first, call, ears, judgement.loss)
    if judgement.final:
        return judgement, task.search(deadline)
    before = task.search(deadline.sooner(FIRST_SHARE * deadline.remaining()))
    better = judgement.again(task.best(before.front).expr, rows)
    same = bool((better.trusted == judgement.trusted).all())
    if call.interrupts.requested or (same and before.stopped in ("exact", "noise", "exhausted")):
        return better, before
    limit = options.settings.max_evaluations
    left = limit and max(limit - before.n_evaluations, 1)
    second = replace(options, settings=replace(options.settings, max_evaluations=left))
    task = _Task(better.rows(rows), columns, data, second, call, ears, better.loss, begin=before.front)
    result = task.search(deadline)
    return better, replace(
        result, trace=(*before.trace, *result.trace), n_evaluations=before.n_evaluations + result.n_evaluations
    )


class _Task:
    """The search of one fit, with everything that listens to it."""

    def __init__(
        self,
        rows: tuple[Floats, Floats, Floats],
        columns: Columns,
        data: Data,
        options: Options,
        call: Call,
        ears: Listeners,
        loss: Loss = Loss(),
        begin: Iterable[Candidate] = (),
    ) -> None:
        X, y, weights = rows
        self.loss = loss
        self.columns = columns.kept
        self.names = tuple(data.names[i] for i in columns.kept)
        self.target = data.target
        self.options = options
        self.call = call
        self.ears = ears
        self.problem: Problem = make_problem(
            X,
            y,
            names=self.names,
            weights=weights,
            noise=options.noise,
            operators=options.operators,
            told=options.known.told(self.names, self.target),
        )
        # The rounded mean of equal values is not always that value.
        self.constant = float(y[0]) if (y == y[0]).all() else None
        self.spread = self.problem.spread * self.problem.y_scale if self.constant is None else 0.0
        self.checkpoint: Checkpoint | None = None
        if options.checkpoint is not None:
            name = fingerprint([X, y, weights], options.fingerprinted)
            self.checkpoint = Checkpoint(options.checkpoint, name)
        self.front = ParetoFront([self.mean(), *self.measured(begin)])

    def search(self, deadline: Deadline) -> SearchResult:
        saved = self.checkpoint.read(self.problem, self.loss) if self.checkpoint is not None else ()
        begin = [*self.front, *saved, *self.candidates(self.call.start)]
        if self.spread == 0.0:  # a constant target needs no search
            return SearchResult(self.front, (), "exact", 0.0, 0)
        with ExitStack() as stack:
            progress: Progress | None = None
            if self.options.verbose:
                limit = self.options.settings.max_time
                progress = stack.enter_context(Progress(self.names, max_time=limit, best=self.best))
            settings = with_judge(self.settings(deadline), self.loss, unit_price(self.options.knowledge, self.columns))
            try:
                # Formulas outside their domain are daily business here, not worth a warning.
                with self.call.interrupts.watched(settings.max_time), np.errstate(all="ignore"):
                    return search(
                        self.problem,
                        self.proposers(),
                        self.fitter(),
                        settings,
                        rng=self.call.rng,
                        guesses=[self.problem.to_scaled(self.inner(expr)) for expr in self.call.guesses],
                        start=begin,
                        on_event=lambda event: self.heard(event, progress),
                        stop=self.call.interrupts,
                    )
            except KeyboardInterrupt:  # before or after the search's own guard
                return SearchResult(self.front, (), "interrupted", 0.0, 0)

    def proposers(self) -> tuple[Proposer, ...]:
        chosen = self.options.proposers(self.problem)
        if self.loss.kind == "quantile" and self.problem.allows("add"):
            chosen = tuple(Shifted(proposer, self.loss.parameter) for proposer in chosen)
        knowledge = self.options.knowledge
        if knowledge is None:
            return chosen
        solvers = make_solvers(self.options, self.loss, self.bare_fitter, self.call.interrupts)
        return knowledge.proposers(chosen, self.problem, self.columns, solvers)

    def fitter(self) -> Fitter:
        knowledge = self.options.knowledge
        return self.bare_fitter() if knowledge is None else knowledge.fitter(self.bare_fitter(), self.columns)

    def bare_fitter(self) -> Fitter:
        special = self.options.fitter_for
        return self.options.fitter if special is None or self.loss.kind == "mse" else special(self.loss)

    def settings(self, deadline: Deadline) -> SearchSettings:
        limit = self.options.settings.max_time
        if limit is None:
            return self.options.settings
        # What is kept is for constants, their errors and the linear model.
        kept = min(FINAL_SHARE * limit + FINAL_SECONDS, MOST_FINAL * limit, MAX_FINAL)
        return replace(self.options.settings, max_time=max(deadline.remaining() - kept, 0.01))

    def heard(self, event: Event, progress: Progress | None) -> None:
        """Save first, then show: what was shown must survive a crash."""
        if event.kind == "front":
            self.front = ParetoFront(event.front)
            self.ears.save(self.checkpoint, self.front)
        if progress is not None:
            progress.tell(event.seconds, event.n_evaluations, event.front, event.stage)
        if self.ears.wanted and len(event.front):
            best = Formula(self.best(event.front).expr, self.names, self.target)
            front = tuple(event.front)
            told = FitEvent(event.kind, event.stage, event.seconds, event.n_evaluations, best, len(front), front)
            self.ears.tell(told)

    def best(self, front: ParetoFront) -> Candidate:
        rule, noise = self.options.selection, self.options.noise
        return front[select(front, rule, n_rows=self.problem.n_rows, spread=self.spread, noise=noise)]

    def mean(self) -> Candidate:
        if self.constant is not None:
            return Candidate(Const(self.constant), 0.0, 1, 1, "mean")
        value = float(np.average(self.problem.y, weights=self.problem.weights)) * self.problem.y_scale
        loss = self.spread**2 if self.loss.kind == "mse" else loss_on(Const(value), self.problem, self.loss)
        return Candidate(Const(value), loss, complexity(Const(value)), 1, "mean")

    def measured(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Candidates of a search on other rows."""
        found = [replace(c, loss=loss_on(c.expr, self.problem, self.loss)) for c in candidates]
        return [candidate for candidate in found if np.isfinite(candidate.loss)]

    def inner(self, expr: Expr) -> Expr:
        """The caller's formula in the columns of the problem."""
        return renumbered(expr, {column: index for index, column in enumerate(self.columns)})

    def candidates(self, formulas: Sequence[Formula]) -> list[Candidate]:
        """Formulas of an earlier fit as members of the front, measured on these rows."""
        found = []
        for formula in formulas:
            expr = self.inner(formula.expr)
            loss = loss_on(expr, self.problem, self.loss)
            if np.isfinite(loss):
                found.append(Candidate(expr, loss, complexity(expr), len(formula.constants), "warm start"))
        return found


def _reason(stopped: str, requested: bool, deadline: Deadline) -> str:
    """Why it ended; the time limit, too, may have interrupted the search."""
    if requested:
        return "interrupted"
    late = deadline.remaining() <= MAX_FINAL
    return "time" if stopped == "interrupted" and late else stopped
