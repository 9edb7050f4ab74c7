"""Views invert, weigh and restrict themselves."""

import numpy as np
import pytest

from unisymnet.problem import make_problem
from unisymnet.propose.view.views import VIEW_NAMES, views_of
from unisymnet.symbolic.expr import Var, evaluate

RNG = np.random.default_rng(0)
TARGETS = {
    "positive": RNG.uniform(0.1, 1.5, 60),
    "negative": RNG.uniform(-5.0, -0.2, 60),
    "both signs": RNG.normal(size=60),
    "about pi": RNG.uniform(2.0, 4.0, 60),
    "shares": RNG.uniform(0.01, 0.99, 60),
}


def problem(y, **settings):
    return make_problem(RNG.normal(size=(len(y), 1)), y, **settings)


@pytest.mark.parametrize("kind", TARGETS)
def test_inverse_formula_gives_y_back(kind):
    y = TARGETS[kind]
    for view in views_of(problem(y)):
        values = view.values(y)
        good = view.valid(y)
        assert good.all()
        back = evaluate(view.invert(Var(0)), values[:, None])
        np.testing.assert_allclose(back, y, rtol=1e-10, err_msg=view.name)
        np.testing.assert_allclose(view.back(values), y, rtol=1e-10)


@pytest.mark.parametrize("kind", TARGETS)
def test_weights_are_one_over_the_slope(kind):
    y, step = TARGETS[kind], 1e-6
    for view in views_of(problem(y)):
        slope = (view.values(y + step) - view.values(y - step)) / (2 * step)
        np.testing.assert_allclose(view.weights(y) * np.abs(slope), 1.0, rtol=1e-5, err_msg=view.name)


def test_order_and_choice():
    names = [view.name for view in views_of(problem(TARGETS["positive"]))]
    assert names == [name for name in VIEW_NAMES if name in names]
    assert [view.name for view in views_of(problem(TARGETS["positive"]), ["ln(y)", "y"])] == ["y", "ln(y)"]
    with pytest.raises(ValueError, match="unknown views"):
        views_of(problem(TARGETS["positive"]), ["cot(y)"])


def test_operators_restrict_the_views():
    found = views_of(problem(TARGETS["positive"], operators=frozenset({"add", "mul", "sin"})))
    assert [view.name for view in found] == ["y", "sqrt(y)"]


def test_a_few_rows_of_the_other_sign_are_noise_but_not_exact():
    y = np.r_[RNG.uniform(1.0, 2.0, 60), -0.01]
    views = {view.name: view for view in views_of(problem(y))}
    assert not views["y**2"].strict and not views["ln(y)"].strict
    assert views["1/y"].strict
    assert not views["ln(y)"].valid(y)[-1] and views["ln(y)"].weights(y)[-1] == 0.0
    assert views["y**2"].values(y)[-1] < 0


def test_both_signs_leave_no_even_view():
    names = {view.name for view in views_of(problem(TARGETS["both signs"]))}
    assert names <= {"y", "1/y", "exp(y)"}


def test_only_shares_have_a_logit():
    assert "logit(y)" in [view.name for view in views_of(problem(TARGETS["shares"]))]
    assert "logit(y)" not in [view.name for view in views_of(problem(TARGETS["positive"]))]
