"""What an experiment is, and the one way in which all of them run and report.

An experiment lists the runs it needs and turns records into tables and figures.  Running (run.py), printing (here) and
the pages (page.py) are the same for all, so that a table on the screen and on the page cannot differ.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Screen

from ..methods import get_method
from ..run import Machine, run_missing
from ..task import Task

Record = dict[str, Any]
Cell = str | float | int | None
SEEDS = 20  # runs of the paper's tables
PEERS = ("pyoperon", "gplearn", "rils-rols")  # may live in an environment of their own


@dataclass(frozen=True)
class Setup:
    """How an experiment is run: where results go, how much of it, and on what."""

    out: Path
    quick: bool = False
    max_time: float = 10.0
    seed: int = 0
    cores: int = 1
    methods: tuple[str, ...] | None = None
    machine: Machine = field(default_factory=Machine)


@dataclass(frozen=True)
class Table:
    """Rows of cells, which are text, numbers or None for what is not known."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """A picture by its file name; `draw` gets a matplotlib figure in our style and fills it."""

    name: str
    title: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (8.0, 3.6)
    note: str = ""


Block = Table | Figure


@dataclass(frozen=True)
class Experiment:
    """`collect` runs what is missing and returns all records; `report` makes tables and figures of any records, and
    nothing of records that are not its own.  `compares` says whether it runs methods that the user may choose."""

    name: str
    about: str
    full: str  # how long the whole of it takes
    collect: Callable[[Setup], list[Record]]
    report: Callable[[Sequence[Record]], list[Block]]
    compares: bool = False


def run_tasks_of(tasks: Callable[[Setup], list[Task]]) -> Callable[[Setup], list[Record]]:
    """The way in which most experiments collect: all tasks through the runner, peers by their own interpreter."""

    def collect(setup: Setup) -> list[Record]:
        wanted = tasks(setup)
        machine = setup.machine
        own = Machine(machine.jobs, machine.limits, None, machine.backend, machine.scheduler)
        records: list[Record] = []
        for peers in (False, True):
            chosen = [task for task in wanted if (task.method in PEERS) == peers]
            if chosen:
                here = machine if peers else own
                records += run_missing(chosen, setup.out, machine=here, on_result=tell)
        return records

    return collect


def available(setup: Setup, methods: Iterable[str]) -> list[str]:
    """The asked-for methods, or those of `methods` that can run here; what is left out is said."""
    if setup.methods is not None:
        for name in setup.methods:
            get_method(name)
        return list(setup.methods)
    found = []
    for name in methods:
        modules = [module.partition(".")[0] for module in get_method(name).modules]
        if (setup.machine.python and name in PEERS) or all(map(importlib.util.find_spec, modules)):
            found.append(name)
        else:
            print(f"{name} is left out: not installed here (--python names another interpreter)", file=sys.stderr)
    return found


def tell(record: Record) -> None:
    """One line a run on standard error."""
    scores = record["scores"]
    verdict = "".join(letter if scores.get(key) else "-" for key, letter in (("strict", "T"), ("form", "F")))
    text = str(record["expression"] or record["message"] or "")[:70]
    print(f"{verdict} {record['method']} {record['problem']} {record['time']} s  {text}", file=sys.stderr, flush=True)


def run_experiment(experiment: Experiment, setup: Setup, figures: Path) -> None:
    """Collect, print, draw."""
    if setup.methods is not None and not experiment.compares:
        raise ValueError(f"{experiment.name} compares settings of our own method; leave --methods out")
    setup.out.parent.mkdir(parents=True, exist_ok=True)
    records = experiment.collect(setup)
    blocks = experiment.report(records)
    if setup.quick:
        print(f"QUICK variant of {experiment.name}: fewer problems and runs than the paper. Full: {experiment.full}.")
    show(blocks, figures)
    print(f"{len(records)} records in {setup.out}")


def show(blocks: Sequence[Block], figures: Path) -> None:
    from .style import save

    console = Console(soft_wrap=True, highlight=False, markup=False, width=None if sys.stdout.isatty() else 160)
    for block in blocks:
        if isinstance(block, Figure):
            paths = save(block, figures)
            console.print(f"figure: {', '.join(map(str, paths))}")
            continue
        screen = Screen(title=block.title, title_justify="left")
        for number, heading in enumerate(block.columns):
            screen.add_column(heading, justify="right" if number else "left")
        for row in block.rows:
            screen.add_row(*map(shown, row))
        console.print(screen)
        if block.note:
            console.print(block.note)


def shown(cell: Cell) -> str:
    """A cell as text: four digits, a dash for what is not there."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.4g}" if abs(cell) < 1e5 else f"{cell:.2e}"
    return str(cell)
