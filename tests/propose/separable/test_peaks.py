"""Peaks and steps in one input, on a line."""

from __future__ import annotations

import numpy as np
import pytest
from listing import proposals

from unisymnet import UniSymNetRegressor
from unisymnet.problem import make_problem
from unisymnet.propose.pool import misfit
from unisymnet.propose.separable.curves import Peaks
from unisymnet.symbolic.expr import evaluate

T = np.random.default_rng(0).uniform(0.1, 10.0, 150)

LAWS = {
    "a logistic step": 1.3 + 6.2 / (1.0 + np.exp(-1.7 * (T - 4.4))),
    "a falling step": 2.0 - 3.0 * np.tanh(0.8 * (T - 5.0)),
    "a normal peak on a line": 0.4 + 0.3 * T + 4.0 * np.exp(-((T - 5.0) ** 2) / 1.8),
    "two normal peaks": 3.0 * np.exp(-((T - 3.0) ** 2) / 0.8) + 2.0 * np.exp(-((T - 7.0) ** 2) / 1.5),
    "a dip": 5.0 - 2.0 / (1.0 + ((T - 4.0) / 0.3) ** 2),
    "three lines": sum(a / (1 + ((T - m) / s) ** 2) for a, m, s in [(1, 2, 0.3), (2, 5, 0.5), (7, 8, 0.4)]),
    "an angle": 2.0 * np.arctan(1.4 * (T - 3.0)) + 1.0,
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_peaks_and_steps_are_found_exactly(name: str, scale: float) -> None:
    X = T[:, None] * scale
    said = proposals(Peaks(), X, LAWS[name])
    assert misfit(make_problem(X, LAWS[name]), said[0]) < 1e-11


@pytest.mark.parametrize("y", [np.exp(-T), T**3 - T, np.sin(2.0 * T), T / (2.0 + T), np.full(len(T), 2.0)])
def test_other_curves_are_left_to_others(y: np.ndarray) -> None:
    assert proposals(Peaks(), T[:, None], y) == []


def test_two_peaks_under_noise() -> None:
    y = LAWS["two normal peaks"] + 0.03 * np.random.default_rng(1).normal(size=len(T))
    assert proposals(Peaks(), T[:, None], y) == []
    law = proposals(Peaks(noisy=True), T[:, None], y)[0]
    assert str(law).count("exp") == 2
    assert evaluate(law, T[:, None]) == pytest.approx(LAWS["two normal peaks"], abs=0.06)


def test_operators_decide_which_shapes_are_tried() -> None:
    allowed = frozenset({"add", "mul", "tanh"})
    assert proposals(Peaks(), T[:, None], LAWS["a dip"], operators=allowed) == []
    assert proposals(Peaks(), T[:, None], LAWS["a logistic step"], operators=allowed)
    assert proposals(Peaks(), np.column_stack([T, T**2]), LAWS["a dip"]) == []


def test_a_spectrum_takes_the_whole_search_a_moment() -> None:
    model = UniSymNetRegressor(max_time=30, random_state=0).fit(T[:, None], LAWS["two normal peaks"])
    assert str(model.formula_) == "3*exp(-1.25*(x0 - 3)**2) + 2*exp(-0.6666666666666666*(x0 - 7)**2)"
    assert model.front_[model.picked_].source == "peaks"
