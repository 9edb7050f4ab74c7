"""Constraints: their text, derivatives and intervals behind them, verdicts, and that the estimator keeps to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisymnet import UniSymNetRegressor
from unisymnet.errors import DataError
from unisymnet.formula import Formula
from unisymnet.knowledge.known import Known
from unisymnet.knowledge.shape.check import HELD, PROVED, VIOLATED, Box, check
from unisymnet.knowledge.shape.differ import derivative
from unisymnet.knowledge.shape.interval import bounds
from unisymnet.knowledge.shape.repair import repaired
from unisymnet.knowledge.shape.rules import Between, Limit, read_rules
from unisymnet.regressor.known.remarks import annotated
from unisymnet.regressor.table import Entry
from unisymnet.symbolic import evaluate, parse

NAMES = ["x1", "x2", "x3"]
FORMULAS = [
    "x0**2*x1 - 3*x0/x1",
    "sin(x0*x1) + cos(x2)**2",
    "exp(-x0)*ln(1 + x1**2)/sqrt(x2)",
    "x0**1.5/(1 + x1**3) - tanh(x2)",
    "abs(x0 - x1)*atan(x2) + cosh(x0/3)",
    "x1**x0 + 1/(x2 + 2)**2",
    "min(x0, x1**2)*max(x1, x2) + erf(x0 - x2) + step(x0 - 1)*x1",
    "asin(x0/10)*acos(x1/10) + tan(x2/10) + sinh(x0/5)",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_derivatives_are_those_of_differences(text: str) -> None:
    expr = parse(text)
    X = np.random.default_rng(0).uniform(0.5, 2.0, (20, 3))
    for index in range(3):
        step = np.zeros(3)
        step[index] = 1e-6
        slope = (evaluate(expr, X + step) - evaluate(expr, X - step)) / 2e-6
        assert np.allclose(evaluate(derivative(expr, index), X), slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("text", FORMULAS)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_bounds_hold_all_values(text: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    low = rng.uniform(-3.0, 3.0, (1, 3))
    high = low + rng.uniform(0.0, 3.0, (1, 3))
    bottom, top = bounds(parse(text), low, high)
    values = evaluate(parse(text), rng.uniform(low, high, (200, 3)))
    finite = values[np.isfinite(values)]
    if len(finite):
        assert bottom[0] <= finite.min() and finite.max() <= top[0]


def _verdict(formula: str, text: str) -> str:
    X = np.random.default_rng(0).uniform(0.5, 5.0, (100, 3))
    box = Box.around(X, X[:, 0], NAMES)
    (rule,) = read_rules([text], NAMES, "y")
    return check(parse(formula), rule, box).kind


@pytest.mark.parametrize(
    ("formula", "text", "kind"),
    [
        ("x0**2 + x1", "y >= 0", PROVED),
        ("sin(x0) + 0.9", "y >= 0", VIOLATED),
        ("x0*x1/(1 + x1)", "dy/dx1 >= 0", PROVED),
        ("exp(-x0)*x1", "dy/dx1 >= 0", VIOLATED),
        ("ln(1 + x0)", "d2y/dx1^2 <= 0", PROVED),
        ("x0*x1", "d2y/dx1dx2 >= 0", PROVED),
        ("x0/(1 + x0)", "y -> 1 as x1 -> inf", HELD),
        ("x0/(2 + 2*x0)", "y -> 1 as x1 -> inf", VIOLATED),
        ("x0*sin(x0)", "even in x1", PROVED),
        ("x0*sin(x0)", "odd in x1", VIOLATED),
        ("x0*x1 + x0 + x1", "y(x1, x2) = y(x2, x1)", PROVED),
        ("x0 - x1", "y(x1, x2) = y(x2, x1)", VIOLATED),
        ("x0*exp(-x1)", "y(x1=0) = 0", PROVED),
        ("x0 + 1", "y(x1=0) = 0", VIOLATED),
        ("x0*x1", "uses x3", VIOLATED),
        ("0.5*x0", "0 <= c <= 1", PROVED),
        ("-x0", "y >= 0 for x1 in [-3, -1]", PROVED),
    ],
)
def test_verdicts(formula: str, text: str, kind: str) -> None:
    assert _verdict(formula, text) == kind


def test_texts_are_read_and_mistakes_told() -> None:
    (rule,) = read_rules("0 <= y <= 1 for x1 in [0, 10] and x2 > 3", NAMES, "E")
    assert isinstance(rule, Between) and (rule.low, rule.high) == (0.0, 1.0) and len(rule.region) == 2
    (named,) = read_rules(["dE/dx1 <= 0"], NAMES, "E")
    assert isinstance(named, Between) and named.by == ((0, 1),) and named.high == 0.0
    (limit,) = read_rules(["y -> -inf as x2 -> 0"], NAMES, "E")
    assert isinstance(limit, Limit) and limit.where == 0.0 and limit.value == -np.inf
    for text, message in [
        ("y is nice", "not understood"),
        ("dy/dx9 >= 0", "columns are x1, x2, x3"),
        ("1 <= y <= 0", "cannot hold"),
        ("d2y/dx1 >= 0", "order"),
        ("y >= 0 for x1 in [3, 1]", "empty range"),
        ("y(x1, x2) = y(x2, x3)", "same columns"),
        ("y >= 0 >= 1", "in the middle"),
        ("0 <= y >= 1", "in the middle"),
    ]:
        with pytest.raises(DataError, match=message):
            read_rules([text], NAMES, "y")


def test_constants_are_mended_not_more_than_needed() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 1.0, (80, 1))
    y = 0.02 * X[:, 0] + rng.normal(0, 0.1, 80)
    box = Box.around(X, y, ["x1"])
    rules = [r for r in read_rules(["dy/dx1 >= 0"], ["x1"], "y") if isinstance(r, Between)]
    found = repaired(parse("0.2 - 0.3*x0"), rules, [], box, X, y)
    assert found is not None
    slope = evaluate(derivative(found, 0), X)
    assert (slope >= 0.0).all() and slope.max() < 0.2


def test_constants_are_mended_for_limits_and_values_at_a_point() -> None:
    """No free fit meets a limit or a slope exactly, and so every formula had been ruled out but the mean."""
    rng = np.random.default_rng(1)
    p = rng.uniform(0.05, 8.0, (60, 1))
    q = 3.1 * 0.7 * p[:, 0] / (1 + 0.7 * p[:, 0]) + rng.normal(0, 0.03, 60)
    known = Known(constraints=["q(p=0) = 0", "dq/dp >= 0", "q -> 3.1 as p -> inf"]).of(["p"], "q", p, q)
    assert known is not None
    start = parse("3.06 - 4.1/(x0 + 1.3)")
    assert not known.allows(start)
    found = known.mended(start)
    assert found is not None and known.holds(found)
    assert np.abs(evaluate(found, p) - q).max() < 0.15
    assert evaluate(found, np.array([[0.0], [1e9]])) == pytest.approx([0.0, 3.1], abs=1e-5)
    assert known.mended(parse("2.2 + 0.1*x0")) is None  # a line that is 3.1 somewhere far away has no limit


def _growth() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"x1": rng.uniform(0.2, 6.0, 60), "x2": rng.uniform(0.5, 2.0, 60)})
    y = pd.Series(X["x2"] * X["x1"] / (1 + X["x1"]), name="rate") + rng.normal(0, 0.08, 60)
    return X, y


def test_the_estimator_keeps_to_constraints(tmp_path: Path) -> None:
    X, y = _growth()
    rules = ["drate/dx1 >= 0", "rate(x1=0) = 0", "d2y/dx1^2 <= 0"]
    model = UniSymNetRegressor(max_time=8, max_evaluations=300, constraints=rules).fit(X, y)
    box = Box.around(X.to_numpy(), y.to_numpy(), ["x1", "x2"])
    for rule in read_rules(rules, ["x1", "x2"], "rate"):
        assert check(model.formula_.expr, rule, box).kind != VIOLATED
    assert dict(model.front_[model.picked_].remarks)["constraints"] in ("proved", "held at 20,000 points")
    assert any(note.startswith("constraints:") for note in model.notes_)
    model.save(tmp_path / "model.json")
    again = UniSymNetRegressor.load(tmp_path / "model.json")
    assert str(again) == str(model) and list(again.constraints) == rules


@pytest.mark.parametrize("loss", ["mse", "huber"])
def test_constants_stay_mended_when_the_table_is_made(loss: str) -> None:
    """The last fit by another loss had moved the constants away from the limit."""
    rng = np.random.default_rng(1)
    p = rng.uniform(0.05, 8.0, (60, 1))
    q = 3.1 * 0.7 * p[:, 0] / (1 + 0.7 * p[:, 0]) + rng.normal(0, 0.03, 60)
    rules = ["y(x0=0) = 0", "y -> 3.1617 as x0 -> inf"]
    model = UniSymNetRegressor(max_time=None, max_evaluations=300, n_jobs=1, constraints=rules, loss=loss).fit(p, q)
    assert model.score(p, q) > 0.99
    assert model.predict(np.array([[0.0], [1e9]])) == pytest.approx([0.0, 3.1617], abs=0.01)


def test_contradictions_are_told() -> None:
    X, y = _growth()
    model = UniSymNetRegressor(max_time=5, max_evaluations=60, constraints=["y <= 0.5"]).fit(X, y)
    assert any("rows contradict y <= 0.5" in note for note in model.notes_)
    falling = UniSymNetRegressor(max_time=5, max_evaluations=80, constraints=["dy/dx1 <= 0"]).fit(X, y)
    (beside,) = falling.beside_
    assert "violated" in dict(beside.remarks)["constraints"] and "ruled out" in str(falling)


def test_what_breaks_nothing_is_not_said_to_be_ruled_out() -> None:
    """Listed was "ruled out (constraints: proved)": the last fit had moved the formula to where it breaks nothing."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(1, 3, 60), "r": rng.uniform(1, 3, 60)})
    y = pd.Series(2 * X["a"] ** 2 / X["r"] * (1 + 0.03 * rng.normal(size=60)), name="F")
    settings = {"max_time": None, "max_evaluations": 600, "n_jobs": 1, "random_state": 2}
    model = UniSymNetRegressor(constraints=["dF/dr <= 0"], **settings).fit(X, y)
    assert all("violated" in dict(entry.remarks)["constraints"] for entry in model.beside_)


