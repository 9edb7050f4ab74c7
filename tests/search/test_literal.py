"""The paper's pipeline to the letter: who proposes, how constants are fitted, and that it finds a law."""

import numpy as np
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.fit.sfo.sfo import SFO
from unisymnet.model.runtime import shipped
from unisymnet.search.literal import literal_proposers, literal_sfo


def test_only_the_papers_means_take_part() -> None:
    sfo = literal_sfo(SFO())
    assert sfo.optimiser == "bfgs" and not (sfo.warm or sfo.climb or sfo.sweep or sfo.deepen or sfo.parsimony)
    beam = literal_proposers()[0]
    assert (beam.width, beam.n_candidates, beam.n_samples, beam.n_frequent) == (20, 5, 0, 0)  # type: ignore[attr-defined]
    assert {proposer.name for proposer in literal_proposers()} <= {"transformer", "dno"}


@pytest.mark.skipif(not shipped(), reason="no exported weights in the package")
def test_a_simple_law_is_found_by_the_transformer_alone() -> None:
    x = np.random.default_rng(0).uniform(0.5, 3.0, (60, 1))
    model = UniSymNetRegressor(strategy="literal", max_time=60, max_evaluations=12).fit(x, 2.0 * np.exp(0.5 * x[:, 0]))
    assert {row.stage for row in model.trace_} <= {"mean", "guesses", "transformer", "dno"}
    assert model.score(x, 2.0 * np.exp(0.5 * x[:, 0])) > 0.999
