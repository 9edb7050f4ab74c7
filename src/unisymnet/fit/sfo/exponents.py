"""A learnable distribution over exponents: the risk-seeking policy of Symbolic Function Optimization.

Each exponent position of a skeleton has a distribution over V = {1, -1, 0.5, …, 5, *}; ``*`` (None here) leaves the
exponent to the continuous fit.  This file samples and learns; it fits nothing and knows no data.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats

# V of the paper; None stands for "*", the continuous exponent.
EXPONENTS: tuple[float | None, ...] = (1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0, 5.0, None)

SCHEDULES = ("exponential", "linear", "constant")


@dataclass(frozen=True)
class Temperature:
    """tau(t): ``exponential`` tau0·exp(-k·t/T), ``linear`` down to tau0·exp(-k), or ``constant`` tau0."""

    schedule: str = "exponential"
    tau0: float = 1.0
    decay: float = 3.0

    def at(self, step: int, n_steps: int) -> float:
        progress = step / max(n_steps, 1)
        if self.schedule == "exponential":
            return self.tau0 * math.exp(-self.decay * progress)
        if self.schedule == "linear":
            return self.tau0 * (1.0 - progress * (1.0 - math.exp(-self.decay)))
        if self.schedule == "constant":
            return self.tau0
        raise ValueError(f"schedule must be one of {', '.join(SCHEDULES)}, got {self.schedule!r}")


class ExponentPolicy:
    """P_eta(v | V) for every position: sample choices, learn from their rewards."""

    def __init__(self, n_positions: int, values: tuple[float | None, ...] = EXPONENTS) -> None:
        self.values = values
        self.logits = np.zeros((n_positions, len(values)))

    @property
    def probabilities(self) -> Floats:
        return _softmax(self.logits)

    def entropy(self) -> float:
        """Mean entropy of the positions in nats."""
        p = self.probabilities
        return float(-(p * np.log(p + 1e-300)).sum(axis=1).mean())

    def sample(self, n_rollouts: int, temperature: float, *, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choices (n_rollouts, n_positions) by Gumbel-Softmax.

        The relaxed one-hot vector softmax((ln P + g)/tau) is itself a distribution, and the choice is drawn from
        it: for tau -> 0 this is an exact sample of P, for large tau it explores.
        """
        noise = rng.gumbel(size=(n_rollouts, *self.logits.shape))
        relaxed = _softmax((np.log(self.probabilities + 1e-300)[None] + noise) / temperature)
        draws = rng.random((n_rollouts, self.logits.shape[0], 1))
        return np.minimum((relaxed.cumsum(axis=2) < draws).sum(axis=2), len(self.values) - 1)

    def learn(self, choices: NDArray[np.int64], rewards: Floats, *, risk: float, entropy: float, rate: float) -> None:
        """One ascent step on E[R ln P | R >= R_eps] + lambda_H·H, R_eps the (1 - risk) quantile of the rewards."""
        threshold = np.quantile(rewards, 1.0 - risk)
        elite = rewards >= threshold
        p = self.probabilities
        gradient = np.zeros_like(self.logits)
        for choice, reward in zip(choices[elite], rewards[elite], strict=True):
            one_hot = np.zeros_like(p)
            one_hot[np.arange(len(choice)), choice] = 1.0
            gradient += reward * (one_hot - p)
        gradient /= elite.sum()
        logs = np.log(p + 1e-300)
        by_entropy = -p * (logs - (p * logs).sum(axis=1, keepdims=True))
        self.logits += rate * (gradient + entropy * by_entropy)


def simplest_choices(costs: Sequence[Mapping[float | None, float]], most: int) -> Iterator[tuple[float | None, ...]]:
    """Choices for all positions in the order of their total cost; each position has costs of its own."""
    ranked = [sorted(given, key=lambda value: given[value]) for given in costs]

    def cost(ranks: tuple[int, ...]) -> float:
        return sum(given[values[r]] for given, values, r in zip(costs, ranked, ranks))

    first = (0,) * len(costs)
    heap = [(cost(first), first)]
    seen = {first}
    for _ in range(most if costs else 0):
        if not heap:
            return
        _, ranks = heapq.heappop(heap)
        yield tuple(values[r] for values, r in zip(ranked, ranks))
        for i, r in enumerate(ranks):
            following = (*ranks[:i], r + 1, *ranks[i + 1 :])
            if r + 1 < len(ranked[i]) and following not in seen:
                seen.add(following)
                heapq.heappush(heap, (cost(following), following))


def unusualness(exponent: float | None) -> float:
    """How unusual an exponent is; 1 is free."""
    if exponent is None:
        return 2.5
    return abs(math.log2(abs(exponent))) + (exponent < 0) * 0.9 + (abs(exponent) < 1) * 0.2


def _softmax(x: Floats) -> Floats:
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))
