"""Table "optimization strategies" and figure "pruning": SFO, DNO-P and DNO-NP on 200 random functions.

Usage: python -m unisymnet.bench.experiments.optimisers --out FILE.jsonl [--functions N] [--noise 0 0.1]
       [--structures true transformer] [--methods sfo dno-p dno-np default] [--paper] [--signs] [--jobs 2]
Without options of one's own: `unisymnet bench optimisers` and `bench pruning`.  ``--signs`` moves the inputs to other
domains and compares signed with plain logarithms, on functions whose networks have any.  The runs and their judgement
are those of `unisymnet.bench.optimisers`; here they become tables and a figure.  Means of R² count a negative or
undefined R² as 0.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..optimisers import run, signed_tasks, tasks_of
from . import facts
from .base import CYCLE, Block, Cell, Experiment, Figure, Record, Setup, Table, show
from .tally import mean

QUICK, FULL = 8, 200  # functions
METHODS = ("sfo", "dno-p", "dno-np", "default")
COLOURS = dict(zip(("default", "dno-np", "dno-p"), (CYCLE[6], CYCLE[0], CYCLE[1]), strict=True))


def _collect(setup: Setup, noise: Sequence[float], methods: Sequence[str]) -> list[Record]:
    from ...fit.dno.dno import require_torch
    from ...model.runtime import shipped

    require_torch()
    # The paper's setting is structures that a transformer proposes; true ones show what pruning itself does.
    kinds: tuple[str, ...] = ("transformer",) if shipped() else ("true",)
    if "default" in methods and shipped():
        kinds = ("true", "transformer")
    number = QUICK if setup.quick else FULL
    tasks = tasks_of(number, setup.seed, setup.max_time, structures=kinds, noise=noise, methods=methods)
    return run(tasks, setup.out, jobs=setup.machine.jobs)


def _done(records: Sequence[Record], own: bool = True) -> list[Record]:
    """Runs that came to an end, on the functions' own domain or on others."""
    return [r for r in records if "structures" in r and r.get("status") == "ok" and (r["domain"] == "own") is own]


def report_strategies(records: Sequence[Record]) -> list[Block]:
    rows: list[tuple[Cell, ...]] = []
    for kind, paper in ((kind, paper) for kind in ("true", "transformer") for paper in (True, False)):
        own = [record for record in _done(records) if record["structures"] == kind and record["paper"] is paper]
        for method in METHODS[:3]:
            for noise, (paper_rate, paper_r2) in facts.by_number("optimisers", method).items():
                cell = [r for r in own if r["method"] == method and r["noise"] == noise]
                if cell:
                    found = sum(bool(r["solved"]) for r in cell) / len(cell)
                    accurate, network = (mean_r2(r.get(key) for r in cell) for key in ("r2", "r2_network"))
                    name = f"{method} as in the paper" if paper else method
                    ours = (found, paper_rate, accurate, paper_r2, None if method == "sfo" else network)
                    rows.append((kind, name, noise, len(cell), *ours, mean(r["seconds"] for r in cell)))
    if not rows:
        return []
    columns = ("structures", "strategy", "noise", "runs", "Sol", "paper", "mean R²", "paper", "network", "seconds")
    note = "The paper uses its transformer's structures; true structures show what the strategy itself can do."
    return [Table("SFO, DNO-P and DNO-NP on random functions", columns, tuple(rows), note)]


def mean_r2(scores: Iterable[float | None]) -> float:
    """The mean with an undefined or negative R² as 0."""
    clipped = [max(score, 0.0) if score is not None and math.isfinite(score) else 0.0 for score in scores]
    return sum(clipped) / len(clipped) if clipped else math.nan


def report_pruning(records: Sequence[Record]) -> list[Block]:
    own = [record for record in _done(records) if not record["paper"]]
    return [block for kind in ("transformer", "true") for block in _pruned(kind, pruning_cells(own, kind))]


