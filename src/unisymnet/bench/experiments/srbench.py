"""SRBench's ground-truth problems at four noise levels: solution rate, mean R² and complexity, beside the paper's, the
peers' of the same run and the 14 methods of SRBench 2021 (10,000 training rows and up to eight hours there)."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import compress
from typing import Any

from ..problems import load_suite
from ..task import Task
from . import facts
from .base import Block, Cell, Experiment, Figure, Record, Setup, Table, available, colour, run_tasks_of, tasks_over
from .tally import groups, label, mean, mean_r2, plain_tasks, seconds, share, solved

METHODS = ("unisymnet", "unisymnet-paper", "unisymnet-literal", "pyoperon", "gplearn")
SUITES = ("feynman", "strogatz")
COLUMNS = (
    *("method", "runs", "Sol", "Sol (strict)", "form found", "mean R²", "complexity"),
    *("size / truth", "median s of the solved"),
)

SIZES = (10, 30, 100, 300)  # marked on the axis of complexity


def tasks(setup: Setup) -> list[Task]:
    """Quick: every twelfth Feynman problem and every third of Strogatz, two noise levels."""
    step = {"feynman": 12, "strogatz": 3} if setup.quick else {"feynman": 1, "strogatz": 1}
    names = {suite: [problem.name for problem in load_suite(suite)[:: step[suite]]] for suite in SUITES}
    methods = available(setup, METHODS)
    return [
        task
        for noise in ((0.0, 0.01) if setup.quick else facts.NOISES)
        for suite in SUITES
        for task in tasks_over(setup, methods, names[suite], noise=noise)
    ]


def report(records: Sequence[Record]) -> list[Block]:
    chosen = plain_tasks(records, SUITES, clean=False)
    blocks: list[Block] = []
    for suite in SUITES:
        for noise in facts.NOISES:
            cell = [record for record in chosen if (record["suite"], record["noise"]) == (suite, noise)]
            if cell:
                blocks.append(_table(suite, noise, cell))
    present = [suite for suite in SUITES if any(record["suite"] == suite for record in chosen)]
    return [*blocks, *(draw(suite, chosen) for suite in present for draw in (_figure, _beside))]


def _row(name: str, records: Sequence[Record]) -> tuple[Cell, ...]:
    """What a table says of a method on some problems; sizes and times are of the solved."""
    found = [record for record in records if solved(record)]
    scores = [record["scores"] for record in found]
    return (
        name,
        len(records),
        share(records, "srbench"),
        share(records, "strict"),
        share(records, "form") if all("form" in r["scores"] for r in records if r["scores"]) else None,
        mean_r2(records),
        mean(record["scores"].get("srbench_complexity") for record in records),
        mean(score["complexity"] / score["true_complexity"] for score in scores if score.get("true_complexity")),
        statistics.median(map(seconds, found)) if found else None,
    )


def _table(suite: str, noise: float, records: Sequence[Record]) -> Table:
    rows = [_row(label(*key), chosen) for key, chosen in groups(records, "method", "max_time").items()]
    rate, r2, size = facts.by_number("srbench", suite)[noise]
    rows.append(("UniSymNet (paper)", None, rate, None, None, r2, size, None, None))
    others = sorted(facts.published(suite, noise).items(), key=lambda item: -(item[1]["rate"] or 0.0))
    for name, numbers in others:
        measured = (None, numbers["rate"], None, None, numbers["r2"], numbers["complexity"], None, numbers["time"])
        rows.append((f"{name} (SRBench)", *measured))
    note = "Time of SRBench's rows: mean of all runs on one core. Complexity: nodes of sympy's tree."
    return Table(f"SRBench {suite}, noise {noise:g}", COLUMNS, tuple(rows), note)


def _figure(suite: str, records: Sequence[Record]) -> Figure:
    cells = groups([record for record in records if record["suite"] == suite], "method", "max_time")
    n_problems = len(load_suite(suite))

    def draw(fig: Any) -> None:
        axes = fig.subplots(1, 3)
        longest = {method: max(budget for name, budget in cells if name == method) for method, _ in cells}
        for place, ((method, budget), chosen) in enumerate(cells.items()):
            by_noise = groups(chosen, "noise")
            x = [facts.NOISES.index(noise) for (noise,) in by_noise if noise in facts.NOISES]
            some = [cell for (noise,), cell in by_noise.items() if noise in facts.NOISES]
            curves = (
                [share(cell, "srbench") for cell in some],
                [mean_r2(cell) for cell in some],
                [mean(record["scores"].get("srbench_complexity") for record in cell) for cell in some],
            )
            partly = [len({record["problem"] for record in cell}) < n_problems for cell in some]
            for axis, values in zip(axes, curves, strict=True):
                # One colour a method: its shorter budgets are the broken lines.
                line = "o-" if budget == longest[method] else "^-."
                axis.plot(x, values, line, color=colour(method, place), label=label(method, budget))
                for at, value in compress(zip(x, values, strict=True), partly):
                    axis.plot(at, value, line[0], color=colour(method, place), markerfacecolor="white", zorder=3)
        paper = facts.by_number("srbench", suite)
        for number, axis in enumerate(axes):
            axis.plot(range(4), [paper[n][number] for n in facts.NOISES], "s--", color=colour("paper"), label="paper")
            axis.set_xticks(range(4), [f"{noise:g}" for noise in facts.NOISES])
            axis.set(xlabel="noise", xlim=(-0.2, 3.2))
        best = [max(one["rate"] or 0.0 for one in facts.published(suite, noise).values()) for noise in facts.NOISES]
        axes[0].plot(range(4), best, ":", color="#999999", label="best of SRBench 2021")
        axes[0].set(title="solution rate", ylim=(0, 1.02))
        axes[1].set(title="mean R²", ylim=(None, 1.01))
        axes[2].set(title="complexity")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8.5)

    title = f"SRBench, {suite}: by noise level (hollow: a sample of the problems)"
    return Figure(f"srbench-{suite}", title, draw, (9.0, 3.6))


def _beside(suite: str, records: Sequence[Record]) -> Figure:
    """The paper's bars: every method without noise, ours beside the paper's and the 14 of SRBench 2021."""
    clean = [record for record in records if record["suite"] == suite and record["noise"] == 0]
    bars: dict[str, tuple[float | None, ...]] = {}
    for (method, budget), chosen in groups(clean, "method", "max_time").items():
        size = mean(record["scores"].get("srbench_complexity") for record in chosen)
        bars[label(method, budget)] = (share(chosen, "srbench"), mean_r2(chosen), size)
    bars["paper"] = facts.by_number("srbench", suite)[0.0]
    for name, one in facts.published(suite, 0.0).items():
        bars[name] = (one["rate"], one["r2"], one["complexity"])
    order = sorted(bars, key=lambda name: bars[name][0] or 0.0)

    def draw(fig: Any) -> None:
        for axis, number, title in zip(
            fig.subplots(1, 3, sharey=True), range(3), ("solution rate", "R²", "complexity")
        ):
            values = [bars[name][number] or 0.0 for name in order]
            axis.barh(range(len(order)), values, color=[colour(name, 6) for name in order])
            axis.set_yticks(range(len(order)), order, fontsize=8)
            axis.set(title=title, xscale="log" if number == 2 else "linear")
            if number == 2:
                axis.set_xticks(SIZES, [str(size) for size in SIZES])
                axis.minorticks_off()  # their labels would overlap

    note = "SRBench 2021: 10,000 rows, up to eight hours; its R² is as published. Ours: the rows of the table above."
    title = f"SRBench, {suite}, no noise: all methods"
    return Figure(f"srbench-{suite}-methods", title, draw, (9.0, 0.26 * len(order) + 1.2), note)


EXPERIMENT = Experiment(
    "srbench",
    "Feynman and Strogatz at four noise levels beside the paper and 14 methods of SRBench 2021",
    "133 problems, four noise levels, five methods of 10 s: about 4 hours on two cores",
    run_tasks_of(tasks),
    report,
    compares=True,
)
