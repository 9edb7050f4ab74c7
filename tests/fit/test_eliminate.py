"""From a full basis to a few columns."""

import numpy as np

from unisymnet.fit.eliminate import exact_support, residual_norms, selections

RNG = np.random.default_rng(3)


def test_residuals_of_many_targets_by_one_qr():
    columns = RNG.normal(size=(50, 5))
    inside, outside = columns @ np.arange(5.0), RNG.normal(size=50)
    left = residual_norms(columns, np.c_[inside, outside])
    solution = np.linalg.lstsq(columns, outside, rcond=None)[0]
    expected = np.linalg.norm(columns @ solution - outside) / np.linalg.norm(outside - outside.mean())
    assert left[0] < 1e-13 and abs(left[1] - expected) < 1e-12


def test_exact_support_finds_the_few_columns():
    columns = RNG.normal(size=(120, 60))
    columns /= np.linalg.norm(columns, axis=0)
    target = columns[:, [3, 17, 44]] @ np.array([1.0, -1e-3, 20.0])
    assert sorted(exact_support(columns, target, 1e-12, 10)) == [3, 17, 44]
    assert exact_support(columns, RNG.normal(size=120), 1e-12, 10) is None


def test_selection_by_description_length():
    columns = RNG.normal(size=(400, 30))
    columns[:, 7] = columns[:, 3] + columns[:, 4]  # a column that two others stand for
    columns /= np.linalg.norm(columns, axis=0)
    target = 3.0 * columns[:, 7] - 2.0 * columns[:, 20] + 0.01 * RNG.normal(size=400)
    best = selections(columns, target, np.full(30, 4.0), spread=float(np.std(target)), largest=10)[0]
    assert best.support.tolist() == [7, 20]
    np.testing.assert_allclose(best.coefficients, [3.0, -2.0], atol=0.1)
