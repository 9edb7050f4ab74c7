# ruff: noqa: E501
"""Fields that nobody measures on purpose; systems and equations of fields that were damaged on disk, or have hostile names."""

from __future__ import annotations

import ast
import random
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from attacks import texts
from attacks.motion import LANGUAGES, LATE
from attacks.names import HOSTILE, names
from attacks.purpose import fault_of
from unisymnet import DynamicsRegressor, System
from unisymnet.errors import CheckpointError
from unisymnet.pde import PDERegressor, PDESystem
from unisymnet.pde.system import Equation
from unisymnet.pde.terms import Term


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


def export_fault(name: str, folder: Path) -> str | None:
    """A system with a state of this name in every language: Python parses to two functions, C compiles, nothing runs."""
    hunt = system()
    named = replace(hunt, states=(name, *hunt.states[1:]), notes=(name,))
    try:
        sources = {language: named.to(language) for language in ("python", "c", "julia", "matlab", "latex", "text")}
        whole = {**sources, "lines": "".join(named.lines())}
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    tree = ast.parse(sources["python"])
    if [type(node) for node in tree.body] != [ast.Import, ast.ImportFrom, ast.FunctionDef, ast.FunctionDef]:
        return "python: more than two functions"
    if any(not sign.isprintable() for text in whole.values() for sign in text.replace("\n", "")):
        return "holds a character that cannot be printed"
    marks = {"julia": "#", "matlab": "%"}
    for language, mark in marks.items():
        code = [line for line in sources[language].split("\n") if not line.startswith(mark)]
        if any(re.search(r"[^-A-Za-z0-9_+*/^(), .=\[\]!;]", line) for line in code):
            return f"{language}: a comment ends early"
    (folder / "s.c").write_text(sources["c"], "utf-8")
    if shutil.which("gcc") is None:
        return None
    words = ["gcc", "-Wall", "-Werror", "-fsyntax-only", str(folder / "s.c")]
    done = subprocess.run(words, capture_output=True, text=True)
    return None if done.returncode == 0 else f"gcc: {done.stderr[:200]}"


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


def fields_faults(folder: Path) -> Callable[[int], str | None]:
    """Odd fields and axes through `PDERegressor`."""
    return lambda number: fields_fault(number, folder)


def saved_faults(folder: Path) -> Callable[[int], str | None]:
    """Damaged JSON of systems, of searches for systems and of equations of fields."""
    return lambda number: saved_fault(number, folder / "saved.json")


def export_faults(folder: Path) -> Callable[[int], str | None]:
    """Hostile names through every export of a system."""
    found = names(400)
    return lambda number: export_fault(found[number % len(found)], folder)
