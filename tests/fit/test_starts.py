"""Starts for waves: which constants are frequencies, and that enough of them are looked at."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.fit.constants import fit_constants
from unisymnet.fit.starts import wave_constants
from unisymnet.symbolic.expr import Expr, Param, Var, call, evaluate

x, z, w = Var(0), Var(1), Var(2)
c = [Param(i) for i in range(7)]


def test_frequencies_and_phases() -> None:
    roles = wave_constants(c[0] * call("sin", c[1] * x + c[2] * (x / z) + c[3]) + c[4] * x)
    assert roles == {1: x, 2: x / z, 3: None}
    assert wave_constants(c[0] * call("exp", c[1] * x)) == {}


@pytest.mark.parametrize(
    ("expr", "true"),
    [
        (c[0] * call("sin", c[1] * x + c[2] * z + c[3]), (2.0, 1.7, -2.4, 0.6)),
        (c[0] * call("sin", c[1] * x + c[2] * (x / z)), (2.0, 1.1, -1.9)),
        (c[0] / call("sin", c[1] * x + c[2] * z + c[3]), (2.0, 2.3, -1.0, 0.1)),
        (x * (c[0] * z + c[1] * call("cos", c[2] * x + c[3] * w) + c[4]) ** -1.0, (1.0, 0.7, 1.3, 0.8, 2.0)),
    ],
)
def test_waves_of_several_columns_are_found(expr: Expr, true: tuple[float, ...]) -> None:
    X = np.random.default_rng(0).uniform(0.5, 6.0, (150, 3))
    y = evaluate(expr, X, np.array(true))
    fit = fit_constants(expr, X, y, rng=np.random.default_rng(1), most_screened=4000)
    assert fit.loss <= 1e-16 * np.var(y)
