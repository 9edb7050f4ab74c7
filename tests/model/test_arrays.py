"""Bits, tokens, batches: what stands between examples and the model, without torch."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from unisymnet.corpus import LOW, Corpus
from unisymnet.errors import CheckpointError
from unisymnet.model.alphabet import END, PAD, START, Alphabet
from unisymnet.model.batches import Shape, batches, collate, make_pool
from unisymnet.model.bits import encode_points, normalise, to_bits
from unisymnet.model.config import PRESETS, ModelConfig, preset

CORPUS = Corpus(replace(LOW, n_points=20), seed=3)


def test_bits_are_those_of_the_standard() -> None:
    assert to_bits(np.array([1.5]))[:7].tolist() == [0, 0, 1, 1, 1, 1, 1]
    assert to_bits(np.array([-2.0])).tolist() == [1, 1] + [0] * 14
    assert to_bits(np.array([1.0, 2.0]), 32).shape == (64,)
    values = np.random.default_rng(0).normal(size=100)
    packed = np.packbits(to_bits(values[:, None]), axis=1).view(">f2")[:, 0]
    assert np.array_equal(packed, values.astype(np.float16))


def test_scaling_is_by_powers_of_two_and_never_shifts() -> None:
    rng = np.random.default_rng(1)
    rows = rng.uniform(1, 9, (50, 4)) * np.array([1e-12, 1.0, 3e7, 0.0])
    scaled = normalise(rows)
    factors = (scaled[:, :3] / rows[:, :3].astype(np.float32))[0]
    assert np.allclose(np.log2(factors), np.round(np.log2(factors)), atol=1e-4)
    assert ((np.median(np.abs(scaled[:, :3]), axis=0) >= 1) & (np.median(np.abs(scaled[:, :3]), axis=0) < 2)).all()
    assert not scaled[:, 3].any()
    assert np.array_equal(encode_points(rows)[0], encode_points(rows * 2.0**40)[0])  # units do not matter


def test_zero_rows_are_no_points_and_do_not_move_the_scale() -> None:
    rows = np.random.default_rng(2).uniform(1, 9, (30, 3))
    padded = np.concatenate([rows, np.zeros((70, 3))])
    bits, present = encode_points(padded)
    assert present.tolist() == [True] * 30 + [False] * 70
    assert np.array_equal(bits[:30], encode_points(rows)[0])


@pytest.mark.parametrize("shape", [(4, 5, 6), (10, 7, 7), (2, 1, 2)])
def test_alphabet_is_the_label_in_other_words(shape: tuple[int, int, int]) -> None:
    alphabet = Alphabet(*shape)
    width = 5 * shape[1]
    for depth in range(1, shape[2] + 1):
        edges = alphabet.edges(depth)
        hidden = shape[0] * width + max(depth - 2, 0) * width**2 if depth > 1 else 0
        assert len(edges) == hidden + (width if depth > 1 else shape[0]) + (depth - 1) * width + 1
        assert (np.diff(edges) > 0).all()
        label = (depth, 0, *range(1, len(edges) + 1, 3))
        tokens = alphabet.from_label(label)
        assert tokens[-1] == END and [*edges[np.array(label[2:]) - 1]] == tokens[1:-1]
    assert alphabet.edges(1)[-1] == alphabet.edges(shape[2])[-1]  # the output's bias is one token for every depth


def test_ranks_let_every_real_label_pass() -> None:
    alphabet = Alphabet(4, 5, 6)
    rank, bound = alphabet.ranks()
    for example in CORPUS(0, 50):
        tokens = [START, *alphabet.from_label(example.label)]
        assert all(rank[after] > bound[before] for before, after in itertools.pairwise(tokens))


SHAPE = Shape(batch=8, n_parts=2, n_batches=3)


def test_batches_resume_at_any_step_and_with_workers() -> None:
    config = preset("small-low")
    plain = batches(CORPUS, config, SHAPE)
    first = [next(plain) for _ in range(5)]
    later = batches(CORPUS, config, SHAPE, start=4)
    ahead = batches(CORPUS, config, SHAPE, n_workers=1)
    assert np.array_equal(next(later)[0].tokens, first[4][0].tokens)
    for step in first:
        for one, other in zip(step, next(ahead), strict=True):
            assert np.array_equal(one.bits, other.bits) and np.array_equal(one.tokens, other.tokens)
    ahead.close()  # type: ignore[attr-defined]


def test_blocks_come_again_after_a_while_and_the_order_can_be_entered_anywhere(monkeypatch) -> None:
    monkeypatch.setattr("unisymnet.model.batches.LAG", 3)
    asked = []

    def source(number: int, size: int):
        asked.append(number)
        return CORPUS(number % 1000, size)

    config, shape = preset("small-low"), Shape(batch=4, n_parts=1, n_batches=1, reuse=2)
    steps = [part.tokens for (part,) in itertools.islice(batches(source, config, shape), 14)]
    for place in range(6, 14, 2):  # new, old, new, old, …
        assert np.array_equal(steps[place + 1], steps[place - 6])
    assert asked.count(0) == asked.count(2) == 1 and max(asked[-3:]) == 6
    later = batches(source, config, shape, start=9)
    assert np.array_equal(next(later)[0].tokens, steps[9]) and np.array_equal(next(later)[0].tokens, steps[10])


def test_a_batch_is_mixed_and_its_parts_are_of_similar_length() -> None:
    config = preset("small-low")
    (step,) = make_pool(CORPUS, 0, Shape(64, 4, 1), config)
    assert [len(part.tokens) for part in step] == [16] * 4
    lengths = [(part.tokens != PAD).sum(axis=1) for part in step]
    assert all(a.max() <= b.min() for a, b in itertools.pairwise(lengths))
    whole = collate(CORPUS(0, 64), config, Alphabet(4, 5, 6))
    assert sum((part.tokens == PAD).sum() for part in step) < 0.6 * (whole.tokens == PAD).sum()


def test_presets_and_stored_configs() -> None:
    for config in PRESETS.values():
        assert ModelConfig.from_dict(config.to_dict()) == config and config.d_model % config.n_heads == 0
    with pytest.raises(CheckpointError, match="small-low"):
        preset("huge")
    with pytest.raises(CheckpointError, match="nonsense"):
        ModelConfig.from_dict({"nonsense": 1})
