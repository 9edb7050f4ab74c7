"""Table "sensitivity analysis": schedules of the temperature by coefficients of the entropy, on Nguyen."""

from __future__ import annotations

from collections.abc import Sequence

from ..task import Task
from . import facts
from .base import Block, Cell, Experiment, Record, Setup, Table, run_tasks_of
from .settings import method, of_methods, tasks_for
from .tally import mean, mean_r2, share

METHODS = {
    method(schedule=schedule, entropy=entropy): (schedule, entropy)
    for schedule in ("constant", "linear", "exponential")
    for entropy in facts.ENTROPIES
}


def tasks(setup: Setup) -> list[Task]:
    return tasks_for(tuple(METHODS), setup, ("nguyen",))


def report(records: Sequence[Record]) -> list[Block]:
    found = of_methods(records, tuple(METHODS))
    if not found:
        return []
    rows: list[tuple[Cell, ...]] = []
    for name, (schedule, entropy) in METHODS.items():
        mine = found[name]
        size = mean(record["scores"].get("complexity") for record in mine)
        ours = (mean_r2(mine), share(mine, "srbench"), size)
        pairs = zip(ours, facts.sensitivity(schedule)[entropy], strict=True)
        rows.append((schedule, entropy, len(mine), *(cell for pair in pairs for cell in pair)))
    columns = ("temperature", "entropy", "runs", "mean R²", "paper", "Sol", "paper", "Com", "paper")
    return [Table("Temperature and entropy of SFO's policy, Nguyen", columns, tuple(rows))]


EXPERIMENT = Experiment(
    "temperature",
    "temperature schedules by entropy coefficients of SFO's policy, on Nguyen",
    "12 problems, nine settings, 10 s each: 10 minutes on two cores",
    run_tasks_of(tasks),
    report,
)
