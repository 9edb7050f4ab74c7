"""Table "Huber and Quantile losses": changes against mean squares in R², solution rate and complexity."""

from __future__ import annotations

from collections.abc import Sequence

from ..problems import STANDARD
from ..task import Task
from . import facts
from .base import Block, Cell, Experiment, Record, Setup, Table, run_tasks_of
from .settings import method, of_methods, tasks_for
from .tally import mean, mean_r2, share

METHODS = {method(loss=loss): loss for loss in ("mse", "huber", "quantile")}


def tasks(setup: Setup) -> list[Task]:
    return tasks_for(tuple(METHODS), setup)


def report(records: Sequence[Record]) -> list[Block]:
    found = of_methods(records, tuple(METHODS))
    if not found:
        return []
    rows: list[tuple[Cell, ...]] = []
    for suite in STANDARD:
        cells = {loss: [r for r in found[name] if r["suite"] == suite] for name, loss in METHODS.items()}
        if not all(cells.values()):
            continue
        plain = _measured(cells["mse"])
        for loss, published in facts.losses(suite).items():
            changes = [None if a is None or b is None else a - b for a, b in zip(_measured(cells[loss]), plain)]
            pairs = zip(changes, published, strict=True)
            rows.append((suite, loss, len(cells[loss]), *(cell for pair in pairs for cell in pair)))
    columns = ("suite", "loss", "runs", "ΔR²", "paper", "ΔSol", "paper", "ΔCom", "paper")
    return [Table("Losses of SFO, changes against mean squares", columns, tuple(rows))]


def _measured(records: Sequence[Record]) -> tuple[float | None, ...]:
    size = mean(record["scores"].get("complexity") for record in records)
    return mean_r2(records), share(records, "srbench"), size


EXPERIMENT = Experiment(
    "losses",
    "Huber and quantile loss against mean squares in SFO",
    "70 problems, three losses, 10 s each: 20 minutes on two cores",
    run_tasks_of(tasks),
    report,
)
