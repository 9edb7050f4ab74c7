"""The compiled interpreter has the semantics of ``evaluate``, point by point, and right derivatives."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from strategies import expressions, many, parameters, points
from unisymnet.candidate import Status
from unisymnet.fit.kernels import elementary
from unisymnet.fit.kernels import fit as kernels
from unisymnet.fit.kernels.fit import covariance, evaluate_tape, fit_tape, jacobian
from unisymnet.fit.kernels.tape import compile_tape
from unisymnet.formula.derivative import value_and_jacobian
from unisymnet.symbolic.expr import Call, Const, Expr, Param, Var, bind, call, evaluate, rebuild, walk
from unisymnet.symbolic.operators import OPERATORS

FORMULAS = expressions(3, n_params=3, max_leaves=12, tame=True)


def nudged(expr: Expr, factor: float) -> Expr:
    """All numbers but exponents a little different: shows where a formula amplifies rounding."""

    def change(node: Expr) -> Expr:
        if isinstance(node, Call):
            keep = 1 if node.op == "pow" else -1  # an exponent must stay whole
            args = [
                Const(a.value * factor) if isinstance(a, Const) and i != keep else a for i, a in enumerate(node.args)
            ]
            return Call(node.op, args)
        return node

    return rebuild(expr, change)


def steady_values(expr: Expr, X: np.ndarray, params: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values, and the rows where small changes of numbers and inputs change little."""
    values = evaluate(expr, X, params)
    steady = np.ones(len(X), dtype=bool)
    for f in (1 - 1e-11, 1 + 1e-11):
        for other in (
            evaluate(nudged(expr, f), X, params),
            evaluate(expr, X * f, params),
            evaluate(expr, X, params * f),
        ):
            with np.errstate(all="ignore"):
                close = np.abs(other - values) <= 1e-7 * np.abs(values)
            steady &= np.where(np.isfinite(values), close, ~np.isfinite(other))
    return values, steady


@pytest.mark.parametrize("project", [True, False])
@many(300)
@given(expr=FORMULAS, X=points(3), params=parameters(3))
def test_values_are_those_of_evaluate(project: bool, expr: Expr, X: np.ndarray, params: np.ndarray) -> None:
    expected, steady = steady_values(expr, X, params)
    found = evaluate_tape(compile_tape(expr, 3, project=project), X, params)
    defined = np.isfinite(expected)
    # IEEE gives some undefined parts a value again (1 ** nan = 1, (-inf) ** -1.5 = 0); kernels need not.
    sound = np.all([np.isfinite(evaluate(part, X, params)) for part in set(walk(expr))], axis=0)
    small = steady & sound & (np.abs(expected) < 1e150)
    assert found[small] == pytest.approx(expected[small], rel=1e-9)
    # Projection multiplies out, so that huge intermediate values may overflow in another place.
    if not project:
        assert not np.isfinite(found[steady & ~defined]).any()


@pytest.mark.parametrize("op", [name for name, row in OPERATORS.items() if row.arity == 1])
def test_every_function_at_every_kind_of_number(op: str) -> None:
    special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        -3.0,
        1e-320,
        1e-300,
        1e300,
        -1e300,
        709.0,
        711.0,
        -746.0,
        1e4,
        1e6,
        1e22,
    ]
    x = np.concatenate([special, np.random.default_rng(0).normal(0, 3, 300), [np.nan, np.inf, -np.inf]])
    with np.errstate(all="ignore"):
        expected = OPERATORS[op].apply(x)
    found = evaluate_tape(compile_tape(Call(op, (Var(0),)), 1), x[:, None])
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=0)


