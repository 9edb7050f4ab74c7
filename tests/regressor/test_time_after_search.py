"""What follows a search keeps to the limit, too: no copies of wide tables, no stage that cannot be cut off."""

import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.deadline import Deadline
from unisymnet.fit.clean.verdict import Ruled
from unisymnet.judge.judge import make_judge
from unisymnet.regressor import run
from unisymnet.regressor.judged import entry_of
from unisymnet.regressor.validation import Data
from unisymnet.symbolic.parse import parse

PATIENCE = 120.0  # seconds; only a broken limit takes so long


def test_a_wide_table_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "find_rivals", lambda *given: None)  # the linear model takes a sample of all columns
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (90_000, 80))
    y = 3.0 * X[:, 3] * X[:, 70] + rng.normal(0.0, 0.1, len(X))
    weights = np.where(np.arange(len(X)) % 7 == 0, 0.0, 1.0)
    small = UniSymNetRegressor(max_time=20, max_evaluations=5, proposers=["monomial"])
    small.fit(X[:50, :2], y[:50])  # loads what has to be loaded
    tracemalloc.start()
    small.fit(X, y, sample_weight=weights)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 0.5 * X.nbytes
    assert set(small.formula_.columns) == {"x3", "x70"} and small.score(X, y) > 0.9


def test_a_linear_model_that_takes_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[float] = []

    def endless(*given: Any) -> None:
        begun.append(time.monotonic())
        while time.monotonic() < begun[0] + PATIENCE:
            pass
        raise AssertionError("nobody has cut it off")

    monkeypatch.setattr(run, "find_rivals", endless)
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (200, 2))
    model = UniSymNetRegressor(max_time=8, proposers=["monomial"]).fit(X, X[:, 0] + rng.normal(0.0, 0.3, 200))
    assert begun and len(model.front_)  # the table of the search is kept
    assert not model.interrupted_


def test_late_rows_of_the_table_have_r2_on_the_rows_kept_back() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(0.5, 2.0, (60, 1))
    y = 3.0 * np.exp(-0.8 * X[:, 0]) + rng.normal(0.0, 0.1, 60)
    fit, valid = slice(0, 48), slice(48, 60)
    judge = make_judge(X, y, np.ones(60))
    part = make_judge(X[fit], y[fit], np.ones(48))
    expr = parse("3.05*exp(-0.81*x0)")
    lengths = judge.lengths(expr)
    assert lengths is not None
    one, data = Ruled(expr, lengths, "test"), Data(X, y, None, ("x0",), "y")
    kept_back = part, (X[valid], y[valid], np.ones(12))
    usual = entry_of(one, data, kept_back).r2_valid
    late = entry_of(one, data, kept_back, Deadline(0.0)).r2_valid
    as_it_stands = 1.0 - np.sum((y[valid] - 3.05 * np.exp(-0.81 * X[valid, 0])) ** 2) / np.sum(
        (y[valid] - y[valid].mean()) ** 2
    )
    assert late is not None and usual is not None
    assert abs(late - usual) < 0.2 * abs(as_it_stands - usual)  # nearly what a whole fit to the other rows gives
