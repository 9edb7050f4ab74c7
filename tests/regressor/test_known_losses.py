"""Losses that are no function of the residual alone, and errors of inputs."""

import numpy as np
import pandas as pd
import pytest

from unisymnet import DataError, UniSymNetRegressor
from unisymnet.regressor.known.given import read_sigma
from unisymnet.regressor.known.work import Errors, Logistic, OwnResiduals, Poisson, work_of
from unisymnet.regressor.known.working import _total, minimised
from unisymnet.regressor.validation import Data, read_loss
from unisymnet.symbolic import evaluate, parse
from unisymnet.symbolic.expr import Var, rebuild

QUICK = {"max_evaluations": 40, "max_time": None, "n_jobs": 1, "proposers": ["monomial", "bases"]}


def rows(X: np.ndarray, y: np.ndarray) -> Data:
    return Data(X, y, None, tuple(f"x{i}" for i in range(X.shape[1])), "y")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


class TestNames:
    def test_absolute_is_the_quantile_in_the_middle(self):
        assert read_loss("absolute") == ("quantile", 0.5)
        assert read_loss("poisson") == ("poisson", None)
        assert read_loss((np.subtract, np.ones_like))[0] == "own"

    @pytest.mark.parametrize("wrong", ["poison", ("poisson", 2.0), ("mse", 1.0), 3, (np.subtract, "slope")])
    def test_others_are_refused_with_the_list(self, wrong):
        with pytest.raises(ValueError, match="loss"):
            read_loss(wrong)

    def test_targets_that_cannot_be(self, rng):
        X = rng.uniform(1, 2, (20, 1))
        with pytest.raises(DataError, match="counts, got -1 in row 3"):
            UniSymNetRegressor(loss="poisson", **QUICK).fit(X, np.where(np.arange(20) == 3, -1.0, 1.0))
        with pytest.raises(DataError, match="0 \\(no\\) or 1 \\(yes\\)"):
            UniSymNetRegressor(loss="logistic", **QUICK).fit(X, np.arange(20.0))
        with pytest.raises(DataError, match="which is 0 in row 0"):
            UniSymNetRegressor(loss="relative", **QUICK).fit(X, np.arange(20.0))
        with pytest.raises(DataError, match="log-odds"):
            UniSymNetRegressor(loss="logistic", constraints=["y >= 0"], **QUICK).fit(X, np.arange(20) % 2)


class TestWork:
    @pytest.mark.parametrize(
        ("work", "formula"),
        [
            (Poisson(), "2.4871*exp(0.4013*x0)"),
            (Logistic(), "1/(1 + exp(-(1.7133*x0 - 2.9071)))"),
            (OwnResiduals(lambda y, f: np.log(y) - np.log(f), lambda y, f: -1.0 / f), "1.3071*x0**2.2013"),
        ],
    )
    def test_the_constants_found_are_at_the_smallest_loss(self, work, formula, rng):
        X = rng.uniform(0.5, 3.0, (300, 1))
        truth = evaluate(parse(formula), X)
        if isinstance(work, Poisson):
            y = rng.poisson(truth).astype(float)
        elif isinstance(work, Logistic):
            y = (rng.uniform(size=300) < truth).astype(float)
        else:
            y = truth * np.exp(rng.normal(0.0, 0.1, 300))
        data = rows(X, y)
        expr = minimised(parse(formula), data, work)
        best = _total(expr, data, work)
        assert best < _total(parse(formula), data, work)
        for factor in (0.98, 1.02):  # no neighbour is better
            moved = rebuild(expr, lambda node, factor=factor: node * factor if isinstance(node, Var) else node)
            assert _total(moved, data, work) > best

    def test_probabilities_stay_probabilities(self, rng):
        work = Logistic()
        shown = work.shown(parse("3*x0 - 2"))
        p = evaluate(shown, rng.uniform(-50, 50, (100, 1)))
        assert (p >= 0).all() and (p <= 1).all()
        X = rng.uniform(-2, 2, (50, 1))
        np.testing.assert_allclose(evaluate(work.hidden(shown), X), 3 * X[:, 0] - 2, rtol=1e-9)

    def test_errors_of_inputs_count_through_the_slope(self, rng):
        X = rng.uniform(1.0, 2.0, (40, 2))
        work = Errors(np.full(40, 0.3), {0: np.full(40, 0.1)})
        variance = work.variance(rows(X, X[:, 0]), parse("x0**2 + x1"))
        np.testing.assert_allclose(variance, 0.09 + (2 * X[:, 0] * 0.1) ** 2)

    def test_residual_functions_are_checked(self, rng):
        X = rng.uniform(1.0, 2.0, (10, 1))
        work = OwnResiduals(lambda y, f: 0.0, lambda y, f: np.ones(10))
        with pytest.raises(DataError, match="gave shape"):
            work.rows(rows(X, X[:, 0]), parse("x0"))
        with pytest.raises(DataError, match="zero or not a number"):
            OwnResiduals(np.subtract, lambda y, f: np.zeros(10)).near(rows(X, X[:, 0]), parse("x0"))

    @pytest.mark.parametrize("wrong", [lambda y, f: "a", lambda y, f: 1 / 0, lambda y: y])
    def test_residual_functions_that_fail_are_told(self, rng, wrong):
        X = rng.uniform(1.0, 2.0, (20, 1))
        with pytest.raises(DataError, match="your residual function must take two arrays and give one, but raised"):
            UniSymNetRegressor(**QUICK, loss=(wrong, lambda y, f: -np.ones(len(y)))).fit(X, X[:, 0])

    def test_plain_losses_need_no_work(self, rng):
        data = rows(rng.uniform(1, 2, (9, 1)), np.ones(9))
        assert work_of(("mse", None), data, None) is None and work_of(("huber", 1.0), data, None) is None
        with pytest.raises(DataError, match="need loss"):
            work_of(("huber", 1.0), data, (np.ones(9), {0: np.ones(9)}))


