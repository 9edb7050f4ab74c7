"""The Feynman laws with the units of their variables: how many are found, and is every formula of the table right?

Units come from feynman_units.csv (exponents of m, s, kg, T, V for each variable and the output).  The same rows are
drawn as for the suite `feynman`, and the same judges decide; results with units are never mixed with those without.
"""

from __future__ import annotations

import csv
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import DataError
from ..problems import add_noise, load_suite
from ..records import Key, Record, chosen
from ..score import score_run
from ..task import split
from .records import catalog

FILE = "feynman_units.csv"
SYMBOLS = ("m", "s", "kg", "K", "V")


def read_catalog(folder: str | None) -> dict[str, dict[str, str]]:
    """For each problem the units of x0, x1, … and of the target, as text."""
    path = catalog(folder, FILE)
    with path.open(encoding="utf-8", newline="") as file:
        return {row["name"]: _units(row, path) for row in csv.DictReader(file)}


def keys(folder: str | None, problems: Sequence[str] | None) -> list[Key]:
    known = read_catalog(folder)
    names = [p.name for p in load_suite("feynman") if p.name in known]
    return [{"problem": name} for name in chosen(names, problems, FILE)]


def perform(key: Key, folder: str | None, *, judge_time: float = 20.0, with_units: bool = True) -> Record:
    """One law: fit, judge, and count formulas of the table whose units are wrong."""
    from ...knowledge.units.homogeneous import read_units
    from ...knowledge.units.spelling import read_unit
    from ...regressor import UniSymNetRegressor

    problem = next(p for p in load_suite("feynman") if p.name == key["problem"])
    units = read_catalog(folder)[problem.name]
    rng = np.random.default_rng([key["seed"], zlib.crc32(problem.name.encode())])
    data = split(problem, rng=rng)
    y = add_noise(data.y_train, key["noise"], rng=rng)
    model = UniSymNetRegressor(
        max_time=key["max_time"], random_state=key["seed"], n_jobs=1, units=units if with_units else None
    )
    model.fit(data.X_train, y)
    expr = model.formula_.expr
    columns = [read_unit(units[f"x{i}"]) for i in range(problem.n_features)]
    wrong = [
        str(entry.formula)
        for entry in model.front_
        if not read_units(entry.formula.expr, columns, read_unit(units["target"])).fits
    ]
    return {
        "expression": str(expr),
        "stopped": model.stopped_,
        "source": model.front_[model.picked_].source,
        "scores": score_run(problem, expr, data.X_test, data.y_test, judge_time=judge_time),
        "front": [str(entry.formula) for entry in model.front_],
        "wrong": wrong,
        "beside": [str(entry.formula) for entry in model.beside_],
    }


def summary(records: Sequence[Record]) -> str:
    n = len(records)
    found = {name: sum(bool(r["scores"].get(name)) for r in records) for name in ("strict", "form", "srbench")}
    wrong = sum(len(r["wrong"]) for r in records)
    shown = "  ".join(f"{name}={count}" for name, count in found.items())
    return f"laws={n}  {shown}  formulas_with_wrong_units={wrong}"


def _units(row: dict[str, str], path: Path) -> dict[str, str]:
    vectors = [*row["units"].split(";"), row["output_unit"]]
    texts = []
    for vector in vectors:
        powers = vector.split()
        if len(powers) != len(SYMBOLS):
            raise DataError(f"{path}: {row['name']}: {len(SYMBOLS)} exponents are needed, got {vector!r}")
        texts.append(" ".join(f"{s}^({p})" for s, p in zip(SYMBOLS, powers, strict=True) if float(p)) or "1")
    return {**{f"x{i}": text for i, text in enumerate(texts[:-1])}, "target": texts[-1]}
