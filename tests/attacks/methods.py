# ruff: noqa: E501
"""Odd settings of the estimator, and odd arguments for everything that a fitted model and a formula can do."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attacks import texts
from attacks.names import HOSTILE
from attacks.purpose import fault_of
from unisymnet import Formula, UniSymNetRegressor
from unisymnet.regressor import fit_formula

X = np.random.default_rng(0).uniform(1.0, 3.0, (40, 2))
TABLE = pd.DataFrame(X, columns=["length", "mass"])
Y = 2.0 * X[:, 0] / X[:, 1] + 0.05 * np.sin(9.0 * X[:, 0])
ROWS: tuple[Any, ...] = (
    X, TABLE, TABLE.iloc[:0], X[:, :1], X[0], X[None], X.tolist(), X.astype(str), X.astype(complex), X.astype(object), [], None, 3.0, "abc", {}, {"length": [1.0]},
    {"length": [1.0, 2.0], "mass": [1.0]}, TABLE.assign(mass="x"), TABLE.assign(mass=np.nan), TABLE.rename(columns={"mass": "mas"}), TABLE[["mass", "length"]], X * 1e300, X * np.nan,
    np.empty((0, 2)), [[1.0, 2.0], [3.0]], TABLE.assign(mass=pd.NA), pd.Series([1.0, 2.0]), np.ma.masked_array(X), TABLE.set_axis(["length", "length"], axis=1), [{"length": 1}],
)  # fmt: skip
HUGE = Y * 1e300  # whose squares scikit-learn's own score cannot store
TARGETS: tuple[Any, ...] = (
    Y,
    Y[:-1],
    Y[:, None],
    None,
    "abc",
    Y.astype(str),
    Y * np.nan,
    Y.astype(complex),
    [],
    3.0,
    HUGE,
    np.zeros(40),
    Y.astype(object),
    pd.Series(Y),
    Y.tolist(),
)
PLACES: tuple[Any, ...] = (0, -1, 99, -99, 1.5, "0", None, True, slice(None), [0], (0, 1), np.int64(0), 10**30)
LEVELS: tuple[Any, ...] = (0.95, 0, 1, -1, 2, "0.9", None, np.nan, np.inf, [0.9], True, 1e-300, 1 - 1e-16)
WORDS: tuple[Any, ...] = (
    "a*length/mass", "length +", "", " ", "mas*2", "a/0", "ln(-length)", "exp(exp(exp(length)))", "c0*length", "`a b`", "length**mass**length", "1e400*length", "foo(length)", 3, None, b"x",
    "a" * 200_000, "+".join(["length"] * 3000), *HOSTILE[:30],
)  # fmt: skip
UNITS: tuple[Any, ...] = (
    "m",
    "m/s^2",
    "kg*m^2/s^2",
    "°C",
    "%",
    "m^^2",
    "m/",
    "/s",
    "1/0",
    "m^1e9",
    "bananas",
    "",
    " ",
    3,
    None,
    "m" * 500,
    "m**0.5",
    "µm",
    "Ω",
    "m^(1/2)",
    "10 m",
    "-m",
    "m^-99999",
)
CONSTRAINTS: tuple[Any, ...] = (
    "y >= 0",
    "dy/dlength >= 0",
    "d2y/dmass2 <= 0",
    "y -> 1 as length -> inf",
    "even in mass",
    "uses mass",
    "y >=",
    "dy/dz > 0",
    "y(length=0) = 1",
    "y >= nan",
    "((",
    "",
    3,
    None,
    "y < y",
    "odd in",
    "y -> as",
    "x" * 3000,
    "1 >= 0",
    "y in [0, 1]",
    "dy/dlength >= mass/0",
)
TEMPLATES: tuple[Any, ...] = (
    "f(length)",
    "a*f(length) + g(mass)",
    "f(",
    "f()",
    "f(f(length))",
    "f(nope)",
    "sin",
    "f(length)/0",
    "length",
    "f(length, mass, length)",
    3,
    "",
    "exp(f(length))*g(mass)**2",
    "f(length) + f(length, mass)",
    "sin(f(length))",
    "f(length)" * 50,
)
OPERATORS: tuple[Any, ...] = (
    "+,-,*,/",
    "+",
    "",
    "boom",
    ["sin", 3],
    [],
    "hill(x) = x^n/(1 + x^n)",
    "h(x) = h(x)",
    "h(x) =",
    "sin(x) = x",
    "h(x, x) = x",
    "+,,*",
    3,
    ["+", "h(x) = x/0"],
    "f(x) = exp(exp(exp(exp(x))))",
    "h() = 1",
    "h(x) = y",
)
LOSSES: tuple[Any, ...] = (
    "mse",
    "huber",
    ("huber", 0),
    ("huber", "x"),
    ("quantile", 0.5),
    ("quantile", 2),
    "absolute",
    "relative",
    "poisson",
    "logistic",
    "nope",
    3,
    None,
    (),
    ("quantile",),
    (abs, abs),
    (None, None),
    [abs],
)
NUMBERS: tuple[Any, ...] = (
    0,
    -1,
    1.5,
    "5",
    np.nan,
    np.inf,
    -np.inf,
    True,
    None,
    [],
    10**30,
    np.float64(2),
    1e-300,
    b"x",
    {},
    3,
)
GROUPS: tuple[Any, ...] = (
    np.arange(40) % 3,
    np.arange(40),
    ["a"] * 40,
    [None] * 40,
    [np.nan] * 40,
    "mass",
    "nope",
    3,
    [1, 2],
    np.zeros((40, 2)),
    ["x\n<script>"] * 20 + ["b"] * 20,
    [True] * 40,
    [[1]] * 40,
)
SIGMAS: tuple[Any, ...] = (
    0.1,
    0.0,
    -1,
    "x",
    np.full(40, 0.1),
    np.full(39, 0.1),
    np.full(40, np.nan),
    {"y": 0.1},
    {"length": 0.1},
    {"nope": 1},
    {},
    [],
    np.full(40, 1e-300),
    np.full(40, 1e300),
    {"y": "x"},
    {"y": -1},
    [None] * 40,
)
WEIGHTS: tuple[Any, ...] = (
    np.ones(40),
    np.zeros(40),
    -np.ones(40),
    np.full(40, np.nan),
    [1.0],
    "x",
    np.ones((40, 2)),
    np.full(40, 1e300),
    np.eye(40)[0],
    None,
    3.0,
    [None] * 40,
)
KNOWN: dict[str, tuple[Any, ...]] = {
    "units": (*({"length": unit, "target": "m"} for unit in UNITS), 3, "m", {"nope": "m"}, {3: "m"}, {}, [("a", "b")]), "constraints": (*([one] for one in CONSTRAINTS), "y >= 0", 3, {}),
    "template": TEMPLATES, "operators": OPERATORS, "loss": LOSSES, "constants": ({"g": "9.81 m/s^2"}, {"g": "x"}, {"g": 3}, {"": 1}, {"length": 1}, 3, [], {"g": None}, {"g": np.nan}, {"g": "1e999 m"}),
    "noise": (*NUMBERS, "equal", "nope"), "selection": ("best", "nope", 3), "goal": ("predict", "nope", 3), "strategy": ("auto", "nope", 3), "exponents": ([0.5, 2], [], ["x"], [np.nan], [1e300], 3),
    "proposers": (["monomial"], [], ["nope"], [3], "monomial"), **{name: NUMBERS for name in ("max_time", "n_jobs", "max_complexity", "validation_fraction", "max_evaluations", "max_epochs", "max_rows", "max_columns", "random_state", "warm_start", "verbose", "checkpoint", "callback")},
}  # fmt: skip
BESIDE: dict[str, tuple[Any, ...]] = {
    "guesses": (*([word] for word in WORDS), WORDS, "a*length", 3, {}, [[]]), "groups": GROUPS, "sigma": SIGMAS, "sample_weight": WEIGHTS,
    "categories": (["mass"], "drop", ["nope"], 3, "nope", []), "missing": ("drop", "indicator", "nope", 3),
}  # fmt: skip


def small() -> UniSymNetRegressor:
    """A fitted model to try things on."""
    return UniSymNetRegressor(max_time=10, proposers=["monomial", "bases"]).fit(TABLE, Y)


def setting_fault(number: int, folder: Path) -> str | None:
    """A fit with one or two odd settings or arguments: a table, or a sentence."""
    rng = random.Random(number)
    settings: dict[str, Any] = {"max_time": 0.3, "n_jobs": 1, "max_evaluations": 30}
    beside: dict[str, Any] = {}
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice([*KNOWN, *BESIDE])
        (settings if name in KNOWN else beside)[name] = rng.choice((KNOWN | BESIDE)[name])
    settings |= {"checkpoint": None if settings.get("checkpoint") is None else str(folder / "c")}
    table = TABLE if rng.random() < 0.8 else rng.choice(ROWS)
    target = Y if rng.random() < 0.9 else rng.choice(TARGETS)

    def work() -> str | None:
        model = UniSymNetRegressor(**settings).fit(table, target, **beside)
        page = str(model) + model._repr_html_()
        model.save(folder / "model.json")
        again = UniSymNetRegressor.load(folder / "model.json")
        return (
            None
            if str(again.formula_) == str(model.formula_) and "<script>alert" not in page
            else "another model is read back"
        )

    fault = fault_of(work)
    return None if fault is None else f"{fault}; {settings} {beside}"[:500]


def method_fault(model: UniSymNetRegressor, number: int, folder: Path) -> str | None:
    """One method of a fitted model, or of its formula, with odd arguments."""
    rng = random.Random(number)
    rows, target, place, level, text, weight = (
        rng.choice(some) for some in (ROWS, TARGETS, PLACES, LEVELS, WORDS, WEIGHTS)
    )
    formula = model.formula_
    calls = {
        "predict": lambda: model.predict(rows, place if rng.random() < 0.3 else None), "score": lambda: model.score(rows, target if target is not HUGE else Y), "model[]": lambda: str(model[place]),
        "predict_interval": lambda: model.predict_interval(rows, level), "score_equations": lambda: model.score_equations(rows, target), "latex": lambda: model.latex(place, level),
        "formula.predict": lambda: formula.predict(rows), "formula.score": lambda: formula.score(rows, target, weight), "refit": lambda: formula.refit(rows, target, weight), "sympy": lambda: model.sympy(place),
        "with_errors": lambda: formula.with_errors(rows, target, weight), "interval": lambda: formula.predict_interval(rows, level), "to": lambda: formula.to(text if isinstance(text, str) else str(text)),
        "parse": lambda: Formula.parse(text, ["length", "mass"]), "text": lambda: formula.text(place), "of": lambda: formula.of(place), "excel": lambda: formula.to("excel", [text, "B2"]),
        "fit_formula": lambda: fit_formula(text, rows if rng.random() < 0.3 else TABLE, target if rng.random() < 0.3 else Y, max_time=0.5), "save": lambda: model.save(folder / "m.json"),
        "load": lambda: UniSymNetRegressor.load(text if isinstance(text, str) else str(text)), "from_json": lambda: Formula.from_json(text if isinstance(text, str) else str(text)),
        "damaged": lambda: Formula.from_dict(texts.mutated(formula.to_dict(), rng)).predict(TABLE),
    }  # fmt: skip
    name = rng.choice(list(calls))
    fault = fault_of(lambda: [calls[name]()])
    about = {
        "rows": type(rows).__name__,
        "target": type(target).__name__,
        "place": place,
        "level": level,
        "text": str(text)[:40],
    }
    return None if fault is None else f"{name}: {fault}; {about}"[:500]


def setting_faults(folder: Path) -> Callable[[int], str | None]:
    """Fits with odd units, constraints, templates, operators, losses, groups, errors and guesses."""
    return lambda number: setting_fault(number, folder)


def method_faults(folder: Path) -> Callable[[int], str | None]:
    """Every method of a fitted model and of its formula with odd arguments."""
    model = small()
    return lambda number: method_fault(model, number, folder)
