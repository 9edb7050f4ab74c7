"""The corpus: uniform tree shapes, the limits of the table, points, labels, merging, a stream entered anywhere."""

from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from unisymnet.corpus import HIGH, LOW, Corpus, generate_file, read_file
from unisymnet.corpus.points import fingerprint, probes, sample_inputs
from unisymnet.corpus.stream import Example, merge_equivalent, vocabulary_of
from unisymnet.corpus.trees import TreeSampler, random_shape, uniforms
from unisymnet.symbolic.expr import Call, Var, evaluate, variables, walk
from unisymnet.symbolic.network.identify import identify


def test_shapes_are_uniform() -> None:
    draws = uniforms(np.random.default_rng(0))
    counts = Counter(str(random_shape(3, draws)[0]) for _ in range(5000))
    assert len(counts) == 5  # the Catalan number of 3
    assert min(counts.values()) > 880


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_trees_use_every_variable_and_keep_the_limits(n_features: int) -> None:
    draws = uniforms(np.random.default_rng(1))
    trees = TreeSampler(replace(LOW, affine_rate=0.0))
    unary = {name for name, _ in LOW.unary}
    for _ in range(300):
        expr = trees.draw(n_features, draws)
        assert variables(expr) == tuple(range(n_features))
        ops = Counter(node.op for node in walk(expr) if isinstance(node, Call))
        n_unary = sum(n for op, n in ops.items() if op in unary)
        assert n_unary <= min(5, n_features + 1)
        assert n_features - 1 <= sum(ops.values()) - n_unary <= n_features + 5


def test_dimensions_follow_the_table() -> None:
    draws = uniforms(np.random.default_rng(2))
    trees = TreeSampler(LOW)
    counts = Counter(trees.dimension(draws) for _ in range(5000))
    assert [round(counts[d] / 5000, 1) for d in (1, 2, 3, 4)] == [0.1, 0.2, 0.3, 0.4]


def test_inputs_stay_in_range() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        X = sample_inputs(3, 50, LOW, rng=rng)
        assert X.shape == (50, 3) and np.abs(X).max() < 10


@pytest.mark.parametrize("settings", [LOW, HIGH], ids=["low", "high"])
def test_examples_are_what_their_label_says(settings) -> None:
    vocabulary = vocabulary_of(settings)
    for example in Corpus(settings, seed=5)(0, 40):
        structure = identify(example.expr).structure
        assert vocabulary.decode(example.label) == structure or len(example.label) <= len(vocabulary.encode(structure))
        assert len(example.label) <= settings.max_tokens
        rows = example.points
        assert rows.shape == (settings.n_points, settings.n_features + 1) and np.isfinite(rows).all()
        assert not rows[:, example.n_features : -1].any()
        real = rows.any(axis=1)
        assert real.mean() >= settings.min_defined - 0.01
        values = evaluate(example.expr, rows[real, : example.n_features].astype(np.float64))
        # The rows are float32, so a steep formula moves; most values must agree all the same.
        assert np.mean(np.isclose(values, rows[real, -1], rtol=1e-3)) > 0.8


def test_blocks_are_pure_and_the_stream_can_be_entered_anywhere() -> None:
    corpus = Corpus(replace(LOW, n_points=20), seed=7)
    first = [e.label for e in islice(corpus, 100)]
    again = [e.label for e in islice(corpus.starting_at(70), 30)]
    assert again == first[70:]
    shards = [{e.points.tobytes() for e in replace(corpus, shard=i, n_shards=2)(0)} for i in (0, 1)]
    assert not shards[0] & shards[1]
    both = {e.points.tobytes() for n in (0, 1) for e in corpus(n)}
    assert both == shards[0] | shards[1]


def test_rejections_are_counted() -> None:
    counts = Corpus(LOW, seed=1).block(0, 100)[1]
    reasons = set(counts) - {"tried", "accepted", "merged"}
    assert counts["accepted"] == 100
    assert sum(counts[r] for r in reasons) == counts["tried"] - 100
    assert "too deep" in reasons


def test_equivalent_functions_share_the_shorter_label() -> None:
    points = probes(2)
    long, short = Call("sqrt", (Call("square", (Var(0),)),)), Call("abs", (Var(0),))
    prints = [fingerprint(evaluate(e, points)) for e in (long, short)]
    assert prints[0] == prints[1]
    rows = np.zeros((1, 3), dtype=np.float32)
    made = [Example(e, 1, rows, label, p) for e, label, p in zip((long, short), ((3, 0, 5, 6), (3, 0, 4)), prints)]
    assert [e.label for e in merge_equivalent(made, {})] == [(3, 0, 4)] * 2
    assert [e.label for e in merge_equivalent(made, {prints[0]: (1, 0)})] == [(1, 0)] * 2


def test_fingerprints_tell_functions_apart() -> None:
    values = evaluate(Var(0) * Var(1), probes(2))
    assert fingerprint(values) == fingerprint(values * (1 + 1e-14))
    assert fingerprint(values) != fingerprint(values * (1 + 1e-6))


@pytest.mark.parametrize(
    ("option", "value"), [("heavy_tails", 1.0), ("noise", 0.1), ("trajectories", 1.0), ("min_points", 20)]
)
def test_options_beyond_the_paper(option: str, value: float) -> None:
    settings = replace(LOW, n_points=60, **{option: value})
    examples = Corpus(settings, seed=4)(0, 20)
    plain = Corpus(replace(LOW, n_points=60), seed=4)(0, 20)
    assert [e.points.tobytes() for e in examples] != [e.points.tobytes() for e in plain]


def test_files_round_trip(tmp_path) -> None:
    settings = replace(LOW, n_points=30)
    found = generate_file(tmp_path / "c.npz", 70, settings, seed=3)
    examples = read_file(tmp_path / "c.npz")
    assert found["n_examples"] == len(examples) == 70
    assert sum(found["depth"].values()) == 70 and 0 < sum(found["rejected"].values()) < 1
    for read, made in zip(examples, islice(Corpus(settings, seed=3), 70)):
        assert read.label == made.label and np.array_equal(read.points, made.points)
