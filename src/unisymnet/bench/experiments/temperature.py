"""Table "sensitivity analysis": schedules of the temperature by coefficients of the entropy, on Nguyen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..task import Task
from . import facts
from .base import SEEDS, Block, Cell, Experiment, Record, Setup, Table, run_tasks_of
from .settings import method, of_methods, tasks_for
from .tally import interval, mean, mean_r2, share

METHODS = {
    method(schedule=schedule, entropy=entropy): (schedule, entropy)
    for schedule in ("constant", "linear", "exponential")
    for entropy in facts.ENTROPIES
}


def tasks(setup: Setup) -> list[Task]:
    """Quick: three problems, one run; else the paper's twenty, for its confidence intervals."""
    seeds = range(setup.seed, setup.seed + (1 if setup.quick else SEEDS))
    return [task for seed in seeds for task in tasks_for(tuple(METHODS), replace(setup, seed=seed), ("nguyen",))]


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
        intervals = (interval(mine, _r2), interval(mine, _solved))
        rows.append((schedule, entropy, len(mine), *(cell for pair in pairs for cell in pair), *intervals))
    columns = (
        *("temperature", "entropy", "runs", "mean R²", "paper", "Sol", "paper", "Com", "paper"),
        *("± R² (95 %)", "± Sol (95 %)"),
    )
    note = "Half-widths of 95 % intervals over seeds (each seed's mean over the problems); none with one seed."
    return [Table("Temperature and entropy of SFO's policy, Nguyen", columns, tuple(rows), note)]


def _r2(records: Sequence[Record]) -> float:
    return mean_r2(records) or 0.0


def _solved(records: Sequence[Record]) -> float:
    return share(records, "srbench") or 0.0


EXPERIMENT = Experiment(
    "temperature",
    "temperature schedules by entropy coefficients of SFO's policy, on Nguyen",
    "12 problems, nine settings, 20 runs, 10 s each: about 3 hours on two cores",
    run_tasks_of(tasks),
    report,
)
