"""Coefficients fitted with the covariance of the rows: sharper than plain least squares, with errors that hold."""

import numpy as np
import pytest

from unisymnet.pde import PDERegressor
from unisymnet.pde.estimator import _with_numbers
from unisymnet.pde.grid import read_fields
from unisymnet.pde.sharpen import _slope, sharpened
from unisymnet.pde.terms import Term
from unisymnet.pde.weak import WeakForm, bumps_for, noise_level

X, T = np.linspace(0.0, 1.0, 96), np.linspace(0.0, 0.5, 61)
MODES = ((1.0, 2.0, 0.3), (0.6, 5.0, 1.0), (0.3, 9.0, 2.0))
HEAT = sum(a * np.sin(w * X[:, None] + p) * np.exp(-0.04 * w * w * T) for a, w, p in MODES)
TERM = Term((2,), (1,))


def _form(seed: int, level: float) -> WeakForm:
    noisy = HEAT + level * HEAT.std() * np.random.default_rng(seed).normal(size=HEAT.shape)
    grid, _, values = read_fields(noisy, {"x": X, "t": T}, "t")
    return WeakForm(grid, tuple(values), (noise_level(values[0]),), bumps_for(grid, values, 4))


def test_noisy_coefficients_are_sharper_and_their_errors_hold() -> None:
    plain, sharp, told = [], [], []
    for seed in range(6):
        form = _form(seed, 0.015)
        first = _with_numbers("u", [TERM], form.columns([TERM]), form.rate(0, 1), form.n_rows)
        found = sharpened(first, form, 0, 1)
        plain.append(first.coefficients[0] / 0.04 - 1.0)
        sharp.append(found.coefficients[0] / 0.04 - 1.0)
        told.append(found.errors[0] / 0.04)
    assert np.sqrt(np.mean(np.square(sharp))) < 0.75 * np.sqrt(np.mean(np.square(plain))) < 0.02
    assert np.sqrt(np.mean(np.square(np.array(sharp) / np.array(told)))) < 2.5


def test_clean_fields_are_left_alone() -> None:
    form = _form(0, 0.0)
    first = _with_numbers("u", [TERM], form.columns([TERM]), form.rate(0, 1), form.n_rows)
    assert sharpened(first, form, 0, 1) is first


def test_slopes_are_derivatives() -> None:
    u, v = np.random.default_rng(0).normal(size=(2, 5, 4))
    assert _slope(Term((1,), (2, 1)), (u, v), 0) == pytest.approx(2.0 * u * v)
    assert _slope(Term((0,), (2, 1)), (u, v), 1) == pytest.approx(u**2)
    assert _slope(Term((0,), (2, 0)), (u, v), 1) is None
    assert _slope(Term((0,), (0, 0), "sin(x0)"), (u, v), 0) == pytest.approx(np.cos(u), abs=1e-6)


def test_low_waves_leave_room_for_rows() -> None:
    """A field of one wave once had test functions as wide as the grid, and five terms were read into one row."""
    x = np.arange(128) / 128
    waves = ((1.0, 1, 0.3), (0.6, 2, 1.0))
    turn = 2.0 * np.pi
    u = sum(a * np.sin(turn * w * x[:, None] + p) * np.exp(-0.04 * (turn * w) ** 2 * T) for a, w, p in waves)
    noisy = u + 0.015 * u.std() * np.random.default_rng(2).normal(size=u.shape)
    (equation,) = PDERegressor().fit(noisy, {"x": x, "t": T}).system_.equations
    assert equation.terms == (TERM,) and equation.coefficients[0] == pytest.approx(0.04, rel=0.02)


def test_no_round_begins_after_the_end_of_the_time() -> None:
    form = _form(0, 0.015)
    first = _with_numbers("u", [TERM], form.columns([TERM]), form.rate(0, 1), form.n_rows)
    assert sharpened(first, form, 0, 1, end=-1.0) is first is not sharpened(first, form, 0, 1)
