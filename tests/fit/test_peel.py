"""Peeling gives an equation that holds exactly where y = f(x)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from strategies import expressions, many, parameters, points
from unisymnet.fit.peel import peel, unscaled
from unisymnet.symbolic.expr import Expr, Param, Var, call, evaluate

x, z, y = Var(0), Var(1), Var(2)
c = [Param(i) for i in range(3)]


@pytest.mark.parametrize(
    ("expr", "known"),
    [
        (z + 1.0 / (c[0] * x), 1.0 / (y - z)),
        (call("exp", c[0] * x) * z, call("ln", y / z)),
        (x - call("exp", c[0] * z), call("ln", x - y)),
        (call("sqrt", c[0] + x), call("square", y)),
        (-(x / (c[0] + z)), x / (-y)),
    ],
)
def test_what_is_known_goes_to_the_other_side(expr: Expr, known: Expr) -> None:
    found = peel(expr, y)
    assert found is not None
    table = np.random.default_rng(0).uniform(0.5, 2, (10, 3))
    assert evaluate(found.known, table) == pytest.approx(evaluate(known, table), nan_ok=True)


@pytest.mark.parametrize(
    "expr", [c[0] * x, x - c[0] * z, x + z, c[0] + call("sin", c[1] * x), call("sin", c[0] * x), x ** c[0] + c[1]]
)
def test_nothing_to_peel(expr: Expr) -> None:
    assert peel(expr, y) is None


@pytest.mark.parametrize(
    ("expr", "wanted"),
    [
        (c[0] * (c[1] * x + c[2]) ** -1.0, (c[1] * x + c[2]) ** -1.0),
        (c[0] * (c[1] * x + c[2]) ** 2.0, c[0] * (x + c[2]) ** 2.0),
        (c[0] * (c[1] * x + c[2]) ** 0.5, c[0] * (c[1] * x + c[2]) ** 0.5),  # the sign under the root is needed
        (c[0] * (x + c[1]) ** 2.0, c[0] * (x + c[1]) ** 2.0),
        (c[0] * (c[1] * x + c[0]) ** -1.0, c[0] * (c[1] * x + c[0]) ** -1.0),  # c0 stands in two places
    ],
)
def test_constants_that_only_scale_are_left_out(expr: Expr, wanted: Expr) -> None:
    assert unscaled(expr) == wanted


def test_of_two_sums_one_keeps_its_scale() -> None:
    k = [Param(i) for i in range(5)]
    expr = call("mul", k[0], k[1] * x + k[2], (k[3] * z + k[4]) ** -1.0)
    assert unscaled(expr) == call("mul", k[1] * x + k[2], (z + k[4]) ** -1.0)


def test_a_scaled_power_becomes_what_is_under_it() -> None:
    """1/y = c'·sin(c1·x) where y = c0/sin(c1·x), and y² = c1·x + c2 where y = c0·√(c1·x + c2)."""
    table = np.random.default_rng(0).uniform(0.5, 2, (10, 3))
    wave = peel(unscaled(c[0] * call("sin", c[1] * x) ** -1.0), y)
    root = peel(unscaled(c[0] * (c[1] * x + c[2]) ** 0.5), y)
    assert wave is not None and root is not None
    assert evaluate(wave.known, table) == pytest.approx(1.0 / table[:, 2])
    assert evaluate(root.known, table) == pytest.approx(table[:, 2] ** 2)


@many(300)
@given(
    expr=expressions(
        2, n_params=2, max_leaves=8, operators=("add", "sub", "mul", "div", "inv", "neg", "sqrt", "exp", "ln", "sin")
    ),
    X=points(2),
    params=parameters(2),
)
def test_the_equation_holds_on_the_curve(expr: Expr, X: np.ndarray, params: np.ndarray) -> None:
    found = peel(expr, y)
    values = evaluate(expr, X, params)
    if found is None:
        return
    table = np.column_stack([X, values])
    left, known = evaluate(found.equation, table, params), evaluate(found.known, table)
    moved = evaluate(found.equation, table * (1 + 1e-9), params)
    tilted = evaluate(found.equation, table * np.array([1.0, 1.0, 1 + 1e-9]), params)
    with np.errstate(all="ignore"):
        # Only where nothing is lost to rounding: well-scaled rows whose equation reacts to changes.
        tame = (np.abs(values) < 1e3) & (np.abs(values) > 1e-3) & (np.abs(known) < 1e3) & np.isfinite(left)
        tame &= (np.abs(moved - left) < 1e-5) & (np.abs(tilted - left) < 1e-5)
    assert np.abs(left[tame]).max(initial=0.0) < 1e-4
