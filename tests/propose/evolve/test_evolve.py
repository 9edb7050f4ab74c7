"""Evolution: allowed operators only, repeatable, and able to finish what others began."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from unisymnet.candidate import Candidate, ParetoFront, Proposal
from unisymnet.deadline import Deadline
from unisymnet.fit.clean.spell import spell
from unisymnet.problem import Problem, make_problem
from unisymnet.propose.evolve.hints import instance
from unisymnet.propose.evolve.islands import Islands
from unisymnet.propose.evolve.stage import Evolve
from unisymnet.symbolic import evaluate, parse
from unisymnet.symbolic.expr import Call, Expr, n_params, walk

X = np.random.default_rng(0).uniform(0.5, 3.0, (100, 2))


def problem(truth: str, operators: frozenset[str] = frozenset()) -> Problem:
    return make_problem(X, evaluate(parse(truth), X), operators=operators)


def first(n: int, problem: Problem, front: ParetoFront, seed: int = 0) -> list[Expr]:
    stage = Evolve(work=5_000_000)
    proposals = stage.propose(problem, front, rng=np.random.default_rng(seed), deadline=Deadline.after(60))
    return [proposal.expr for proposal in islice(proposals, n)]


def test_same_seed_same_proposals() -> None:
    target = problem("x0*sin(x1)")
    assert first(10, target, ParetoFront()) == first(10, target, ParetoFront())


def test_a_term_that_is_missing_is_added() -> None:
    target = problem("x0**2 + 0.7*sin(x1)")
    front = ParetoFront([Candidate(parse("1.1*x0**2"), 1.0, 5, 1)])
    losses = [np.mean((evaluate(expr, target.X) - target.y) ** 2) for expr in first(60, target, front)]
    assert min(losses) < 1e-6 * target.spread**2


def test_only_allowed_operators() -> None:
    target = problem("x0*x1", operators=frozenset({"add", "mul", "sub", "div", "pow"}))
    used = {node.op for expr in first(20, target, ParetoFront()) for node in walk(expr) if isinstance(node, Call)}
    assert not used & {"sin", "cos", "exp", "ln", "tanh", "abs"}


def test_sums_and_products_stay_such() -> None:
    target = problem("x0**2*x1 + sin(x0)", operators=frozenset({"add", "mul"}))
    found = first(20, target, ParetoFront())
    assert found and all(spell(expr, target) is not None for expr in found)


@dataclass(frozen=True)
class Oracle:
    """Holds one skeleton for likely."""

    skeleton: str
    name: str = "oracle"

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        yield Proposal(parse(self.skeleton), self.name)


def test_a_hint_is_found_at_once() -> None:
    target = problem("sin(1.7*x0*x1 + 0.6)/(x0 + 2.2)")
    stage = Evolve(work=5_000_000, hints=(Oracle("sin(c0*x0*x1 + c1)/(x0 + c2)"),), alone=0, n_instances=30)
    proposals = stage.propose(target, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.after(60))
    losses = [np.mean((evaluate(p.expr, target.X) - target.y) ** 2) for p in islice(proposals, 20)]
    assert min(losses) < 1e-12 * target.spread**2


def test_hints_are_asked_for_after_some_generations() -> None:
    asked: list[int] = []

    class Asked(Oracle):
        def propose(self, *args: Any, **settings: Any) -> Iterator[Proposal]:
            asked.append(1)
            yield from super().propose(*args, **settings)

    stage = Evolve(work=2_000_000, n_proposals=1, hints=(Asked("c0*x0 + c1"),), alone=5)
    target = problem("sin(1.7*x0*x1 + 0.6)/(x0 + 2.2)")
    proposals = stage.propose(target, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.after(60))
    assert len(list(islice(proposals, 3))) == 3 and not asked
    assert len(list(islice(proposals, 30))) == 30 and asked == [1]


def test_hints_without_a_value_do_no_harm() -> None:
    target = problem("x0 + x1")
    stage = Evolve(work=2_000_000, patience=2, hints=(Oracle("ln(c0*x0 - 1e300)"),), alone=0)
    proposals = stage.propose(target, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.after(60))
    assert list(islice(proposals, 40))


def test_instances_have_numbers_and_likely_exponents() -> None:
    rng = np.random.default_rng(0)
    skeleton = parse("c0*x0**c1*sin(c2*x1**c5 + c3)**c4")
    drawn: list[float] = []
    for _ in range(200):
        expr = instance(skeleton, rng=rng)
        assert n_params(expr) == 0
        drawn += [float(node.args[1].value) for node in walk(expr) if isinstance(node, Call) and node.op == "pow"]
    assert all(2.0 * power == round(2.0 * power) for power in drawn)
    # Each of the two factors is itself more often than not, the column alone never (then it would be no power).
    assert 200 < len(drawn) < 450 and drawn.count(-1.0) > 100


def test_only_time_ends_it_where_there_is_a_limit() -> None:
    """A search of an hour ended after two minutes, because every island had begun anew eight times."""
    noise = np.random.default_rng(1).normal(size=len(X))
    stage = Evolve(work=1_000_000, patience=1, lives=1)

    def count(deadline: Deadline) -> int:
        rng = np.random.default_rng(0)
        proposals = stage.propose(make_problem(X, noise), ParetoFront(), rng=rng, deadline=deadline)
        return len(list(islice(proposals, 200)))

    assert count(Deadline.never()) < 200 == count(Deadline.after(3600))


def test_it_ends_when_nothing_is_left_to_find() -> None:
    """A few rows are described exactly at once, again and again."""
    rng, deadline = np.random.default_rng(0), Deadline.after(3600)
    proposals = Evolve(work=1_000_000).propose(
        make_problem(X[:3], X[:3, 0] ** 2), ParetoFront(), rng=rng, deadline=deadline
    )
    assert len(list(islice(proposals, 2000))) < 2000


def test_patience_grows_with_the_lives_of_an_island() -> None:
    islands = Islands(make_problem(X, X[:, 0]), seed=0, n_islands=1, patience=3)
    lived = [islands._patience(replace(islands.islands[0], lives=lives)) for lives in (1, 8, 9, 17)]
    assert lived == [3, 3, 6, 12]
