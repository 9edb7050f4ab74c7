"""Sums of features: their parts, their honest errors, and `goal="predict"` from end to end."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from endless import bumps
from unisymnet import UniSymNetRegressor
from unisymnet.deadline import Deadline
from unisymnet.formula.constants import Constant
from unisymnet.metrics import r2
from unisymnet.regressor.compare import (
    Rivals,
    _as_good,
    _as_shrunk,
    _beats_constant,
    _distance,
    _held_to_whole,
    _nats,
    _without_twins,
    _without_weaker_linear,
)
from unisymnet.symbolic.expr import Const, Var, evaluate, walk
from unisymnet.tables.additive import WAYS, Additive, Row, find_additive
from unisymnet.tables.bank import knots, shapes_of_column, short
from unisymnet.tables.folds import clearly_wins, likely_wins, make_folds, wins
from unisymnet.tables.forward import Settings, find_sums
from unisymnet.tables.links import LINKS
from unisymnet.tables.pool import LINEAR, MIXED, base_pool
from unisymnet.tables.ridge import ridge

Floats = NDArray[np.float64]


def _table(n: int = 200, d: int = 4, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).uniform(0.5, 4.0, (n, d))


def _found(X: Floats, y: Floats, **settings: object) -> Additive:
    given = {"max_size": 60, "allowed": frozenset(), "rng": np.random.default_rng(0), "deadline": Deadline.never()}
    return find_additive(X, y, np.ones(len(y)), **(given | settings))  # type: ignore[arg-type]


def test_shapes_are_what_their_formulas_say() -> None:
    X = _table(50)
    X[:, 1] -= 2.0
    for column in (0, 1):
        shapes = shapes_of_column(X[:, column], column, frozenset())
        assert shapes[0].expr == Var(column) and len(shapes) > 8
        for shape in shapes:
            assert np.allclose(evaluate(shape.expr, X), shape.values)


def test_shapes_keep_to_the_operators_allowed() -> None:
    shapes = shapes_of_column(_table(50)[:, 0], 0, frozenset({"add", "mul", "ln"}))
    assert [str(shape.expr) for shape in shapes] == ["x0", "ln(x0)"]


def test_knots_are_short_numbers_inside_the_range() -> None:
    x = np.random.default_rng(0).normal(123.456, 7.0, 500)
    found = knots(x, (0.2, 0.5, 0.8))
    assert len(found) == 3 and all(x.min() < a < x.max() and a == round(a, 1) for a in found)
    assert short(0.0123456, 0.05) == 0.01


def test_the_leave_one_out_error_is_the_one_that_leaving_out_gives() -> None:
    rng = np.random.default_rng(1)
    F, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    closed = ridge(F, y, np.ones(20), (0.0,)).loo
    errors = []
    for row in range(20):
        kept = np.arange(20) != row
        fitted = ridge(F[kept], y[kept], np.ones(19), (0.0,))
        errors.append((y[row] - fitted.predict(F[[row]])[0]) ** 2)
    assert closed == pytest.approx(np.mean(errors))


def test_features_come_in_the_order_of_what_they_explain() -> None:
    X = _table(300)
    y = 5.0 * X[:, 2] + X[:, 0] + 0.01 * np.random.default_rng(0).normal(size=300)
    path = find_sums(base_pool(X, (), ()), y, np.ones(300), Settings())
    assert path.steps[1].features == (2,) and path.steps[2].features == (2, 0)


def test_rows_of_weight_zero_take_no_part() -> None:
    X = _table(100)
    y = X[:, 0] + np.where(np.arange(100) < 50, 0.0, 100.0 * X[:, 1])
    weights = np.where(np.arange(100) < 50, 1.0, 0.0)
    path = find_sums(base_pool(X, (), ()), y, weights, Settings())
    assert path.within(20, 50, 0.3).features == (0,)


def test_what_grows_from_a_feature_finds_products_of_three() -> None:
    X = _table(400)
    y = X[:, 0] * X[:, 1] * np.abs(X[:, 2] - 2.0)
    plain = find_sums(base_pool(X, range(4), range(4)).part(MIXED), y, np.ones(400), Settings(max_terms=6))
    grown = find_sums(base_pool(X, range(4), range(4)).part(MIXED), y, np.ones(400), Settings(max_terms=6, grow=True))
    assert grown.within(60, 400, 0.3).loo < 0.3 * plain.within(60, 400, 0.3).loo


def test_every_row_is_left_out_once_in_every_cut() -> None:
    for n in (10, 200, 1000):
        folds = make_folds(n, np.random.default_rng(0))
        counts = np.bincount(np.concatenate(folds.held), minlength=n)
        assert (counts == folds.n_cuts).all()


def test_a_longer_formula_must_win_in_most_folds() -> None:
    shorter = np.array([1.0, 1.0, 1.0, 1.0, 1.0])
    assert wins(np.array([0.9, 0.9, 0.9, 0.9, 1.1]), shorter)
    assert not wins(np.array([0.1, 1.1, 1.1, 1.1, 0.9]), shorter)
    assert likely_wins(np.array([0.5, 0.9, 0.9, 0.9, 1.1]), shorter, 1)
    assert not likely_wins(np.array([0.1, 0.99, 0.99, 1.2, 1.2]), shorter, 1)
    assert not clearly_wins(np.array([0.5, 0.9, 0.9, 0.9, 1.1]), shorter, 1)


def test_coefficients_of_an_exponential_minimise_errors_of_the_target() -> None:
    rng = np.random.default_rng(2)
    F = rng.uniform(0.0, 3.0, (200, 1))
    y = np.exp(0.5 + F[:, 0]) + rng.normal(0.0, 0.3, 200)
    y = np.maximum(y, 0.05)
    fitted = LINKS["exp"].fit(F, y, np.ones(200))
    assert fitted.coefficients[0] == pytest.approx(1.0, abs=0.01)


def test_the_linear_model_is_always_found_and_noise_is_not() -> None:
    X = _table(150, 6)
    rng = np.random.default_rng(3)
    found = _found(X, 2.0 * X[:, 0] - X[:, 3] + 0.1 * rng.normal(size=150))
    assert {node.index for node in walk(found.linear.expr) if isinstance(node, Var)} >= {0, 3}
    assert all(row.error >= 0.95 * found.linear.error for row in found.rows)
    noise = _found(X, rng.normal(size=150))
    assert not any(clearly_wins(row.errors, noise.constant.errors, noise.folds.n_cuts) for row in noise.rows)


def test_errors_of_the_folds_are_honest() -> None:
    X = _table(60, 10, seed=4)
    rng = np.random.default_rng(4)
    y = X[:, 0] ** 2 + 0.5 * rng.normal(size=60)
    found = _found(X, y)
    best = min(found.rows, key=lambda row: row.error)
    fresh = _table(4000, 10, seed=5)
    truth = fresh[:, 0] ** 2 + 0.5 * rng.normal(size=4000)
    test = float(np.mean((truth - evaluate(best.expr, fresh)) ** 2))
    assert 0.5 < best.error / test < 1.8


def test_sizes_and_operators_are_kept_and_time_ends_it() -> None:
    X = _table(200)
    y = np.sin(X[:, 0]) * X[:, 1] + X[:, 2] ** 2
    small = _found(X, y, max_size=20)
    assert all(row.size <= 20 for row in small.rows)
    late = _found(X, y, deadline=Deadline.after(0.0))
    assert not late.complete and {row.source for row in late.rows} == {"mean", "linear"}
    assert WAYS[0].kind == LINEAR


@pytest.fixture(scope="module")
def predicting() -> tuple[UniSymNetRegressor, Floats, Floats]:
    rng = np.random.default_rng(6)
    X = rng.uniform(-2.0, 2.0, (240, 5))
    y = np.abs(X[:, 0] - 0.5) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.2 * rng.normal(size=240)
    model = UniSymNetRegressor(goal="predict", max_time=None, proposers=["monomial"]).fit(X[:160], y[:160])
    return model, X, y


def test_goal_predict_finds_a_formula_that_predicts(predicting) -> None:
    model, X, y = predicting
    linear = ridge(X[:160], y[:160], np.ones(160)).predict(X[160:])
    assert model.score(X[160:], y[160:]) > r2(y[160:], linear) + 0.2
    table = model.equations_
    assert "linear" in set(table.source) and table.complexity.is_monotonic_increasing
    assert abs(table.r2_valid[model.picked_] - model.score(X[160:], y[160:])) < 0.1
    assert any("gradient boosting" in note for note in model.notes_)


def test_the_formula_of_goal_predict_is_an_ordinary_one(predicting, tmp_path) -> None:
    model, X, _ = predicting
    model.save(tmp_path / "model.json")
    again = UniSymNetRegressor.load(tmp_path / "model.json")
    assert np.allclose(again.predict(X), model.predict(X))
    assert "abs" in model.formula_.to("python") and model.latex() and model.sympy() is not None


def test_noise_stays_a_constant_under_both_goals() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(80, 5)), rng.normal(size=80)
    for goal in ("law", "predict"):
        model = UniSymNetRegressor(goal=goal, max_time=5, proposers=["monomial"]).fit(X, y)
        assert isinstance(model.formula_.expr, Const)


def test_no_pick_below_the_linear_model() -> None:
    rng = np.random.default_rng(8)
    X = rng.uniform(0.0, 1.0, (200, 8))
    y = X @ np.arange(1.0, 9.0) + 0.1 * rng.normal(size=200)
    model = UniSymNetRegressor(max_time=5, proposers=["monomial"]).fit(X, y)
    assert model.score(X, y) > 0.99
    assert any("linear model is picked" in note for note in model.notes_)


def test_the_end_of_the_time_is_not_called_an_interruption() -> None:
    """The search ends before the limit with goal="predict", because formulas are measured on folds after it."""
    table = bumps()
    model = UniSymNetRegressor(goal="predict", max_time=6, n_jobs=1).fit(table[["a", "b", "c"]], table["y"])
    assert model.stopped_ == "time" and not model.interrupted_


def test_goal_is_checked() -> None:
    X = _table(20)
    with pytest.raises(ValueError, match="goal must be one of law, predict, got 'guess'"):
        UniSymNetRegressor(goal="guess").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="minimises squares"):
        UniSymNetRegressor(goal="predict", loss="huber").fit(X, X[:, 0])


def _rivals(n_rows: int) -> Rivals:
    """Folds for so many rows, a constant with the error 1 on each."""
    X = _table(n_rows)
    found = _found(X, X[:, 0], ways=WAYS[:1])
    constant = Row(Const(0.0), 1, np.ones(len(found.folds.held)), "mean")
    return Rivals(replace(found, rows=(constant,)), (X, X[:, 0], np.ones(n_rows)), "predict")


def test_a_constant_gives_way_only_beyond_chance() -> None:
    rivals = _rivals(60)
    n = len(rivals.additive.folds.held)
    better, much_better = (Row(Var(0), 5, np.full(n, error), "linear") for error in (0.9, 0.5))
    assert not _beats_constant(better, rivals)  # 3 nats: of a hundred formulas one does that on pure noise
    assert _beats_constant(much_better, rivals)
    # Most of the error of a skewed target is that of a few rows, which two of five folds have: better by half in each.
    skewed = np.tile([1e3, 1.0, 0.1, 30.0, 0.1], n // 5)
    rivals = replace(rivals, additive=replace(rivals.additive, rows=(Row(Const(0.0), 1, skewed, "mean"),)))
    assert _beats_constant(Row(Var(0), 5, 0.5 * skewed, "linear"), rivals)
    assert not clearly_wins(0.5 * skewed, skewed, 4)


def test_a_fold_with_an_outlier_counts_as_one_and_nodes_have_a_price() -> None:
    rivals = _rivals(700)

    def nats(errors: list[float], size: int) -> float:
        return _nats(Row(Var(0), size, np.array(errors), "shapes"), rivals)

    usual, odd = [0.5] * 5, [0.4, 0.4, 0.4, 0.4, 0.95]
    assert np.mean(odd) > np.mean(usual) and nats(odd, 9) < nats(usual, 9)
    assert nats([0.499] * 5, 20) > nats(usual, 9) > nats([0.45] * 5, 20)
    assert np.isfinite(nats([0.0] * 5, 9))  # an exact law


def test_a_shorter_formula_as_good_is_known() -> None:
    rivals = _rivals(700)
    short = Row(Var(0), 4, np.ones(5), "linear")
    often, by_far = (
        Row(Var(1), 8, np.array(errors), "products")
        for errors in ((0.9, 0.95, 0.9, 1.2, 0.95), (0.5, 0.55, 0.5, 0.6, 0.55))
    )
    assert _as_good(short, often, rivals) and not _as_good(short, by_far, rivals)
    assert not _as_good(rivals.additive.constant, often, rivals)


def test_a_coefficient_drawn_towards_zero_is_shown_with_its_error() -> None:
    assert str(_as_shrunk(Constant(0.459, 0.474, 0.066))) == "0.459 ± 0.066"
    assert "fitted" in str(_as_shrunk(Constant(0.459, 0.9, 0.066)))  # more than shrinking: told


def test_no_word_about_the_law_where_none_is_looked_for(predicting) -> None:
    assert not any("cannot tell the chosen formula apart" in note for note in predicting[0].notes_)


def test_the_linear_model_of_all_columns_is_the_one_to_beat() -> None:
    X = _table(700)
    rows = X, X[:, 0], np.ones(700)
    found = _found(*rows[:2], ways=WAYS[:1])
    whole = Row(Var(0) + Var(1), 17, np.ones(5), "linear")
    rivals = Rivals(replace(found, whole=whole), rows, "predict")

    def held(*errors: float) -> bool:
        return _held_to_whole(Row(Var(0), 5, np.array(errors), "shapes"), rivals) is whole

    assert held(0.95, 1.05, 0.9, 1.05, 0.95)  # a little better, and as likely by chance
    assert not held(0.8, 0.85, 0.8, 0.9, 0.85)
    assert not held(0.9, 0.9, 0.9, 0.9, 0.0)  # uneven folds, but better in all of them
    constant = Row(Const(1.0), 1, np.full(5, 2.0), "mean")
    assert _held_to_whole(constant, rivals) is constant  # noise stays a constant


def test_a_table_does_not_say_the_linear_model_twice() -> None:
    X = _table(60)
    rows = X, X[:, 0] + np.linspace(-1.0, 1.0, 60), np.ones(60)
    rivals = Rivals(_found(*rows[:2], ways=WAYS[:1]), rows, "predict")
    n = len(rivals.additive.folds.held)
    line, same, other = (
        Row(Const(a) * Var(0), 3, np.full(n, 0.3), source)
        for a, source in ((1.0, "linear"), (1.0001, "corrected"), (1.5, "corrected"))
    )
    assert _without_twins([line, same, other], other, rivals) == [line, other]
    assert _without_twins([line, same], same, rivals) == [line, same]  # the pick and the linear model both stay


def test_gradient_boosting_is_compared_on_the_folds_it_had_time_for() -> None:
    X = _table(100)
    rows = X, X[:, 0], np.ones(100)
    found = _found(*rows[:2], ways=WAYS[:1])
    n = len(found.folds.held)
    found = replace(found, rows=(replace(found.rows[0], errors=np.ones(n)), *found.rows[1:]))
    best = Row(Var(0), 5, np.array([0.4] * 2 + [0.2] * (n - 2)), "shapes")
    told = _distance(best, Rivals(found, rows, "predict", np.array([0.1, 0.1])))
    assert "gives up 0.300" in told[0]
    assert "no time" in _distance(best, Rivals(found, rows, "predict"))[0]


def test_shorter_linear_models_stay_where_they_predict_better_than_what_is_before_them() -> None:
    mean, first, second, products, longest = (
        Row(Var(0), size, np.full(5, error), source)
        for size, error, source in (
            (1, 1.0, "mean"),
            (5, 0.8, "linear"),
            (9, 0.9, "linear"),
            (11, 0.7, "products"),
            (13, 0.6, "linear"),
        )
    )
    assert _without_weaker_linear([mean, first, second, products, longest], longest) == [mean, first, products, longest]
