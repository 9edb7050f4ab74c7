"""A Python function as operator: its values as columns, its argument's factor fitted, predictions after loading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import j0, j1
from sklearn.base import clone

from unisymnet import Operator, UniSymNetRegressor
from unisymnet.errors import DataError


def minus_j1(x: Any) -> Any:
    return -j1(x)


BESSEL = Operator("j0", j0, derivative=minus_j1)


def drum() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"r": rng.uniform(0.1, 5.0, 150), "a": rng.uniform(1.0, 3.0, 150)})
    return X, pd.Series(2 * X["a"] * j0(1.7 * X["r"]) + 0.5, name="u")


def fitted(**settings: Any) -> UniSymNetRegressor:
    X, y = drum()
    model = UniSymNetRegressor(max_time=None, max_evaluations=60, n_jobs=1, operators=[BESSEL])
    return model.fit(X, y, **settings)


def test_a_law_with_a_python_function_is_found_saved_and_used_again(tmp_path: Path) -> None:
    X, y = drum()
    model = fitted()
    assert model.formula_.columns == ("a", "j0(1.7*r)") and np.allclose(model.predict(X), y)
    assert "j0" in model.latex()
    model.save(tmp_path / "m.json")
    loaded = UniSymNetRegressor.load(tmp_path / "m.json")
    with pytest.raises(DataError, match="your Python function j0, which is not stored"):
        loaded.predict(X)
    assert np.allclose(loaded.set_params(operators=[BESSEL]).predict(X), y)
    with pytest.raises(DataError, match="no column 'r'"):
        model.predict(X[["a"]])
    assert clone(model).operators == [BESSEL]


def test_arrays_have_names_of_their_own() -> None:
    X, y = drum()
    model = UniSymNetRegressor(max_time=None, max_evaluations=60, n_jobs=1, operators=BESSEL).fit(X.to_numpy(), y)
    assert "j0(1.7*x0)" in model.formula_.columns and np.allclose(model.predict(X.to_numpy()), y)


def test_what_cannot_be_an_operator_is_told() -> None:
    for wrong in (
        lambda: Operator("f", np.cbrt),
        lambda: Operator("f", 3),  # type: ignore[arg-type]
        lambda: Operator("f", np.cbrt, derivative=np.cbrt, constants={"n": 2}),
        lambda: Operator("f", "x^n", derivative=np.cbrt),
    ):
        with pytest.raises(ValueError, match="the operator f"):
            wrong()
    X, y = drum()
    short = Operator("first", lambda x: x[:1], derivative=lambda x: x)
    with pytest.raises(ValueError, match="one number for each"):
        UniSymNetRegressor(max_time=1, operators=[short]).fit(X, y)
    nothing = Operator("nothing", lambda x: np.full_like(x, np.nan), derivative=lambda x: x)
    with pytest.raises(DataError, match="nothing is not defined"):
        UniSymNetRegressor(max_time=1, operators=[nothing]).fit(X, y)
    with pytest.raises(DataError, match="cannot be combined with a Python function"):
        fitted(sigma={"u": 0.1, "r": 0.1})
