"""The short list of stages for a problem that may be a wrong guess."""

from __future__ import annotations

import numpy as np

from unisymnet.fit.polish import Polish
from unisymnet.problem import make_problem
from unisymnet.search.loop import SearchSettings, search
from unisymnet.search.order import brief_proposers


def test_nobody_on_it_takes_all_the_time() -> None:
    names = {proposer.name for proposer in brief_proposers()}
    assert not names & {"evolve", "transformer", "features"} and "textbook" in names
    assert [proposer.name for proposer in brief_proposers(["monomial", "evolve"])] == ["monomial"]


def test_a_law_of_one_group_is_found_and_a_wrong_guess_ends() -> None:
    rng = np.random.default_rng(0)
    group = rng.uniform(0.2, 8.0, 150)
    settings = SearchSettings(max_time=60.0)
    right = search(
        make_problem(group[:, None], 1.0 / np.expm1(0.16 * group)), brief_proposers(), Polish(), settings, rng=rng
    )
    assert right.stopped == "exact"
    wrong = make_problem(group[:20, None], rng.permutation(group[:20]))
    assert search(wrong, brief_proposers(), Polish(), settings, rng=rng).stopped in ("exhausted", "noise")