def pruning_cells(records: Sequence[Record], kind: str) -> dict[str, dict[int, tuple[float, float]]]:
    """Mean R² and mean complexity of the trained networks themselves, by method and depth of the function.

    ``kind`` says whose structures; the default network is given none and counts as it is.
    """
    table: dict[str, dict[int, tuple[float, float]]] = {}
    for method in ("default", "dno-np", "dno-p"):
        mine = [r for r in records if (r["method"], r["noise"]) == (method, 0.0) and r["r2_network"] is not None]
        mine = [r for r in mine if r["structures"] == ("true" if method == "default" else kind)]
        for depth in range(1, 7):
            cell = [r for r in mine if r["depth"] == depth]
            if cell:
                size = sum(r["network_complexity"] for r in cell) / len(cell)
                table.setdefault(method, {})[depth] = mean_r2(r["r2_network"] for r in cell), size
    return table


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

    title = f"Pruning: trained networks by depth, {kind} structures"
    note = "The paper shows this as a figure: DNO-NP fits best, DNO-P is the smallest, Default the worst."
    return [
        Table(title, ("network", "L", "mean R²", "complexity"), tuple(rows), note),
        Figure(f"pruning-{kind}", f"Pruning: networks as they were trained, {kind} structures", draw),
    ]


def report_signs(records: Sequence[Record]) -> list[Block]:
    """Signed against plain logarithms where inputs are negative, all of them or some."""
    rows: list[tuple[Cell, ...]] = []
    for domain in ("negative", "mixed"):
        for method in ("dno-p", "dno-np"):
            for single, label in ((True, "single trainings (paper)"), (False, "best of all restarts")):
                mine = [r for r in _done(records, own=False) if (r["domain"], r["method"]) == (domain, method)]
                cell = [r for r in mine if (r["trial"] is not None) is single]
                if cell:
                    plain, signed = (mean_r2(r["r2_network"] for r in cell if r["signed"] is s) for s in (False, True))
                    rows.append((domain, method, label, plain, signed, len(cell) // 2))
    columns = ("domain", "network", "trainings", "plain", "signed", "functions")
    return [Table("R² of networks with plain and with signed logarithms", columns, tuple(rows))] if rows else []


STRATEGIES = Experiment(
    "optimisers",
    "SFO, DNO-P and DNO-NP on 200 random functions at four noise levels",
    "200 functions, three strategies, four noise levels, 10 s each: up to 3 hours on two cores; needs torch",
    lambda setup: _collect(setup, (0.0, 0.1) if setup.quick else facts.NOISES, METHODS[:3]),
    report_strategies,
)
PRUNING = Experiment(
    "pruning",
    "default structure, DNO-NP and DNO-P by depth: complexity and R² of the networks",
    "200 functions, five networks, 10 s each: up to 80 minutes on two cores; needs torch",
    lambda setup: _collect(setup, (0.0,), METHODS[1:]),
    report_pruning,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--functions", type=int, default=FULL)
    parser.add_argument("--noise", type=float, nargs="+", default=facts.NOISES)
    parser.add_argument("--structures", nargs="+", default=["true"], choices=["true", "transformer"])
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--signs", action="store_true", help="other domains: signed against plain logarithm")
    parser.add_argument("--paper", action="store_true", help="DNO without what is added to the paper")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-time", type=float, default=30.0, help="seconds for one run")
    parser.add_argument("--jobs", type=int, default=1)
    options = vars(parser.parse_args())
    out, jobs, signs = (options.pop(name) for name in ("out", "jobs", "signs"))
    number, seed, max_time = (options.pop(name) for name in ("functions", "seed", "max_time"))
    tasks = signed_tasks(number, seed, max_time) if signs else tasks_of(number, seed, max_time, **options)
    records = run(tasks, out, jobs=jobs)
    show([*report_strategies(records), *report_pruning(records), *report_signs(records)], out.parent / "figures")


if __name__ == "__main__":
    main()
