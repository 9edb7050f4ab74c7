"""Out of the domain: a formula is fitted to one range and judged by its error in another.

The protocol of LLM-SR's four tables: fit to `train`, then the normalised mean squared error on rows of the same range
(`test_id`) and of a range never seen (`test_ood`). With `--data FOLDER` each subfolder is a set with `train.csv`,
`test_id.csv` and `test_ood.csv`, the target in the last column. Without it four sets of the same kinds are made here,
by textbook models with constants of our own; their figures are not comparable with published ones.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...errors import DataError
from ..records import Key, Record, chosen

PARTS = ("train", "test_id", "test_ood")
ROWS = {"train": 400, "test_id": 200, "test_ood": 200}
STEPS = 10  # Runge–Kutta steps between two samples of an oscillator


class Tables(NamedTuple):
    """The three tables of a set; the target is their last column."""

    train: pd.DataFrame
    test_id: pd.DataFrame
    test_ood: pd.DataFrame


def keys(folder: str | None, problems: Sequence[str] | None) -> list[Key]:
    names = list(MADE) if folder is None else _subfolders(folder)
    where = "made" if folder is None else "given"
    return [{"data": where, "problem": name} for name in chosen(names, problems, folder or "bench llmsr")]


def perform(key: Key, folder: str | None, *, judge_time: float = 20.0) -> Record:
    """Fit one set and measure the pick, and the row of the table that is best inside the domain."""
    from ...regressor import UniSymNetRegressor

    rng = np.random.default_rng([key["seed"], zlib.crc32(key["problem"].encode())])
    tables = MADE[key["problem"]](rng) if folder is None else read_set(Path(folder) / key["problem"])
    X, y = _apart(tables.train)
    noisy = y + rng.normal(0.0, key["noise"] * float(np.std(y)), len(y)) if key["noise"] else y
    model = UniSymNetRegressor(max_time=key["max_time"], random_state=key["seed"], n_jobs=1).fit(X, noisy)
    errors = {part: nmse(*_judged(model, table)) for part, table in zip(PARTS, tables, strict=True)}
    return {
        "expression": str(model.formula_),
        "stopped": model.stopped_,
        "scores": {f"nmse_{part}": value for part, value in errors.items()},
        "front": [str(entry.formula) for entry in model.front_],
        "front_ood": [nmse(*_judged(model, tables.test_ood, row)) for row in range(len(model.front_))],
    }


def summary(records: Sequence[Record]) -> str:
    rows = [
        f"{record['problem']:<12} in domain {scores['nmse_test_id']:.3g}  out of domain {scores['nmse_test_ood']:.3g}"
        for record in records
        if (scores := record["scores"])
    ]
    return "\n".join(["normalised mean squared error of the pick", *rows])


def nmse(y: Any, found: Any) -> float:
    """Mean squared error over the variance of y; inf where a prediction is not finite."""
    if not np.isfinite(found).all():
        return float("inf")
    return float(np.mean((y - found) ** 2) / np.var(y))


def read_set(folder: Path) -> Tables:
    """Three CSV files; numbers only, the same columns in each."""
    from ...files.table import read_table

    tables: list[pd.DataFrame] = []
    for part in PARTS:
        path = folder / f"{part}.csv"
        if not path.is_file():
            raise DataError(f"there is no file {path}; a set needs {', '.join(f'{p}.csv' for p in PARTS)}")
        read = read_table(str(path), heads=False)
        table = read.X.assign(**{str(read.y.name): read.y})
        if tables and list(table.columns) != list(tables[0].columns):
            wanted = ", ".join(map(str, tables[0].columns))
            raise DataError(f"{path}: the columns must be those of train.csv, {wanted}")
        tables.append(table)
    return Tables(*tables)


def _subfolders(folder: str) -> list[str]:
    found = sorted(path.parent.name for path in Path(folder).glob("*/train.csv"))
    if not found:
        raise DataError(f"no subfolder of {folder!r} has a train.csv; name the folder of the sets with --data")
    return found


def _apart(table: pd.DataFrame) -> tuple[pd.DataFrame, Any]:
    return table.iloc[:, :-1], table.iloc[:, -1].to_numpy(dtype=np.float64)


def _judged(model: Any, table: pd.DataFrame, row: int | None = None) -> tuple[Any, Any]:
    X, y = _apart(table)
    with np.errstate(all="ignore"):
        return y, model.predict(X, row)


def _growth(rng: np.random.Generator) -> Tables:
    """Growth rate of bacteria: Monod in the substrate, a bell over temperature, a parabola over pH."""

    def drawn(n: int, most: float) -> pd.DataFrame:
        cells, food = rng.uniform(0.05, most, n), rng.uniform(0.05, most, n)
        warmth, pH = rng.uniform(15.0, 40.0, n), rng.uniform(5.5, 8.5, n)
        rate = 0.83 * cells * food / (0.37 + food) * np.exp(-(((warmth - 31.0) / 9.5) ** 2))
        rate *= 1 - ((pH - 7.1) / 2.6) ** 2
        return pd.DataFrame({"cells": cells, "food": food, "temperature": warmth, "pH": pH, "rate": rate})

    return Tables(drawn(ROWS["train"], 1.0), drawn(ROWS["test_id"], 1.0), drawn(ROWS["test_ood"], 3.0))


def _autonomous(rng: np.random.Generator) -> Tables:
    """A spring that gets stiffer, with friction that grows with speed and depends on the place."""

    def push(t: Any, x: Any, v: Any) -> Any:
        return -1.1 * x - 0.45 * x**3 - 0.12 * v**3 - 0.3 * x * v

    return _oscillator(push, rng, with_time=False)


def _driven(rng: np.random.Generator) -> Tables:
    """A driven oscillator: the push depends on time, too."""

    def push(t: Any, x: Any, v: Any) -> Any:
        return 0.32 * np.sin(0.9 * t) - 0.5 * v**3 - 1.05 * x * v - 1.6 * x * np.exp(-0.55 * x)

    return _oscillator(push, rng, with_time=True)


def _steel(rng: np.random.Generator) -> Tables:
    """Stress of a metal: hardening with strain, softening with heat; the hottest tests are never seen in training."""

    def drawn(n: int, heats: Sequence[float]) -> pd.DataFrame:
        strain, heat = rng.uniform(0.002, 0.6, n), rng.choice(np.array(heats), n)
        stress = (265.0 + 340.0 * strain**0.42) * (1.0 - ((heat - 20.0) / 620.0) ** 1.3)
        return pd.DataFrame({"strain": strain, "temperature": heat, "stress": stress})

    cool = (20.0, 50.0, 100.0, 150.0, 250.0)
    return Tables(drawn(ROWS["train"], cool), drawn(ROWS["test_id"], cool), drawn(ROWS["test_ood"], (300.0, 350.0)))


def _oscillator(push: Callable[[Any, Any, Any], Any], rng: np.random.Generator, *, with_time: bool) -> Tables:
    """States on an orbit and their acceleration; out of the domain is a wider orbit at a later time."""
    seen = ROWS["train"] + ROWS["test_id"]
    known = _orbit(push, np.linspace(0.0, 40.0, seen), (0.9, 0.6)).iloc[rng.permutation(seen)]
    wider = _orbit(push, np.linspace(40.0, 50.0, ROWS["test_ood"]), (1.7, 1.1))
    tables = Tables(known.iloc[: ROWS["train"]], known.iloc[ROWS["train"] :], wider)
    return tables if with_time else Tables(*(table.drop(columns="t") for table in tables))


def _orbit(push: Callable[[Any, Any, Any], Any], t: Any, start: tuple[float, float]) -> pd.DataFrame:
    """By the classical Runge–Kutta scheme, with STEPS steps between two samples."""

    def slope(time: float, now: Any) -> Any:
        return np.array([now[1], push(time, now[0], now[1])])

    h, state = float(t[1] - t[0]) / STEPS, np.array(start)
    states = [state]
    for sample in t[:-1]:
        for step in range(STEPS):
            s = float(sample) + step * h
            a = slope(s, state)
            b = slope(s + h / 2, state + h / 2 * a)
            c = slope(s + h / 2, state + h / 2 * b)
            state = state + h / 6 * (a + 2 * b + 2 * c + slope(s + h, state + h * c))
        states.append(state)
    x, v = np.array(states).T
    return pd.DataFrame({"t": t, "x": x, "v": v, "a": push(t, x, v)})


# Sets of our own: name -> its tables.
MADE: dict[str, Callable[[np.random.Generator], Tables]] = {
    "growth": _growth,
    "oscillator1": _autonomous,
    "oscillator2": _driven,
    "stress": _steel,
}
