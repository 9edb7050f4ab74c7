"""Labels: the layout of the paper, the law decode∘encode, the limits, and the grammar."""

import random
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_structures import random_structure
from same_values import LIBRARY

from strategies import expressions, many
from unisymnet.errors import EncodingError
from unisymnet.symbolic import parse
from unisymnet.symbolic.expr import Expr
from unisymnet.symbolic.network.grammar import Prefix
from unisymnet.symbolic.network.identify import identify
from unisymnet.symbolic.network.tokens import Vocabulary

SMALL, LARGE = Vocabulary(4, 5, 6), Vocabulary(10, 7, 7)
ROOMY = Vocabulary(4, 20, 40)


def full_mask(structure_label: tuple[int, ...], vocabulary: Vocabulary) -> list[int]:
    """E of the paper from its sparse label: [L, 0, mask entries …]."""
    entries = [0] * (vocabulary.layouts[structure_label[0]].end - 1)
    for token in structure_label[2:]:
        entries[token - 1] = 1
    return [structure_label[0], 0, *entries]


def test_sizes_of_the_papers_settings() -> None:
    assert [layout.end - 1 for layout in SMALL.layouts[1:4]] == [5, 100 + 25 + 26, 100 + 625 + 25 + 51]
    assert (SMALL.size, LARGE.size) == (2752, 6722)
    assert SMALL.width == 25


def test_tokens_by_hand() -> None:
    """x0*x1 with two copies: layers ln ln / exp / id; places counted in E by hand."""
    vocabulary = Vocabulary(n_features=3, repeats=2, max_depth=4)
    label = vocabulary.encode(identify(parse("x0*x1 + 1")).structure)
    # Layer 1 is 10 x 3: ln are rows 8 and 9. Layer 2 is 10 x 10: exp is row 6, fed by columns 8 and 9.
    # Layer 3 is 1 x 10: fed by column 6. Biases: 10 + 10 + 1, the last one open.
    assert label == (3, 0, 8 * 3 + 1, 9 * 3 + 2, 30 + 6 * 10 + 9, 30 + 6 * 10 + 10, 130 + 7, 140 + 21)
    E = full_mask(label, vocabulary)
    assert len(E) == 2 + 30 + 100 + 10 + 21
    assert [i - 2 for i, entry in enumerate(E, 1) if i >= 3 and entry == 1] == list(label[2:])


def test_a_token_means_the_same_for_every_number_of_columns() -> None:
    """The first mask has n_features columns whatever the formula uses (ADR 2)."""
    one, four = (SMALL.encode(identify(parse(f)).structure) for f in ("sin(x0)", "sin(x0 + x3)"))
    assert one[2] == four[2]


@many(2000)
@given(expressions(4, operators=LIBRARY, tame=True, max_leaves=8))
def test_decode_undoes_encode(expr: Expr) -> None:
    try:
        structure = identify(expr).structure
    except EncodingError:
        assume(False)
    label = ROOMY.encode(structure)
    assert label[:2] == (structure.depth, 0)
    assert all(a < b for a, b in pairwise(label[2:]))
    assert ROOMY.decode(label) == structure
    for vocabulary in (SMALL, LARGE):
        try:
            assert vocabulary.decode(vocabulary.encode(structure)) == structure
        except EncodingError as error:
            assert "vocabulary" in str(error)


@many(300)
@given(st.integers(0, 10**6), st.sampled_from([SMALL, LARGE, Vocabulary(1, 1, 3), Vocabulary(2, 1, 5)]))
def test_every_walk_through_the_grammar_is_a_label(seed: int, vocabulary: Vocabulary) -> None:
    structure = random_structure(seed, vocabulary)  # decode would raise on an invalid label
    assert vocabulary.decode(vocabulary.encode(structure)) == structure


@settings(max_examples=200)
@given(st.integers(0, 10**6))
def test_labels_are_walks_through_the_grammar(seed: int) -> None:
    label = SMALL.encode(random_structure(seed, SMALL))
    state = Prefix.start(SMALL)
    for i, token in enumerate(label):
        legal = state.legal()
        assert legal == SMALL.legal_next(label[:i])
        assert token in legal.tokens
        assert list(legal.tokens) == sorted(legal.tokens)
        state = state.push(token)
    assert state.legal().may_end


def test_no_prefix_is_a_dead_end() -> None:
    """Greedily taking the last legal token must come to an end: the hardest rows are the last."""
    for vocabulary in (Vocabulary(2, 1, 4), Vocabulary(3, 2, 4)):
        for seed in range(200):
            rng = random.Random(seed)
            state = Prefix.start(vocabulary)
            for _ in range(500):
                tokens, may_end = state.legal()
                assert tokens or may_end
                if not tokens:
                    break
                state = state.push(rng.choice((tokens[-1], tokens[-1], rng.choice(tokens))))
            assert state.legal().may_end


def test_columns_beyond_the_data_are_not_offered() -> None:
    tokens = SMALL.legal_next((2, 0), n_features=2).tokens
    assert {(t - 1) % 4 for t in tokens} == {0, 1}
    with pytest.raises(ValueError, match="n_features"):
        SMALL.legal_next((), n_features=5)


def test_the_first_tokens() -> None:
    assert SMALL.legal_next(()) == ((1, 2, 3, 4, 5, 6), False)
    assert SMALL.legal_next((3,)) == ((0,), False)
    assert SMALL.legal_next((1, 0)) == ((1, 2, 3, 4, 5), False)  # a sum of columns, or a constant
    assert SMALL.legal_next((1, 0, 5)) == ((), True)
    with pytest.raises(EncodingError, match="may not follow"):
        SMALL.legal_next((7,))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("sin(sin(sin(sin(sin(sin(x0))))))", "7 layers, the vocabulary 6"),
        ("x0 + x4", "5 inputs, the vocabulary 4"),
        ("x0**2 + x0**3 + x0**4 + x0**5 + x0**6 + x0**7", "layer 2 has 6 copies of exp, the vocabulary 5"),
    ],
)
def test_limits_are_named(formula: str, message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        SMALL.encode(identify(parse(formula)).structure)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ((), "starts with a depth"),
        ((7, 0, 1), "starts with a depth"),
        ((2, 1, 1), "starts with a depth"),
        ((2, 0, 5, 4), "must rise"),
        ((2, 0, 0), "must rise"),
        ((2, 0, 1, 5000), "beyond the masks"),
        ((2, 0), "layer 1 is empty"),
        ((1, 0), "layer 1 is empty"),
        ((2, 0, 1), "feeds nothing"),
        ((2, 0, 1, 102), "nothing feeds"),
        ((2, 0, 1, 101, 128), "has a bias, but nothing feeds it"),
    ],
)
def test_labels_without_a_structure(label: tuple[int, ...], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        SMALL.decode(label)


def test_copies_with_gaps_are_closed() -> None:
    """A label that skips copies of an operator describes the same network as one that does not."""
    first, third = SMALL.layouts[2].weights[0] + 5 * 4, SMALL.layouts[2].weights[0] + 7 * 4
    out = SMALL.layouts[2].weights[1]
    assert SMALL.decode((2, 0, third, out + 7)) == SMALL.decode((2, 0, first, out + 5))


def test_limits_must_be_positive() -> None:
    with pytest.raises(ValueError, match="repeats"):
        Vocabulary(4, 0, 6)
