"""Losses of the estimator: outliers that Huber's loss survives, quantiles, what is refused."""

import numpy as np
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.fit.kernels.robust import Loss
from unisymnet.metrics import is_solution_strict
from unisymnet.regressor.losses import Judgement, rough_residuals
from unisymnet.regressor.validation import read_loss
from unisymnet.symbolic import parse

QUICK = {"max_evaluations": 60, "max_time": None, "proposers": ["monomial", "bases"]}


def spoiled(n: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """1.5*x0**2/x1 with noise, a tenth of the rows far off; and which."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 4.0, (n, 2))
    y = 1.5 * X[:, 0] ** 2 / X[:, 1] + rng.normal(0.0, 0.05, n)
    bad = rng.choice(n, n // 10, replace=False)
    y[bad] += rng.uniform(20.0, 80.0, len(bad)) * rng.choice((-1.0, 1.0), len(bad))
    return X, y, bad


def test_huber_finds_the_law_among_outliers_where_squares_do_not() -> None:
    X, y, _ = spoiled()
    law = parse("1.5*x0**2/x1")
    robust = UniSymNetRegressor(loss="huber", **QUICK).fit(X, y)
    squares = UniSymNetRegressor(loss="mse", noise="equal", **QUICK).fit(X, y)  # left to itself it sees the outliers
    assert is_solution_strict(law, robust.formula_.expr, X, tol=0.01)
    assert not is_solution_strict(law, squares.formula_.expr, X, tol=0.01)
    assert any("rows lie far from every formula" in note for note in robust.notes_)


def test_the_loss_of_the_table_is_the_loss_asked_for() -> None:
    X, y, _ = spoiled()
    model = UniSymNetRegressor(loss=("huber", 0.1), **QUICK).fit(X, y)
    for entry in model.front_:
        residuals = y - entry.formula.predict(X)
        assert entry.loss == pytest.approx(Loss("huber", 0.1).mean(residuals, None), rel=1e-9)


@pytest.mark.parametrize("level", [0.9, 0.25])
def test_a_quantile_leaves_its_share_of_rows_below(level: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(1.0, 4.0, (400, 1))
    y = 2.0 * X[:, 0] ** 2 + rng.normal(0.0, 1.0, 400)
    model = UniSymNetRegressor(loss=("quantile", level), **QUICK).fit(X, y)
    assert np.mean(y <= model.predict(X)) == pytest.approx(level, abs=0.025)
    assert model.score(X, y) > 0.9
    residuals = y - model.predict(X)
    assert model.front_[model.picked_].loss == pytest.approx(Loss("quantile", level).mean(residuals, None), rel=1e-9)


def test_exact_rows_with_outliers_give_the_exact_law() -> None:
    X, _, bad = spoiled()
    y = 3.0 * X[:, 0] * X[:, 1] ** 2
    y[bad] -= 40.0
    model = UniSymNetRegressor(loss="huber", **QUICK).fit(X, y)
    assert is_solution_strict(parse("3*x0*x1**2"), model.formula_.expr, X, tol=1e-6)


def test_units_of_the_target_do_not_matter() -> None:
    X, y, _ = spoiled()
    large = UniSymNetRegressor(loss="huber", **QUICK).fit(X, 1e9 * y)
    assert is_solution_strict(parse("1500000000*x0**2/x1"), large.formula_.expr, X, tol=0.01)


def test_outliers_are_recognised_before_anything_is_known() -> None:
    X, y, bad = spoiled()
    left = rough_residuals(X, y, np.ones(len(y)))
    assert set(bad) <= set(np.argsort(-np.abs(left))[: len(bad) + 2])
    judgement = Judgement.first(("huber", None), (X, y, np.ones(len(y))), None)
    assert not judgement.trusted[bad].any()
    assert judgement.trusted.mean() > 0.8


def test_losses_are_read_and_refused() -> None:
    assert read_loss("huber") == ("huber", None)
    assert read_loss(["quantile", 0.9]) == ("quantile", 0.9)
    for wrong in ("l1", ("quantile", 1.5), ("huber", -1.0), ("mse", 2.0), ("huber", "much"), 3):
        with pytest.raises(ValueError, match=r"loss|level|threshold"):
            UniSymNetRegressor(loss=wrong).fit([[1.0], [2.0]], [1.0, 2.0])


def test_a_saved_model_keeps_its_loss(tmp_path) -> None:  # type: ignore[no-untyped-def]
    X, y, _ = spoiled(60)
    model = UniSymNetRegressor(loss=("quantile", 0.9), **QUICK | {"max_evaluations": 5}).fit(X, y)
    model.save(tmp_path / "model.json")
    again = UniSymNetRegressor.load(tmp_path / "model.json")
    assert read_loss(again.loss) == ("quantile", 0.9)
    assert again.predict(X) == pytest.approx(model.predict(X))


def test_rows_where_a_formula_has_no_value_weigh_nothing() -> None:
    """A fit of a few thousand rows ended in a traceback: weights that are not numbers."""
    X = np.linspace(-1.0, 3.0, 50)[:, None]
    y = X[:, 0] ** 2
    judgement = Judgement.first(("huber", None), (X, y, np.ones(50)), None)
    for weights in (None, np.full(50, 2.0)):
        found = judgement.weights(parse("ln(x0)"), X, y, weights)
        assert found is not None and np.isfinite(found).all() and found.max() > 0.0
    assert judgement.weights(parse("ln(x0 - 9)"), X, y, None) is None
