# ruff: noqa: E501
"""Runs and fields that nobody measures on purpose, through the searches for differential equations."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attacks import texts
from attacks.names import HOSTILE
from attacks.purpose import fault_of
from unisymnet import DynamicsRegressor, System
from unisymnet.errors import CheckpointError
from unisymnet.pde import PDERegressor, PDESystem
from unisymnet.pde.system import Equation
from unisymnet.pde.terms import Term

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


def odd_fields(rng: np.random.Generator) -> tuple[Any, Any, dict[str, Any]]:
    """Fields, axes and settings with something odd in them."""
    n, m = (int(v) for v in rng.choice([16, 17, 40, 64], 2))
    x, t = np.linspace(0.0, 6.0, n), np.linspace(0.0, 1.0, m)
    u = np.exp(-0.3 * t) * np.sin(x[:, None]) + 0.5 * np.cos(2.0 * x[:, None] - t)
    kind, scale = int(rng.integers(16)), 10.0 ** rng.choice([-310, -150, -12, 12, 150, 300])
    fields: Any = {"u": u}
    axes: Any = {"x": x, "t": t}
    told: dict[str, Any] = {}
    if kind == 0:
        u[rng.integers(n), rng.integers(m)] = rng.choice([np.nan, np.inf, 1e308, 1e30])
    elif kind == 1:
        fields = {"u": u * scale}
    elif kind == 2:
        axes = {"x": x * scale, "t": t}
    elif kind == 3:
        axes = {"x": x, "t": t * scale}
    elif kind == 4:
        fields = [
            u.T,
            u[:-1],
            u[None],
            3.0,
            "abc",
            None,
            {},
            [],
            {"u": "abc"},
            {"x": u},
            {"u": u.astype(complex)},
            {3: u},
        ][rng.integers(12)]
    elif kind == 5:
        axes = [
            {"t": t},
            {"x": x},
            [],
            None,
            {"x": x[::-1], "t": t},
            {"x": x, "t": np.zeros(m)},
            {"x": "abc", "t": t},
            {"x": x**2, "t": t},
            {"x": x[:5], "t": t},
        ][rng.integers(9)]
    elif kind == 6:
        fields = {"u": u, "v": np.zeros_like(u) if rng.random() < 0.5 else u.copy()}
    elif kind == 7:
        fields = {"u": rng.normal(size=u.shape)}
    elif kind == 8:
        fields = {"u": np.broadcast_to(np.sin(x)[:, None], u.shape)}
    elif kind == 9:
        fields = {"u": np.broadcast_to(np.exp(-t), u.shape)}
    elif kind == 10:
        fields = {HOSTILE[rng.integers(len(HOSTILE))]: u, HOSTILE[rng.integers(len(HOSTILE))]: u**2}
    elif kind == 11:
        axes = {HOSTILE[rng.integers(len(HOSTILE))]: x, "t": t}
    elif kind == 12:
        told = [
            {"max_order": 0},
            {"order": 3},
            {"max_time": np.nan},
            {"max_time": "1"},
            {"max_degree": 9},
            {"time": "z"},
            {"order": "two"},
            {"max_time": None},
        ][rng.integers(8)]
    elif kind == 13:
        told = [{"given": ["u"]}, {"given": "u"}, {"given": ["z"]}, {"given": 3}][rng.integers(4)]
    elif kind == 14:
        fields = {"u": np.sin(x[:20, None, None] + x[None, :20, None] - t)} if n >= 20 else fields
        axes = {"x": x[:20], "y": x[:20], "t": t} if n >= 20 else axes
    else:
        told = {"order": rng.choice([2, "auto"]) if rng.random() < 0.5 else "auto"}
    return fields, axes, told


def fields_fault(number: int, folder: Path) -> str | None:
    """One odd set of fields: found in time and usable, or refused in a sentence."""
    rng = np.random.default_rng(number)
    fields, axes, told = odd_fields(rng)
    given = told.pop("given", ())
    model = PDERegressor(**{"max_time": 1.0, **told})

    def work() -> str | None:
        began = time.process_time()
        model.fit(fields, axes, given=given)
        late = time.process_time() - began - model.max_time
        system, path = model.system_, folder / "pde.json"
        _ = str(model), model.equations_, system.latex(), str(system)
        system.save(path)
        if PDESystem.load(path).to_dict() != system.to_dict():
            return "reads back as another system"
        return f"{late:.2f} s over" if late > LATE else None

    return fault_of(work)


def system() -> System:
    return System.parse({"prey": "1.1*prey - 0.4*prey*hunter", "hunter": "0.1*prey*hunter - 0.4*hunter*sin(u)"}, ["u"])


def waves() -> PDESystem:
    terms = (Term((1,), (2,)), Term((2,), (1,)), Term((0,), (0,), "sin(x0)"))
    return PDESystem(
        ("u",), ("x",), "t", (Equation("u", terms, (-0.5, 0.1, 0.2), (0.01, 0.01, 0.01), 0.99),), 1, ("a note",)
    )


def saved(which: int) -> Any:
    """What the searches save, as plain data: a system, a whole search, an equation of fields."""
    plain = system().to_dict() | {"ranges": [[0.0, 9.0], [0.0, 9.0]], "start": [1.0, 2.0], "notes": ["a note"]}
    rows = {
        "prey": [{"rate": "x", "length": 1.0, "chi2": 1.0, "source": "s"}],
        "system": [{"system": "x", "length": 1.0}],
    }
    whole = {"schema": "unisymnet-dynamics", "version": 1, "parameters": {"max_time": 5, "order": 1}, "system": plain}
    return (plain, whole | {"systems": {"a": plain}, "tables": rows, "seconds": 1.0}, waves().to_dict())[which % 3]


def saved_fault(number: int, path: Path) -> str | None:
    """Damaged JSON of a system, of a whole search, or of fields is refused as damaged, or can be used in every way."""
    rng = random.Random(number)
    path.write_text(texts.damaged_json(saved(number), rng), "utf-8", "surrogatepass")
    reader = (System.load, DynamicsRegressor.load, PDESystem.load)[number % 3]
    try:
        found: Any = reader(path)
    except CheckpointError as error:
        return None if len(str(error)) < 900 else "a message longer than a screen"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"

    return fault_of(lambda: work_of(found, number, path))


def work_of(found: Any, number: int, path: Path) -> None:
    """Use what was read."""
    _ = str(found)
    if number % 3 == 2:
        _ = found.latex(), found.to_dict()
        nodes = {axis: np.linspace(0.0, 6.0, 16) for axis in found.space} | {found.time: np.linspace(0.0, 0.01, 3)}
        found.simulate({name: np.ones((16,) * len(found.space)) for name in found.fields}, nodes)
        return
    if number % 3 == 1:
        _ = found.equations_, found.get_params()
        found.save(path)
        found = found.system_
    _ = [found.to(language) for language in LANGUAGES], found.lines(), found.to_json()
    if len(found.inputs) < 50:
        rows = [[1.0] * len(found.inputs)] * 2
        found.simulate(None, [0.0, 0.1], rows, max_seconds=1.0)
        found.jacobian([1.0] * len(found.states), 0.0, rows[0])
        found.fixed_points(rows[0])
