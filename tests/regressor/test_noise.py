"""Honest errors and digits: ± under relative noise, standard errors of rows, constants with the digits they need."""

import numpy as np
import pytest

from unisymnet.errors import DataError
from unisymnet.formula.constants import report, rounded
from unisymnet.regressor.own import fit_formula
from unisymnet.regressor.validation import with_sigma
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse


def test_errors_cover_the_truth_under_relative_noise():
    inside = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.uniform(0.0, 8.0, 40)
        y = 30.0 * np.exp(-0.4 * x) * (1.0 + 0.1 * rng.normal(size=40))
        constants = fit_formula("a*exp(b*x0)", x[:, None], y).constants
        inside += [abs(c.value - truth) <= c.stderr for c, truth in zip(constants, (30.0, -0.4), strict=True)]
    assert 0.55 < np.mean(inside) < 0.82  # 0.68 is right; least squares alone gives about 0.4


def test_an_exponent_that_the_user_asks_for_is_fitted():
    rng = np.random.default_rng(1)
    x = rng.uniform(0.3, 30.0, 30)
    y = 2.3 * x**1.4 * (1.0 + 0.1 * rng.normal(size=30))
    values = [constant.value for constant in fit_formula("a*x0^b", x[:, None], y).constants]
    assert values == pytest.approx([2.3, 1.4], rel=0.1)


def test_printed_digits_keep_the_fit():
    rng = np.random.default_rng(2)
    x = rng.uniform(1000.0, 1010.0, (50, 1))
    y = 3.0 * (x[:, 0] - 1004.0) ** 2 + 0.5 * rng.normal(size=50)
    expr = parse("3.0012345678*x0**2 - 6026.4789123*x0 + 3025290.987654")
    from unisymnet.formula.constants import settle

    expr = settle(expr, x, y)
    constants = report(expr, x, y)
    shown = rounded(expr, constants)
    assert shown is not None and shown != expr
    squares = [float(np.sum((evaluate(e, x) - y) ** 2)) for e in (expr, shown)]
    assert squares[1] - squares[0] < 0.5 * squares[0] / 47


def test_no_more_digits_than_the_data_give():
    rng = np.random.default_rng(3)
    x = rng.uniform(0.5, 3.0, (40, 1))
    y = 2.7182818 * x[:, 0] + 0.1 * rng.normal(size=40)
    formula = fit_formula("a*x0", x, y)
    assert len(formula.text(6).split("*")[0]) <= 5


def test_standard_errors_of_rows_are_weights():
    assert with_sigma(None, None, object()) is None
    assert with_sigma(None, [1.0, 2.0, 0.5], np.ones(3)) == pytest.approx([1.0, 0.25, 4.0])
    assert with_sigma([2.0, 2.0, 2.0], [1.0, 2.0, 0.5], np.ones(3)) == pytest.approx([2.0, 0.5, 8.0])


@pytest.mark.parametrize("sigma", [[1.0, 2.0], [1.0, 0.0, 2.0], [1.0, np.nan, 2.0]])
def test_standard_errors_that_are_none_are_refused(sigma):
    with pytest.raises(DataError, match="sigma must be"):
        with_sigma(None, sigma, np.ones(3))
