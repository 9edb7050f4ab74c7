"""Problems: checked data, exact scaling, formulas carried between the two units."""

import numpy as np
import pytest
from hypothesis import given, settings

from strategies import expressions, points
from unisymnet.errors import DataError
from unisymnet.problem import make_problem
from unisymnet.symbolic import evaluate, parse
from unisymnet.symbolic.expr import Expr

X = np.random.default_rng(0).uniform(1, 2, (20, 2))
Y = X[:, 0] * X[:, 1]


def test_ordinary_data_stay_as_they_are() -> None:
    problem = make_problem(X, Y)
    np.testing.assert_array_equal(problem.X, X)
    np.testing.assert_array_equal(problem.y, Y)
    assert problem.names == ("x0", "x1")
    assert (problem.n_rows, problem.n_features, problem.y_scale) == (20, 2, 1.0)
    np.testing.assert_allclose(problem.spread, Y.std())
    np.testing.assert_array_equal(problem.weights, 1.0)


def test_extreme_columns_are_scaled_by_powers_of_two_exactly() -> None:
    problem = make_problem(X * [1e-20, 1.0], Y * 1e12, noise=1e10)
    assert problem.x_scales[1] == 1.0
    for scale in (problem.x_scales[0], problem.y_scale):
        assert np.log2(scale) == round(np.log2(scale)) != 0
    np.testing.assert_array_equal(problem.X * problem.x_scales, X * [1e-20, 1.0])
    np.testing.assert_array_equal(problem.y * problem.y_scale, Y * 1e12)
    assert problem.noise == 1e10 / problem.y_scale


@settings(max_examples=200, deadline=None)
@given(expressions(2, tame=True), points(2))
def test_formulas_follow_the_units(expr: Expr, table: np.ndarray) -> None:
    problem = make_problem(X * [1e-20, 1e9], Y * 1e12)
    original = table * problem.x_scales
    there = evaluate(problem.to_original(expr), original)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(there, evaluate(expr, table) * problem.y_scale, rtol=1e-12)
        back = evaluate(problem.to_scaled(problem.to_original(expr)), table)
    np.testing.assert_allclose(back, evaluate(expr, table), rtol=1e-12)


def test_unscaled_formulas_are_untouched() -> None:
    expr = parse("2*x0 + x1")
    assert make_problem(X, Y).to_original(expr) is expr
    assert make_problem(X, Y).to_scaled(expr) is expr


def test_weights_have_mean_one() -> None:
    problem = make_problem(X, Y, weights=np.arange(20))
    np.testing.assert_allclose(problem.weights.mean(), 1.0)
    assert make_problem(X, Y, weights=[1.0] * 19 + [0.0]).spread > 0.0


def test_allowed_operators() -> None:
    assert make_problem(X, Y).allows("sin", "exp")
    limited = make_problem(X, Y, operators=frozenset({"add", "mul"}))
    assert limited.allows("add", "mul")
    assert not limited.allows("add", "sin")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"X": X[:, 0]}, "must be"),
        ({"y": Y[:3]}, "must be"),
        ({"X": X[:0], "y": Y[:0]}, "at least one row"),
        ({"X": X[:, :0]}, "at least one"),
        ({"y": np.where(Y > 2, np.nan, Y)}, "finite"),
        ({"X": np.full_like(X, np.inf)}, "finite"),
        ({"names": ["a"]}, "2 columns need as many names, got 1"),
        ({"weights": [1.0]}, "weights must be 20"),
        ({"weights": -np.ones(20)}, "weights must be"),
        ({"weights": np.zeros(20)}, "positive sum"),
        ({"y": 1e200 * Y}, "squares, by which formulas are compared, cannot be stored; divide y by"),
        ({"y": 1e-200 * Y}, "divide y by"),
    ],
)
def test_bad_data_are_refused(bad: dict, message: str) -> None:
    given_data = {"X": X, "y": Y} | bad
    with pytest.raises(DataError, match=message):
        make_problem(given_data.pop("X"), given_data.pop("y"), **given_data)


def test_a_column_of_zeros_has_scale_one() -> None:
    assert make_problem(np.zeros((5, 1)), np.zeros(5)).x_scales.tolist() == [1.0]


def test_the_rounding_of_a_table_is_recognised() -> None:
    y = np.random.default_rng(0).normal(size=300)
    X = y[:, None]
    assert make_problem(X, y).rounding == 0.0
    assert make_problem(X, np.round(y, 6)).rounding == pytest.approx(1e-6 / np.sqrt(12.0))
    assert make_problem(X, np.round(y)).rounding == 0.0, "counts are not rounded laws"
    far = make_problem(X, np.round(1e9 * y, -3))
    assert far.rounding * far.y_scale == pytest.approx(1e3 / np.sqrt(12.0))
