"""What is known, as parameters of an estimator: clone, pickle, grid search and JSON hold for all of them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from unisymnet import Operator, UniSymNetRegressor

QUICK = {"max_time": None, "max_evaluations": 6, "n_jobs": 1, "proposers": ["monomial"]}
KNOWN = {
    "operators": [None, ["*", "^", Operator("hill", "x^n/(1 + x^n)")]],
    "units": [None, {"m": "kg", "v": "m/s", "E": "J"}],
    "constants": [None, {"c": "299792458 m/s"}],
    "constraints": [None, ["dE/dv >= 0", "E(v=0) = 0"]],
    "template": [None, "m*f(v)"],
    "loss": ["mse", "relative", "poisson", ("quantile", 0.5), (np.subtract, lambda y, f: -np.ones_like(f))],
    "noise": [None, "relative"],
}


@pytest.fixture(scope="module")
def energies():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"m": rng.uniform(1, 3, 45), "v": rng.uniform(1, 3, 45)})
    return X, pd.Series(0.5 * X.m * X.v**2, name="E")


@pytest.mark.parametrize("name", list(KNOWN))
def test_grid_search_over_it(name, energies):
    search = GridSearchCV(UniSymNetRegressor(**QUICK), {name: KNOWN[name]}, cv=2, error_score="raise")
    search.fit(*energies)
    assert search.best_score_ > 0.99
    assert len(search.cv_results_["params"]) == len(KNOWN[name])


@pytest.mark.parametrize("name", list(KNOWN))
def test_clone_pickle_and_json(name, energies, tmp_path):
    given = KNOWN[name][1]
    model = UniSymNetRegressor(**QUICK, **{name: given})
    assert clone(model).get_params()[name] == given
    model.fit(*energies)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(energies[0]), model.predict(energies[0]))
    model.save(tmp_path / "model.json")
    loaded = UniSymNetRegressor.load(tmp_path / "model.json")
    np.testing.assert_allclose(loaded.predict(energies[0]), model.predict(energies[0]))
    assert loaded.get_params()[name] is not None


def test_functions_as_a_loss_are_left_out_of_the_file(energies, tmp_path):
    model = UniSymNetRegressor(**QUICK, loss=KNOWN["loss"][-1]).fit(*energies)
    model.save(tmp_path / "model.json")
    loaded = UniSymNetRegressor.load(tmp_path / "model.json")
    assert loaded.loss == "mse"
    np.testing.assert_allclose(loaded.predict(energies[0]), model.predict(energies[0]))
