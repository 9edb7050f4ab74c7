"""The policy: samples what it believes, learns what is rewarded, explores while it is hot."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from unisymnet.fit.sfo.exponents import EXPONENTS, ExponentPolicy, Temperature, simplest_choices


def test_samples_follow_the_distribution_when_cold() -> None:
    policy = ExponentPolicy(1)
    policy.logits[0, 4] = 3.0
    rng = np.random.default_rng(0)
    choices = policy.sample(4000, 0.01, rng=rng)[:, 0]
    share = np.bincount(choices, minlength=len(EXPONENTS)) / len(choices)
    assert np.abs(share - policy.probabilities[0]).max() < 0.03


def test_heat_explores() -> None:
    policy = ExponentPolicy(1)
    policy.logits[0, 4] = 6.0
    rng = np.random.default_rng(0)
    cold = (policy.sample(2000, 0.05, rng=rng) == 4).mean()
    hot = (policy.sample(2000, 10.0, rng=rng) == 4).mean()
    assert cold > 0.9
    assert hot < 0.5


def test_learning_finds_the_rewarded_exponents() -> None:
    policy = ExponentPolicy(3)
    rng = np.random.default_rng(1)
    wanted = np.array([0, 4, 7])
    for _ in range(150):
        choices = policy.sample(32, 0.3, rng=rng)
        rewards = (choices == wanted).mean(axis=1)
        policy.learn(choices, rewards, risk=0.1, entropy=0.005, rate=1.0)
    assert (policy.probabilities.argmax(axis=1) == wanted).all()


def test_entropy_bonus_keeps_the_policy_open() -> None:
    entropies = []
    for bonus in (0.0, 2.0):
        policy, rng = ExponentPolicy(1), np.random.default_rng(2)
        for _ in range(50):
            choices = policy.sample(16, 0.3, rng=rng)
            policy.learn(choices, (choices[:, 0] == 2).astype(float), risk=0.2, entropy=bonus, rate=1.0)
        entropies.append(policy.entropy())
    assert entropies[1] > entropies[0] + 0.2


@pytest.mark.parametrize("schedule", ["exponential", "linear", "constant"])
def test_schedules_start_at_tau0_and_never_rise(schedule: str) -> None:
    temperature = Temperature(schedule, tau0=2.0, decay=3.0)
    values = [temperature.at(step, 10) for step in range(11)]
    assert values[0] == pytest.approx(2.0)
    assert all(b <= a for a, b in pairwise(values))
    if schedule != "constant":
        assert values[-1] == pytest.approx(2.0 * math.exp(-3.0))


def test_unknown_schedule_is_named() -> None:
    with pytest.raises(ValueError, match="cosine"):
        Temperature("cosine").at(0, 1)


def test_the_sweep_starts_with_the_simplest_and_never_repeats() -> None:
    plain = {value: 5.0 if value is None else abs(value - 1.0) for value in EXPONENTS}
    choices = list(simplest_choices([plain] * 3, 400))
    assert choices[0] == (1.0, 1.0, 1.0)
    assert {sum(v != 1.0 for v in choice) for choice in choices[1:4]} == {1}
    assert len(set(choices)) == len(choices) == 400
    costs = [sum(plain[v] for v in choice) for choice in choices]
    assert costs == sorted(costs)
    assert len(list(simplest_choices([plain], 400))) == len(EXPONENTS)
    assert list(simplest_choices([], 400)) == []
    assert next(simplest_choices([plain, {-1.0: 0.0, 2.0: 1.0}], 1)) == (1.0, -1.0)
