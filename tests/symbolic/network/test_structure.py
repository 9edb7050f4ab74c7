"""Structures: canonical and pruned whatever they are built from; the forward pass is the paper's."""

import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_structures import random_structure

from strategies import many
from unisymnet.symbolic import evaluate, parse
from unisymnet.symbolic.network.identify import identify
from unisymnet.symbolic.network.structure import Network, Structure, forward
from unisymnet.symbolic.network.tokens import Vocabulary

FORMULAS = (
    "x0*x1",
    "sin(x0 + x1) + cos(x1)",
    "sin(2*x0) + exp(sin(3*x0))",
    "x0**3 + x0**2 + x0",
    "sin(x0)*exp(sin(2*x0)) + sin(3*x0)*cos(sin(x1) + 1)",
    "exp(sin(x0) + sin(2*x1)) + exp(sin(3*x0) + sin(4*x1)) + exp(sin(5*x0) + sin(6*x1))",
)


def shuffled(structure: Structure, rng: random.Random) -> Structure:
    """The same network with the nodes of every hidden layer in another order."""
    ops, weights, biases = [], [], []
    below = list(range(structure.n_features))
    for at, (names, mask, flags) in enumerate(zip(structure.ops, structure.weights, structure.biases)):
        order = list(range(len(names)))
        if at < structure.depth - 1:
            rng.shuffle(order)
        ops.append([names[i] for i in order])
        weights.append(mask[order][:, below])
        biases.append([flags[i] for i in order])
        below = order
    return Structure(structure.n_features, ops, weights, biases)


@many(300)
@given(st.integers(0, 10**6))
def test_order_of_nodes_does_not_matter(seed: int) -> None:
    structure = random_structure(seed, Vocabulary(3, 4, 5))
    other = shuffled(structure, random.Random(seed))
    assert other == structure
    assert hash(other) == hash(structure)


@pytest.mark.parametrize("formula", FORMULAS)
def test_order_of_nodes_does_not_matter_for_twins(formula: str) -> None:
    structure = identify(parse(formula)).structure
    assert all(shuffled(structure, random.Random(seed)) == structure for seed in range(20))


@pytest.mark.parametrize(
    "formula", [*FORMULAS[:4], "x0**2.5/x1", "3", "x0 - 2*x1 + 1", "ln(x0 + 2)*x1/(x0 + x1)", "(x0 + x1)**x0"]
)
def test_forward_is_the_formula_where_products_are_of_positive_factors(formula: str) -> None:
    X = np.random.default_rng(1).uniform(1.1, 3.0, (30, 2))
    network = identify(parse(formula))
    want = evaluate(parse(formula), X)
    np.testing.assert_allclose(network.forward(X), want, rtol=1e-12)
    np.testing.assert_allclose(forward(network.structure, network.weights, network.biases, X), want, rtol=1e-12)


def test_forward_follows_the_equations() -> None:
    """z1 = sin(W1 x + b1), y = W2 z1 + b2, with masks; numbers under a closed mask do not count."""
    masks = [np.array([[1, 1], [0, 1]]), np.array([[1, 1]])]
    structure = Structure(2, [("sin", "cos"), ("id",)], masks, [[True, False], [True]])
    W, b = [np.array([[2.0, -1.0], [99.0, 3.0]]), np.array([[0.5, 4.0]])], [np.array([0.1, 99.0]), np.array([-1.0])]
    X = np.random.default_rng(2).normal(size=(10, 2))
    want = 0.5 * np.sin(2 * X[:, 0] - X[:, 1] + 0.1) + 4 * np.cos(3 * X[:, 1]) - 1
    np.testing.assert_allclose(forward(structure, W, b, X), want, rtol=1e-14)


def prune(network: Network) -> Network:
    """Without the connections and biases that are zero."""

    def kept(weights: dict[int, float]) -> dict[int, float]:
        return {j: w for j, w in weights.items() if w}

    return Network.from_rows([[(op, kept(w), bias or None) for op, w, bias in layer] for layer in network.rows])


