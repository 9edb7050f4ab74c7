"""The paper's ablations of SFO's settings: tables "initialization methods", "Huber and Quantile losses", "sensitivity".

`unisymnet-paper[init=grid]` is a method like any other (methods.py), so the runner, the limits and the records are the
same as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from ...metrics import accuracy_rate
from ..problems import STANDARD, load_suite
from ..task import Task
from . import facts
from .base import SEEDS, Block, Cell, Experiment, Record, Setup, Table, run_tasks_of, tasks_over
from .tally import interval, mean, mean_r2, share, tasks_among

QUICK_PROBLEMS = (
    *("Koza-2", "Keijzer-6", "Keijzer-14", "Nguyen-1", "Nguyen-8", "Nguyen-10"),
    *("Constant-4", "Livermore-15"),
)


def _method(**settings: str | float) -> str:
    inner = ",".join(f"{key}={value}" for key, value in settings.items())
    return f"unisymnet-paper[{inner}]"


# The methods of each ablation, and what stands for them in its table.
STARTS = {_method(init=init): init for init in facts.INITS}
LOSSES = {_method(loss=loss): loss for loss in ("mse", "huber", "quantile")}
POLICIES = {
    _method(schedule=schedule, entropy=entropy): (schedule, entropy)
    for schedule in ("constant", "linear", "exponential")
    for entropy in facts.ENTROPIES
}


def _tasks(setup: Setup, methods: Iterable[str], suites: Sequence[str] = STANDARD, n_seeds: int = 1) -> list[Task]:
    names = [problem.name for suite in suites for problem in load_suite(suite)]
    chosen = [name for name in names if name in QUICK_PROBLEMS] if setup.quick else names
    return tasks_over(setup, methods, chosen, n_seeds)


def _of_methods(records: Sequence[Record], methods: Iterable[str]) -> dict[str, list[Record]]:
    """Records by method, in the order of the methods; none if one of them is missing."""
    found = {name: [r for r in tasks_among(records) if r["method"] == name] for name in methods}
    return found if all(found.values()) else {}


def _beside(ours: Iterable[Cell], theirs: Iterable[Cell]) -> Iterable[Cell]:
    """Every number of ours with the paper's behind it."""
    return chain.from_iterable(zip(ours, theirs, strict=True))


def _measured(records: Sequence[Record]) -> tuple[float | None, ...]:
    size = mean(record["scores"].get("complexity") for record in records)
    return mean_r2(records), share(records, "srbench"), size


def report_starts(records: Sequence[Record]) -> list[Block]:
    found = _of_methods(records, STARTS)
    rows: list[tuple[Cell, ...]] = []
    for suite in STANDARD if found else ():
        for name, init in STARTS.items():
            mine = [record for record in found[name] if record["suite"] == suite]
            if mine:
                accurate = accuracy_rate(record["scores"].get("r2") or 0.0 for record in mine)
                _, solved, size = _measured(mine)
                ours = (size, accurate, solved, mean(record["time"] for record in mine))
                rows.append((suite, init, len(mine), *_beside(ours, facts.paper("initialisation", suite)[init])))
    columns = ("suite", "starts", "runs", "Com", "paper", "Acc", "paper", "Sol", "paper", "seconds", "paper")
    note = "The paper prints 0.09091 for the accuracy of the grid on Livermore."
    return [Table("Initialisation of SFO", columns, tuple(rows), note)] if found else []


def report_losses(records: Sequence[Record]) -> list[Block]:
    """Changes against mean squares."""
    found = _of_methods(records, LOSSES)
    rows: list[tuple[Cell, ...]] = []
    for suite in STANDARD if found else ():
        cells = {loss: [r for r in found[name] if r["suite"] == suite] for name, loss in LOSSES.items()}
        if not all(cells.values()):
            continue
        plain = _measured(cells["mse"])
        for loss, published in facts.paper("losses", suite).items():
            changes = [None if a is None or b is None else a - b for a, b in zip(_measured(cells[loss]), plain)]
            rows.append((suite, loss, len(cells[loss]), *_beside(changes, published)))
    columns = ("suite", "loss", "runs", "ΔR²", "paper", "ΔSol", "paper", "ΔCom", "paper")
    return [Table("Losses of SFO, changes against mean squares", columns, tuple(rows))] if found else []


def report_policies(records: Sequence[Record]) -> list[Block]:
    """Schedules of the temperature by coefficients of the entropy, on Nguyen."""
    found = _of_methods(records, POLICIES)
    rows: list[tuple[Cell, ...]] = []
    for name, mine in found.items():
        schedule, entropy = POLICIES[name]
        paper = facts.by_number("sensitivity", schedule)[entropy]
        intervals = (interval(mine, mean_r2), interval(mine, lambda some: share(some, "srbench")))
        rows.append((schedule, entropy, len(mine), *_beside(_measured(mine), paper), *intervals))
    columns = (
        *("temperature", "entropy", "runs", "mean R²", "paper", "Sol", "paper", "Com", "paper"),
        *("± R² (95 %)", "± Sol (95 %)"),
    )
    note = "Half-widths of 95 % intervals over seeds (each seed's mean over the problems); none with one seed."
    return [Table("Temperature and entropy of SFO's policy, Nguyen", columns, tuple(rows), note)] if found else []


INITIALISATION = Experiment(
    "initialisation",
    "random, grid, Latin hypercube and evolutionary starts of SFO",
    "70 problems, four kinds of starts, 10 s each: 25 minutes on two cores",
    run_tasks_of(lambda setup: _tasks(setup, STARTS)),
    report_starts,
)
ROBUST = Experiment(
    "losses",
    "Huber and quantile loss against mean squares in SFO",
    "70 problems, three losses, 10 s each: 20 minutes on two cores",
    run_tasks_of(lambda setup: _tasks(setup, LOSSES)),
    report_losses,
)
TEMPERATURE = Experiment(
    "temperature",
    "temperature schedules by entropy coefficients of SFO's policy, on Nguyen",
    "12 problems, nine settings, 20 runs, 10 s each: about 3 hours on two cores",
    run_tasks_of(lambda setup: _tasks(setup, POLICIES, ("nguyen",), SEEDS)),
    report_policies,
)
