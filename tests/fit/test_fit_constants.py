"""``fit_constants``: all starts, losses and optimisers; the same seed gives the same result."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from unisymnet.candidate import Status
from unisymnet.fit.constants import fit_constants
from unisymnet.fit.kernels.robust import Loss
from unisymnet.fit.starts import INITS
from unisymnet.symbolic.expr import Expr, Param, Var, call, evaluate

rng = np.random.default_rng(0)
X = rng.uniform(0.5, 3.0, (120, 2))
x, z = Var(0), Var(1)
c = [Param(i) for i in range(4)]
MODEL = c[0] * call("exp", c[1] * x) + c[2] * call("sin", z + c[3])
TRUTH = [2.0, -0.7, 1.5, 0.6]
y = evaluate(MODEL, X, TRUTH)
spoiled = y + rng.normal(0, 0.05, 120)
spoiled[:12] += 15.0


@pytest.mark.parametrize("init", INITS)
def test_every_kind_of_start_finds_the_truth(init: str) -> None:
    fit = fit_constants(MODEL, X, y, init=init, rng=np.random.default_rng(1))
    assert fit.status is Status.OK
    assert np.sqrt(fit.loss) < 1e-11 * np.std(y)


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("optimiser", ["lm", "bfgs"])
def test_the_seed_decides(init: str, optimiser: str) -> None:
    a, b = (
        fit_constants(MODEL, X, spoiled, init=init, optimiser=optimiser, n_starts=3, rng=np.random.default_rng(4))
        for _ in range(2)
    )
    assert a.loss == b.loss and np.array_equal(a.params, b.params)


def test_a_given_start_is_tried_first() -> None:
    fit = fit_constants(MODEL, X, y, start=TRUTH, n_starts=0, rng=rng)
    assert fit.params == pytest.approx(TRUTH)
    assert fit.n_steps <= 2


def test_bfgs_finds_what_least_squares_finds() -> None:
    noisy = y + np.random.default_rng(5).normal(0, 0.05, 120)
    weights = np.random.default_rng(6).uniform(0.5, 2, 120)
    for loss in ("mse", "huber"):
        a, b = (
            fit_constants(
                MODEL, X, noisy, weights=weights, loss=loss, delta=0.06, optimiser=o, rng=np.random.default_rng(7)
            )
            for o in ("lm", "bfgs")
        )
        assert a.loss == pytest.approx(b.loss, rel=1e-5)


def test_robust_losses_ignore_outliers() -> None:
    squares = fit_constants(MODEL, X, spoiled, rng=np.random.default_rng(0))
    assert np.abs(evaluate(MODEL, X, squares.params) - y).mean() > 0.5
    for loss in ("huber", "quantile"):
        fit = fit_constants(MODEL, X, spoiled, loss=loss, delta=0.1, rng=np.random.default_rng(0))
        assert np.abs(evaluate(MODEL, X, fit.params) - y).mean() < 0.05


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.8])
def test_linear_quantiles_are_those_of_linear_programming(tau: float) -> None:
    line = c[0] * x + c[1]
    noisy = 2.0 * X[:, 0] + rng.standard_t(2, 120)
    A, n = np.column_stack([X[:, 0], np.ones(120)]), 120
    program = linprog(
        np.r_[np.zeros(2), np.full(n, tau), np.full(n, 1 - tau)],
        A_eq=np.hstack([A, np.eye(n), -np.eye(n)]),
        b_eq=noisy,
        bounds=[(None, None)] * 2 + [(0, None)] * (2 * n),
    )
    fit = fit_constants(line, X, noisy, loss="quantile", tau=tau, rng=rng)
    assert fit.loss == pytest.approx(program.fun / n, rel=1e-4)


def test_linear_huber_is_that_of_scipy() -> None:
    noisy = 2.0 * X[:, 0] + rng.standard_t(2, 120)
    loss, weights = Loss("huber", 0.5), rng.uniform(0.2, 2, 120)

    def objective(p: np.ndarray) -> float:
        return loss.mean(noisy - p[0] * X[:, 0] - p[1], weights)

    fit = fit_constants(c[0] * x + c[1], X, noisy, weights=weights, loss="huber", delta=0.5, rng=rng)
    assert fit.loss == pytest.approx(minimize(objective, [1.0, 1.0], tol=1e-12).fun, rel=1e-7)
    assert fit.loss == pytest.approx(objective(fit.params), rel=1e-12)


@pytest.mark.parametrize("loss", [Loss("mse"), Loss("huber", 0.7), Loss("quantile", 0.3)])
def test_slopes_and_parabolas_fit_their_loss(loss: Loss) -> None:
    r = np.array([-2.0, -0.71, -0.3, 0.2, 0.69, 3.0])
    for i in range(len(r)):
        step = 1e-6 * np.eye(len(r))[i]
        difference = (loss.mean(r + step, None) - loss.mean(r - step, None)) * len(r) / 2e-6
        assert loss.slope(r)[i] == pytest.approx(difference, rel=1e-6)
    if loss.kind != "mse":
        shift, weight = loss.parabola(r, 1e-12)
        ratio = weight * (r + shift) / loss.slope(r)  # parallel to the slope at the touching point
        assert ratio == pytest.approx(np.full(len(r), ratio[0]))


def test_an_exact_fit_is_exact_for_every_loss() -> None:
    for loss in ("huber", "quantile"):
        fit = fit_constants(MODEL, X, y, loss=loss, rng=np.random.default_rng(1))
        assert fit.loss < 1e-12
        assert evaluate(MODEL, X, fit.params) == pytest.approx(y, rel=1e-9)


def test_undefined_formulas_have_a_status_for_both_optimisers() -> None:
    for optimiser in ("lm", "bfgs"):
        fit = fit_constants(call("ln", -(x * c[0] ** 2)), X, y, optimiser=optimiser, rng=np.random.default_rng(0))
        assert fit.status is Status.NON_FINITE
        assert fit.loss == np.inf and np.isfinite(fit.params).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [({"init": "dice"}, "unknown init 'dice'"), ({"optimiser": "adam"}, "unknown optimiser 'adam'")],
)
def test_caller_mistakes_are_named(change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_constants(MODEL, X, y, rng=rng, **change)


@pytest.mark.parametrize(
    ("expr", "truth"),
    [
        (1.0 / (c[0] * x + c[1]), [1.0, -1.7]),  # a pole among the points
        (z + x / (c[0] * x + c[1] * z), [1.0, -1.1]),
        (c[0] * x * z / (x + c[1]), [2.0, -1.3]),
        (call("exp", z / (c[0] * x + c[1])), [2.0, 0.5]),
        ((c[0] * x + c[1]) / (c[2] * x * z + 1.0) + z, [3.0, -1.0, -0.6]),
    ],
)
def test_peeling_fits_across_poles(expr: Expr, truth: list[float]) -> None:
    target = evaluate(expr, X, truth)
    fit = fit_constants(expr, X, target, n_screened=0, rng=np.random.default_rng(2))
    assert np.sqrt(fit.loss) < 1e-11 * np.std(target)


def test_screening_finds_a_frequency_far_from_the_starts() -> None:
    target = 2.0 * np.sin(17.0 * X[:, 0])
    fit = fit_constants(c[0] * call("sin", c[1] * x), X, target, n_screened=300, rng=np.random.default_rng(0))
    assert abs(fit.params[1]) == pytest.approx(17.0)
    short = fit_constants(c[0] * call("sin", c[1] * x), X, target, n_screened=0, rng=np.random.default_rng(0))
    assert short.loss > 0.1
