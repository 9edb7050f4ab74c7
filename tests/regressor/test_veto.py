"""The linear model takes a law's place where it predicts better, but not by a few large values under growing noise."""

import numpy as np

from unisymnet import UniSymNetRegressor


def test_a_power_law_under_relative_noise_is_not_beaten_by_its_largest_values():
    rng = np.random.default_rng(5)
    x = np.exp(rng.uniform(-4.0, 8.0, 60))
    y = 9.0 * x**0.75 * np.exp(0.6 * rng.normal(size=60))
    model = UniSymNetRegressor(proposers=["monomial", "textbook"], max_time=10, n_jobs=1).fit(x[:, None], y)
    assert "**" in str(model.formula_) and not any("linear model" in note for note in model.notes_)
