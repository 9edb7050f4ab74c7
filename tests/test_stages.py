"""The order of the proposers, and which of them speak on clean and on noisy data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.candidate import ParetoFront, Proposal
from unisymnet.deadline import Deadline
from unisymnet.model.proposer import TransformerProposer
from unisymnet.problem import Problem, make_problem
from unisymnet.stages import PROPOSERS, OnlyIf, default_proposers
from unisymnet.symbolic.expr import Const

X = np.random.default_rng(0).uniform(1.0, 3.0, (300, 2))


class Talker:
    name = "talker"

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        yield Proposal(Const(1.0), self.name)


@pytest.mark.parametrize("noisy", [True, False])
def test_a_proposer_for_the_other_kind_of_data_is_silent(noisy: bool) -> None:
    wanted = OnlyIf(Talker(), noisy, lambda problem, front: True)
    said = list(
        wanted.propose(
            make_problem(X, X[:, 0]), ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never()
        )
    )
    assert bool(said) == noisy and wanted.name == "talker"


def test_names_choose_and_unknown_names_are_told() -> None:
    assert {proposer.name for proposer in default_proposers(["bases", "evolve"])} == {"bases", "evolve"}
    assert {proposer.name for proposer in default_proposers()} == set(PROPOSERS)
    with pytest.raises(ValueError, match="unknown proposers guess; known are monomial"):
        default_proposers(["guess"])


def test_a_law_under_noise_ends_the_search_long_before_the_limit() -> None:
    rng = np.random.default_rng(0)
    y = 2.5 * X[:, 0] ** 1.5 / X[:, 1] * (1.0 + 0.01 * rng.normal(size=len(X)))
    model = UniSymNetRegressor(max_time=60, random_state=0).fit(X, y)
    assert model.stopped_ == "noise"
    assert model.seconds_ < 40
    assert str(model.formula_) == "2.5*x0**1.5/x1"


def test_the_late_look_of_the_transformer_is_limited_only_where_evolution_follows() -> None:
    def late(names: list[str] | None) -> TransformerProposer:
        found = [p for p in default_proposers(names) if isinstance(p, TransformerProposer)]
        return found[-1]

    assert late(["transformer"]).seconds is None  # the paper's own mode has all the time there is
    assert late(None).seconds == late(["transformer", "evolve"]).seconds == 6.0