def test_an_undefined_node_does_not_leak_through_a_closed_mask() -> None:
    masks = [[[1], [1]], [[1, 0], [0, 1]], [[1, 1]]]
    structure = Structure(1, [("sin", "ln"), ("sin", "exp"), ("id",)], masks, [[0, 0], [0, 0], [0]])
    W = [np.ones((2, 1)), np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 0.0]])]
    X = np.array([[-2.0]])
    assert np.isnan(forward(structure, W, [np.zeros(2), np.zeros(2), np.zeros(1)], X)[0])  # ln(-2) is used
    pruned = prune(Network(structure, W, [np.zeros(2), np.zeros(2), np.zeros(1)]))
    np.testing.assert_allclose(pruned.forward(X), np.sin(np.sin(-2.0)))


def test_unused_and_unfed_nodes_are_pruned() -> None:
    structure = Structure(
        3,
        [("sin", "cos", "exp"), ("ln", "id"), ("id",)],
        [[[1, 0, 0], [0, 1, 0], [0, 0, 0]], [[1, 0, 1], [0, 1, 0]], [[1, 0]]],
        [[0, 0, 1], [0, 1], [0]],
    )
    # cos feeds only the id node, which feeds nothing; exp is fed by nothing and becomes a bias of ln.
    assert structure.ops == (("sin",), ("ln",), ("id",))
    assert structure.n_features == 1
    assert structure.biases == ((False,), (True,), (False,))


def test_pruning_keeps_the_function() -> None:
    rng = np.random.default_rng(3)
    for seed in range(100):
        structure = random_structure(seed, Vocabulary(3, 3, 4))
        W = [np.where(rng.random(m.shape) < 0.5, rng.normal(size=m.shape), 0.0) * m for m in structure.weights]
        b = [rng.normal(size=len(flags)) * np.array(flags) for flags in structure.biases]
        X = rng.uniform(0.2, 2.0, (8, 3))
        network = Network(structure, W, b)
        want, got = network.forward(X), prune(network).forward(X)
        finite = np.isfinite(want)
        np.testing.assert_allclose(got[finite], want[finite], rtol=1e-9, atol=1e-12)


def test_a_network_without_a_path_is_a_constant() -> None:
    structure = Structure(2, [("sin",), ("id",)], [[[0, 0]], [[1]]], [[0], [0]])
    assert (structure.ops, structure.inputs, structure.biases) == ((("id",),), (((),),), ((True,),))
    assert structure.depth == 1


@pytest.mark.parametrize(
    ("ops", "weights", "message"),
    [
        ([("sin",)], [[[1]]], "last layer"),
        ([("tan",), ("id",)], [[[1]], [[1]]], "tan"),
        ([("sin",), ("id",)], [[[1, 1]], [[1]]], "layer 1"),
        ([("sin",), ("id",)], [[[1]]], "layers"),
    ],
)
def test_bad_masks_are_refused(ops: list, weights: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Structure(1, ops, weights, [[0] * len(layer) for layer in ops])


def test_numbers_must_fit_the_masks() -> None:
    structure = identify(parse("sin(x0)")).structure
    with pytest.raises(ValueError, match=r"shape \(1, 1\)"):
        Network(structure, [np.ones((2, 1)), np.ones((1, 1))], [np.zeros(1), np.zeros(1)])
    with pytest.raises(ValueError, match="columns"):
        identify(parse("x3")).forward(np.zeros((2, 2)))


def test_structures_are_values() -> None:
    structure = identify(parse("x0*x1 + sin(x0)")).structure
    assert pickle.loads(pickle.dumps(structure)) == structure
    assert structure != "a text"
    assert structure.widths == (2, 3, 2, 1)
    assert (structure.depth, structure.n_nodes) == (3, 6)
    assert "sin" in repr(structure)
    with pytest.raises(AttributeError):
        structure.ops = ()  # type: ignore[misc]
