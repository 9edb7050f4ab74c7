"""Trees: immutable, hashable, walked in one order, evaluated without warnings."""

import pickle

import numpy as np
import pytest
from hypothesis import given

from strategies import expressions, many, points
from unisymnet.symbolic import Call, Const, Param, Var, evaluate, parse
from unisymnet.symbolic.expr import (
    Expr,
    as_expr,
    bind,
    call,
    children,
    evaluate_shared,
    n_params,
    order_key,
    product,
    rebuild,
    size,
    total,
    tree_depth,
    variables,
    walk,
)


def test_python_operators_build_trees_and_nothing_else() -> None:
    x, y = Var(0), Var(1)
    assert x + 1 == Call("add", (x, Const(1)))
    assert 1 + x == Call("add", (Const(1), x))
    assert x - y == Call("sub", (x, y))
    assert 2 - x == Call("sub", (Const(2), x))
    assert 2 * x == Call("mul", (Const(2), x))
    assert x * 2 == Call("mul", (x, Const(2)))
    assert x / y == Call("div", (x, y))
    assert 1 / x == Call("div", (Const(1), x))
    assert x**2 == Call("pow", (x, Const(2)))
    assert -x == Call("neg", (x,))
    assert x + 0 != x


@pytest.mark.parametrize("node", [Const(1.5), Var(0), Param(2), Call("sin", (Var(0),))])
def test_trees_are_immutable(node: Expr) -> None:
    for name in ("value", "index", "op", "args", "_hash", "anything"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(node, name, 1)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(node, name)


def test_equality_and_hash() -> None:
    assert Const(0.0) == Const(-0.0)
    assert str(Const(-0.0)) == "0"
    assert Var(0) != Param(0)
    assert Const(1.0) != Var(1)
    assert Const(1.0) != 1.0
    assert len({Const(1), Const(1.0), parse("1")}) == 1
    assert call("add", Var(0), 1) == Var(0) + 1
    assert call("add", Var(0), 1) != call("mul", Var(0), 1)
    assert repr(Var(0) + 1) == "<Call x0 + 1>"


@many(500)
@given(expressions(n_params=2))
def test_a_copy_through_pickle_is_equal(expr: Expr) -> None:
    order_key(expr)
    again = pickle.loads(pickle.dumps(expr))
    assert again == expr
    assert hash(again) == hash(expr)
    assert order_key(again) == order_key(expr)


def test_bad_nodes_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        Const(float("nan"))
    with pytest.raises(ValueError, match="finite"):
        Const(float("inf"))
    with pytest.raises(ValueError, match="unknown operator 'foo'"):
        Call("foo", (Var(0),))
    with pytest.raises(ValueError, match="sin takes 1 arguments, got 2"):
        Call("sin", (Var(0), Var(1)))
    with pytest.raises(ValueError, match="add takes at least 2 arguments, got 1"):
        Call("add", (Var(0),))


def test_sums_and_products_of_any_length() -> None:
    x = Var(0)
    assert total([]) == Const(0)
    assert total([x]) is x
    assert total([x, x]) == Call("add", (x, x))
    assert product([]) == Const(1)
    assert product([x]) is x
    assert product([x, x]) == Call("mul", (x, x))


def test_walk_visits_children_first_and_leaves_in_reading_order() -> None:
    expr = parse("c0*x1 + sin(x0 - 2)")
    nodes = list(walk(expr))
    assert [str(n) for n in nodes if not isinstance(n, Call)] == ["c0", "x1", "x0", "2"]
    assert nodes[-1] is expr
    for i, node in enumerate(nodes):
        assert all(any(child is n for n in nodes[:i]) for child in children(node))


def test_measures_of_a_tree() -> None:
    expr = parse("c1*x2 + sin(x0 - 2)")
    assert size(expr) == 8
    assert tree_depth(expr) == 3
    assert tree_depth(Var(0)) == 0
    assert variables(expr) == (0, 2)
    assert n_params(expr) == 2
    assert n_params(Var(0)) == 0
    assert as_expr(2.0) == Const(2.0)


def test_rebuild_keeps_what_does_not_change() -> None:
    expr = parse("sin(x0) + cos(x1)")
    assert rebuild(expr, lambda n: n) is expr
    swapped = rebuild(expr, lambda n: Var(7) if n == Var(0) else n)
    assert swapped == parse("sin(x7) + cos(x1)")
    assert children(swapped)[1] is children(expr)[1]


def test_bind() -> None:
    assert bind(parse("c0*x0 + c1"), [2.0, 3.0]) == parse("2*x0 + 3")


def test_evaluate() -> None:
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(evaluate(parse("x0*x1 + c0"), X, [1.0]), [3.0, 13.0])
    np.testing.assert_allclose(evaluate(Const(2.0), X), [2.0, 2.0])
    np.testing.assert_allclose(evaluate(parse("x0 + x0*2 + x1*3 + 1"), [[1, 1]]), [7.0])


def test_evaluate_gives_fresh_arrays() -> None:
    X = np.ones((3, 1))
    evaluate(Var(0), X)[0] = 5.0
    assert X[0, 0] == 1.0


def test_undefined_points_are_silent() -> None:
    X = np.array([[0.0], [-1.0], [1.0]])
    np.testing.assert_array_equal(np.isfinite(evaluate(parse("ln(x0) + 1/x0 + sqrt(x0)"), X)), [False, False, True])
    assert np.isnan(evaluate(parse("x0**0.5"), X)[1])
    assert np.isinf(evaluate(parse("exp(exp(exp(9 + x0)))"), X)).all()


def test_evaluate_names_what_is_missing() -> None:
    with pytest.raises(ValueError, match="column 2, but X has only 1"):
        evaluate(Var(2), np.ones((3, 1)))
    with pytest.raises(ValueError, match="free constant c1, but only 1"):
        evaluate(Param(1), np.ones((3, 1)), [1.0])
    with pytest.raises(ValueError, match="shape"):
        evaluate(Var(0), np.ones(3))


@many(500)
@given(expressions(n_params=2), points())
def test_evaluate_never_warns_or_raises(expr: Expr, X: np.ndarray) -> None:
    values = evaluate(expr, X, [0.5, -2.0])
    assert values.shape == (len(X),)
    assert values.dtype == np.float64


@given(expressions(), points())
def test_shared_values_are_those_of_evaluate(expr: Expr, X: np.ndarray) -> None:
    known: dict[Expr, object] = {}
    with np.errstate(all="ignore"):
        evaluate_shared(expr, X, known)
        shared = np.broadcast_to(evaluate_shared(expr, X, known), (len(X),))
    np.testing.assert_array_equal(shared, evaluate(expr, X))
    assert expr in known


def test_order_puts_powers_after_their_base() -> None:
    names = ["2", "c0", "x0", "x0**2", "x1", "x1*x2", "sin(x0)"]
    keys = [order_key(parse(name)) for name in names]
    assert sorted(keys) == keys
