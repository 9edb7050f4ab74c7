"""The paper's two tables of discovered equations, and its subset of Feynman for which DNO-NP takes the place of SFO.

The tables show formulas as they were found, beside the truth.  The problems are those that the paper shows.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import UniSymNetError
from ...symbolic import parse, to_text
from ..problems import find_problem
from ..task import Task
from . import facts
from .base import Block, Cell, Experiment, Record, Setup, Table, available, run_tasks_of, tasks_over
from .tally import label, mean_r2, share, tasks_among

# Problem: the numbers that facts.py knows of it.
STANDARD_SHOWN, SRBENCH_SHOWN = (facts.paper("equations", part) for part in ("standard", "srbench"))
SUBSET = tuple(facts.paper("subset", "feynman"))
METHODS = ("unisymnet", "unisymnet-paper", "unisymnet-literal")
SUBSET_METHODS = ("unisymnet-literal", "unisymnet-dno-np", "unisymnet-paper")
_LONGEST = 90


def _tasks(setup: Setup, methods: Sequence[str], names: Sequence[str]) -> list[Task]:
    """Quick: every third of the problems."""
    return tasks_over(setup, available(setup, methods), names[:: 3 if setup.quick else 1])


def _clean(records: Sequence[Record]) -> dict[str, dict[str, Record]]:
    """Noise-free runs, by problem and by method with its budget; of several seeds the first."""
    found: dict[str, dict[str, Record]] = {}
    for record in sorted(tasks_among(records), key=lambda r: (r["seed"], r["max_time"])):
        if record["noise"] == 0 and "[" not in record["method"]:
            name = label(record["method"], record["max_time"])
            found.setdefault(record["problem"], {}).setdefault(name, record)
    return found


def report_equations(records: Sequence[Record]) -> list[Block]:
    found = _clean([record for record in records if record.get("method") in METHODS])
    blocks: list[Block] = []
    for title, published in (("Standard benchmarks", STANDARD_SHOWN), ("SRBench", SRBENCH_SHOWN)):
        rows: list[tuple[Cell, ...]] = []
        for name, (said,) in published.items():
            truth = find_problem(name).expression
            for method, record in found.get(name, {}).items():
                scores = record["scores"]
                solved, theirs = ("T" if verdict else "F" for verdict in (scores.get("srbench"), said))
                rows.append((name, truth, method, _short(record["expression"]), scores.get("r2"), solved, theirs))
        if rows:
            note = "Sol: SRBench's procedure. One run each; problems that the paper shows."
            columns = ("problem", "truth", "method", "discovered equation", "R²", "Sol", "Sol of the paper")
            blocks.append(Table(f"Discovered equations: {title}", columns, tuple(rows), note))
    return blocks


def _short(text: str | None) -> str | None:
    """A formula with its constants rounded to be read; the record keeps every digit."""
    if text is None:
        return None
    try:
        short = to_text(parse(text), digits=4)
    except (UniSymNetError, TypeError):
        short = text
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…"


def report_subset(records: Sequence[Record]) -> list[Block]:
    chosen = [r for r in records if r.get("method") in SUBSET_METHODS and r.get("problem") in SUBSET]
    by_problem = _clean(chosen)
    methods = sorted({method for runs in by_problem.values() for method in runs})
    if not any(method.startswith("unisymnet-dno-np") for method in methods):
        return []
    rows: list[tuple[Cell, ...]] = []
    for method in methods:
        runs = {name: group[method] for name, group in by_problem.items() if method in group}
        values = [runs[name]["scores"].get("r2") if name in runs else None for name in SUBSET]
        every = list(runs.values())
        rows.append((method, len(every), share(every, "srbench"), mean_r2(every), *values))
    columns = ("method", "runs", "Sol", "mean R²", *(name.removeprefix("feynman_") for name in SUBSET))
    note = "The paper names these ten as its Feynman problems optimised with DNO-NP and prints no numbers for them."
    return [Table("Feynman problems for which the paper takes DNO-NP: R²", columns, tuple(rows), note)]


EQUATIONS = Experiment(
    "equations",
    "the formulas found for the problems of the paper's two tables of discovered equations",
    f"{len(STANDARD_SHOWN) + len(SRBENCH_SHOWN)} problems, three methods of 10 s: 25 minutes on two cores",
    run_tasks_of(lambda setup: _tasks(setup, METHODS, (*STANDARD_SHOWN, *SRBENCH_SHOWN))),
    report_equations,
    compares=True,
)
DNO_SUBSET = Experiment(
    "subset",
    "the ten Feynman problems for which the paper takes DNO-NP instead of SFO",
    "ten problems, three methods of 10 s: 3 minutes on two cores; needs torch",
    run_tasks_of(lambda setup: _tasks(setup, SUBSET_METHODS, SUBSET)),
    report_subset,
    compares=True,
)
