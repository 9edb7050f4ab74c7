# ruff: noqa: E501
"""Runs and fields that nobody measures on purpose, through the searches for differential equations."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attacks.names import HOSTILE
from attacks.purpose import fault_of
from unisymnet import DynamicsRegressor

LATE = 0.3  # seconds of processor time over a limit that are no fault
LANGUAGES = ("python", "c", "julia", "matlab", "latex", "text", "json")


def runs(rng: np.random.Generator, kind: int) -> tuple[Any, dict[str, Any]]:
    """A table of runs with something odd in it, and what `fit` is told beside it."""
    n = int(rng.choice([1, 2, 7, 8, 9, 20, 60, 200]))
    t = np.linspace(0.0, 5.0, n)
    x = np.column_stack([np.exp(-0.5 * t), np.sin(t) + 2.0]) + 0.01 * rng.normal(size=(n, 2))
    told: dict[str, Any] = {}
    frame = pd.DataFrame({"t": t, "x": x[:, 0], "y": x[:, 1]})
    place = kind % len(ODDITIES)
    frame, told = ODDITIES[place](frame, rng)
    return frame, told


def _holes(frame: Any, rng: Any) -> Any:
    some = rng.random((len(frame), 2)) < rng.choice([0.1, 0.5, 0.95])
    frame[["x", "y"]] = frame[["x", "y"]].mask(some)
    return frame, {}


def _value(frame: Any, rng: Any) -> Any:
    frame.iloc[rng.integers(len(frame)), rng.integers(3)] = rng.choice([np.inf, -np.inf, np.nan, 1e308, 1e150, 1e12])
    return frame, {}


def _scaled(frame: Any, rng: Any) -> Any:
    column = str(rng.choice(["t", "x", "y"]))
    return frame.assign(**{column: frame[column] * 10.0 ** rng.choice([-310, -300, -150, -12, 12, 100, 150, 300])}), {}


def _shifted(frame: Any, rng: Any) -> Any:
    return frame.assign(t=frame.t + rng.choice([1e9, 1e16, -1e5]), x=frame.x + rng.choice([0.0, 1e9])), {}


def _shuffled(frame: Any, rng: Any) -> Any:
    return frame.sample(frac=1.0, random_state=int(rng.integers(100))), {}


def _same_times(frame: Any, rng: Any) -> Any:
    return frame.assign(t=np.round(frame.t, int(rng.choice([-1, 0, 1])))), {}


def _backwards(frame: Any, rng: Any) -> Any:
    return frame.iloc[::-1].assign(y=frame.y), {}


def _constant(frame: Any, rng: Any) -> Any:
    return frame.assign(x=float(rng.choice([0.0, 3.7, 1e-9])), y=frame.y if rng.random() < 0.5 else 1.0), {}


def _words(frame: Any, rng: Any) -> Any:
    values = frame.x.astype(object)
    values.iloc[0] = rng.choice(["oops", "1,5", "", "NaN"])
    return frame.assign(x=values), {"states": ["x", "y"]} if rng.random() < 0.5 else {}


def _named(frame: Any, rng: Any) -> Any:
    one, two = (HOSTILE[rng.integers(len(HOSTILE))] for _ in range(2))
    return frame.rename(columns={"x": one, "y": two}), {"time": "t"}


def _twice(frame: Any, rng: Any) -> Any:
    return frame.set_axis(["t", "x", str(rng.choice(["x", "t"]))], axis=1), {}


def _other_names(frame: Any, rng: Any) -> Any:
    names = [("t", 0, 1), (0, 1, 2), ("t", ("a", "b"), None), ("T", "x'", "x")][rng.integers(4)]
    return frame.set_axis(list(names), axis=1), {} if rng.random() < 0.5 else {"time": names[0]}


def _labels(frame: Any, rng: Any) -> Any:
    n = len(frame)
    marks = [np.arange(n), [None] * n, [np.nan] * n, np.arange(n) % 3, ["a"] * (n // 2) + ["b"] * (n - n // 2)]
    return frame.assign(run=marks[rng.integers(5)]), {rng.choice(["trajectory", "groups"]): "run"}


def _told(frame: Any, rng: Any) -> Any:
    some: list[dict[str, Any]] = [
        {"time": "hour"}, {"states": "z"}, {"states": []}, {"states": ["t", "x"]}, {"states": ["x", "x"]}, {"inputs": "y"},
        {"inputs": ["y", "x"], "states": ["x"]}, {"inputs": 3}, {"trajectory": "nope"}, {"groups": "x"}, {"groups": [1, 2]},
        {"guesses": {"x": "a*x +"}}, {"guesses": {"z": "x"}}, {"guesses": {"x": ["a*x", "x**y**t", "a/(x - x)"]}}, {"guesses": "x"},
        {"guesses": {"x": 3}}, {"guesses": {"x": ["foo(x)"]}}, {"time": 3}, {"states": 5}, {"trajectory": ["a"]}, {"states": "x, y,"},
    ]  # fmt: skip
    return frame, some[rng.integers(len(some))]


def _arrays(frame: Any, rng: Any) -> Any:
    t, x = frame.t.to_numpy(), frame[["x", "y"]].to_numpy()
    given: list[tuple[Any, Any]] = [
        (t, x[:-1]), (t, x[:, :, None]), (t, x.T), (t, []), ([], []), (t, x.astype(complex)), (t.tolist(), x.tolist()), (t, 3.0),
        ([t, t], [x]), ([t, t], [x, x[:, :1]]), (t, [x, x]), (t, x.astype(str)), (t[:, None], x), (None, x), (t, "abc"), ("abc", x),
        (t, np.ma.masked_array(x)), (t > 1, x > 1), (t, [[1.0], [2.0, 3.0]]), ([t], [x]), (t, {"x": x}), (t, np.empty((len(t), 0))),
        (t, x.astype(np.float16)), (pd.date_range("2020", periods=len(t)), x), (t, x.astype(object)), (3.0, x), (t, None), (x, None), (None, None),
    ]  # fmt: skip
    data, values = given[rng.integers(len(given))]
    return data, {"X": values}


def _moments(frame: Any, rng: Any) -> Any:
    moments = pd.Series(pd.date_range("2020", periods=len(frame), freq="h"))
    if rng.random() < 0.4:
        moments.iloc[0] = pd.NaT
    return frame.assign(t=moments), {}


def _kinds(frame: Any, rng: Any) -> Any:
    kind = str(rng.choice(["Float64", "category", "string", "int32", "bool", "complex128", "object"]))
    return frame.assign(x=frame.x.round().astype(kind) if kind == "int32" else frame.x.astype(kind)), {}


ODDITIES: tuple[Callable[[Any, Any], Any], ...] = (
    _holes, _value, _scaled, _shifted, _shuffled, _same_times, _backwards, _constant, _words, _named, _twice, _other_names,
    _labels, _told, _arrays, _moments, _kinds,
)  # fmt: skip
SETTINGS: tuple[dict[str, Any], ...] = (
    {}, {"order": 2}, {"use_time": True}, {"search": False}, {"constraints": ["x' <= 0"]}, {"template": {"x": "a*x + f(y)"}},
    {"units": {"t": "s", "x": "m", "y": "kg"}}, {"template": {"x": "f("}}, {"units": {"x": "bananas"}}, {"constraints": "x'("}, {"constants": {"g": "9.81 m/s^2"}},
    {"order": 3}, {"max_time": np.nan}, {"max_time": "5"}, {"max_time": -1}, {"units": 3}, {"template": "x"}, {"constraints": [3]}, {"constants": 3},
)  # fmt: skip


def runs_fault(number: int, folder: Path) -> str | None:
    """One odd table of runs: found in time and usable in every way, or refused in a sentence."""
    rng = np.random.default_rng(number)
    data, told = runs(rng, number)
    settings: dict[str, Any] = {"max_time": 0.5}
    settings |= SETTINGS[number // len(ODDITIES) % len(SETTINGS)] if rng.random() < 0.6 else {}
    model = DynamicsRegressor(**settings)

    def work() -> str | None:
        began = time.process_time()
        model.fit(data, told.pop("X", None), **told)
        late = time.process_time() - began - model.max_time
        if late > LATE:
            return f"{late:.2f} s over"
        return used(model, folder)

    return fault_of(work)


def warm() -> None:
    """Load, or compile, the kernels, so that no limit counts that."""
    t = np.linspace(0.0, 3.0, 30)
    DynamicsRegressor(max_time=5).fit(t, np.exp(-t))


def used(model: Any, folder: Path) -> str | None:
    """Everything one can do with a fitted search for a system."""
    system, path = model.system_, folder / "model.json"
    _ = str(model), model.equations_, model.score(), [system.to(language) for language in LANGUAGES]
    if not system.inputs:
        system.simulate(None, [0.0, 0.1, 0.2], max_seconds=1.0)
        _ = system.fixed_points()
    model.report(folder / "report.html")
    model.save(path)
    again = DynamicsRegressor.load(path)
    if [str(e) for e in again.system_.exprs] != [str(e) for e in system.exprs]:
        return "reads back as another system"
    page = (folder / "report.html").read_text("utf-8", "surrogatepass")
    return "a script in the page" if "<script>alert" in page or "<img src=x" in page else None


def runs_faults(folder: Path) -> Callable[[int], str | None]:
    """Odd time series through `DynamicsRegressor`, and everything one can do with what it finds."""
    warm()
    return lambda number: runs_fault(number, folder)
