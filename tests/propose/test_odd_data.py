"""The closed-form stages on data that invite division by zero: no warning, no exception, finite proposals."""

import numpy as np
import pytest
from listing import proposals

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.linear.bases import Bases, ExtendedBases
from unisymnet.propose.linear.factors import Factors
from unisymnet.propose.linear.monomial import Monomial
from unisymnet.propose.pool import misfit
from unisymnet.propose.relation.quotients import Rational
from unisymnet.propose.separable.exponentials import Exponentials
from unisymnet.propose.separable.features import Features
from unisymnet.propose.separable.inside import Boltzmann
from unisymnet.propose.separable.offset import Offset
from unisymnet.propose.separable.signomial import Signomial

RNG = np.random.default_rng(0)
GRID = RNG.integers(-2, 3, (60, 3)).astype(float)
WIDE = np.exp(RNG.uniform(-30, 30, (80, 2)))
PLAIN = RNG.uniform(1, 2, (60, 2))
SPOTTED = np.where(np.arange(60) % 7, PLAIN[:, 0], 0.0)

CASES = {
    "one row": (np.ones((1, 2)), np.ones(1)),
    "five rows": (RNG.normal(size=(5, 2)), RNG.normal(size=5)),
    "more columns than rows": (RNG.normal(size=(8, 10)), RNG.normal(size=8)),
    "zeros everywhere": (GRID, GRID[:, 0] * GRID[:, 1] * GRID[:, 2]),
    "a column of zeros": (np.c_[np.arange(30.0), np.zeros(30)], np.arange(30.0)),
    "a constant column": (np.c_[PLAIN, np.full(60, 2.0)], PLAIN[:, 0] ** 2),
    "repeated rows": (np.repeat(PLAIN[:4], 15, axis=0), np.repeat(PLAIN[:4, 0], 15)),
    "sixty decades": (WIDE, 1.0 / WIDE[:, 0] ** 3),
    "a constant target": (PLAIN, np.full(60, 3.3)),
    "zeros and ones": (PLAIN, (PLAIN[:, 0] > 1.5).astype(float)),
    "zeros in the target": (PLAIN, SPOTTED),
    "one and minus one": (np.c_[np.where(np.arange(60) % 2, 1.0, -1.0), PLAIN[:, 0]], SPOTTED - np.arange(60) % 2),
    "heavy tails": (PLAIN, np.tan(1.57 * PLAIN[:, 0])),
}
STAGES = [
    Monomial(),
    Offset(),
    Factors(),
    Bases(max_columns=60, noisy_columns=20),
    Signomial(rounds=2),
    Boltzmann(n_starts=30),
    Exponentials(rounds=2),
    Exponentials(rounds=2, mixed=True),
    Features(),
    Rational(max_columns=30, noisy_columns=12),
    ExtendedBases(max_columns=30, noisy_columns=8, seconds=1.0),
]


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: f"{stage.name}{getattr(stage, 'mixed', '')}")
@pytest.mark.parametrize("case", CASES)
def test_nothing_breaks(stage, case):
    X, y = CASES[case]
    weights = np.r_[0.0, np.ones(len(y) - 1)] if len(y) > 5 else None
    problem = make_problem(X, y, weights=weights)
    for proposal in stage.propose(problem, ParetoFront(), rng=np.random.default_rng(1), deadline=Deadline.after(3)):
        assert proposal.source == stage.name
        assert np.isfinite(misfit(problem, proposal.expr))


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_an_expired_deadline_is_respected(stage):
    problem = make_problem(PLAIN, PLAIN[:, 0] + PLAIN[:, 1] ** 2)
    found = list(stage.propose(problem, ParetoFront(), rng=RNG, deadline=Deadline.after(0)))
    assert len(found) <= 4


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_same_seed_same_proposals(stage):
    y = PLAIN[:, 0] / (1 + PLAIN[:, 1]) + 0.01 * np.random.default_rng(5).normal(size=60)
    assert [str(e) for e in proposals(stage, PLAIN, y)] == [str(e) for e in proposals(stage, PLAIN, y)]
