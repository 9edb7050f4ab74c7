"""Formula to network: compact layers, shared nodes and chains, and numbers that reproduce the formula."""

import numpy as np
import pytest
from hypothesis import assume, given
from same_values import LIBRARY, assert_same_values

from strategies import expressions, many, points
from unisymnet.errors import EncodingError
from unisymnet.symbolic import parse
from unisymnet.symbolic.expr import Expr
from unisymnet.symbolic.network.identify import identify
from unisymnet.symbolic.network.skeleton import network_to_expr, network_to_skeleton


@pytest.mark.parametrize(
    ("formula", "layers"),
    [
        ("3", "id"),
        ("x0 - 2*x1 + 1", "id"),
        ("x0*x1", "ln ln/exp/id"),
        ("x0**2/x1", "ln ln/exp/id"),  # the paper's example of SymbolicDecompose
        ("sin(x0 + x1) + cos(x1)", "sin cos/id"),
        ("abs(x0)", "exp/ln/id"),
        ("sinh(x0)", "exp exp/id"),
        ("tanh(x0)", "exp exp/ln ln/exp/id"),
        ("x0**x1", "id ln/ln ln/exp/exp/id"),
        # Every distinct node once: x0 and its ln are shared by all powers, exp(x0) by both terms.
        ("x0**3 + x0**2 + x0", "id ln/id exp exp/id"),
        ("exp(x0) + sin(exp(x0))", "exp/id sin/id"),
        ("x0*x1 + x0/x1 + sqrt(x1)", "ln ln/exp exp exp/id"),
        # Like terms merge, also across different writings.
        ("x0 + sin(x1) + 2*sin(x1) - x0", "sin/id"),
        ("(x0*x1)**2/x0", "ln ln/exp/id"),
        ("sqrt(x0)*sqrt(x0)*exp(x1)*exp(-x1)", "id"),
        # One chain carries the product up, not two its factors.
        ("sin(sin(sin(x2))) + x0*x1", "sin ln ln/sin exp/id sin/id"),
    ],
)
def test_layers(formula: str, layers: str) -> None:
    structure = identify(parse(formula)).structure
    got = "/".join(" ".join(layer) for layer in structure.ops)
    assert got == layers


def test_a_module_used_twice_exists_once() -> None:
    """The paper's figure: op1(g) + op2(g, x0) shares g; x0 is carried by an id."""
    structure = identify(parse("cos(sin(x0)) + exp(sin(x0) + x0)")).structure
    assert structure.ops == (("id", "sin"), ("cos", "exp"), ("id",))
    assert structure.inputs[1] == ((1,), (0, 1))


def test_numbers_stand_where_the_formula_has_them() -> None:
    network = identify(parse("3*sin(2*x0 - x1 + 0.5) - 1"))
    assert [w.tolist() for w in network.weights] == [[[2.0, -1.0]], [[3.0]]]
    assert [b.tolist() for b in network.biases] == [[0.5], [-1.0]]


def test_equal_functions_in_other_words_get_the_same_structure() -> None:
    groups = [
        ("x0*x1*x2", "x2*(x0*x1)", "x0/(1/(x1*x2))", "exp(ln(x0) + ln(x1) + ln(x2))"),
        ("sqrt(x0)", "x0**0.5", "x0**2/x0**1.5", "exp(ln(x0)/2)"),
        ("exp(x0 + 2)*x1", "x1*7*exp(x0)", "x1/exp(-x0)"),
        ("sin(x0) + cos(x1) + 1", "1 + cos(x1) + sin(x0)", "2*sin(x0) - (sin(x0) - cos(x1)) + 1"),
    ]
    for group in groups:
        assert len({identify(parse(text)).structure for text in group}) == 1, group


@many(2000)
@given(expressions(operators=LIBRARY, tame=True), points())
def test_skeleton_of_the_network_has_the_values_of_the_formula(expr: Expr, X: np.ndarray) -> None:
    try:
        network = identify(expr)
    except EncodingError:
        assume(False)
    structure = network.structure
    assert structure.ops[-1] == ("id",)
    for below, layer in zip((structure.n_features, *map(len, structure.ops)), structure.inputs):
        used = {j for sources in layer for j in sources}
        assert layer is structure.inputs[0] or used == set(range(below))
        assert structure.depth == 1 or all(layer)
    skeleton, values = network_to_skeleton(network)
    assert len(values) == skeleton.n_params
    assert_same_values(expr, skeleton.expr, X, values)
    assert_same_values(expr, network_to_expr(network), X)


def test_columns_are_checked() -> None:
    assert identify(parse("x0 + x1"), 2).structure.n_features == 2
    with pytest.raises(EncodingError, match="column 2, but there are only 2"):
        identify(parse("x0 + x2"), 2)


@pytest.mark.parametrize("formula", ["asin(x0)", "tan(x0)", "c0*x0"])
def test_what_cannot_be_identified(formula: str) -> None:
    with pytest.raises(EncodingError):
        identify(parse(formula))


def test_numbers_that_overflow_are_refused() -> None:
    with pytest.raises(EncodingError, match="too large"):
        identify(parse("1e200*x0*1e200 + 1"))
