"""Beam search and sampling with a made-up model: always valid, really the best, never twice."""

import zlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pytest

from unisymnet.model.alphabet import END, FIRST_DEPTH, Alphabet
from unisymnet.model.beam import beam_search, sample, vocabulary_of
from unisymnet.model.config import ModelConfig
from unisymnet.symbolic.network.grammar import Prefix


@dataclass(frozen=True)
class FakeRuntime:
    """Log-probabilities that depend on all tokens so far, from a hash; the cache holds those tokens."""

    config: ModelConfig
    frequent: dict = field(default_factory=dict)

    @cached_property
    def alphabet(self) -> Alphabet:
        return Alphabet(self.config.n_features, self.config.repeats, self.config.max_depth)

    def encode(self, rows):
        return np.zeros((1, 2, 1, 1, 1, 1))

    def empty_cache(self, batch):
        return np.zeros((1, 2, batch, 1, 0, 1))

    def step(self, tokens, position, data, past):
        assert data.shape[2] == len(tokens) == past.shape[2] and position == past.shape[4]
        new = np.broadcast_to(tokens[None, None, :, None, None, None], (1, 2, len(tokens), 1, 1, 1))
        grown = np.concatenate([past, new], axis=4)
        return np.stack([self.row(grown[0, 0, i, 0, :, 0]) for i in range(len(tokens))]), grown

    def row(self, history):
        seed = zlib.crc32(np.asarray(history, dtype=np.int64).tobytes())
        logits = np.random.default_rng(seed).normal(size=self.alphabet.size) * 2.0
        logits[END] += 5.0  # labels end some day
        return logits - np.log(np.exp(logits).sum())


TINY = FakeRuntime(ModelConfig(n_features=2, repeats=1, max_depth=2, max_tokens=12))
LOW = FakeRuntime(ModelConfig(max_depth=3, max_tokens=40))
ROWS = np.ones((5, 5))


def every_label(runtime: FakeRuntime, n_features: int) -> dict[tuple[int, ...], float]:
    """All labels of a small vocabulary with their log-probabilities, by walking the grammar."""
    found = {}
    todo = [(Prefix.start(vocabulary_of(runtime), n_features), (), [2], 0.0)]
    while todo:
        prefix, label, history, total = todo.pop()
        row = runtime.row(history)
        legal = prefix.legal()
        if legal.may_end:
            found[label] = total + row[END]
        for token in legal.tokens:
            edges = [] if prefix.depth == 0 else runtime.alphabet.edges(prefix.depth)
            ours = token + FIRST_DEPTH - 1 if prefix.depth == 0 else int(edges[token - 1])
            longer, grown = prefix.push(token), (*label, token)
            if len(grown) == 1:
                longer, grown = longer.push(0), (*grown, 0)
            todo.append((longer, grown, [*history, ours], total + row[ours]))
    return found


def test_a_wide_beam_finds_the_very_best() -> None:
    labels = {k: v for k, v in every_label(TINY, 1).items() if len(k) <= TINY.config.max_tokens}
    best = sorted(labels, key=lambda k: -labels[k])
    found = beam_search(TINY, np.ones((4, 3)), 1, width=2000)
    assert [f.label for f in found[:10]] == best[:10] or len({f.structure for f in found}) == len(found)
    assert found[0].label == best[0]
    assert found[0].log_probability == pytest.approx(labels[best[0]])


@pytest.mark.parametrize("n_features", [1, 3, 4])
def test_every_hypothesis_is_valid(n_features: int) -> None:
    vocabulary = vocabulary_of(LOW)
    found = beam_search(LOW, ROWS, n_features, width=20)
    drawn = sample(LOW, ROWS, n_features, 40, rng=np.random.default_rng(0))
    assert 0 < len(found) <= 20
    for item in [*found, *drawn]:
        assert vocabulary.decode(item.label) == item.structure
        assert item.structure.n_features <= n_features
    for items in (found, drawn):
        assert len({i.structure for i in items}) == len(items)
        assert [i.log_probability for i in items] == sorted((i.log_probability for i in items), reverse=True)


def test_samples_repeat_with_their_seed_and_heat_spreads_them() -> None:
    cold = sample(LOW, ROWS, 2, 60, temperature=0.2, rng=np.random.default_rng(1))
    hot = sample(LOW, ROWS, 2, 60, temperature=3.0, rng=np.random.default_rng(1))
    again = sample(LOW, ROWS, 2, 60, temperature=3.0, rng=np.random.default_rng(1))
    assert [f.label for f in hot] == [f.label for f in again]
    assert len(cold) < len(hot)
