"""Extrapolation (Definition 4): R² where every range is twice as long, against MLP and SVR, and two pictures."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...symbolic import evaluate, parse
from ..methods import get_method
from ..problems import STANDARD, find_problem, load_suite
from ..task import Task, split
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
from .tally import groups, label, mean, mean_r2, plain_tasks

METHODS = ("unisymnet", "unisymnet-paper", "unisymnet-literal", "mlp", "svr")
PICTURES = ("Livermore-13", "Nguyen-1")


def tasks(setup: Setup) -> list[Task]:
    problems = load_suite("standard")[:: 5 if setup.quick else 1]
    names = dict.fromkeys([*PICTURES, *(problem.name for problem in problems)])
    return tasks_over(setup, available(setup, METHODS), list(names), SEEDS)


def report(records: Sequence[Record]) -> list[Block]:
    chosen = [record for record in plain_tasks(records, STANDARD) if "r2_wide" in record["scores"]]
    cells = groups(chosen, "method", "max_time")
    if not {"mlp", "svr"} & {method for method, _ in cells}:
        return []
    rows: list[tuple[Cell, ...]] = []
    for suite in STANDARD:
        for (method, budget), all_of_it in cells.items():
            mine = [record for record in all_of_it if record["suite"] == suite]
            if mine:
                good = mean(float((record["scores"]["r2_wide"] or 0.0) > 0.99) for record in mine)
                name = label(method, budget) if method.startswith("unisymnet") else method
                rows.append((suite, name, len(mine), mean_r2(mine), mean_r2(mine, "r2_wide"), good))
    columns = ("suite", "method", "runs", "mean R² inside", "mean R² doubled range", "share above 0.99")
    note = "A negative or undefined R² counts as 0. The paper shows this as pictures without numbers."
    drawn = [name for name in PICTURES if any(record["problem"] == name for record in chosen)]
    table = Table("Extrapolation: ranges twice as long", columns, tuple(rows), note)
    return [table, *(_picture(name, chosen) for name in drawn)]


def _picture(name: str, records: Sequence[Record]) -> Figure:
    problem = find_problem(name)
    low, high = problem.low[0], problem.high[0]
    width = high - low
    x = np.linspace(low - width / 2, high + width / 2, 400)

    def draw(fig: Any) -> None:
        axis = fig.subplots()
        truth = problem.evaluate(x[:, None])
        axis.axvspan(low, high, color="#eef3f8", label="training range")
        axis.plot(x, truth, color=colour("truth"), linewidth=3, alpha=0.35, label="truth")
        for method in ("mlp", "svr"):
            axis.plot(x, _refitted(method, problem, x), color=colour(method), label=method.upper())
        for method in ("unisymnet-literal", "unisymnet-paper", "unisymnet"):
            found = [r for r in records if (r["problem"], r["method"]) == (name, method) and r["expression"]]
            if found:
                values = evaluate(parse(found[0]["expression"]), x[:, None])
                axis.plot(x, values, "--", color=colour(method), label=method)
        defined = truth[np.isfinite(truth)]
        margin = 0.25 * np.ptp(defined)
        axis.set(xlabel="x", ylabel="y", ylim=(defined.min() - margin, defined.max() + margin))
        axis.legend(fontsize=8.5)

    return Figure(f"extrapolation-{name}", f"{name}: inside and outside the training range", draw, (5.6, 3.8))


def _refitted(method: str, problem: Any, x: Any) -> Any:
    """The black boxes keep no formula, so they are fitted again, to the rows of seed 0; that takes a moment."""
    rng = np.random.default_rng([0, zlib.crc32(problem.name.encode())])
    data = split(problem, rng=rng)
    one = get_method(method)
    model = one.fit(data.X_train, data.y_train, max_time=10.0, seed=0, names=("x0",))
    return one.predict(model, x[:, None])


EXPERIMENT = Experiment(
    "extrapolation",
    "R² on ranges twice as long against MLP and SVR; pictures of Livermore-13 and Nguyen-1",
    "70 problems, 20 runs, ours three times: about 8 hours on two cores",
    run_tasks_of(tasks),
    report,
    compares=True,
)
