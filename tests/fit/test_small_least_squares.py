"""Least squares by a few steps: the numbers of a curve, and their standard errors."""

import math

import numpy as np

from unisymnet.fit.steps import least_squares, standard_errors


def decay(x):
    def model(params):
        grown = np.exp(params[1] * x)
        return params[0] * grown, np.column_stack([grown, params[0] * x * grown])

    return model


def test_steps_find_the_numbers_of_a_curve():
    x = np.linspace(0.0, 2.0, 40)
    params, rss, _ = least_squares(decay(x), np.array([1.0, 0.0]), 2.5 * np.exp(-0.8 * x), steps=30)
    np.testing.assert_allclose(params, [2.5, -0.8], rtol=1e-9)
    assert rss < 1e-18


def test_a_start_beyond_all_numbers_is_no_fit():
    x = np.linspace(1.0, 2.0, 10)
    assert least_squares(decay(x), np.array([1.0, 1e4]), x)[1] == math.inf


def test_standard_errors_are_those_of_linear_regression():
    rng = np.random.default_rng(0)
    table = np.column_stack([np.ones(200), rng.normal(size=200)])
    expected = np.sqrt(np.diag(np.linalg.inv(table.T @ table)) * 3.0 / 198)
    np.testing.assert_allclose(standard_errors(table, 3.0), expected)
    assert np.isinf(standard_errors(np.zeros((5, 1)), 1.0)).all()
