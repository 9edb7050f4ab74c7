"""The dictionary: arguments and inner functions, cheapest first, from the permitted operators only."""

import numpy as np
import pytest

from unisymnet.problem import make_problem
from unisymnet.propose.screen.dictionary import ONE, affine, arguments, exponential, families, monomial, usable
from unisymnet.symbolic.expr import Call, Const, Var, call, evaluate, walk

RNG = np.random.default_rng(0)


def problem(low=1.0, high=3.0, d=2, operators=frozenset()):
    X = RNG.uniform(low, high, size=(80, d))
    return make_problem(X, X[:, 0], operators=operators)


def test_arguments_come_by_cost_and_start_with_the_inputs():
    found = arguments(problem(), limit=200)
    assert [a.cost for a in found] == sorted(a.cost for a in found)
    assert [a.expr for a in found[:2]] == [Var(0), Var(1)]
    texts = {str(a.expr) for a in found}
    assert {"x0*x1", "x0/x1", "x0 - x1", "sin(x0)", "sqrt(x0)"} <= texts


def test_no_argument_is_a_multiple_of_another():
    p = problem()
    _, values = usable(arguments(p, limit=150), p.X)
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    gram = np.abs(unit @ unit.T) - np.eye(len(unit))
    assert gram.max() < 1 - 1e-12


def test_arguments_are_finite_for_inputs_of_both_signs_and_zero():
    p = problem(-2.0, 2.0)
    p.X[0] = 0.0
    for argument in arguments(p, limit=300):
        assert np.isfinite(evaluate(argument.expr, p.X)).all(), argument.expr


@pytest.mark.parametrize("allowed", [{"add", "mul"}, {"add", "sub", "mul", "sin"}, {"exp", "mul", "div"}])
def test_only_permitted_operators_are_used(allowed):
    p = problem(operators=frozenset(allowed))
    used = {n.op for a in arguments(p, limit=200) for n in walk(a.expr) if isinstance(n, Call)}
    # A whole power may stand for a product; the stages spell it out.
    assert used <= allowed | {"pow"}
    for log in (True, False):
        for family in families(p, log=log):
            assert set(family.needs) - {"add", "div"} <= allowed, family.name


def test_formulas_of_families_agree_with_their_columns():
    from unisymnet.fit.kernels.scan import inner

    s = RNG.uniform(0.1, 0.9, size=40)
    for log in (True, False):
        for family in families(problem(), log=log):
            exprs = family.build(Var(0))
            for expr, column in zip(exprs, inner(family.code, s), strict=True):
                values = evaluate(expr, s[:, None])
                expected = np.log(np.abs(values)) if log else values
                np.testing.assert_allclose(column, expected, rtol=1e-9, err_msg=f"{family.name} {log}")


def test_affine_folds_shifts_and_unit_constants():
    assert affine(0.0, [1.0], [Var(0)]) == Var(0)
    assert str(affine(1.0, [2.0, 0.5], [Var(0), ONE])) == "1.5 + 2*x0"


def test_exponential_of_a_logarithm_is_a_power():
    s = affine(0.0, [2.5, 1.0], [call("ln", Var(0)), ONE])
    assert str(exponential(s)) == f"{np.e}*x0**2.5" or np.isclose(
        evaluate(exponential(s), np.array([[2.0]]))[0], np.e * 2.0**2.5
    )
    assert not any(isinstance(n, Call) and n.op == "ln" for n in walk(exponential(s)))


def test_monomial_has_one_fraction_bar():
    assert str(monomial([Var(0), Var(1), Var(2)], [1.0, -1.0, -2.0])) == "x0/(x1*x2**2)"
    assert monomial([Var(0)], [1.0]) == Var(0)
    assert Const(1.0) == ONE
