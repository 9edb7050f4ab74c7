"""Power laws times an exponential of a power law."""

import numpy as np
import pytest
from listing import proposals
from recover import draw, solve

from unisymnet.fit.kernels.signomials import fit_exponents
from unisymnet.propose.separable.inside import Boltzmann


@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("x0*exp(-x1*x2*x4/(x3*x5))", [(1, 5)] * 6),
        ("-2.2*x0**2*exp(-x0**2/x1)/x1**1.5", [(0.1, 4), (0.5, 2)]),
        ("0.4*exp(-(x1/x0)**2/2)/x0", [(1, 3)] * 2),
        ("3.1*x0**0.7*exp(-52.5/x0)", [(3, 9)]),
        ("x0*x1*exp(2*sqrt(x2)/x3)", [(1, 4)] * 4),
    ],
)
def test_exact_laws(law, ranges):
    X, y = draw(law, ranges, n=300)
    assert solve(Boltzmann(seconds=20), X, y)[0] < 1e-12


def test_silent_where_there_is_nothing_for_it():
    X, y = draw("x0**2/x1", [(1, 5)] * 2)
    assert proposals(Boltzmann(), X, y) == []  # a power law already
    assert proposals(Boltzmann(), -X, y) == []  # no positive column
    assert proposals(Boltzmann(), X, np.sin(3 * X[:, 0])) == []  # both signs
    assert proposals(Boltzmann(), X, X[:, 0] * np.exp(X[:, 1]), operators=frozenset({"mul", "add"})) == []


def test_what_stands_beside_the_terms_is_projected_out():
    rng = np.random.default_rng(0)
    logs = rng.uniform(-1, 1, (100, 2))
    plain = np.column_stack([np.ones(100), logs])
    target = plain @ [3.0, -1.0, 2.0] + 1.5 * np.exp(logs @ [2.0, -1.0])
    beside = np.linalg.qr(plain)[0].T
    left = target - beside.T @ (beside @ target)
    found, rss = fit_exponents(logs, np.ones((1, 100)), left, np.ones(100), np.array([[1.7, -0.8]]), 50, beside)
    assert rss < 1e-20
    np.testing.assert_allclose(found, [[2.0, -1.0]], atol=1e-8)
