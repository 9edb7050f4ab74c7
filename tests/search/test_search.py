"""The loop with fakes: who is asked when, what ends it, and that nothing found is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from unisymnet.candidate import Candidate, ParetoFront, Proposal, Status
from unisymnet.deadline import Deadline
from unisymnet.problem import Problem, make_problem
from unisymnet.search.loop import SearchResult, SearchSettings, search
from unisymnet.search.trace import Event, trace_table
from unisymnet.search.turns import PROPOSALS_A_TURN
from unisymnet.symbolic import Const, Var, parse
from unisymnet.symbolic.expr import Expr, evaluate, size

X = np.linspace(1.0, 3.0, 30)[:, None]
Y = 2.0 * X[:, 0] ** 2


def problem() -> Problem:
    return make_problem(X, Y)


class PlainFitter:
    """Takes proposals as they are."""

    def __init__(self) -> None:
        self.finished: list[str] = []

    def fit(self, proposal: Proposal, problem: Problem, *, rng: np.random.Generator, deadline: Deadline) -> Candidate:
        loss = float(np.mean((evaluate(proposal.expr, problem.X) - problem.y) ** 2))
        status = Status.OK if np.isfinite(loss) else Status.NON_FINITE
        return Candidate(proposal.expr, loss, size(proposal.expr), 1, proposal.source, status)

    def finish(self, candidate: Candidate, problem: Problem, *, deadline: Deadline) -> Candidate:
        self.finished.append(str(candidate.expr))
        return replace(candidate, source=candidate.source + "+finished", n_constants=0)


@dataclass
class Script:
    """A proposer that reads from a list and notes when it was asked."""

    name: str
    lines: list[str]
    log: list[str] = field(default_factory=list)

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        for line in self.lines:
            self.log.append(self.name)
            yield Proposal(parse(line), self.name)


class Endless:
    name = "endless"

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        while True:
            yield Proposal(Const(float(rng.normal())) * Var(0), self.name)


def run(*proposers: object, fitter: PlainFitter | None = None, **settings: object) -> SearchResult:
    return search(
        problem(),
        proposers,  # type: ignore[arg-type]
        fitter or PlainFitter(),
        SearchSettings(**settings),  # type: ignore[arg-type]
        rng=np.random.default_rng(0),
    )


def test_an_exact_law_ends_the_search() -> None:
    late = Script("late", ["x0"])
    result = run(Script("first", ["x0", "2*x0**2"]), late)
    assert result.stopped == "exact"
    assert late.log == []
    assert str(result.front[-1].expr) == "2*x0**2"


LONG = "2*x0**2 + 1e-12*(1.234*x0 + 0.1234/x0 + 0.2345*sin(x0) + 0.3456*x0**2 + 0.4567*exp(x0) + 0.9876"
LONG += " + 0.5678*ln(x0) + 0.6789*cos(x0) + 0.1357*sqrt(x0) + 0.2468*tanh(x0))"


@pytest.mark.parametrize(("has_a_shape", "ended"), [(True, "exhausted"), (False, "exact")])
def test_a_long_formula_that_leaves_more_than_rounding_ends_a_search_only_if_that_has_no_shape(
    has_a_shape: bool, ended: str
) -> None:
    first, late = Script("first", [LONG]), Script("late", ["x0"])
    result = run(first, late, is_rounding=lambda problem, expr: not has_a_shape, n_finished=0)
    assert result.stopped == ended
    assert bool(late.log) == has_a_shape


@pytest.mark.parametrize(("offset", "ended"), [(0.0, "exhausted"), (990.0, "exact")])
def test_what_rounding_of_a_large_target_leaves_is_not_asked_for(offset: float, ended: str) -> None:
    given, law = make_problem(X, offset + Y), LONG.replace("1e-12", "1.6e-14")
    settings = SearchSettings(n_finished=0)
    proposers = [Script("first", [f"{offset} + {law}"])]
    assert search(given, proposers, PlainFitter(), settings, rng=np.random.default_rng(0)).stopped == ended


class Cleaner(PlainFitter):
    """Drops what is superfluous."""

    def finish(self, candidate: Candidate, problem: Problem, *, deadline: Deadline) -> Candidate:
        self.finished.append(str(candidate.expr))
        return self.fit(Proposal(parse("2*x0**2"), "cleaned"), problem, rng=np.random.default_rng(0), deadline=deadline)


def test_a_law_with_something_superfluous_beside_it_is_cleaned_at_once() -> None:
    late, fitter = Script("late", ["x0"]), Cleaner()
    result = run(Script("first", ["x0", "2*x0**2 + 3e-6*x0"]), late, fitter=fitter)
    assert result.stopped == "exact" and late.log == []
    assert fitter.finished[0] == "2*x0**2 + 3e-06*x0"


def test_what_is_not_cleaner_is_cleaned_once_for_every_tenth_of_the_loss() -> None:
    fitter = PlainFitter()
    run(Script("first", [f"2*x0**2 + {k}e-7*x0" for k in (30, 29, 28, 27, 5)]), fitter=fitter, n_finished=0)
    assert fitter.finished == ["2*x0**2 + 3e-06*x0", "2*x0**2 + 5e-07*x0"]


def test_the_mean_is_always_there() -> None:
    result = run()
    assert result.stopped == "exhausted"
    assert isinstance(result.front[0].expr, Const)
    assert result.front[0].expr.value == pytest.approx(Y.mean())


def test_proposers_are_asked_in_order_and_winners_come_back_first() -> None:
    many = PROPOSALS_A_TURN + 1
    winner = Script("winner", ["6*x0", *["x0"] * (many - 1)])
    loser = Script("loser", ["sqrt(x0 - 100)"] * many)
    loser.log = winner.log
    run(loser, winner, max_time=None)
    turns = [name for i, name in enumerate(winner.log) if i == 0 or winner.log[i - 1] != name]
    assert turns == ["loser", "winner", "loser"], "the winner's second turn follows its first"
    assert winner.log.count("winner") == many


def test_undefined_formulas_never_enter() -> None:
    result = run(Script("bad", ["ln(x0 - 100)", "1/(x0 - x0)"]))
    assert all(np.isfinite(c.loss) for c in result.front)
    assert [row.n_kept for row in result.trace if row.stage == "bad"] == [0]


def test_limits_hold() -> None:
    assert run(Endless(), max_evaluations=100, max_time=None).n_evaluations == 100
    timed = run(Endless(), max_time=0.3)
    assert timed.stopped == "time"
    assert timed.seconds < 0.8


def test_too_complex_formulas_are_left_out() -> None:
    result = run(Script("long", ["x0 + x0 + x0 + x0"]), max_complexity=3)
    assert all(c.complexity <= 3 for c in result.front)


def test_an_interrupt_keeps_what_was_found() -> None:
    class Interrupting:
        name = "interrupting"

        def propose(self, problem: Problem, front: ParetoFront, **_: object) -> Iterator[Proposal]:
            yield Proposal(parse("6*x0"), self.name)
            raise KeyboardInterrupt

    result = run(Interrupting())
    assert result.stopped == "interrupted"
    assert "6*x0" in [str(c.expr) for c in result.front]


def test_guesses_and_earlier_candidates_take_part() -> None:
    events: list[Event] = []
    earlier = Candidate(parse("7*x0"), 1e-3, 3, 1, "earlier")
    result = search(
        problem(),
        (),
        PlainFitter(),
        rng=np.random.default_rng(0),
        guesses=[parse("2*x0**2")],
        start=[earlier],
        on_event=events.append,
    )
    found: list[Expr] = [c.expr for c in result.front]
    assert parse("2*x0**2") in found and parse("7*x0") in found
    assert any(event.kind == "front" and event.stage == "guesses" for event in events)


def test_the_best_are_finished_and_join_the_front() -> None:
    fitter = PlainFitter()
    result = run(Script("first", ["6*x0", "2*x0**2"]), fitter=fitter)
    assert "2*x0**2" in fitter.finished
    assert result.front[-1].source == "first+finished"


def test_same_seed_same_front() -> None:
    first, second = (run(Endless(), max_evaluations=300, max_time=None) for _ in range(2))
    assert [str(c.expr) for c in first.front] == [str(c.expr) for c in second.front]


def test_the_trace_says_who_did_what() -> None:
    result = run(Script("first", ["6*x0", "2*x0**2"]))
    row = next(row for row in result.trace if row.stage == "first")
    assert (row.n_turns, row.n_proposals, row.n_kept) == (1, 2, 2)
    assert "first" in trace_table(result.trace)


def test_a_failing_proposer_costs_nothing_but_itself() -> None:
    class Broken:
        name = "broken"

        def propose(self, problem: Problem, front: ParetoFront, **_: object) -> Iterator[Proposal]:
            raise ZeroDivisionError("a bug")
            yield

    result = run(Broken(), Script("first", ["2*x0**2"]))
    assert result.stopped == "exact"
    assert "a bug" in trace_table(result.trace)
    with pytest.raises(ZeroDivisionError):
        run(Broken(), strict=True)


def test_rounded_data_end_the_search_too() -> None:
    rounded = make_problem(X, np.round(Y, 6))
    late = Script("late", ["x0"])
    proposers = (Script("first", ["2*x0**2"]), late)
    result = search(rounded, proposers, PlainFitter(), rng=np.random.default_rng(0))
    assert result.stopped == "exact"
    assert late.log == []


@dataclass
class Glance:
    """A proposer whose formulas are worth a look of some length."""

    name: str
    brief: int

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        yield Proposal(parse("x0"), self.name, self.brief)


@pytest.mark.parametrize(("brief", "stopped"), [(0, "noise"), (8, "exhausted")])
def test_brief_looks_are_no_test_of_patience(brief: int, stopped: str) -> None:
    """A formula that leaves only noise ends a search when others have tried; a brief look is hardly a try."""
    proposers = [Script("good", ["2.0001*x0**2"]), *(Glance(f"glance {k}", brief) for k in range(8))]
    settings = SearchSettings(max_time=30.0, is_noise=lambda problem, expr: True)
    result = search(problem(), proposers, PlainFitter(), settings, rng=np.random.default_rng(0))
    assert result.stopped == stopped


def test_a_proposer_gets_less_of_a_long_time() -> None:
    given: list[float] = []

    class Waiter(Endless):
        def propose(self, *args: object, deadline: Deadline, **settings: object) -> Iterator[Proposal]:
            given.append(deadline.remaining())
            yield from ()

    for seconds in (5.0, 1000.0):
        run(Waiter(), Script("last", ["x0"]), max_time=seconds, finish_share=0.0)
    assert given == pytest.approx([0.4 * 5.0, 0.15 * 1000.0], rel=0.05)
