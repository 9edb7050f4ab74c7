"""Fits of tapes: exact constants, agreement with scipy and with plain linear algebra, behaviour at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

from unisymnet.candidate import Status
from unisymnet.fit.kernels.fit import evaluate_tape, fit_tape
from unisymnet.fit.kernels.tape import compile_tape
from unisymnet.symbolic.expr import Const, Expr, Param, Var, call, evaluate, n_params

rng = np.random.default_rng(0)
X = rng.uniform(0.5, 3.0, (200, 2))
x, z = Var(0), Var(1)
c = [Param(i) for i in range(8)]

MODELS = {
    "line": (c[0] * x + c[1], [2.0, -1.0]),
    "decay": (c[0] * call("exp", c[1] * x) + c[2], [1.5, -0.8, 0.3]),
    "two decays": (c[0] * call("exp", c[1] * x) + c[2] * call("exp", c[3] * x), [2.0, -0.4, 1.0, -2.0]),
    "wave": (c[0] * call("sin", c[1] * x + c[2]) + c[3], [1.2, 2.1, 0.5, 4.0]),
    "power": (c[0] * x ** c[1] * z ** c[2], [0.7, 1.5, -0.6]),
    "rational": ((c[0] * x + c[1]) / (z + c[2]), [2.0, 0.5, 1.1]),
    "gauss": (c[0] * call("exp", -(((x - c[1]) / c[2]) ** 2)), [3.0, 1.6, 0.7]),
    "logistic": (c[0] / (1.0 + call("exp", c[1] * (c[2] - x))), [2.0, 3.0, 1.4]),
    "logarithm": (c[0] * call("ln", x + c[1]) - z, [1.4, 2.2]),
}


def starts_for(expr: Expr, n: int = 20) -> np.ndarray:
    return np.random.default_rng(1).uniform(-3, 3, (n, n_params(expr)))


@pytest.mark.parametrize("name", MODELS)
def test_exact_data_give_exact_constants(name: str) -> None:
    expr, truth = MODELS[name]
    y = evaluate(expr, X, truth)
    tape = compile_tape(expr, 2)
    fit = fit_tape(tape, X, y, starts_for(expr))
    assert fit.status is Status.OK
    assert np.sqrt(fit.loss) < 1e-11 * np.std(y)
    assert evaluate(expr, X, fit.params) == pytest.approx(y, rel=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_noisy_data_give_what_scipy_finds_from_the_truth(name: str, weighted: bool) -> None:
    expr, truth = MODELS[name]
    y = evaluate(expr, X, truth) + np.random.default_rng(2).normal(0, 0.05, len(X))
    weights = np.random.default_rng(3).uniform(0.1, 2.0, len(X)) if weighted else np.ones(len(X))
    root = np.sqrt(weights)
    best = least_squares(lambda p: root * (evaluate(expr, X, p) - y), truth, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    fit = fit_tape(compile_tape(expr, 2), X, y, starts_for(expr), weights=weights if weighted else None)
    assert fit.loss <= 2.0 * best.cost / weights.sum() * (1 + 1e-7)
    assert fit.settled


def test_linear_models_are_solved_at_once_and_accurately() -> None:
    """A polynomial basis with a condition number of 1e7: normal equations would lose all digits."""
    powers = [x**k for k in range(1, 7)]
    expr = c[0]
    for k, power in enumerate(powers, start=1):
        expr = expr + c[k] * power
    truth = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 0.25, 0.1])
    y = evaluate(expr, X, truth)
    fit = fit_tape(compile_tape(expr, 2), X, y, np.zeros((5, 7)))
    assert fit.n_steps == 1
    assert fit.params == pytest.approx(truth, rel=1e-7)
    assert np.sqrt(fit.loss) < 1e-13 * np.std(y)


def test_superfluous_linear_constants_do_no_harm() -> None:
    expr = c[0] * x + c[1] * (x * Const(2.0)) + c[2] * call("exp", c[3] * x) + c[4] * call("exp", c[3] * x)
    y = 3.0 * X[:, 0] + np.exp(-X[:, 0])
    fit = fit_tape(compile_tape(expr, 2), X, y, starts_for(expr))
    assert np.sqrt(fit.loss) < 1e-11 * np.std(y)
    assert np.isfinite(fit.params).all()


def test_more_constants_than_rows() -> None:
    expr = c[0] + c[1] * x + c[2] * z + c[3] * x * z
    fit = fit_tape(compile_tape(expr, 2), X[:2], np.array([1.0, 2.0]), np.ones((1, 4)))
    assert fit.loss < 1e-25
    assert np.isfinite(fit.params).all()


def test_no_unknowns_at_all() -> None:
    fit = fit_tape(compile_tape(x + z, 2), X, X.sum(axis=1) + 0.5, np.empty((1, 0)))
    assert fit.loss == pytest.approx(0.25)
    assert fit.params.shape == (0,)


def test_steps_out_of_the_domain_are_rejected() -> None:
    expr = c[0] * call("sqrt", x - c[1])
    y = 2.0 * np.sqrt(X[:, 0] - 0.4)
    fit = fit_tape(compile_tape(expr, 2), X, y, [[1.0, -3.0], [1.0, 0.45]])
    assert fit.params == pytest.approx([2.0, 0.4], rel=1e-8)


def test_a_slope_that_is_undefined_on_a_row_does_not_stop_the_fit() -> None:
    table = X.copy()
    table[0, 0] = 0.0  # sqrt(c x) has no derivative by c there in floating point
    expr = call("sqrt", c[0] * x) * z + call("exp", c[1] * z)
    y = evaluate(expr, table, [1.7, -0.3])
    fit = fit_tape(compile_tape(expr, 2), table, y, [[0.5, 0.1]])
    assert fit.params == pytest.approx([1.7, -0.3], rel=1e-8)


def test_the_step_limit_leaves_a_usable_fit() -> None:
    expr, truth = MODELS["two decays"]
    y = evaluate(expr, X, truth)
    fits = [fit_tape(compile_tape(expr, 2), X, y, [[1, 1, 1, -1.0]], max_steps=k) for k in (0, 2, 60)]
    assert [fit.status for fit in fits] == [Status.OK] * 3
    assert not fits[0].settled and fits[2].settled
    assert fits[0].loss >= fits[1].loss > fits[2].loss
    residuals = evaluate_tape(compile_tape(expr, 2), X, fits[1].params) - y
    assert fits[1].loss == pytest.approx(np.mean(residuals**2))


def test_any_units_of_y() -> None:
    expr, truth = MODELS["decay"]
    y = evaluate(expr, X, truth)
    for unit in (1e-30, 1e-8, 1e8, 1e30):
        fit = fit_tape(compile_tape(expr, 2), X, unit * y, starts_for(expr))
        assert np.sqrt(fit.loss) < 1e-11 * unit * np.std(y)
        assert fit.params == pytest.approx([unit * truth[0], truth[1], unit * truth[2]], rel=1e-8)


def test_the_best_of_many_heats_wins() -> None:
    expr = c[0] * call("sin", c[1] * x)
    y = 2.0 * np.sin(25.0 * X[:, 0])
    tape = compile_tape(expr, 2)
    starts = np.column_stack([np.ones(60), np.linspace(1.0, 30.0, 60)])
    fit = fit_tape(tape, X, y, starts)
    assert abs(fit.params[1]) == pytest.approx(25.0)
    assert fit_tape(tape, X, y, starts[:10]).loss > 1.0
