"""A fitted model as the list of its formulas, and as what scikit-learn takes for an estimator all the same."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline

from unisymnet import UniSymNetRegressor

X = np.random.default_rng(0).uniform(1.0, 3.0, (40, 2))
Y = 2.0 * X[:, 0] * X[:, 1] + np.random.default_rng(1).normal(0.0, 0.05, 40)


def small(seed: int = 0) -> UniSymNetRegressor:
    return UniSymNetRegressor(
        max_time=20, n_jobs=1, proposers=["monomial", "bases"], max_evaluations=5, random_state=seed
    )


def test_length_places_and_iteration_agree() -> None:
    model = small().fit(X, Y)
    assert len(model) == len(model.equations_) == len(model.front_) > 1
    assert [str(formula) for formula in model] == [str(model[i]) for i in range(len(model))]
    assert model[-1] is model[len(model) - 1]
    assert model.formula_ in model and model
    with pytest.raises(IndexError, match="the table has"):
        model[len(model)]


def test_before_the_fit_there_is_an_estimator_and_no_list() -> None:
    model = small()
    assert bool(model) is True
    for question in (len, iter, lambda m: m[0]):
        with pytest.raises(NotFittedError):
            question(model)


def test_scikit_learn_takes_it_for_one_estimator() -> None:
    fitted = small().fit(X, Y)
    pipe = Pipeline([("model", fitted)])
    assert "UniSymNetRegressor" in repr(pipe) and len(clone(pipe)) == 1
    search = GridSearchCV(Pipeline([("model", small())]), {"model": [fitted, small(1)]}, cv=2, error_score="raise")
    assert search.fit(X, Y).best_score_ > 0.9
    assert len(cross_validate(fitted, X, Y, cv=2, return_estimator=True, error_score="raise")["estimator"]) == 2