class TestSigma:
    def test_names_numbers_and_columns(self):
        X = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
        given = read_sigma({"E": 0.1, "b": [0.2, 0.3]}, X, pd.Series([1.0, 2.0], name="E"), None)
        assert given.names == ("b",) and given.of_y.tolist() == [0.1, 0.1]
        assert given.of_x.tolist() == [[0.2], [0.3]]

    @pytest.mark.parametrize("sigma", [0.05, np.float64(0.05), {"y": 0.05}])
    def test_one_number_is_the_noise_of_every_row(self, sigma, rng):
        """losses.md promises one number or one per row; one number had been refused for its shape."""
        X = rng.uniform(1.0, 3.0, (60, 1))
        y = 2.0 * X[:, 0] ** 2 + rng.normal(0.0, 0.05, 60)
        told = UniSymNetRegressor(**QUICK, noise=0.05).fit(X, y)
        model = UniSymNetRegressor(**QUICK).fit(X, y, sigma=sigma)
        assert str(model.formula_) == str(told.formula_)
        with pytest.raises(DataError, match="must not be negative"):
            UniSymNetRegressor(**QUICK).fit(X, y, sigma=-0.05)
        with pytest.raises(DataError, match="must be positive"):
            UniSymNetRegressor(**QUICK).fit(X, y, sigma=0)

    @pytest.mark.parametrize(
        ("sigma", "told"),
        [
            ({"c": 0.1}, "no column 'c'"),
            ({"a": [0.1]}, None),
            ({"a": [0.1, 0.2, 0.3]}, "one for each of the 2 rows"),
            ({"a": -0.1}, "must not be negative"),
        ],
    )
    def test_mistakes(self, sigma, told):
        X, y = pd.DataFrame({"a": [1.0, 2.0]}), pd.Series([1.0, 2.0])
        if told is None:
            assert read_sigma(sigma, X, y, None).of_x.tolist() == [[0.1], [0.1]]
            return
        with pytest.raises(DataError, match=told):
            read_sigma(sigma, X, y, None)

    def test_groups_and_errors_of_inputs_exclude_each_other(self):
        X, y = pd.DataFrame({"a": [1.0, 2.0]}), pd.Series([1.0, 2.0])
        with pytest.raises(DataError, match="groups="):
            read_sigma({"a": 0.1}, X, y, ["r", "s"])


class TestFit:
    def test_counts(self, rng):
        X = rng.uniform(0.5, 5.0, (250, 2))
        y = rng.poisson(2.0 * X[:, 0] * X[:, 1])
        model = UniSymNetRegressor(loss="poisson", **QUICK).fit(X, y)
        assert set(model.formula_.columns) == {"x0", "x1"} and model.formula_.complexity <= 7
        assert (model.predict(X) > 0).all()
        assert any("Poisson" in note for note in model.notes_)
        entry = model.front_[model.picked_]
        np.testing.assert_allclose(entry.loss, Poisson().rows(rows(X, y.astype(float)), entry.formula.expr).mean())

    def test_yes_or_no(self, rng):
        X = rng.uniform(-2.0, 2.0, (400, 2))
        p = 1.0 / (1.0 + np.exp(-3.0 * X[:, 0] * X[:, 1]))
        model = UniSymNetRegressor(loss="logistic", **QUICK).fit(X, rng.uniform(size=400) < p)
        found = model.predict(X)
        assert (found >= 0).all() and (found <= 1).all()
        assert np.corrcoef(found, p)[0, 1] > 0.98

    def test_relative_errors_find_the_law_over_decades(self, rng):
        X = 10.0 ** rng.uniform(-2.0, 2.0, (80, 1))
        y = 3.0 * X[:, 0] ** 1.5 * (1.0 + rng.normal(0.0, 0.02, 80))
        model = UniSymNetRegressor(loss="relative", **QUICK).fit(X, y)
        assert np.max(np.abs(model.predict(X) / (3.0 * X[:, 0] ** 1.5) - 1.0)) < 0.05

    def test_errors_of_inputs_change_what_rows_count(self, rng):
        true = rng.uniform(0.5, 4.0, 150)
        X = pd.DataFrame({"x": true + rng.normal(0.0, 0.05, 150)})
        y = pd.Series(2.0 * true**3 + rng.normal(0.0, 0.1, 150), name="y")
        with_errors = UniSymNetRegressor(**QUICK).fit(X, y, sigma={"y": 0.1, "x": 0.05})
        grid = pd.DataFrame({"x": np.linspace(0.5, 4.0, 30)})
        assert np.max(np.abs(with_errors.predict(grid) / (2.0 * grid.x**3) - 1.0)) < 0.1
        assert any("slope" in note for note in with_errors.notes_)
