"""From data to a front of laws: ask proposers for formulas, fit them, keep the best of every size, stop.

This file tells the whole story and knows only protocols: no operator, no benchmark, no way of fitting.  Proposers are
asked in the order given (cheapest first), a turn each; those whose proposals enter the front come back sooner.  Turns
are counted in proposals, not seconds: the same seed gives the same front wherever no time limit cuts in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..candidate import Candidate, ParetoFront, Proposal, Status, description_length, is_exact, is_near
from ..deadline import Deadline, now
from ..judge.judge import Judge
from ..problem import Problem
from ..protocols import Fitter, Proposer
from ..symbolic.expr import Const, Expr
from .shortlist import Shortlist
from .trace import Event, SearchResult, TraceRow
from .turns import PROPOSALS_A_TURN, NoiseTest, Patience, Turns

# Of the remaining time for one proposer, unless it is the last: most of a short time, or none would come to its end;
# less of a long one, or the last would get nothing of it.
MAX_SHARE, LONG_SHARE, LONG = 0.4, 0.15, 4.0
NEARLY = 1e-10  # of the target's variance
LAST_BIT = float(np.finfo(np.float64).eps)  # of the target
MAX_CLEANING = 1.0  # seconds, for a formula that is nearly exact
MIN_FINISH = 0.3  # seconds for clean constants even when a stage has overrun


@dataclass(frozen=True)
class SearchSettings:
    """Limits of one search.  ``max_time`` in seconds; None means no limit."""

    max_time: float | None = 60.0
    max_evaluations: int | None = None
    repeatable: bool = False  # counts alone decide, as far as max_time allows: no stage is cut short by the clock
    max_complexity: int = 60
    stop_when_exact: bool = True
    is_noise: NoiseTest | None = None  # what a formula may leave when the target is noisy; None never stops there
    looks_noisy: Callable[[Problem], bool] | None = None  # do the data?  If not, such a formula must stand longer
    is_rounding: NoiseTest | None = None  # has the little that a formula leaves no shape?
    judge: Callable[[Problem], Judge] | None = None  # what compares formulas under noise; None: size and loss alone
    strict: bool = False  # raise a proposer's mistake instead of noting it and going on with the others
    n_finished: int = 6  # how many of the front's best get their constants cleaned
    finish_share: float = 0.08  # the part of max_time kept back for that


@dataclass
class _Run:
    """The state of one search."""

    problem: Problem
    fitter: Fitter
    settings: SearchSettings
    deadline: Deadline
    rng: np.random.Generator
    on_event: Callable[[Event], None]
    stop: Callable[[], bool]
    front: ParetoFront = field(default_factory=ParetoFront)
    started: float = field(default_factory=now)
    n_evaluations: int = 0
    n_whole: int = 0  # of these, those that were no brief looks
    stopped: str = ""
    nearly: float = 0.0  # a loss that asks for cleaning
    floor: float = 0.0  # a loss that the target's own rounding leaves
    shortlist: Shortlist | None = None
    tried: float = 0.0  # nats: every formula of at most this price has been looked at
    proven: bool = False  # nothing shorter than the best was left untried

    def __post_init__(self) -> None:
        if self.settings.judge is not None:
            self.shortlist = Shortlist(self.settings.judge(self.problem))
        self.nearly = NEARLY * self.spread**2
        written = 1.2 * self.problem.rounding * self.problem.y_scale
        mean_square = float(np.average(self.problem.y**2, weights=self.problem.weights))
        stored = LAST_BIT * math.sqrt(mean_square) * self.problem.y_scale
        self.floor = max(written, stored) ** 2

    def tell(self, kind: str, stage: str) -> None:
        self.on_event(Event(kind, stage, now() - self.started, self.n_evaluations, self.front))

    def must_stop(self) -> bool:
        limit = self.settings.max_evaluations
        if self.stop():
            self.stopped = "interrupted"
        elif self.deadline.expired():
            self.stopped = "time"
        elif limit is not None and self.n_evaluations >= limit:
            self.stopped = "evaluations"
        return bool(self.stopped)

    def take(self, proposal: Proposal, row: TraceRow) -> None:
        """Fit one proposal and keep it if it is worth keeping."""
        self.tried = max(self.tried, proposal.tried)
        candidate = self.fitter.fit(proposal, self.problem, rng=self.rng, deadline=self.deadline)
        self.n_evaluations, row.n_proposals = self.n_evaluations + 1, row.n_proposals + 1
        self.n_whole += not proposal.brief
        if candidate.status is not Status.OK or candidate.complexity > self.settings.max_complexity:
            return
        row.best_loss = min(row.best_loss, candidate.loss)
        if self.shortlist is not None and not self.stopped:
            self.shortlist.offer(candidate)
        if self.keep(candidate, row) and not self.stopped and candidate.loss <= self.nearly:
            # The law, perhaps, with something superfluous beside it: without that its constants settle.
            self.nearly = 0.1 * candidate.loss
            self.keep(self.fitter.finish(candidate, self.problem, deadline=self.deadline.sooner(MAX_CLEANING)), row)

    def keep(self, candidate: Candidate, row: TraceRow) -> bool:
        """Put it on the front, if it is worth it; an exact law ends the search."""
        if not self.front.add(candidate):
            return False
        row.n_kept += 1
        self.tell("front", row.stage)
        if self.settings.stop_when_exact and self.is_exact(candidate):
            if self.shortlist is None or self.shortlist.believes(candidate):
                self.stopped = "exact"
        return True

    def is_exact(self, candidate: Candidate) -> bool:
        """Does it leave nothing but the rounding of the target, or of its own arithmetic?"""
        if candidate.loss <= self.floor or is_exact(candidate, self.spread):
            return True
        # Of a law with many constants rounding may leave more, but nothing that has a shape: an approximation does.
        rounded = self.settings.is_rounding
        return rounded is not None and is_near(candidate, self.spread) and rounded(self.problem, candidate.expr)

    @property
    def spread(self) -> float:
        return self.problem.spread * self.problem.y_scale


def search(
    problem: Problem,
    proposers: Sequence[Proposer],
    fitter: Fitter,
    settings: SearchSettings = SearchSettings(),
    *,
    rng: np.random.Generator,
    guesses: Sequence[Expr] = (),
    start: Iterable[Candidate] = (),
    on_event: Callable[[Event], None] = lambda event: None,
    stop: Callable[[], bool] = lambda: False,
) -> SearchResult:
    """Search until a law is exact, or one that leaves only noise has stood long enough, a limit is reached, ``stop()``
    says so, Ctrl-C, or nobody has an idea left.

    ``guesses`` (in scaled units) are fitted first; ``start`` are candidates of an earlier run.  Whatever ends the
    search, the best so far is returned.
    """
    finite = settings.max_time is not None
    whole = Deadline.after(settings.max_time) if settings.max_time is not None else Deadline.never()
    reserve = settings.finish_share * (settings.max_time or 0.0)
    # A limit on evaluations asks for the same front every time: then no stage may be cut short by the clock.
    counted = settings.repeatable or settings.max_evaluations is not None
    asking = Deadline(whole.moment - reserve, sliced=finite and not counted)
    run = _Run(problem, fitter, settings, asking, rng, on_event, stop)
    rows: list[TraceRow] = []
    run.front = ParetoFront(start)
    try:
        _take_guesses(run, guesses, rows)
        _take_turns(run, proposers, rows)
    except KeyboardInterrupt:
        run.stopped = "interrupted"
    last = max(whole.moment, now() + MIN_FINISH)
    front = _finish(run, Deadline(last) if finite else Deadline.after(60.0))
    listed = () if run.shortlist is None else tuple(one.candidate for one in run.shortlist.members)
    seconds = now() - run.started
    return SearchResult(front, tuple(rows), run.stopped, seconds, run.n_evaluations, listed, run.proven)


def _take_guesses(run: _Run, guesses: Sequence[Expr], rows: list[TraceRow]) -> None:
    """The mean first, so that there is always an answer, then what the user suspects."""
    mean = float(np.average(run.problem.y, weights=run.problem.weights))
    for stage, exprs in (("mean", [Const(mean)]), ("guesses", list(guesses))):
        rows.append(TraceRow(stage, n_turns=1))
        for expr in exprs:
            run.take(Proposal(expr, stage), rows[-1])


def _take_turns(run: _Run, proposers: Sequence[Proposer], rows: list[TraceRow]) -> None:
    seeds = run.rng.spawn(len(proposers))
    places = enumerate(zip(proposers, seeds, strict=True))
    queue = [Turns(proposer, seed, TraceRow(proposer.name), order) for order, (proposer, seed) in places]
    rows += [turns.row for turns in queue]
    patience = Patience(run.problem, run.settings.is_noise, run.settings.looks_noisy, run.shortlist)
    while queue and not run.stopped and not run.must_stop():
        turns = min(queue, key=Turns.priority)
        if turns.proposals is None:
            # Nobody may use up what those after it need; the last one goes on as long as there is time.
            last = all(other.proposer.name == turns.proposer.name for other in queue if other.order > turns.order)
            limit = run.deadline if last else run.deadline.sooner(_slice(run.deadline.remaining()))
            turns.proposals = turns.proposer.propose(run.problem, run.front, rng=turns.rng, deadline=limit)
        before = run.n_whole
        if not _one_turn(run, turns, turns.proposals):
            queue.remove(turns)
        # A formula has not stood the test of a stage that had only brief looks at its proposals.
        patience.tried = run.tried
        if run.n_whole > before and not run.stopped and patience.is_over(run.front):
            run.stopped = "noise"
    run.proven = run.stopped != "exact" and patience.proven
    run.stopped = run.stopped or "exhausted"


def _slice(remaining: float) -> float:
    """How many of the remaining seconds one proposer may use."""
    return min(MAX_SHARE * remaining, max(LONG, LONG_SHARE * remaining))


def _one_turn(run: _Run, turns: Turns, proposals: Iterator[Proposal]) -> bool:
    """Take up to PROPOSALS_A_TURN proposals; False when the proposer has no more."""
    run.tell("stage", turns.row.stage)
    turns.row.n_turns += 1
    began = now()
    try:
        # Poles and overflows are part of looking for formulas; what is not finite is never kept.
        with np.errstate(all="ignore"):
            for _ in range(PROPOSALS_A_TURN):
                proposal = next(proposals, None)
                if proposal is None:
                    return False
                run.take(proposal, turns.row)
                if run.stopped or run.must_stop():
                    break
        return True
    except Exception as mistake:
        # One proposer's bug must not cost the user what the others find; the trace tells it.
        if run.settings.strict:
            raise
        turns.row.failure = f"{type(mistake).__name__}: {mistake}"
        return False
    finally:
        turns.row.seconds += now() - began


def _finish(run: _Run, deadline: Deadline) -> ParetoFront:
    """Clean constants for the most promising formulas; they take the place of what they were."""
    noise = None if run.problem.noise is None else run.problem.noise * run.problem.y_scale
    ranked = sorted(run.front, key=lambda c: description_length(c, run.problem.n_rows, run.spread, noise))
    finished: dict[Expr, Candidate] = {}
    try:
        for candidate in ranked[: run.settings.n_finished]:
            if deadline.expired():
                break
            finished[candidate.expr] = run.fitter.finish(candidate, run.problem, deadline=deadline)
    except KeyboardInterrupt:
        run.stopped = "interrupted"
    return ParetoFront(finished.get(candidate.expr, candidate) for candidate in run.front)
