"""SRBench's contract in our own words: what its scripts do with `contrib/srbench`, done here on a small table.

They import the file by name, set the seed and the test parameters, cut the data frame in two, start an alarm, fit, ask
for the formula, its size and the population, score everything on the test part and write JSON.
"""

import importlib.util
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sympy
from sklearn.base import RegressorMixin, clone
from sklearn.metrics import r2_score

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "contrib" / "srbench"
ALLOWED = {"eval_kwargs", "test_params", "max_train_samples", "scale_x", "scale_y", "pre_train", "use_dataframe"}


@pytest.fixture(scope="module")
def entry() -> Any:
    spec = importlib.util.spec_from_file_location("srbench_unisymnet", FOLDER / "regressor.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Columns whose names mean something else to SymPy, or are a part of each other."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.uniform(0.5, 3.0, (120, 4)), columns=["N", "x1", "x10", "beta"])
    return X, (X["x10"] ** 2 * X["N"] / (1 + X["x1"])).to_numpy()


@pytest.fixture(scope="module")
def fitted(entry: Any, table: tuple[pd.DataFrame, np.ndarray]) -> Any:
    X, y = table
    est = clone(entry.est).set_params(**entry.eval_kwargs["test_params"])
    est.set_params(max_time=None)  # until the law is exact, however slow the machine is
    est.random_state = 7
    return est.fit(X.iloc[:90], y[:90])


def read(text: str, X: pd.DataFrame) -> Any:
    """The formula as SRBench reads it: its own names are symbols."""
    return sympy.parse_expr(text, local_dict={name: sympy.Symbol(name) for name in X.columns})


def test_what_the_entry_must_have(entry: Any) -> None:
    assert isinstance(entry.est, RegressorMixin)
    assert {"random_state", "max_time"} <= set(entry.est.get_params())
    assert set(entry.eval_kwargs) <= ALLOWED
    assert entry.eval_kwargs["scale_x"] is False and entry.eval_kwargs["scale_y"] is False
    assert set(entry.eval_kwargs["test_params"]) <= set(entry.est.get_params())
    for name in ("metadata.yml", "requirements.txt", "install.sh"):
        assert (FOLDER / name).read_text(encoding="utf-8").strip()


def test_metadata_has_every_field() -> None:
    yaml = pytest.importorskip("yaml")
    said = yaml.safe_load((FOLDER / "metadata.yml").read_text(encoding="utf-8"))
    assert {"authors", "email", "name", "description", "url"} <= set(said)
    assert isinstance(said["authors"], list)


def test_the_formula_is_plain_sympy_in_the_names_of_the_data(entry: Any, fitted: Any, table: Any) -> None:
    X, _ = table
    expression = read(entry.model(fitted, X), X)
    assert {symbol.name for symbol in expression.free_symbols} <= set(X.columns)
    N, x1, x10 = sympy.symbols("N x1 x10")
    assert sympy.simplify(expression - x10**2 * N / (1 + x1)) == 0
    values = sympy.lambdify([sympy.Symbol(name) for name in X.columns], expression)(*X.to_numpy().T)
    assert np.allclose(values, fitted.predict(X))
    assert entry.complexity(fitted) == sum(1 for _ in sympy.preorder_traversal(expression))


def test_names_of_another_frame_are_put_in_by_position(entry: Any, fitted: Any, table: Any) -> None:
    X, _ = table
    swapped = X.set_axis(["x1", "N", "x10", "beta"], axis=1)
    text = entry.model(fitted, swapped)
    x1, N, x10 = sympy.symbols("x1 N x10")
    assert sympy.simplify(read(text, swapped) - x10**2 * x1 / (1 + N)) == 0


def test_a_name_that_ends_in_p_survives_srbench_s_own_cleaning(entry: Any, fitted: Any, table: Any) -> None:
    """Its script deletes the p of `p/`, which another method writes for a protected division."""
    X, _ = table
    named = X.set_axis(["zap", "temp", "q", "beta"], axis=1)
    text = entry.model(fitted, named).replace("p/", "/")
    zap, temp, q = sympy.symbols("zap temp q")
    assert sympy.simplify(read(text, named) - q**2 * zap / (1 + temp)) == 0
    assert "p/" in str(read(text, named))  # SymPy's own spelling would have lost it


def test_the_population_is_made_of_estimators(entry: Any, fitted: Any, table: Any) -> None:
    X, y = table
    population = entry.get_population(fitted)
    assert 1 < len(population) <= 100
    for one in population:
        assert isinstance(one, RegressorMixin)
        assert one.predict(X.iloc[90:]).shape == (30,)
        assert isinstance(entry.complexity(one), int)
        read(entry.model(one, X), X)
        assert entry.get_population(one) == [one]
    scores = [r2_score(y[90:], one.predict(X.iloc[90:])) for one in population]
    best = entry.get_best_solution(fitted)
    assert r2_score(y[90:], best.predict(X.iloc[90:])) >= max(scores) - 1e-9


def test_results_become_json(entry: Any, fitted: Any, table: Any) -> None:
    X, y = table
    record = {
        "params": {k: v for k, v in fitted.get_params().items() if isinstance(v, bool | int | float | str)},
        "model_size": int(entry.complexity(fitted)),
        "symbolic_model": entry.model(fitted, X),
        "r2_test": float(r2_score(y[90:], fitted.predict(X.iloc[90:]))),
    }
    assert json.loads(json.dumps(record)) == record


@pytest.fixture
def alarm() -> Iterator[list[int]]:
    """SRBench's handler: it must not be needed, and must be back after the fit."""
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    yield rung
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="Windows has no alarm")
def test_an_alarm_ends_a_fit_and_keeps_its_best(entry: Any, alarm: list[int]) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    y = np.sin(X["a"] * X["b"]) + 0.5 * rng.normal(size=200)
    est = clone(entry.est).set_params(max_time=500)
    handler = signal.getsignal(signal.SIGALRM)
    signal.alarm(3)
    started = time.monotonic()
    est.fit(X, y)
    assert time.monotonic() - started < 400  # not its own limit
    assert signal.getsignal(signal.SIGALRM) is handler
    assert not alarm, "the alarm reached SRBench's handler instead of the fit"
    assert len(entry.get_population(est)) >= 1 and np.isfinite(est.predict(X)).all()
