"""Ties: constants at ±1 and equal constants are recognised from the covariance alone, others are left."""

import numpy as np
import pytest

from unisymnet.dynamics.shooting import Shot
from unisymnet.dynamics.smoothing import noise_of
from unisymnet.dynamics.ties import find_ties


def _shot(params: list[float], errors: list[float], n: int = 500) -> Shot:
    information = np.diag(1.0 / np.square(errors))
    return Shot(np.array(params), np.zeros((1, 1)), float(n), n, information, np.zeros((n, 1)))


def test_units_and_pairs_save_what_a_constant_costs() -> None:
    ties = find_ties(_shot([0.999, 0.314, -0.315, 2.7], [0.01, 0.004, 0.004, 0.01]), 0.3)
    assert ties.units == (0,)
    assert ties.pairs == ((2, 1),)
    assert 2.0 < ties.saved < np.log(500)


def test_constants_that_differ_are_not_tied() -> None:
    assert find_ties(_shot([1.2, 0.5, 0.6], [0.01, 0.01, 0.01]), 0.3).saved == 0.0
    assert find_ties(_shot([], []), 0.3).saved == 0.0


@pytest.mark.parametrize(("level", "share"), [(0.1, 0.0), (0.01, 0.05)])
def test_the_noise_model_is_told_from_residuals(level: float, share: float) -> None:
    rng = np.random.default_rng(0)
    size = np.abs(rng.normal(size=2000)) * 3.0
    noise = noise_of(np.hypot(level, share * size) * rng.normal(size=2000), size)
    assert noise.deviation(size) == pytest.approx(np.hypot(level, share * size), rel=0.25)


def test_information_that_rounding_has_emptied_ties_nothing() -> None:
    # A diagonal of rounding errors beside large entries: scaled, it overflows, and eigenvalues do not converge.
    information = np.array([[-1e-9, 1e5, 2.0], [1e5, 1e-12, 3.0], [2.0, 3.0, 0.0]])
    shot = Shot(np.array([1.0, 2.0, 1.0]), np.zeros((1, 1)), 500.0, 500, information, np.zeros((500, 1)))
    with np.errstate(all="ignore"):
        assert find_ties(shot, 0.3).saved == 0.0
        assert np.isinf(shot.errors()).all()
