"""Free constants and the merging of redundant ones: fewer parameters, the same functions."""

import numpy as np
import pytest
from agreement import assert_agree, defined_rows
from hypothesis import HealthCheck, assume, given, settings

from strategies import expressions, many, parameters, points
from unisymnet.symbolic import parse
from unisymnet.symbolic.constants import free_constants, merge_params, merge_values
from unisymnet.symbolic.expr import Expr, Param, bind, evaluate, n_params, walk

MERGED = [
    # sums and products
    ("c0*(c1*x0 + c2)", "c0*x0 + c1"),
    ("c0 - c1*x0", "c0 + c1*x0"),
    ("-(c0*x0)", "c0*x0"),
    ("c0*c1*x0", "c0*x0"),
    ("c0*2*x0", "c0*x0"),
    ("c0*x0 + c1*x0 + 2*x0", "c0*x0"),
    ("c0 + x0 + c1 + 3", "c0 + x0"),
    ("c0*(c1*(c2*x0 + c3) + c4*sin(c5*x0))", "c0*x0 + c1 + c2*sin(c3*x0)"),
    ("c0*x0/x0**2", "c0/x0"),
    # a coefficient shared by terms without their own stays one parameter
    ("c0*(x0 + x1)", "c0*(x0 + x1)"),
    ("c0*(x0 + x1 + c1)", "c0*(x0 + x1) + c1"),
    ("c0*(2*x0 + 3)", "c0*(2*x0 + 3)"),
    # products and quotients of sums
    ("c0*x0*(c1*x1 + c2)", "x0*(c0*x1 + c1)"),
    ("(c0*x0 + c1)*(c2*x1 + c3)", "(c0*x0 + c1)*(x1 + c2)"),
    ("(c0*x0 + c1)/(c2*x0 + c3)", "(c0*x0 + c1)/(x0 + c2)"),
    ("c0/(c1*x0 + c2)", "c0/(x0 + c1)"),
    ("1/(c0*x0 + c1)", "1/(c0*x0 + c1)"),
    ("c0*(x0*(c1*x1 + c2) + c3)", "x0*(c0*x1 + c1) + c2"),
    # powers
    ("c0*(c1*x0)**2", "c0*x0**2"),
    ("(c0*x0)**3", "c0*x0**3"),
    ("c0*(c1*x0 + c2)**2", "c0*(x0 + c1)**2"),
    ("c0*sqrt(c1*x0)", "c0*sqrt(x0)"),
    ("c0*(c1*x0)**c2", "c0*x0**c1"),
    ("x0**(c0*x1)*c1", "c0*x0**(c1*x1)"),
    ("c0*c1**x0", "c0*c1**x0"),
    # exp, ln, abs
    ("c0*exp(c1 + x0)", "c0*exp(x0)"),
    ("exp(c0 + x0)", "exp(c0 + x0)"),
    ("exp(c0*(c1*x0 + c2))", "exp(c0*x0 + c1)"),
    ("c0*exp(c1*x0**2 + c2*x0 + c3)", "c0*exp(c1*x0**2 + c2*x0)"),
    ("c0 + ln(c1*x0)", "c0 + ln(x0)"),
    ("c0 + c1*ln(c2*x0)", "c0 + c1*ln(x0)"),
    ("c0*ln(c1*x0)", "c0*ln(c1*x0)"),
    ("c0*abs(c1*x0)", "c0*abs(x0)"),
    ("c0*abs(c1*x0 + c2)", "c0*abs(x0 + c1)"),
    # nothing to merge
    ("c0*sin(c1*x0 + c2) + c3", "c0*sin(c1*x0 + c2) + c3"),
    ("c0*sqrt(c1*x0 + c2)", "c0*sqrt(c1*x0 + c2)"),
    ("c0*x0 + c0*x1", "c0*x0 + c0*x1"),
    # parts without a column
    ("exp(c0) + c1 + x0", "c0 + x0"),
    ("sin(c0)*c1*x0", "c0*x0"),
]


@pytest.mark.parametrize(("skeleton", "merged"), MERGED)
def test_merge_params(skeleton: str, merged: str) -> None:
    assert merge_params(parse(skeleton)) == parse(merged)


@pytest.mark.parametrize("skeleton", [pair[0] for pair in MERGED])
def test_merged_and_unmerged_reach_the_same_functions(skeleton: str) -> None:
    """The merged values give the same function, and both families have the same dimension."""
    expr = parse(skeleton)
    X = np.random.default_rng(0).uniform(0.5, 2.0, (40, 2))
    params = np.random.default_rng(1).uniform(0.5, 1.5, n_params(expr))
    merged, values = merge_values(expr, params.tolist())
    np.testing.assert_allclose(evaluate(merged, X, values), evaluate(expr, X, params.tolist()), rtol=1e-12)
    assert _rank(merged, np.array(values), X) == _rank(expr, params, X)


