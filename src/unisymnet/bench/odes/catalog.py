"""The systems of ODEBench from the user's folder, or our own; true trajectories, and the data that methods see.

Ours, ten systems from textbooks that ODEBench does not hold, in laboratory units (ecology, chemistry, mechanics,
circuits), stand in catalogs/systems.json.  The search was not made with them in view; they say how it does on systems
nobody tuned it to.

Trajectories are integrated here at a tolerance of 1e-11 and not read from the published file, which was integrated at
1e-5.  Noise is ODEBench's: x (1 + σ ξ); a share ρ of the points is left out at random.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from ...arrays import Floats
from ...dynamics import System
from ...errors import DataError

N_POINTS, END, TOLERANCE = 512, 10.0, 1e-11
FILE = "odebench.csv"


@dataclass(frozen=True)
class Task:
    """One system with its two starts, followed until ``end``."""

    number: int
    system: System
    starts: tuple[tuple[float, ...], ...]
    name: str = ""
    end: float = END
    suite: str = "odebench"

    def truth(self, start: int) -> tuple[Floats, Floats]:
        """Times and states of one trajectory."""
        times = np.linspace(0.0, self.end, N_POINTS)
        return times, self.system.simulate(self.starts[start], times, rtol=TOLERANCE)

    def data(self, noise: float, subsample: float, seed: int, both: bool) -> list[tuple[Floats, Floats]]:
        """What a method sees: one trajectory, or both."""
        rng = np.random.default_rng([seed, self.number])
        found = []
        for start in range(2 if both else 1):
            times, states = self.truth(start)
            kept = rng.random(len(times)) >= subsample
            noisy = states * (1.0 + noise * rng.normal(size=states.shape))
            kept &= np.isfinite(noisy).all(axis=1)
            found.append((times[kept], noisy[kept]))
        return found


def read_tasks(folder: str | None) -> list[Task]:
    """All systems of ``odebench.csv`` in the folder."""
    if folder is None:
        raise DataError(f"say where the catalog is: --data FOLDER, a folder with {FILE}")
    path = Path(folder) / FILE
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return [_task(row) for row in csv.DictReader(file)]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path}: {error}") from error
    except (KeyError, ValueError) as error:
        raise DataError(f"{path} is not the catalog of ODEBench: {error!r}") from error


def own_tasks() -> list[Task]:
    """Our own systems with two starts each."""
    text = files(__package__.rpartition(".")[0]).joinpath("catalogs", "systems.json").read_text(encoding="utf-8")
    return [
        Task(number, System.parse(row["equations"]), _starts(row["starts"]), row["name"], row["end"], "systems")
        for number, row in enumerate(json.loads(text), 1)
    ]


def _starts(given: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, start)) for start in given)


def _task(row: dict[str, str]) -> Task:
    constants = json.loads(row["constants"])
    equations = {}
    for k, text in enumerate(row["rhs"].split("|")):
        text = re.sub(r"c_(\d+)", lambda match: f"({float(constants[int(match[1])])!r})", text)
        text = re.sub(r"cot\(([^()]*)\)", r"(cos(\1)/sin(\1))", text)
        equations[f"x{k}"] = text.replace("x_", "x").replace("^", "**")
    starts = _starts([json.loads(row[name]) for name in ("init_1", "init_2")])
    return Task(int(row["id"]), System.parse(equations), starts, row.get("name", ""))
