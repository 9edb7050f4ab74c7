"""Class laws: one form, constants shared or per realisation (class_sr.csv), against PhySO's published figures.

A law counts as found if its form, refitted to rows without noise with the same constants shared, reproduces fresh rows
of every realisation, and if no more constants differ from realisation to realisation than in the truth.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...formula.constants import free
from ...knowledge.group.joint import fit_jointly
from ...symbolic import Expr, evaluate, parse
from ...symbolic.expr import Param, Var, rebuild
from ..records import Key, Record, chosen
from .records import catalog

FILE = "class_sr.csv"
REALISATIONS, ROWS = 10, 200
TOLERANCE = 1e-6  # of the spread of y


@dataclass(frozen=True)
class ClassLaw:
    """A formula in its columns (x0, …) and, behind them, the constants of a realisation."""

    name: str
    expr: Expr
    columns: tuple[tuple[str, float, float], ...]
    own: tuple[tuple[str, float, float], ...]


def read_catalog(folder: str | None) -> dict[str, ClassLaw]:
    with catalog(folder, FILE).open(encoding="utf-8", newline="") as file:
        laws = [_law(row) for row in csv.DictReader(file, delimiter=";")]
    return {law.name: law for law in laws}


def keys(folder: str | None, problems: Sequence[str] | None) -> list[Key]:
    return [{"problem": name} for name in chosen(list(read_catalog(folder)), problems, FILE)]


def perform(key: Key, folder: str | None, *, judge_time: float = 20.0) -> Record:
    from ...regressor import UniSymNetRegressor

    law = read_catalog(folder)[key["problem"]]
    rng = np.random.default_rng([key["seed"], list(read_catalog(folder)).index(law.name)])
    constants = np.column_stack([rng.uniform(low, high, REALISATIONS) for _, low, high in law.own])
    table, y = drawn(law, constants, rng)
    noisy = y + rng.normal(0.0, key["noise"] * float(np.sqrt(np.mean(y**2))), len(y)) if key["noise"] else y
    model = UniSymNetRegressor(max_time=key["max_time"], random_state=key["seed"], n_jobs=1)
    model.fit(table, pd.Series(noisy, name="y"), groups="realisation")
    formula = model.formula_
    n_own = 0 if formula.groups is None else len(formula.groups.names)
    same = _same_form(model.formula_, law, constants, rng)
    return {
        "expression": str(formula),
        "n_own": n_own,
        "n_own_true": len(law.own),
        "front": [str(entry.formula) for entry in model.front_],
        "scores": {"form": same, "strict": same and n_own <= len(law.own), "r2": formula.score(table, y)},
    }


def summary(records: Sequence[Record]) -> str:
    found = sum(bool(record["scores"]["strict"]) for record in records)
    form = sum(bool(record["scores"]["form"]) for record in records)
    return f"laws={len(records)}  found={found}  right_form_only={form - found}"


def drawn(law: ClassLaw, constants: Any, rng: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """Rows of every realisation, without noise."""
    parts, values = [], []
    for number, row in enumerate(constants):
        X = np.column_stack([rng.uniform(low, high, ROWS) for _, low, high in law.columns])
        values.append(evaluate(law.expr, np.hstack([X, np.tile(row, (ROWS, 1))])))
        part = pd.DataFrame(X, columns=[name for name, _, _ in law.columns])
        parts.append(part.assign(realisation=f"r{number}"))
    return pd.concat(parts, ignore_index=True), np.concatenate(values)


def _same_form(formula: Any, law: ClassLaw, constants: Any, rng: np.random.Generator) -> bool:
    """Does the form, refitted to clean rows, give the truth on fresh ones?"""
    d, groups = len(law.columns), formula.groups
    # Shared numbers first, then the constants of the groups; whole exponents are part of the form.
    form, values = free(formula.expr)
    n_shared = len(values)
    form = rebuild(form, lambda n: Param(n_shared + n.index - d) if isinstance(n, Var) and n.index >= d else n)
    own = np.zeros((len(constants), 0)) if groups is None else np.array(groups.values)
    start = np.hstack([np.tile(values, (len(constants), 1)), own])
    clean, y = drawn(law, constants, rng)
    fresh, truth = drawn(law, constants, rng)
    rows = [_rows(clean, y, k) for k in range(len(constants))]
    if start.shape[1]:
        fit = fit_jointly(form, rows, start, tuple(range(n_shared)))
        if not math.isfinite(fit.rss):
            return False
        start = fit.values
    for k, params in enumerate(start):
        X, wanted, _ = _rows(fresh, truth, k)
        rest = evaluate(form, X, list(params)) - wanted
        if not np.isfinite(rest).all() or np.max(np.abs(rest)) > TOLERANCE * float(np.std(truth)):
            return False
    return True


def _rows(table: pd.DataFrame, y: Any, k: int) -> tuple[Any, Any, Any]:
    mine = (table["realisation"] == f"r{k}").to_numpy()
    X = table.drop(columns=["realisation"]).to_numpy(dtype=np.float64)[mine]
    return X, y[mine], np.ones(int(mine.sum()))


def _law(row: dict[str, str]) -> ClassLaw:
    columns: list[tuple[str, float, float]] = []
    own: list[tuple[str, float, float]] = []
    for i in range(1, 5):
        if row.get(f"v{i}_name"):
            one = (row[f"v{i}_name"], float(row[f"v{i}_low"]), float(row[f"v{i}_high"]))
            (columns if row[f"v{i}_type"] == "var" else own).append(one)
    names = [name for name, _, _ in (*columns, *own)]
    return ClassLaw(row["Name"].strip(), parse(row["Formula"], names), tuple(columns), tuple(own))
