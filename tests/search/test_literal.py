"""The paper's pipeline to the letter: who proposes, how constants are fitted, and that it finds a law."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.candidate import ParetoFront, Proposal, Status
from unisymnet.deadline import Deadline
from unisymnet.fit.polish import Polish
from unisymnet.fit.sfo.sfo import SFO, SFOResult
from unisymnet.model.runtime import shipped
from unisymnet.problem import Problem, make_problem
from unisymnet.search.literal import InTurn, literal_proposers, literal_sfo
from unisymnet.symbolic.expr import Const, Expr, Param, Var


def test_only_the_papers_means_take_part() -> None:
    sfo = literal_sfo(SFO())
    assert sfo.optimiser == "bfgs" and not (sfo.warm or sfo.climb or sfo.sweep or sfo.deepen or sfo.parsimony)
    (only,) = literal_proposers()  # one stage: the search would cut the first of several short
    stages = only.stages if isinstance(only, InTurn) else (only,)
    beam = stages[0]
    assert (beam.width, beam.n_candidates, beam.n_samples, beam.n_frequent) == (20, 5, 0, 0)  # type: ignore[attr-defined]
    assert [stage.name for stage in stages] in (["transformer"], ["transformer", "dno"])


@dataclass(frozen=True)
class _Says:
    """A stage that notes how long it may go on and has one formula."""

    name: str
    value: float
    told: list[float]

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        self.told.append(deadline.moment)
        yield Proposal(Const(self.value), self.name)


def test_stages_in_turn_speak_in_their_order_and_none_gets_a_slice() -> None:
    told: list[float] = []
    both = InTurn((_Says("a", 1.0, told), _Says("b", 2.0, told)))
    limit = Deadline.after(40.0)
    problem = make_problem([[1.0], [2.0], [3.0]], [1.0, 2.0, 4.0])
    said = list(both.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=limit))
    assert [proposal.source for proposal in said] == ["a", "b"] and told == [limit.moment] * 2


@dataclass(frozen=True)
class _Noting(SFO):
    """SFO that notes how many seconds it may take."""

    told: list[float] = field(default_factory=list)

    def fit_expr(self, expr: Expr, problem: Problem, *, rng: np.random.Generator, deadline: Deadline) -> SFOResult:
        self.told.append(deadline.remaining())
        return SFOResult(Const(1.0), 1.0, Status.OK)


@pytest.mark.parametrize(("literal", "least", "most"), [(True, 9.0, 10.0), (False, 1.0, 1.5)])
def test_the_papers_policy_has_a_part_of_the_whole_time_for_a_structure(
    literal: bool, least: float, most: float
) -> None:
    sfo = literal_sfo(_Noting()) if literal else _Noting()
    problem = make_problem([[1.0], [2.0], [3.0]], [1.0, 2.0, 4.0])
    proposal = Proposal(Param(0) * Var(0), "transformer")
    Polish(sfo=sfo).fit(proposal, problem, rng=np.random.default_rng(0), deadline=Deadline.after(40.0))
    assert isinstance(sfo, _Noting) and least < sfo.told[0] <= most


@pytest.mark.skipif(not shipped(), reason="no exported weights in the package")
def test_a_simple_law_is_found_by_the_transformer_alone() -> None:
    x = np.random.default_rng(0).uniform(0.5, 3.0, (60, 1))
    model = UniSymNetRegressor(strategy="literal", max_time=60, max_evaluations=12).fit(x, 2.0 * np.exp(0.5 * x[:, 0]))
    assert {row.stage for row in model.trace_} <= {"mean", "guesses", "literal", "transformer"}
    assert model.score(x, 2.0 * np.exp(0.5 * x[:, 0])) > 0.999