@pytest.mark.parametrize(
    "exponent", [-3.0, -2.0, -1.5, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 21.0, 1 / 3, 0.426]
)
def test_powers_of_any_base(exponent: float) -> None:
    base = np.concatenate([[0.0, 1.0, -1.0, 1e-5, 1e5, -1e5], np.random.default_rng(0).normal(0, 3, 100)])
    with np.errstate(all="ignore"):
        expected = np.power(base, exponent)
    for expr, params in ((Var(0) ** exponent, ()), (Var(0) ** Param(0), (exponent,))):
        found = evaluate_tape(compile_tape(expr, 1), base[:, None], params)
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_accuracy_of_the_elementary_functions() -> None:
    """Within 2 or 3 units in the last place of the correctly rounded value (long double as the judge)."""
    rng = np.random.default_rng(0)
    cases = {
        "exp": rng.uniform(-700, 700, 20_000),
        "ln": np.concatenate([np.exp(rng.uniform(-700, 700, 20_000)), 1 + rng.normal(0, 1e-3, 20_000)]),
        "sin": rng.uniform(-elementary.SIN_LIMIT, elementary.SIN_LIMIT, 20_000),
        "cos": np.concatenate([rng.normal(0, 3, 20_000), np.arange(1, 1000) * np.pi / 2]),
        "tanh": np.concatenate(
            [rng.uniform(-25, 25, 20_000), rng.normal(0, 1, 20_000) * 10 ** rng.uniform(-12, 0, 20_000)]
        ),
    }
    for op, x in cases.items():
        found = evaluate_tape(compile_tape(call(op, Var(0)), 1), x[:, None])
        exact = OPERATORS[op].apply(x.astype(np.longdouble))
        error = np.abs(found - exact) / np.spacing(np.abs(exact.astype(np.float64)))
        assert error.max() < (3 if op == "tanh" else 2), op


@settings(max_examples=200)
@given(expr=FORMULAS, X=points(3), params=parameters(3))
def test_derivatives_are_those_of_the_operator_table(expr: Expr, X: np.ndarray, params: np.ndarray) -> None:
    _, expected = value_and_jacobian(expr, X, params.tolist())
    _, found = jacobian(compile_tape(expr, 3, project=False), X, np.resize(params, 3))
    values, steady = steady_values(expr, X, params)
    steady &= np.isfinite(values)
    _, shaken = value_and_jacobian(nudged(expr, 1 + 1e-11), X * (1 + 1e-11), (params * (1 - 1e-11)).tolist())
    used = found.shape[1]
    with np.errstate(all="ignore"):
        close = np.abs(shaken - expected) <= 1e-7 * np.abs(expected) + 1e-300
        close &= np.isfinite(expected) & (np.abs(expected) < 1e150) & steady[:, None]
        # atan(1/0) has a value, but its derivative is zero times infinity.
        parts = [evaluate(node, X) for node in walk(bind(expr, params.tolist()))]
        close &= np.all([np.isfinite(np.broadcast_to(part, len(X))) for part in parts], axis=0)[:, None]
    assert found[close[:, :used]] == pytest.approx(expected[:, :used][close[:, :used]], rel=1e-6, abs=1e-9)


