"""Fitted models without a search: what a report needs, written down."""

import numpy as np
import pandas as pd

from unisymnet import Formula, UniSymNetRegressor
from unisymnet.metrics import complexity
from unisymnet.regressor.table import Entry
from unisymnet.search.trace import TraceRow


def made(
    X: pd.DataFrame, y: pd.Series, texts: list[str], *, picked: int = -1, valid: bool = True
) -> UniSymNetRegressor:
    """An estimator that has "found" these formulas, simple ones first."""
    model = UniSymNetRegressor(max_time=7, random_state=3)
    entries = []
    for text in texts:
        formula = Formula.parse(text, [str(c) for c in X.columns], str(y.name)).with_errors(X.to_numpy(), y)
        r2 = formula.score(X.to_numpy(), y)
        loss = float(np.mean((formula.predict(X.to_numpy()) - y) ** 2))
        held = r2 - 0.01 if valid else None
        entries.append(Entry(formula, complexity(formula.expr), loss, r2, held, 1.0, "monomial"))
    model.front_, model.picked_ = tuple(entries), range(len(entries))[picked]
    model.notes_ = ("constant columns not used: nothing",)
    model.trace_ = (TraceRow("monomial", 1, 10, 2, 0.5, 1e-9),)
    model.stopped_, model.interrupted_, model.seconds_, model.n_evaluations_ = "exact", False, 1.25, 77
    model.n_train_, model.n_valid_, model.n_features_in_ = len(y), 0, X.shape[1]
    model.feature_names_in_ = np.array([str(c) for c in X.columns], dtype=object)
    return model


def energy() -> tuple[UniSymNetRegressor, pd.DataFrame, pd.Series]:
    """Noisy kinetic energy from three columns, one of them not needed; three formulas, the last picked."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.uniform(1.0, 5.0, 60) for name in ("m", "v_1", "junk")})
    y = pd.Series(0.5 * X.m * X.v_1**2 + rng.normal(0.0, 0.3, 60), name="E")
    return made(X, y, ["20", "3.1*v_1**2 - 8.5", "0.5*m*v_1**2"]), X, y


def unwieldy() -> tuple[UniSymNetRegressor, pd.DataFrame, pd.Series]:
    """Names without a place to break, tiny numbers, a long formula and a note without a space."""
    rng = np.random.default_rng(0)
    names = [
        "a_column_name_without_any_break_from_a_data_base_table_of_2024",
        "air temperature in the shade in °C",
        "z",
    ]
    X = pd.DataFrame({name: rng.uniform(1.0, 5.0, 60) for name in names})
    y = pd.Series(1e-150 * rng.normal(size=60), name="specific_heat_capacity_at_constant_pressure_of_the_mixture")
    terms = [f"{k}.2345678e-15{k}*`{names[0]}`**{k}*sin({k}.5*`{names[1]}` + 0.123456)" for k in range(1, 5)]
    model = made(X, y, ["1.23456e-150", " + ".join(terms)])
    model.notes_ = ("x" * 300, "1234567890" * 8)
    return model, X, y
