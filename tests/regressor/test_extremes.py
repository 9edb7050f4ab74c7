"""Sizes at the ends of what a number can be, thousands of groups, and limits that are over before the search."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.arrays import power_of_two
from unisymnet.deadline import Deadline, now
from unisymnet.errors import DataError
from unisymnet.formula.constants import covariance, rounding_steps
from unisymnet.knowledge.group.joint import fit_jointly
from unisymnet.knowledge.group.sharing import best_sharing
from unisymnet.regressor import options
from unisymnet.regressor.interrupt import Interrupts
from unisymnet.regressor.known import grouped
from unisymnet.regressor.options import options_of
from unisymnet.regressor.validation import Data, with_sigma
from unisymnet.symbolic import parse
from unisymnet.tables.folds import likely_wins
from unisymnet.tables.forward import Settings, find_sums
from unisymnet.tables.polish import polish
from unisymnet.tables.pool import base_pool

RNG = np.random.default_rng(0)
X = RNG.uniform(1.0, 3.0, (40, 2))
Y = X[:, 0] * X[:, 1] ** 2 * (1.0 + 0.02 * RNG.normal(size=40))


@pytest.mark.parametrize("settings", [{}, {"loss": "relative"}, {"goal": "predict"}, {"noise": "relative"}])
@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_a_target_beyond_all_squares_is_refused_without_a_warning(settings: dict[str, Any], size: float) -> None:
    with warnings.catch_warnings(), pytest.raises(DataError, match="cannot be stored"):
        warnings.simplefilter("error")
        UniSymNetRegressor(max_time=5, **settings).fit(X, Y * size)


@pytest.mark.parametrize("beside", [{"sample_weight": np.full(40, 1e200)}, {"sample_weight": np.full(40, 1e-200)}])
def test_huge_and_tiny_weights_count_by_their_ratios(beside: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        settings: dict[str, Any] = {"max_time": None, "max_evaluations": 10, "proposers": ["monomial"], "n_jobs": 1}
        model = UniSymNetRegressor(**settings).fit(X, Y, **beside)
        plain = UniSymNetRegressor(**settings).fit(X, Y, np.ones(40))
    assert str(model.formula_) == str(plain.formula_)


def test_errors_of_any_size_become_weights() -> None:
    errors = np.array([1e-200, 2e-200, 1e300])
    weights = with_sigma(None, errors, np.ones(3))
    assert np.isfinite(weights).all() and weights[0] == pytest.approx(4.0 * weights[1]) and weights[2] < 1e-90
    assert with_sigma(None, np.array([0.5, 2.0]), np.ones(2)).tolist() == [4.0, 0.25]


def test_relative_losses_near_the_ends() -> None:
    model = UniSymNetRegressor(max_time=None, max_evaluations=10, proposers=["monomial"], loss="relative", n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, Y * 1e-140)
    assert model.score(X, Y * 1e-140) > 0.9


def test_sums_do_not_depend_on_the_unit() -> None:
    """Single precision ends at 1e38, as astronomers' targets do."""
    pool = base_pool(X, (), (), frozenset())
    unit = 2.0**150
    plain, large = (find_sums(pool, y, np.ones(40), Settings()) for y in (Y, Y * unit))
    assert [step.features for step in large.steps] == [step.features for step in plain.steps] and len(plain.steps) > 1
    assert [step.loo for step in large.steps] == pytest.approx([step.loo * unit**2 for step in plain.steps])
    errors = RNG.uniform(1.0, 2.0, (2, 10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (1.0, 1e250):
            assert likely_wins(0.3 * errors[0] * scale, errors[1] * scale, 1)
    assert power_of_two(np.array([0.0])) == 1.0 == power_of_two(np.array([np.inf]))


def test_a_step_that_overflows_is_not_taken() -> None:
    expr = parse("1e300*exp(1e-300*x0) + 1e280*x1")
    polish(expr, X, Y * 1e140, np.ones(40))  # raised "a constant must be finite"


def test_columns_of_any_size_beside_the_linear_model() -> None:
    rng = np.random.default_rng(4)
    huge = rng.normal(size=(60, 3)) * np.array([1e300, 1.0, 1e-300])
    y = huge[:, 1] + 0.5 * rng.normal(size=60)
    model = UniSymNetRegressor(max_time=None, max_evaluations=5, proposers=["monomial"], n_jobs=1).fit(huge, y)
    assert np.isfinite(model.predict(huge)).all()  # "SVD did not converge"


def test_a_yardstick_that_fails_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr("unisymnet.regressor.compare.find_additive", failing)
    model = UniSymNetRegressor(max_time=None, max_evaluations=5, proposers=["monomial"], n_jobs=1).fit(X, Y)
    assert model.score(X, Y) > 0.9


def test_infinite_cells_are_named_without_a_warning() -> None:
    bad = Y.copy()
    bad[:2] = np.inf, -np.inf
    with warnings.catch_warnings(), pytest.raises(DataError, match="holds inf in row 0"):
        warnings.simplefilter("error")
        UniSymNetRegressor(max_time=5).fit(X, bad)


def test_weights_of_zero_are_refused_in_our_words() -> None:
    with pytest.raises(DataError, match="zero for every row"):
        UniSymNetRegressor(max_time=5).fit(X, Y, np.zeros(40))


def test_errors_of_constants_beyond_all_squares() -> None:
    form, huge = parse("c0*x0"), X * 1e299
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rounding_steps(form, (1e-299,), huge, Y)
        covariance(form, (1e-299,), huge, Y, np.ones(40))
        covariance(form, (1e299,), X * 1e-299, Y * 1e99, np.ones(40))


def _groups(n_groups: int, n_rows: int = 4) -> tuple[Data, list[str]]:
    labels = [f"g{i % n_groups}" for i in range(n_groups * n_rows)]
    x = np.random.default_rng(1).uniform(1.0, 3.0, (len(labels), 1))
    own = np.array([float(label[1:]) for label in labels])
    return Data(x, own * x[:, 0] + np.exp(-x[:, 0]), None, ("x0",), "y"), labels


def test_time_before_the_groups_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "warm_all", lambda: 0.0)  # compiling would be nobody's time
    data, labels = _groups(20)
    model = UniSymNetRegressor(max_time=50)
    rng, stop = np.random.default_rng(0), Interrupts()
    outcome = grouped.run_groups(data, labels, "g", options_of(model), options.Call((), (), rng, stop, now() - 100.0))
    assert not outcome.trace and outcome.seconds >= 100.0  # the limit was over: nothing was searched
    assert len(outcome.entries) == 1 and any("no time" in note for note in outcome.notes)


def test_joint_fits_end_with_the_time() -> None:
    data, _ = _groups(6)
    rows = [(data.X[i::6], data.y[i::6], np.ones(4)) for i in range(6)]
    over, start = Deadline(now() - 1.0), np.ones((6, 2))
    form = parse("c0*x0 + c1*exp(-x0)")
    assert np.array_equal(fit_jointly(form, rows, start, (1,), over).values, start)
    assert best_sharing(form, (1.0, 1.0), rows, over, np.random.default_rng(0)) is None


def test_a_column_of_names_is_no_column_of_groups() -> None:
    data, labels = _groups(501, 2)
    with pytest.raises(DataError, match="501 different labels, at most 500"):
        UniSymNetRegressor(max_time=5).fit(data.X, data.y, groups=labels)


@pytest.mark.parametrize("label", [None, float("nan"), " "])
def test_rows_without_a_group_are_named(label: Any) -> None:
    with pytest.raises(DataError, match="row 2 has no label"):
        UniSymNetRegressor(max_time=5).fit(X, Y, groups=["a", "b", label, *["a"] * 37])


def test_inputs_near_the_largest_number_are_refused_by_name() -> None:
    huge = np.column_stack([X[:, 0], np.where(X[:, 0] > 2.0, -1.6e308, 1.6e308)])
    with pytest.raises(DataError, match=r"x1 has a value of -?2e\+308; correct it"):
        UniSymNetRegressor(max_time=5).fit(huge, Y)


def test_a_model_of_huge_inputs_can_be_shown() -> None:
    rng = np.random.default_rng(5)
    unit = rng.uniform(0.1, 1.0, (60, 2))
    model = UniSymNetRegressor(max_time=5, proposers=["monomial"]).fit(unit * 1e300, unit[:, 0] / unit[:, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "svg" in model._repr_html_()
