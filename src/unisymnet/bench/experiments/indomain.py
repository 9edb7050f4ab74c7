"""Table "in-domain methods": complexity, accuracy and solution rate on eight suites; mean R²; test time.

Com, Acc and Sol as in the paper: Com is the size by its Definition 2, Acc the share of runs with R² above 0.99, Sol the
share of symbolic solutions by SRBench's procedure.  The strict judge stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...metrics import accuracy_rate
from ..problems import STANDARD, load_suite
from ..task import Task
from . import facts
from .base import (
    SEEDS,
    Block,
    Cell,
    Experiment,
    Figure,
    Record,
    Setup,
    Table,
    available,
    colour,
    run_tasks_of,
    tasks_over,
)
from .tally import groups, label, mean, mean_r2, plain_tasks, seconds, share

METHODS = ("unisymnet", "unisymnet-paper", "unisymnet-literal", "pyoperon", "gplearn", "eql")
BLACK_BOXES = ("mlp", "svr", "boosting")  # belong to the extrapolation


def tasks(setup: Setup) -> list[Task]:
    problems = load_suite("standard")[:: 5 if setup.quick else 1]
    return tasks_over(setup, available(setup, METHODS), [problem.name for problem in problems], SEEDS)


def report(records: Sequence[Record]) -> list[Block]:
    own = [r for r in plain_tasks(records, STANDARD) if r["method"] not in BLACK_BOXES]
    cells = groups(own, "method", "max_time")
    if not cells:
        return []
    present = {record["suite"] for chosen in cells.values() for record in chosen}
    tables = [_table(suite, cells) for suite in STANDARD if suite in present]
    return [_summary(cells), *tables, _times(cells), _radar(cells)]


def _row(name: str, chosen: Sequence[Record]) -> tuple[Cell, ...]:
    ok = [record["scores"] for record in chosen]
    return (
        name,
        len(chosen),
        mean(score.get("complexity") for score in ok),
        mean(score.get("true_complexity") for score in ok),
        accuracy_rate(score.get("r2") or 0.0 for score in ok),
        share(chosen, "srbench"),
        share(chosen, "strict"),
        mean_r2(chosen),
        mean(seconds(record) for record in chosen if record["time"] is not None),
    )


COLUMNS = ("method", "runs", "Com", "Com of the truth", "Acc", "Sol", "Sol (strict)", "mean R²", "seconds")


def _table(suite: str, cells: dict[tuple[Any, ...], list[Record]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (method, budget), chosen in cells.items():
        mine = [record for record in chosen if record["suite"] == suite]
        if mine:
            rows.append(_row(label(method, budget), mine))
    for name, (size, accurate, found) in facts.paper("in domain", suite).items():
        rows.append((f"{name} (paper)", None, size, None, accurate, found, None, None, None))
    return Table(f"In-domain: {suite}", COLUMNS, tuple(rows))


def _summary(cells: dict[tuple[Any, ...], list[Record]]) -> Table:
    rows = [_row(label(method, budget), chosen) for (method, budget), chosen in cells.items()]
    for name in facts.paper("in domain", "koza"):
        weights = {suite: len(load_suite(suite)) for suite in STANDARD}
        found = {suite: facts.paper("in domain", suite)[name] for suite in STANDARD}
        means = [sum(found[s][i] * w for s, w in weights.items()) / sum(weights.values()) for i in range(3)]
        rows.append((f"{name} (paper)", None, means[0], None, means[1], means[2], None, None, None))
    note = "Rows of the paper: its table, suites weighted by their numbers of problems."
    return Table("In-domain: all eight suites", COLUMNS, tuple(rows), note)


def _times(cells: dict[tuple[Any, ...], list[Record]]) -> Figure:
    def draw(fig: Any) -> None:
        left, right = fig.subplots(1, 2)
        names = [label(method, budget) for method, budget in cells]
        for place, (name, chosen) in enumerate(zip(names, cells.values(), strict=True)):
            times = sorted(seconds(record) for record in chosen if record["time"] is not None)
            shares = [(i + 1) / len(chosen) for i in range(len(times))]
            left.step(times, shares, where="post", color=colour(name, place), label=name)
            right.barh(place, share(chosen, "srbench") or 0.0, color=colour(name, place))
        right.set_yticks(range(len(names)), names)
        left.set(xscale="log", xlabel="seconds of a run", ylabel="share of runs that have ended", ylim=(0, 1.02))
        right.set(xlabel="solution rate (SRBench's procedure)", xlim=(0, 1))
        left.legend(loc="upper left")

    return Figure("indomain", "Standard benchmarks: time and solution rate", draw, note="Peers: processor time.")


def _radar(cells: dict[tuple[Any, ...], list[Record]]) -> Figure:
    """The paper's radar of mean R²: one spoke a suite, one line a method."""
    whole = {key: {record["suite"] for record in chosen} for key, chosen in cells.items()}
    suites = [suite for suite in STANDARD if any(suite in found for found in whole.values())]
    angles = [2.0 * math.pi * i / len(suites) for i in range(len(suites))]

    def draw(fig: Any) -> None:
        axis = fig.add_subplot(projection="polar")
        for place, ((method, budget), chosen) in enumerate(cells.items()):
            by_suite = [mean_r2([r for r in chosen if r["suite"] == suite]) for suite in suites]
            values = [0.0 if value is None else value for value in by_suite]
            if set(suites) <= whole[method, budget]:
                name = label(method, budget)
                axis.plot([*angles, angles[0]], [*values, values[0]], color=colour(name, place), label=name)
        axis.set_xticks(angles, suites)
        axis.set_ylim(0.0, 1.02)
        fig.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)

    return Figure("indomain-r2", "Mean R² by suite (a negative R² counts as 0)", draw, (6.0, 6.0))


EXPERIMENT = Experiment(
    "indomain",
    "in-domain table (Com, Acc, Sol of eight suites), mean R² (with its radar), test time",
    "70 problems, 20 runs, six methods of 10 s: about 12 hours on two cores",
    run_tasks_of(tasks),
    report,
    compares=True,
)
