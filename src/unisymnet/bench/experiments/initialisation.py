"""Table "initialization methods": how the starts of SFO's fits are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from ...metrics import accuracy_rate
from ..problems import STANDARD
from ..task import Task
from . import facts
from .base import Block, Cell, Experiment, Record, Setup, Table, run_tasks_of
from .settings import method, of_methods, tasks_for
from .tally import mean, share

METHODS = {method(init=init): init for init in facts.INITS}


def tasks(setup: Setup) -> list[Task]:
    return tasks_for(tuple(METHODS), setup)


def report(records: Sequence[Record]) -> list[Block]:
    found = of_methods(records, tuple(METHODS))
    if not found:
        return []
    rows: list[tuple[Cell, ...]] = []
    for suite in STANDARD:
        for name, init in METHODS.items():
            mine = [record for record in found[name] if record["suite"] == suite]
            if mine:
                accurate = accuracy_rate(record["scores"].get("r2") or 0.0 for record in mine)
                size = mean(record["scores"].get("complexity") for record in mine)
                seconds = mean(record["time"] for record in mine)
                ours = (size, accurate, share(mine, "srbench"), seconds)
                pairs = zip(ours, facts.initialisation(suite)[init], strict=True)
                rows.append((suite, init, len(mine), *(cell for pair in pairs for cell in pair)))
    columns = ("suite", "starts", "runs", "Com", "paper", "Acc", "paper", "Sol", "paper", "seconds", "paper")
    note = "The paper prints 0.09091 for the accuracy of the grid on Livermore."
    return [Table("Initialisation of SFO", columns, tuple(rows), note)]


EXPERIMENT = Experiment(
    "initialisation",
    "random, grid, Latin hypercube and evolutionary starts of SFO",
    "70 problems, four kinds of starts, 10 s each: 25 minutes on two cores",
    run_tasks_of(tasks),
    report,
)
