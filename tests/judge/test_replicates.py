"""Repeated measurements estimate the noise, and say whether a formula misses something."""

import numpy as np
import pytest

from unisymnet.judge.replicates import lack_of_fit, pure_error
from unisymnet.problem import make_problem
from unisymnet.propose.view.noise import only_noise_left
from unisymnet.symbolic.parse import parse

X = np.repeat(np.arange(1.0, 6.0), 3)[:, None]


def test_pure_error_is_the_scatter_around_the_means():
    pure = pure_error(np.array([[1.0], [1.0], [2.0], [2.0], [3.0], [3.0], [4.0], [4.0], [5.0]]),
                      np.array([1.0, 3.0, 0.0, 2.0, 5.0, 7.0, 9.0, 11.0, 4.0]))  # fmt: skip
    assert pure is not None
    assert (pure.squares, pure.freedom, pure.n_places, pure.n_rows) == (pytest.approx(8.0), 4, 4, 9)
    assert pure.noise == pytest.approx(np.sqrt(2.0))


def test_a_row_of_weight_two_is_two_rows():
    X2 = np.array([[1.0], [1.0], [2.0], [2.0], [3.0], [3.0]])
    y = np.array([1.0, 2.0, 3.0, 5.0, 4.0, 1.0])
    weights = np.array([2.0, 1.0, 1.0, 2.0, 1.0, 1.0])
    twice = np.repeat(np.arange(6), weights.astype(int))
    once, again = pure_error(X2, y, weights), pure_error(X2[twice], y[twice])
    assert once is not None and again is not None
    assert once.squares == pytest.approx(again.squares)
    assert (once.freedom, once.n_places, once.n_rows) == (again.freedom, again.n_places, again.n_rows)


def test_rows_that_do_not_repeat_say_nothing():
    assert pure_error(np.arange(20.0)[:, None], np.arange(20.0)) is None


def test_lack_of_fit_is_as_rare_as_it_says():
    seen = []
    for seed in range(300):
        y = 2.0 * X[:, 0] + np.random.default_rng(seed).normal(size=15)
        line = np.polyval(np.polyfit(X[:, 0], y, 1), X[:, 0])
        pure = pure_error(X, y - line)
        assert pure is not None
        seen.append(lack_of_fit(pure, float(np.sum((y - line) ** 2)), 2))
    assert 0.02 < np.mean(np.array(seen) < 0.05) < 0.09
    assert 0.4 < np.mean(np.array(seen) < 0.5) < 0.6


def test_replicates_tell_noise_from_a_missing_term_where_rows_are_few():
    rng = np.random.default_rng(3)
    y = 0.5 * X[:, 0] ** 2 + 0.05 * rng.normal(size=15)
    problem = make_problem(X, y)
    assert only_noise_left(problem, parse("0.5*x0**2"))
    assert not only_noise_left(problem, parse("3*x0 - 3.5"))