def test_a_pole_excuses_no_violation() -> None:
    """Rising nearly everywhere, but at the edge of the box so large that all else seemed rounding."""
    X = np.linspace(0.2, 6.0, 60)[:, None]
    box = Box.around(X, X[:, 0], ["x1"])
    (rule,) = read_rules(["dy/dx1 <= 0"], ["x1"], "y")
    assert check(parse("0.14*exp(0.0665*(1/x0 - 5.36)**2)"), rule, box).kind == VIOLATED
    assert check(parse("0.14*exp(0.0665*(1/x0 + 5.36)**2)"), rule, box).kind != VIOLATED


@pytest.mark.parametrize(
    "texts",
    [
        ["dy/dx1 >= 0", "dy/dx1 <= -1"],
        ["y >= 2", "y <= 1"],
        ["uses x1", "without x1"],
        ["0 <= c <= 1", "2 <= c <= 3"],
        ["y(x1=0) = 0", "y(x1=0) = 1"],
        ["even in x1", "odd in x1"],
    ],
)
def test_constraints_that_exclude_each_other_are_refused(texts: list[str]) -> None:
    with pytest.raises(DataError, match="no formula can keep both"):
        read_rules(texts, ["x1"], "y")
    read_rules(texts[:1], ["x1"], "y")


def test_what_the_full_check_finds_broken_leaves_the_table() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 5.0, (40, 1))
    y = 3.0 * X[:, 0]
    knowledge = Known(constraints=["dy/dx1 <= 0"]).of(["x1"], "y", X, y)
    assert knowledge is not None
    entries = tuple(
        Entry(Formula.parse(text, ["x1"]), size, loss, 0.0, None, 0.0, "test", nats=nats)
        for text, size, loss, nats in (("9", 1, 9.0, 50.0), ("20 - x1", 3, 8.0, 40.0), ("3*x1", 3, 0.1, 10.0))
    )
    kept, picked = annotated(entries, 2, knowledge)
    assert [str(entry.formula) for entry in kept] == ["9", "20 - x1"] and picked == 1
    assert annotated(entries, 0, knowledge)[1] == 0
