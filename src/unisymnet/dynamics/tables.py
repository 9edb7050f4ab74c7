"""A fitted `DynamicsRegressor` in text and as tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..formula import stored
from ..symbolic.text import to_text
from .rate import shown

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 12
COLUMNS = ("rate", "system", "length", "chi2", "source", "segments")


def equation_tables(model: Any) -> dict[str, pd.DataFrame]:
    """One table for each state, one for the system."""
    import pandas as pd

    return {name: pd.DataFrame(rows) for name, rows in saved_tables(model).items()}


def saved_tables(model: Any) -> dict[str, list[dict[str, Any]]]:
    """The tables as plain data: of a loaded model those that were saved."""
    if "found_" not in vars(model):
        return dict(getattr(model, "saved_tables_", {}))
    names = model.course_.names
    found: dict[str, list[dict[str, Any]]] = {}
    for k, state in enumerate(model.system_.states):
        found[state] = [
            {
                "rate": to_text(shown(rate.expr), names, 6),
                "length": _finite(rate.length),
                "chi2": _finite(rate.reduced),
                "source": rate.source,
            }
            for rate in model.found_.rates[k][:MAX_ROWS]
        ]
    found["system"] = [
        {
            "system": "; ".join(f"{state}' = {to_text(shown(e), names, 6)}" for state, e in zip(names, system.exprs)),
            "length": _finite(system.length),
            "chi2": _finite(system.shot.reduced),
            "segments": system.n_segments,
        }
        for system in model.found_.systems[:MAX_ROWS]
    ]
    return found


def read_tables(saved: Any) -> dict[str, list[dict[str, Any]]]:
    """Tables of a file, every cell a number, a text or nothing."""
    if not isinstance(saved, dict):
        raise ValueError(f"tables expected, got {type(saved).__name__}")
    found = {}
    for name, rows in saved.items():
        found[name] = [stored.record(row, COLUMNS) for row in stored.listed(rows)]
        for cell in (cell for row in found[name] for cell in row.values()):
            stored.word(cell) if isinstance(cell, str) else stored.number(cell, missing=None)
    return found


def system_text(model: Any) -> str:
    """What `print(model)` shows."""
    system = model.system_
    head = f"{counted(len(system.states), 'state')} ({', '.join(system.states)})"
    if "runs_" in vars(model):
        runs = model.runs_
        head += f"   {counted(len(runs.trajectories), 'run')}, {runs.n_points} points"
        head += "   " + _noise_text(model)
    lines = [f"{head}   {model.seconds_:.1f} of {model.max_time:g} s", ""]
    for mark, one in (model.systems_ or {"": system}).items():
        lines += [f"  {mark}:"] if mark else []
        lines += [f"  {line}" for line in one.lines(6)]
        lines.append("")
        for formula in one.formulas:
            texts = [str(constant) for constant in formula.constants if constant.value]
            if texts:
                lines.append(f"  constants of {formula.target}: " + ", ".join(texts))
    return "\n".join([*lines, *(f"  note: {note}" for note in system.notes)])


def counted(count: int, word: str) -> str:
    """With its word: 1 run, 2 runs."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _noise_text(model: Any) -> str:
    noises = model.course_.noises
    if all(noise.clean for noise in noises):
        return "no noise"
    texts = []
    for name, noise in zip(model.runs_.states, noises):
        parts = [f"{noise.level:.2g}"] if noise.level > 0.0 else []
        parts += [f"{100 * noise.share:.2g} %"] if noise.share > 0.0 else []
        if not noise.clean:
            texts.append(f"{name} ± {' and '.join(parts)}")
    return "noise: " + ", ".join(texts)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
