"""The order of the proposers, and which of them speak on clean and on noisy data."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.candidate import ParetoFront, Proposal
from unisymnet.deadline import Deadline
from unisymnet.model.proposer import TransformerProposer
from unisymnet.problem import Problem, make_problem
from unisymnet.protocols import Proposer
from unisymnet.search.order import IF_CLEAN, IF_NOISY, default_proposers
from unisymnet.search.places import OnlyIf, Part
from unisymnet.search.stages import HOMES, PROPOSERS, Place
from unisymnet.search.turns import PROPOSALS_A_TURN
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
        wanted.propose(make_problem(X, X[:, 0]), ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never())
    )
    assert bool(said) == noisy and wanted.name == "talker"


class Counter:
    """Counts for ever."""

    name = "counter"

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        yield from (Proposal(Const(float(number)), self.name) for number in itertools.count())


def test_a_proposer_goes_on_at_its_next_place() -> None:
    begun: list[Iterator[Proposal]] = []
    places = [Part(Counter(), begun, share, 10.0) for share in (0.5, 0.2, 1.0)]
    rng, target = np.random.default_rng(0), make_problem(X, X[:, 0])
    said = [p.propose(target, ParetoFront(), rng=rng, deadline=Deadline.after(60.0).sooner(5.0)) for p in places]
    numbers = [[proposal.expr.value for proposal in itertools.islice(turn, 200)] for turn in said]
    assert [len(part) for part in numbers] == [PROPOSALS_A_TURN, PROPOSALS_A_TURN, 200]
    assert list(itertools.chain(*numbers)) == list(range(2 * PROPOSALS_A_TURN + 200))


def test_a_place_ends_when_its_share_of_the_time_is_over() -> None:
    place = Part(Counter(), [], 0.5, 0.0)
    rng, target = np.random.default_rng(0), make_problem(X, X[:, 0])
    assert len(list(place.propose(target, ParetoFront(), rng=rng, deadline=Deadline.after(60.0)))) == 1


def test_a_place_may_want_several_inputs() -> None:
    for n_inputs, n_proposals in ((1, 0), (2, 5)):
        problem = make_problem(X[:, :n_inputs], X[:, 0])
        place = Part(Counter(), [], 1.0, 10.0, least_inputs=2)
        found = place.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never())
        assert len(list(itertools.islice(found, 5))) == n_proposals


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
    assert str(model.formula_).endswith("*x0**1.5/x1")
    assert abs(model.formula_.constants[0].value - 2.5) < 0.01


def test_the_late_look_of_the_transformer_is_limited_only_where_evolution_follows() -> None:
    def late(names: list[str] | None) -> Proposer:
        return [p for p in default_proposers(names) if p.name == "transformer"][-1]

    alone = late(["transformer"])
    assert isinstance(alone, TransformerProposer) and alone.seconds is None  # the paper's own mode has all the time
    for names in (None, ["transformer", "evolve"]):
        found = late(names)
        assert isinstance(found, OnlyIf) and found.noisy
        assert isinstance(found.proposer, TransformerProposer) and found.proposer.seconds == 3.0


def test_evolution_has_a_turn_before_what_is_slow() -> None:
    clean, noisy = ([place.name for place in places] for places in (IF_CLEAN, IF_NOISY))
    assert noisy.index("evolve") < noisy.index("short"), "what looks like noise may be a law that evolution has at once"
    first, last = clean.index("evolve"), len(clean) - clean[::-1].index("evolve") - 1
    assert clean[first + 1] == "evolve", "one turn ends after so many proposals, which short epochs have made soon"
    told = clean.index("seen")  # of a target that is told to be an angle
    assert told < first < clean.index("reduce") < clean.index("evolve", clean.index("features"))
    assert clean.index("evolve", clean.index("features")) < clean.index("seen", told + 1)
    assert last < clean.index("factors")


def test_every_stage_has_a_place_and_every_place_a_stage() -> None:
    def names(places: tuple[Place, ...]) -> set[str]:
        nested = [
            places for place in places for key in ("stages", "noisy_stages") for places in [place.settings.get(key)]
        ]
        return {place.name for place in places}.union(*(names(some) for some in nested if some))

    assert names((*IF_CLEAN, *IF_NOISY)) <= set(HOMES)
    assert {proposer.name for proposer in default_proposers()} == set(HOMES)
