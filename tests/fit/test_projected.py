"""A constant found with everything linear projected out."""

from __future__ import annotations

import numpy as np

from unisymnet.arrays import Floats
from unisymnet.fit.projected import dips, refined, taken_out

T = np.linspace(0.0, 4.0, 60)
BASIS = np.linalg.qr(np.column_stack([np.ones(60), T]))[0]


def waves(kappas: Floats) -> Floats:
    return np.stack([np.sin(kappas[:, None] * T), np.cos(kappas[:, None] * T)], axis=2)


def test_a_scan_dips_inside_and_at_its_ends_the_lowest_first() -> None:
    left = np.array([1.0, 3.0, 0.5, 2.0, np.nan, 2.5, 0.7])
    assert dips(left, 3).tolist() == [2, 6, 0]
    assert dips(left, 1).tolist() == [2]
    assert dips(left, 3, below=0.6).tolist() == [2]


def test_what_is_taken_out_is_orthogonal() -> None:
    left = taken_out(np.random.default_rng(0).normal(size=(5, 60, 3)), BASIS)
    assert np.abs(BASIS.T @ left).max() < 1e-13


def test_constant_and_coefficients_of_an_exact_sum() -> None:
    y = 0.7 - 0.2 * T + 1.5 * np.sin(2.3 * T) - 0.4 * np.cos(2.3 * T)
    kappa, coefficients, left = refined(waves, BASIS, taken_out(y[:, None], BASIS)[:, 0], 2.1, 12)
    assert abs(kappa - 2.3) < 1e-10 and left < 1e-9
    np.testing.assert_allclose(coefficients, [1.5, -0.4], atol=1e-8)


def test_a_start_that_leads_nowhere_is_given_back() -> None:
    def undefined(kappas: Floats) -> Floats:
        return np.zeros((len(kappas), 60, 1))

    kappa, coefficients, left = refined(undefined, BASIS, T**2, 2.1, 12)
    assert kappa == 2.1 and left > 1.0 and not coefficients.any()
