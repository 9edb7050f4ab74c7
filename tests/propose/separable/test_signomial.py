"""Sums of power laws with continuous exponents."""

import numpy as np
import pytest
from listing import proposals
from recover import draw, solve

from unisymnet.fit.kernels.signomials import fit_exponents
from unisymnet.propose.separable.signomial import Signomial


@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("4.4*x0**0.5*x1-1.3*x2**-1.5", [(0.1, 5)] * 3),
        ("x0*x1/(x2*x3)+x0*x4*x7/(x5*x6**2*x2*x3)", [(1, 3)] * 8),
        ("sqrt(8.4*x0*x1-x2*x3**2/x4**2)", [(1, 3), (1, 3), (1, 2), (1, 2), (1, 3)]),
        ("1/(0.7*x0**1.3+2.1*x1**-0.4)", [(0.2, 5)] * 2),
        ("3*x0**2-2*x0*x1", [(-3, -1), (1, 4)]),
    ],
)
def test_exact_sums_of_power_laws(law, ranges):
    X, y = draw(law, ranges, n=300)
    assert solve(Signomial(), X, y)[0] < 1e-12


def test_columns_of_both_signs_get_a_parity():
    X, y = draw("2*x0*x1**2-0.7*x1**3", [(-2, 2)] * 2, n=300)
    assert solve(Signomial(terms=(2,), rounds=12), X, y)[0] < 1e-12


@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_noisy_sums(noise):
    X, y = draw("x0*x1/x2+x0*x3/(x4*x5**2)", [(1, 3)] * 6, n=1000, noise=noise)
    assert "x3/(x4*x5**2)" in str(proposals(Signomial(seconds=60), X, y)[0])


def test_the_loop_reaches_rounding():
    rng = np.random.default_rng(0)
    logs = rng.uniform(-1, 1, (100, 2))
    true = np.array([[1.0, -2.0], [0.5, 1.0]])
    target = 2.0 * np.exp(logs @ true[0]) - 3.0 * np.exp(logs @ true[1])
    start = true + 0.2 * rng.normal(size=true.shape)
    found, rss = fit_exponents(logs, np.ones((2, 100)), target, np.ones(100), start, 50)
    assert rss < 1e-24 * np.sum(target**2)
    np.testing.assert_allclose(found, true, atol=1e-9)
