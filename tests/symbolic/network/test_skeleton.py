"""Φ: structures to skeletons with merged constants, numbered in reading order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_structures import random_structure
from same_values import fair_points

from strategies import many
from unisymnet.symbolic import Param, evaluate, parse
from unisymnet.symbolic.expr import Call, bind, walk
from unisymnet.symbolic.network.identify import identify
from unisymnet.symbolic.network.skeleton import network_to_expr, network_to_skeleton, to_skeleton
from unisymnet.symbolic.network.structure import Network, Structure
from unisymnet.symbolic.network.tokens import Vocabulary


@pytest.mark.parametrize(
    ("formula", "skeleton", "exponents"),
    [
        ("3", "c0", ()),
        ("x0 + 1", "c0*x0 + c1", ()),
        ("2*x0*x1", "c0*x0**c1*x1**c2", (1, 2)),
        ("x0**2/x1 - 1", "c0*x0**c1*x1**c2 + c3", (1, 2)),
        ("sin(x0 + 1)", "c0*sin(c1*x0 + c2)", ()),
        ("5*exp(x0 + 3)", "c0*exp(c1*x0)", ()),  # the shift goes into the weight
        ("ln(3*x0) + 1", "c0*ln(x0) + c1", ()),  # the factor goes into the bias
        ("x1*ln(3*x0)", "c0*x1**c1*ln(c2*x0)**c3", (1, 3)),  # no bias takes it here
        ("abs(3*x0 - 2)", "c0*abs(x0 + c1)", ()),
        ("x0*exp(x1)", "c0*x0**c1*exp(c2*x1)", (1,)),
        ("x0**x1", "c0*(c1*x0)**(c2*x1**c3)", (3,)),
        ("exp(ln(x0)**2)", "c0*exp(c1*ln(c2*x0)**c3)", (3,)),
        ("sqrt(x0*x1)", "c0*(x0**c1*x1**c2)**c3", (1, 2, 3)),
        ("1/(x0 + 1)", "c0*(c1*x0 + c2)**c3", (3,)),  # the factor of a sum carries its sign
        ("exp(x0) + sin(exp(x0))", "c0*exp(c1*x0) + c2*sin(c3*exp(c1*x0))", ()),  # one node, one constant
    ],
)
def test_worked_examples(formula: str, skeleton: str, exponents: tuple[int, ...]) -> None:
    found = to_skeleton(identify(parse(formula)).structure)
    assert found.expr == parse(skeleton)
    assert found.exponents == exponents
    assert str(found) == skeleton


def test_the_papers_merging_example() -> None:
    """c0(c1 x0 + c2) becomes c0 x0 + c1: an id layer below the output adds no constant."""
    structure = Structure(1, [("id",), ("id",)], [[[1]], [[1]]], [[1], [0]])
    assert str(to_skeleton(structure)) == "c0*x0 + c1"


def test_nodes_that_look_alike_keep_their_own_constants() -> None:
    structure = identify(parse("sin(2*x0) + 3*sin(5*x0)")).structure
    assert str(to_skeleton(structure)) == "c0*sin(c1*x0) + c2*sin(c3*x0)"


def test_equal_bases_merge() -> None:
    """Two ln nodes over the same input feed one exp: one power."""
    structure = Structure(1, [("ln", "ln"), ("exp",), ("id",)], [[[1], [1]], [[1, 1]], [[1]]], [[0, 0], [0], [0]])
    assert str(to_skeleton(structure)) == "c0*x0**c1"


@pytest.mark.parametrize(
    ("formula", "skeleton"),
    [
        ("sqrt(-3*x0)", "c0*(-x0)**c1"),
        ("ln(-x0)", "c0*ln(-x0) + c1"),
        ("exp(x1*ln(x0)**2)", "c0*exp(c1*x1**c2*ln(c3*x0)**c4)"),
    ],
)
def test_numbers_can_call_for_another_form(formula: str, skeleton: str) -> None:
    network = identify(parse(formula))
    found, values = network_to_skeleton(network)
    assert str(found) == skeleton
    assert found != to_skeleton(network.structure)
    X = np.random.default_rng(0).uniform(-3.0, 3.0, (40, 2))
    want, got = evaluate(parse(formula), X), evaluate(found.expr, X, values)
    np.testing.assert_array_equal(np.isfinite(want), np.isfinite(got))
    np.testing.assert_allclose(got[np.isfinite(want)], want[np.isfinite(want)], rtol=1e-9)


def test_numbers_that_overflow_stay_numbers() -> None:
    """A trained network may hold anything; its formula is then useless, but no exception."""
    structure = identify(parse("x0*x1")).structure
    W = [np.array([[1e200, 0.0], [0.0, 1.0]]), np.array([[9.0, 1.0]]), np.array([[1.0]])]
    expr = network_to_expr(Network(structure, W, [np.zeros(2), np.zeros(1), np.zeros(1)]))
    assert not np.isfinite(evaluate(expr, np.full((1, 2), 3.0))).any()


@many(300)
@given(st.integers(0, 10**6))
def test_any_structure_has_a_skeleton(seed: int) -> None:
    """Parameters in reading order without gaps, no marks left, and values for any numbers."""
    structure = random_structure(seed, Vocabulary(3, 3, 5))
    skeleton = to_skeleton(structure)
    seen = list(dict.fromkeys(n.index for n in walk(skeleton.expr) if isinstance(n, Param)))
    assert seen == list(range(skeleton.n_params))
    exponents = {
        n.args[1].index
        for n in walk(skeleton.expr)
        if isinstance(n, Call) and n.op == "pow" and isinstance(n.args[1], Param)
    }
    assert skeleton.exponents == tuple(sorted(exponents))
    for node in walk(skeleton.expr):
        assert not (
            isinstance(node, Call) and node.op == "ln" and isinstance(node.args[0], Call) and node.args[0].op == "exp"
        )
    rng = np.random.default_rng(seed)
    W = [rng.uniform(0.5, 2.0, m.shape) * m for m in structure.weights]
    b = [rng.uniform(0.5, 2.0, len(f)) * np.array(f) for f in structure.biases]
    network = Network(structure, W, b)
    found, values = network_to_skeleton(network)
    if any(node.op == "abs" for node in walk(found.expr) if isinstance(node, Call)):
        return  # a network's own forward pass knows no abs
    X = rng.uniform(1.0, 2.0, (6, 3))
    want, got = network.forward(X), evaluate(found.expr, X, values)
    fair = fair_points(bind(found.expr, values), X)
    np.testing.assert_allclose(got[fair], want[fair], rtol=1e-6)
