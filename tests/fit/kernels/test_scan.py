"""Variable projection: slopes, coarse shares, and refinement to machine precision."""

import numpy as np
import pytest
from numba import njit

from unisymnet.fit.kernels import scan
from unisymnet.fit.kernels.scan import COLUMNS, OFFSET, Codes, coarse, inner, refine, refine_many

RNG = np.random.default_rng(1)
N = 120
TABLE = np.vstack([np.ones(N), RNG.uniform(0.5, 2.0, size=(3, N)), np.ones(N)])
OUTER = np.ascontiguousarray(np.linalg.qr(np.column_stack([np.ones(N), TABLE[3]]))[0].T)
ALL = [c for c in range(len(OFFSET)) if c != Codes.ABS1]


def term(multiplier, code, t=-1, t2=-1):
    return np.array([multiplier, code, t, t2])


def unit(target):
    free = target - OUTER.T @ (OUTER @ target)
    return free / np.linalg.norm(free)


@njit
def _columns(term, table, kappa, columns, slopes):
    """The parts are compiled for one another and cannot be called from Python."""
    return scan._columns(term, table, kappa, columns, slopes)


@pytest.mark.parametrize("code", ALL)
def test_slopes_are_the_derivatives_of_the_columns(code):
    kappa, step = 0.37, 1e-6
    columns, slopes = np.empty((2, N)), np.empty((2, 2, N))
    made = _columns(term(0, code, 1), TABLE, np.array([kappa]), columns, slopes)
    assert made == COLUMNS[code]
    values = inner(code, OFFSET[code] + kappa * TABLE[1])
    up = inner(code, OFFSET[code] + (kappa + step) * TABLE[1])
    down = inner(code, OFFSET[code] + (kappa - step) * TABLE[1])
    for c in range(made):
        np.testing.assert_allclose(columns[c], values[c], rtol=1e-10)
        np.testing.assert_allclose(slopes[c, 0], (up[c] - down[c]) / (2 * step), rtol=2e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("code", "kappa", "start"),
    [(Codes.LN1, 1.7, 0.4), (Codes.EXP, -1.3, -0.3), (Codes.WAVE, 5.1, 4.6), (Codes.LOG_SIN, 0.9, 1.0)],
)
def test_refine_finds_the_constant(code, kappa, start):
    columns = inner(code, OFFSET[code] + kappa * TABLE[1])
    target = unit(2.0 + 0.3 * TABLE[3] + sum((k + 1) * 1.9 * c for k, c in enumerate(columns)))
    found = np.array([start])
    rss = refine(term(0, code, 1), TABLE, found, OUTER, target, 30, 1e-30)
    assert rss < 1e-22
    assert found[0] == pytest.approx(kappa, rel=1e-9)


def test_refine_finds_two_constants_of_a_multiplied_function():
    target = unit(1.0 + 2.0 * TABLE[3] * np.sin(4.2 * TABLE[1] - 1.7 * TABLE[2] + 0.5))
    found = np.array([4.0, -1.5])
    assert refine(term(3, Codes.WAVE, 1, 2), TABLE, found, OUTER, target, 60, 1e-30) < 1e-18
    np.testing.assert_allclose(found, [4.2, -1.7], rtol=1e-6)


def test_refine_many_keeps_candidates_apart_and_says_when_a_start_is_outside_the_domain():
    target = unit(np.sqrt(1 + 0.5 * TABLE[1]))[None, :]
    terms = np.array([term(0, Codes.SQRT1, 1), term(0, Codes.SQRT1, 1), term(2, -1)])
    kappas = np.array([[0.3], [-5.0], [0.0]])
    rss = refine_many(terms, TABLE, kappas, OUTER, target, np.zeros(3, dtype=np.int64), 20, 1e-30)
    assert rss[0] < 1e-20 and rss[1] == 2.0 and 0.0 < rss[2] <= 1.0


def test_coarse_is_the_explained_share():
    target = unit(np.exp(0.7 * TABLE[1]))
    columns = inner(Codes.EXP, np.array([[0.7], [-0.2]]) * TABLE[1])
    bad = np.full((1, N), np.nan)
    shares = coarse([np.vstack([columns[0], bad])], OUTER, target[None, :])
    assert shares[0, 0] == pytest.approx(1.0) and 0 < shares[1, 0] < 1 and shares[2, 0] == -1