@pytest.mark.parametrize("skeleton", [pair[0] for pair in MERGED if "sqrt(c1*x0 + c2)" not in pair[0]])
def test_no_parameter_is_redundant_after_merging(skeleton: str) -> None:
    merged = merge_params(parse(skeleton))
    X = np.random.default_rng(0).uniform(0.5, 2.0, (40, 2))
    params = np.random.default_rng(2).uniform(0.5, 1.5, n_params(merged))
    assert _rank(merged, params, X) == len(params)


def _rank(expr: Expr, params: np.ndarray, X: np.ndarray) -> int:
    columns = []
    for i in range(len(params)):
        up, down = params.copy(), params.copy()
        up[i] += 1e-5
        down[i] -= 1e-5
        columns.append((evaluate(expr, X, up.tolist()) - evaluate(expr, X, down.tolist())) / 2e-5)
    return int(np.linalg.matrix_rank(np.array(columns).T, tol=1e-6)) if columns else 0


@pytest.mark.parametrize(
    ("formula", "skeleton", "values"),
    [
        ("2*(3*x0 + 4)", "c0*x0 + c1", (6.0, 8.0)),
        ("x0 - x1", "x0 - x1", ()),
        ("-1*x0 + 1", "-x0 + c0", (1.0,)),
        ("1/x0", "1/x0", ()),
        ("sin(2)*x0", "c0*x0", (np.sin(2.0),)),
        ("x0**2.5", "x0**2.5", ()),
        ("(2*x0 + 3)/(4*x0 + 5)", "(c0*x0 + c1)/(x0 + c2)", (0.5, 0.75, 1.25)),
        ("2*sqrt(-4*x0)", "c0*sqrt(-x0)", (4.0,)),
        ("3 + 2*ln(-2*x0)", "c0 + c1*ln(-x0)", (3.0 + 2.0 * np.log(2.0), 2.0)),
        ("6.67*x0*x1/x2**2", "c0*x0*x1/x2**2", (6.67,)),
        ("7", "c0", (7.0,)),
        ("x0", "x0", ()),
        ("c0*x0 + 2", "c0*x0 + c1", (1.0, 2.0)),
    ],
)
def test_free_constants(formula: str, skeleton: str, values: tuple[float, ...]) -> None:
    found, start = free_constants(parse(formula))
    assert found == parse(skeleton)
    assert start == pytest.approx(values, rel=1e-14)


def test_exponents_can_be_free() -> None:
    skeleton, start = free_constants(parse("2*x0**1.5 + x1**2"), exponents=True)
    assert skeleton == parse("c0*x0**c1 + x1**c2")
    assert start == (2.0, 1.5, 2.0)


@many(2000)
@given(expressions(tame=True), points())
def test_free_constants_start_where_the_formula_is(expr: Expr, X: np.ndarray) -> None:
    for exponents in (False, True):
        skeleton, start = free_constants(expr, exponents=exponents)
        assert n_params(skeleton) == len(start)
        assert_agree(expr, bind(skeleton, start), X)


@many(2000)
@given(expressions(n_params=4, tame=True), points(), parameters(4))
def test_merging_keeps_every_function(expr: Expr, X: np.ndarray, params: np.ndarray) -> None:
    merged, values = merge_values(expr, params.tolist())
    assert_agree(bind(expr, params.tolist()), bind(merged, values), X)
    order = [node.index for node in walk(merged) if isinstance(node, Param)]
    assert sorted(set(order)) == list(range(len(values)))
    assert list(dict.fromkeys(order)) == sorted(set(order)), "parameters are numbered in reading order"


@settings(many(300), suppress_health_check=[HealthCheck.filter_too_much])
@given(expressions(n_params=4, tame=True, max_leaves=6), points(), parameters(4))
def test_merging_never_adds_freedom(expr: Expr, X: np.ndarray, params: np.ndarray) -> None:
    """Merged families are no larger: every direction of the merged one lies in the span of the unmerged one."""
    params = np.abs(params)
    merged, values = merge_values(expr, params.tolist())
    assume(len(values) > 0 and np.all(np.abs(values) < 1e3) and np.all(np.abs(values) > 1e-3))
    rows = X[defined_rows(bind(expr, params.tolist()), X)]
    assume(len(rows) > 8 and np.abs(evaluate(expr, rows, params.tolist())).max() < 1e3)
    before, after = _jacobian(expr, params, rows), _jacobian(merged, np.array(values), rows)
    fair = np.isfinite(before).all() and np.isfinite(after).all()
    assume(fair and max(np.abs(before).max(), np.abs(after).max()) < 1e4)
    residual = after - before @ np.linalg.lstsq(before, after, rcond=1e-10)[0]
    assert np.abs(residual).max() <= 1e-3 * max(1.0, np.abs(after).max())


def _jacobian(expr: Expr, params: np.ndarray, X: np.ndarray) -> np.ndarray:
    columns = [np.zeros(len(X))]
    for i in range(len(params)):
        step = 1e-6 * np.eye(len(params))[i]
        high, low = evaluate(expr, X, (params + step).tolist()), evaluate(expr, X, (params - step).tolist())
        columns.append((high - low) / 2e-6)
    return np.array(columns).T
