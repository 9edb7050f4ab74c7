"""Data without a known law: R² and size against linear regression, gradient boosting, MLP and SVR. Not in the paper."""

from __future__ import annotations

from collections.abc import Sequence

from ..problems import load_suite
from ..task import Task
from .base import Block, Cell, Experiment, Record, Setup, Table, available, run_tasks_of, tasks_over
from .tally import groups, label, mean, tasks_among

METHODS = ("unisymnet", "pyoperon", "gplearn", "linear", "boosting", "mlp", "svr")


def tasks(setup: Setup) -> list[Task]:
    return tasks_over(setup, available(setup, METHODS), [problem.name for problem in load_suite("blackbox")], 10)


def report(records: Sequence[Record]) -> list[Block]:
    chosen = [record for record in tasks_among(records) if record["suite"] == "blackbox" and record["noise"] == 0]
    rows: list[tuple[Cell, ...]] = []
    for (problem, method, budget), cell in groups(chosen, "problem", "method", "max_time").items():
        name = method if method in ("linear", "boosting", "mlp", "svr") else label(method, budget)
        r2 = mean(record["scores"].get("r2") for record in cell)
        size = mean(record["scores"].get("complexity") for record in cell)
        rows.append((problem, name, len(cell), r2, size, mean(record["time"] for record in cell)))
    columns = ("data", "method", "runs", "mean R²", "size", "seconds")
    return [Table("Black-box data", columns, tuple(rows))] if rows else []


EXPERIMENT = Experiment(
    "tabular",
    "friedman1-3 and diabetes against linear, boosting, MLP and SVR (not in the paper)",
    "four data sets, ten runs, seven methods of 10 s: 20 minutes on two cores",
    run_tasks_of(tasks),
    report,
    compares=True,
)
