"""Table "optimization strategies" and figure "pruning": SFO, DNO-P and DNO-NP on 200 random functions.

The runs and their judgement are those of `unisymnet.bench.optimisers`; here they become tables and a figure.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from .. import optimisers
from ..optimiser_tables import PAPER, mean_r2, pruning_cells, rate
from ..records import read_records
from .base import Block, Cell, Experiment, Figure, Record, Setup, Table
from .style import CYCLE
from .tally import mean

QUICK = 8  # functions
COLOURS = dict(zip(("default", "dno-np", "dno-p"), (CYCLE[6], CYCLE[0], CYCLE[1]), strict=True))


def collect_strategies(setup: Setup) -> list[Record]:
    noise = (0.0, 0.1) if setup.quick else optimisers.NOISE
    return _collect(setup, noise, ("sfo", "dno-p", "dno-np"))


def collect_pruning(setup: Setup) -> list[Record]:
    return _collect(setup, (0.0,), ("dno-p", "dno-np", "default"))


def _collect(setup: Setup, noise: Sequence[float], methods: Sequence[str]) -> list[Record]:
    from ...fit.dno.dno import require_torch
    from ...model.runtime import shipped

    require_torch()
    # The paper's setting is structures that a transformer proposes; true ones show what pruning itself does.
    kinds: tuple[str, ...] = ("transformer",) if shipped() else ("true",)
    if "default" in methods and shipped():
        kinds = ("true", "transformer")
    settings = {"structures": kinds, "noise": noise, "methods": methods, "paper": False, "signs": False}
    functions = QUICK if setup.quick else 200
    options = argparse.Namespace(functions=functions, seed=setup.seed, max_time=setup.max_time, **settings)
    tasks = optimisers.tasks_of(options)
    optimisers.run(tasks, setup.out, jobs=setup.machine.jobs)
    keys = {task.key() for task in tasks}
    return [r for r in _own(list(read_records(setup.out))) if tuple(r[name] for name in optimisers.KEY) in keys]


def _own(records: Sequence[Record]) -> list[Record]:
    return [r for r in records if "structures" in r and r.get("status") == "ok" and r["domain"] == "own"]


def report_strategies(records: Sequence[Record]) -> list[Block]:
    rows: list[tuple[Cell, ...]] = []
    for kind in ("true", "transformer"):
        chosen = [record for record in _own(records) if record["structures"] == kind and not record["paper"]]
        for method, numbers in PAPER.items():
            for noise, (paper_rate, paper_r2) in numbers.items():
                cell = [r for r in chosen if r["method"] == method and r["noise"] == noise]
                if cell:
                    found, accurate = rate(cell), mean_r2(r["r2"] for r in cell)
                    seconds = mean(r["seconds"] for r in cell)
                    rows.append((kind, method, noise, len(cell), found, paper_rate, accurate, paper_r2, seconds))
    if not rows:
        return []
    columns = ("structures", "strategy", "noise", "runs", "Sol", "paper", "mean R²", "paper", "seconds")
    note = "The paper uses its transformer's structures; true structures show what the strategy itself can do."
    return [Table("SFO, DNO-P and DNO-NP on random functions", columns, tuple(rows), note)]


def report_pruning(records: Sequence[Record]) -> list[Block]:
    own = [record for record in _own(records) if not record["paper"]]
    return [block for kind in ("transformer", "true") for block in _pruned(kind, pruning_cells(own, kind))]


def _pruned(kind: str, cells: dict[str, dict[int, tuple[float, float]]]) -> list[Block]:
    if not {"default", "dno-p", "dno-np"} <= set(cells):
        return []
    rows: list[tuple[Cell, ...]] = [
        (method, depth, *by_depth[depth]) for method, by_depth in cells.items() for depth in sorted(by_depth)
    ]

    def draw(fig: Any) -> None:
        left, right = fig.subplots(1, 2)
        for place, (method, by_depth) in enumerate(cells.items()):
            depths = sorted(by_depth)
            bars = [depth + 0.27 * (place - 1) for depth in depths]
            left.bar(bars, [by_depth[d][1] for d in depths], 0.25, color=COLOURS[method], label=method)
            right.plot(depths, [by_depth[d][0] for d in depths], "o-", color=COLOURS[method], label=method)
        left.set(xlabel="layers L of the function", ylabel="complexity of the network", yscale="log")
        right.set(xlabel="layers L of the function", ylabel="mean R² of the network", ylim=(0, 1.03))
        right.legend(loc="lower left")  # bars leave no room on the left

    note = "The paper shows this as a figure: DNO-NP fits best, DNO-P is the smallest, Default the worst."
    return [
        Table(
            f"Pruning: trained networks by depth, {kind} structures",
            ("network", "L", "mean R²", "complexity"),
            tuple(rows),
            note,
        ),
        Figure(f"pruning-{kind}", f"Pruning: networks as they were trained, {kind} structures", draw),
    ]


STRATEGIES = Experiment(
    "optimisers",
    "SFO, DNO-P and DNO-NP on 200 random functions at four noise levels",
    "200 functions, three strategies, four noise levels, 10 s each: up to 3 hours on two cores; needs torch",
    collect_strategies,
    report_strategies,
)
PRUNING = Experiment(
    "pruning",
    "default structure, DNO-NP and DNO-P by depth: complexity and R² of the networks",
    "200 functions, five networks, 10 s each: up to 80 minutes on two cores; needs torch",
    collect_pruning,
    report_pruning,
)
