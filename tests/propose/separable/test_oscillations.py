"""Waves in one input, damped or not, on a line."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from listing import proposals

from unisymnet import UniSymNetRegressor
from unisymnet.problem import make_problem
from unisymnet.propose.pool import misfit
from unisymnet.propose.separable.curves import Oscillations
from unisymnet.symbolic.expr import evaluate

RNG = np.random.default_rng(0)
T = RNG.uniform(0.0, 10.0, 300)
STAGE = Oscillations()

LAWS = {
    "damped": 2.2 * np.exp(-0.31 * T) * np.cos(3.7 * T + 0.5),
    "growing": np.exp(0.2 * T) * np.sin(4.0 * T),
    "two tones": 0.7 * np.cos(5.3 * T) + 1.2 * np.sin(2.1 * T),
    "three tones on a level": np.sin(T) + 0.5 * np.sin(3.1 * T) + 0.25 * np.cos(7.7 * T) + 2.0,
    "on a line": 3.0 + 0.2 * T + 1.5 * np.exp(-0.8 * T) * np.sin(6.0 * T),
    "a third of a period": np.sin(0.3 * T) + 0.1 * T,
    "beats": np.sin(5.0 * T) * np.sin(0.4 * T),
    "thirty periods": 4.0 * np.sin(19.0 * T + 1.0) - 7.0,
    "a chirp": 2.1 * np.sin(0.37 * T**2) + 1.0,
    "fringes over the wavelength": 1.5 * np.cos(31.0 / (T + 0.5)) + 0.3,
}


def found(y: np.ndarray, x: np.ndarray = T, stage: Oscillations = STAGE, **options):  # type: ignore[no-untyped-def]
    return proposals(stage, x.reshape(len(x), -1), y, **options)


@pytest.mark.parametrize("name", LAWS)
def test_waves_are_found_exactly_and_at_once(name: str) -> None:
    x = T + 0.5 if "wavelength" in name else T
    found(LAWS[name], x)  # compiles
    began = time.process_time()
    said = found(LAWS[name], x)
    assert misfit(make_problem(x[:, None], LAWS[name]), said[0]) < 1e-11
    assert time.process_time() - began < 1.0


def test_a_wave_that_fades_over_the_years() -> None:
    years = T + 2000.0  # exp(0.31*2000) is beyond what a height may be
    y = 5.0 * np.exp(-0.31 * (years - 2000.0)) * np.sin(4.0 * (years - 2000.0)) + 1.0
    law = found(y, years)[0]
    assert misfit(make_problem(years[:, None], y), law) < 1e-9


def test_noise_moves_constants_only_a_little() -> None:
    noisy = LAWS["damped"] + 0.05 * np.random.default_rng(1).normal(size=len(T))
    assert found(noisy) == []
    law = found(noisy, stage=Oscillations(noisy=True))[0]
    assert str(law).count("cos") == str(law).count("exp") == 1 and "sin" not in str(law)
    assert evaluate(law, T[:, None]) == pytest.approx(LAWS["damped"], abs=0.05)


@pytest.mark.parametrize("y", [np.exp(-T) + 1.0, T**3 - T, np.log(T + 1.0), np.full(len(T), 2.0)])
def test_smooth_curves_are_no_waves(y: np.ndarray) -> None:
    # Three waves follow each of these to a millionth of its spread.
    assert found(y) == []


def test_silent_with_two_inputs_few_rows_or_no_sine() -> None:
    assert found(LAWS["damped"], np.column_stack([T, T[::-1]])) == []
    assert found(LAWS["damped"][:10], T[:10]) == []
    assert found(LAWS["damped"], operators=frozenset({"add", "mul", "exp"})) == []
    steady = found(LAWS["two tones"], operators=frozenset({"add", "mul", "sin", "cos"}))
    assert steady and all("exp" not in str(expr) for expr in steady)


def test_the_search_finds_a_damped_wave_times_another_input() -> None:
    X = np.column_stack([T, RNG.uniform(1.0, 3.0, len(T))])
    model = UniSymNetRegressor(max_time=20, random_state=0).fit(X, X[:, 1] * LAWS["damped"])
    assert str(model.formula_) == "2.2*x1*cos(3.7*x0 + 0.5)*exp(-0.31*x0)"


def test_noise_does_not_leave_a_phase_where_there_is_none() -> None:
    y = 0.35 * np.exp(-0.15 * T) * np.cos(2.8 * T) + 0.005 * np.random.default_rng(2).normal(size=len(T))
    model = UniSymNetRegressor(max_time=15, random_state=0).fit(T[:, None], y)
    assert re.search(r"cos\(2\.80?\d*\*x0\)\*exp\(-0\.1", str(model.formula_))
