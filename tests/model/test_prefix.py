"""The prefix writing: there and back, arities, and a beam that only writes whole formulas."""

import numpy as np
import pytest

from unisymnet.bench.encoding import prefix_beam
from unisymnet.corpus import LOW, Corpus
from unisymnet.model.alphabet import END, PAD, START
from unisymnet.model.batches import writing_of
from unisymnet.model.config import ModelConfig
from unisymnet.model.prefix import CONSTANT, PrefixAlphabet
from unisymnet.symbolic.expr import n_params, variables

ALPHABET = PrefixAlphabet(4, 5, 6)


def test_labels_become_prefixes_and_formulas_again() -> None:
    for example in Corpus(LOW, 5)(0, 60):
        tokens = ALPHABET.from_label(example.label)
        assert tokens[-1] == END and min(tokens[:-1]) >= CONSTANT
        arity = ALPHABET.arities()[tokens[:-1]]
        assert (np.cumsum(1 - arity)[:-1] < 1).all() and np.sum(1 - arity) == 1  # whole at the end, not before
        expr = ALPHABET.to_expr(tokens)
        assert variables(expr) == tuple(range(example.n_features))
        assert ALPHABET.from_expr(expr) == tokens and n_params(expr) == tokens.count(CONSTANT)


class Loaded:
    """Random logits of a fixed seed in place of a model."""

    config = ModelConfig(writing="prefix", max_tokens=40)
    writing = writing_of(config)

    def encode(self, rows):
        return np.zeros((1, 1, 1))

    def empty_cache(self, batch: int):
        return np.zeros((1, 1, batch))

    def step(self, tokens, position, data, past):
        assert data.shape[2] == len(tokens) and (START in tokens) == (position == 0)
        logs = np.random.default_rng([position, *tokens]).normal(size=(len(tokens), self.writing.size))
        logs[:, ALPHABET.arities() > 0] -= 1.0
        return logs - 3.0, past


@pytest.mark.parametrize("n_features", [1, 3])
def test_the_beam_writes_whole_formulas_of_the_columns_there_are(n_features: int) -> None:
    found = prefix_beam(Loaded(), np.ones((5, 5)), n_features, width=8)  # type: ignore[arg-type]
    assert len(found) == 8 and len({tuple(ALPHABET.from_expr(e)) for e in found}) == 8
    assert all(set(variables(e)) <= set(range(n_features)) for e in found)
    assert PAD not in ALPHABET.from_expr(found[0])
