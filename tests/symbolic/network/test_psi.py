"""Ψ and Ψ⁻¹: the paper's representations, the law restore∘unify, and what cannot be unified."""

import numpy as np
import pytest
from hypothesis import assume, given
from same_values import LIBRARY, assert_same_values

from strategies import expressions, many, points
from unisymnet.errors import EncodingError
from unisymnet.symbolic import Call, Const, evaluate, parse
from unisymnet.symbolic.expr import Expr, Var, walk
from unisymnet.symbolic.network.psi import restore, unify


@pytest.mark.parametrize(
    ("formula", "unified", "restored"),
    [
        ("x0*x1", "exp(ln(x0) + ln(x1))", "x0*x1"),
        ("x0/x1", "exp(ln(x0) + -1*ln(x1))", "x0*x1**-1"),
        ("2*x0*x1", "2*exp(ln(x0) + ln(x1))", "2*x0*x1"),
        ("x0*x1*x2*x3", "exp(ln(x0) + ln(x1) + ln(x2) + ln(x3))", "x0*x1*x2*x3"),
        ("2*x0**0.5", "2*exp(0.5*ln(x0))", "2*x0**0.5"),
        ("x0**x1", "exp(exp(ln(x1) + ln(ln(x0))))", "x0**x1"),
        ("abs(x0)", "ln(exp(x0))", "abs(x0)"),
        ("sinh(x0)", "0.5*exp(x0) + -0.5*exp(-1*x0)", "0.5*exp(x0) + -0.5*exp(-1*x0)"),
        ("x0**2/x1", "exp(2*ln(x0) + -1*ln(x1))", "x0**2*x1**-1"),
        # Like terms and powers are collected, numbers come out.
        ("x0*x1/x0", "x1", "x1"),
        ("(2*x0)**3*x0", "8*exp(4*ln(x0))", "8*x0**4"),
        ("x0*exp(x1 + 1)/exp(1)", "exp(ln(x0) + x1)", "x0*exp(x1)"),
        # Marks must not be mistaken: real logarithms of exponentials, absolute values of logarithms.
        ("ln(exp(x0))", "x0", "x0"),
        ("ln(x0*x1)", "ln(exp(ln(x0) + ln(x1)))", "ln(x0*x1)"),
        ("abs(ln(x0))", "exp(0.5*ln(exp(2*ln(ln(x0)))))", "(ln(x0)**2)**0.5"),
        ("abs(x0 + abs(x1))", "ln(exp(x0 + ln(exp(x1))))", "abs(x0 + abs(x1))"),
        # Roots keep what negative factors need.
        ("sqrt(x0**2)", "ln(exp(x0))", "abs(x0)"),
        ("sqrt(x0*x1)", "exp(0.5*ln(exp(ln(x0) + ln(x1))))", "(x0*x1)**0.5"),
        ("sqrt(-4*x0)", "2*exp(0.5*ln(-1*x0))", "2*(-x0)**0.5"),
        ("sqrt(x0**6)", "exp(0.5*ln(exp(6*ln(x0))))", "(x0**6)**0.5"),
        ("sqrt(x0**8)", "exp(4*ln(x0))", "x0**4"),
    ],
)
def test_worked_examples(formula: str, unified: str, restored: str) -> None:
    assert _terms(unify(parse(formula))) == _terms(parse(unified))
    assert _terms(restore(unify(parse(formula)))) == _terms(parse(restored))


def _terms(expr: Expr) -> object:
    """The tree with the order of sums and products forgotten."""
    if not isinstance(expr, Call):
        return expr
    parts = [_terms(a) for a in expr.args]
    return (expr.op, frozenset((p, parts.count(p)) for p in parts) if expr.op in ("add", "mul") else tuple(parts))


@many(2000)
@given(expressions(operators=LIBRARY, tame=True), points())
def test_restore_undoes_unify(expr: Expr, X: np.ndarray) -> None:
    try:
        unified = unify(expr)
    except EncodingError:
        assume(False)
    assert {n.op for n in walk(unified) if isinstance(n, Call)} <= {"add", "mul", "sin", "cos", "exp", "ln"}
    for node in walk(unified):  # every product is a number times a node
        assert not isinstance(node, Call) or node.op != "mul" or isinstance(node.args[0], Const)
    restored = restore(unified)
    assert_same_values(expr, restored, X)
    assert not any(_is_marked(node) for node in walk(restored))


def _is_marked(node: Expr) -> bool:
    """exp over a sum that holds a plain ln, or ln over an exp that is no power."""
    if not isinstance(node, Call) or node.op not in ("exp", "ln"):
        return False
    arg = node.args[0]
    parts = arg.args if isinstance(arg, Call) and arg.op == "add" else (arg,)
    if node.op == "ln":
        return isinstance(arg, Call) and arg.op == "exp"
    bare = [p.args[1] if isinstance(p, Call) and p.op == "mul" and isinstance(p.args[0], Const) else p for p in parts]
    return any(isinstance(p, Call) and p.op == "ln" for p in bare)


def test_negative_inputs_keep_their_values() -> None:
    X = -np.random.default_rng(0).uniform(0.5, 3.0, (20, 2))
    for formula in ("x0*x1", "x0/x1", "x0**3", "x0**2*x1", "abs(x0)*x1", "(x0 - x1)**2", "sqrt(x0*x1)", "1/x0"):
        expr = parse(formula)
        np.testing.assert_allclose(evaluate(restore(unify(expr)), X), evaluate(expr, X), rtol=1e-12)


@pytest.mark.parametrize("op", ["asin", "acos", "atan", "tan"])
def test_operators_outside_the_library(op: str) -> None:
    with pytest.raises(EncodingError, match=op):
        unify(Call(op, (Var(0),)))


@pytest.mark.parametrize("formula", ["ln(-1)*x0", "(-2)**x0", "sqrt(-2)*x0", "x0/0", "ln(-exp(x0))", "c0*x0"])
def test_formulas_without_a_value(formula: str) -> None:
    with pytest.raises(EncodingError):
        unify(parse(formula))


def test_restore_takes_unified_formulas_only() -> None:
    with pytest.raises(EncodingError, match="unify first"):
        restore(parse("x0*x1"))
    with pytest.raises(EncodingError, match="free constant"):
        restore(parse("c0*x1"))


def test_constants_fold() -> None:
    assert unify(parse("2*3 + exp(0)*sin(0) - abs(-4) + tanh(0) + cosh(0)")) == Const(3.0)