def test_derivatives_against_differences() -> None:
    c = [Param(i) for i in range(5)]
    expr = c[0] * call("exp", c[1] * Var(0)) + Var(1) ** c[2] / (1.0 + call("tanh", c[3] * Var(0)) ** 2) - c[4]
    X, params = np.random.default_rng(0).uniform(0.5, 2, (700, 2)), np.array([1.2, -0.7, 1.4, 0.6, 2.0])
    values, J = jacobian(compile_tape(expr, 2), X, params)
    assert values == pytest.approx(evaluate(expr, X, params), rel=1e-13)
    for k in range(5):
        step = 1e-6 * np.eye(5)[k]
        difference = (evaluate(expr, X, params + step) - evaluate(expr, X, params - step)) / 2e-6
        assert J[:, k] == pytest.approx(difference, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("n", [1, 7, 8, 255, 256, 257, 1000, 70_000])
def test_any_number_of_rows(n: int) -> None:
    X = np.random.default_rng(0).normal(size=(n, 2))
    expr = call("sin", Var(0)) * 2.0 + call("exp", Param(0) * Var(1))
    assert evaluate_tape(compile_tape(expr, 2), X, [0.3]) == pytest.approx(evaluate(expr, X, [0.3]), rel=1e-14)


def test_inputs_of_any_order_and_read_only() -> None:
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(20, 2)))
    X.setflags(write=False)
    y = X[:, 0] * 2.0
    y.setflags(write=False)
    tape = compile_tape(Param(0) * Var(0), 2)
    assert fit_tape(tape, X, y, [[1.0]]).params == pytest.approx([2.0])
    assert fit_tape(tape, X.astype(np.float32), y.tolist(), [[1.0]]).params == pytest.approx([2.0])


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "THREAD_WORK", 0)
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2, (150, 2))
    wave = compile_tape(Param(0) * call("sin", Param(1) * Var(0) + Param(2)) + Param(3), 2)
    power = compile_tape(Param(0) * Var(0) ** Param(1) * Var(1) ** Param(2), 2)
    y = evaluate_tape(wave, X, [1.5, 3.3, 0.4, 2.0]) + rng.normal(0, 0.1, 150)
    for tape in (wave, power):
        starts = rng.normal(0, 3, (50, tape.n_params))
        alone = fit_tape(tape, X, y, starts)
        for n_threads in (2, 3):
            together = fit_tape(tape, X, y, starts, n_threads=n_threads)
            assert together.loss == alone.loss and np.array_equal(together.params, alone.params)


def test_undefined_everywhere_is_a_status() -> None:
    X = np.linspace(-2, -1, 20)[:, None]
    fit = fit_tape(
        compile_tape(Param(0) + call("ln", Var(0) - Param(1) ** 2), 1), X, X[:, 0], [[np.nan, np.nan], [1, 1]]
    )
    assert fit.status is Status.NON_FINITE
    assert fit.loss == math.inf
    assert np.isfinite(fit.params).all()


def test_covariance_is_that_of_linear_regression() -> None:
    X = np.random.default_rng(0).normal(size=(50, 1))
    tape = compile_tape(Param(0) * Var(0) + Param(1), 1)
    A, w = np.column_stack([X, np.ones(50)]), np.linspace(1, 2, 50)
    expected = 0.3 * np.linalg.inv(A.T @ (A * w[:, None]))
    assert covariance(tape, X, [1.0, 2.0], w, 0.3) == pytest.approx(expected)


def test_covariance_of_what_the_data_do_not_fix_is_infinite() -> None:
    tape = compile_tape(Param(0) * Var(0) + Param(1) * (2.0 * Var(0)) + Param(2), 1)
    found = covariance(tape, np.arange(5.0)[:, None], [1.0, 1.0, 1.0], None, 1.0)
    assert np.isinf(np.diag(found)).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((5, 2))}, "table with 1 columns"),
        ({"y": np.zeros(4)}, "one value per row"),
        ({"weights": -np.ones(5)}, "weights must be 5 numbers >= 0"),
        ({"loss": "cubic"}, "unknown loss 'cubic'"),
        ({"loss": "huber", "delta": 0.0}, "must be positive"),
        ({"loss": "quantile", "tau": 1.0}, "between 0 and 1"),
    ],
)
def test_caller_mistakes_are_named(change: dict, message: str) -> None:
    settings_ = {"X": np.zeros((5, 1)), "y": np.zeros(5), "starts": [[1.0]]} | change
    with pytest.raises(ValueError, match=message):
        fit_tape(compile_tape(Param(0) * Var(0), 1), **settings_)


@pytest.mark.slow
def test_first_compile_is_announced_and_the_cache_makes_later_starts_fast(tmp_path: Path) -> None:
    code = (
        "import time; from unisymnet.fit.kernels.fit import warm_up; t = time.process_time();"
        "warm_up(print); print(time.process_time() - t)"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    first, second = (run.stdout.split("\n") for run in runs)
    assert "compiling numerical kernels, once per installation" in first[0]
    seconds = [float(said[-2]) for said in (first, second)]
    assert seconds[0] < 60 and seconds[1] < 0.2 * seconds[0]  # a slow machine is slow at both
