"""Random structures, for tests of what must hold for all of them."""

import random

from unisymnet.symbolic.network.grammar import Prefix
from unisymnet.symbolic.network.structure import Structure
from unisymnet.symbolic.network.tokens import Vocabulary


def random_structure(seed: int, vocabulary: Vocabulary) -> Structure:
    """A random walk through the grammar of labels."""
    rng = random.Random(seed)
    state, label = Prefix.start(vocabulary), []
    while True:
        tokens, may_end = state.legal()
        if may_end and (not tokens or rng.random() < 0.4):
            return vocabulary.decode(label)
        # Mostly go on quickly, or the walk fills every layer.
        token = rng.choice(tokens[-30:] if rng.random() < 0.8 else tokens)
        state = state.push(token)
        label.append(token)
