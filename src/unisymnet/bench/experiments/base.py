"""What an experiment is, and the one way in which all of them run and report.

An experiment lists the runs it needs and turns records into tables and figures.  Running (run.py), printing (here) and
the pages (page.py) are the same for all, so that a table on the screen and on the page cannot differ; so is the look of
the figures.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Screen

from ..methods import get_method
from ..records import Record as Record
from ..run import Machine, run_missing
from ..task import Task

Cell = str | float | int | None
SEEDS = 20  # runs of the paper's tables
PEERS = ("pyoperon", "gplearn", "rils-rols")  # may live in an environment of their own

# One look for every figure: the same colours for the same method, quiet axes.
COLOURS = {
    "unisymnet": "#1f5fa8",
    "unisymnet-paper": "#4aa3df",
    "paper": "#b8860b",
    "truth": "#222222",
    "pyoperon": "#c0392b",
    "gplearn": "#7d5ba6",
    "rils-rols": "#d2691e",
    "eql": "#5f7f3f",
    "mlp": "#c77d2e",
    "svr": "#3a9188",
    "boosting": "#7d5ba6",
    "linear": "#8a8a8a",
}
CYCLE = ("#1f5fa8", "#c0392b", "#3a9188", "#7d5ba6", "#c77d2e", "#5f7f3f", "#8a8a8a", "#d46a9f", "#4aa3df")
STYLE: dict[Any, Any] = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "svg.hashsalt": "unisymnet",
    "svg.fonttype": "none",
}


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
        records: list[Record] = []
        for peers, machine in ((False, replace(setup.machine, python=None)), (True, setup.machine)):
            chosen = [task for task in wanted if (task.method in PEERS) == peers]
            if chosen:
                records += run_missing(chosen, setup.out, machine=machine, on_result=tell)
        return records

    return collect


def tasks_over(
    setup: Setup, methods: Iterable[str], problems: Sequence[str], n_seeds: int = 1, noise: float = 0.0
) -> list[Task]:
    """Every method on every problem, with so many seeds, or one if it is to be quick."""
    seeds = range(setup.seed, setup.seed + (1 if setup.quick else n_seeds))
    return [
        Task(method, problem, seed=seed, noise=noise, max_time=setup.max_time, cores=setup.cores)
        for method in methods
        for seed in seeds
        for problem in problems
    ]


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


def colour(name: str, number: int = 0) -> str:
    """The colour of a method, or one of the cycle for what has none."""
    return COLOURS.get(name.partition(" ")[0], CYCLE[number % len(CYCLE)])


def save(figure: Figure, folder: Path) -> list[Path]:
    """Draw a figure and write it as PNG and SVG; the same records give the same files."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{figure.name}.{kind}" for kind in ("png", "svg")]
    with matplotlib.rc_context(STYLE):
        canvas = Canvas(figsize=figure.size, layout="constrained")
        FigureCanvasAgg(canvas)
        figure.draw(canvas)
        canvas.suptitle(figure.title, fontsize=11.5, x=0.01, ha="left")
        canvas.savefig(paths[0], dpi=150)
        canvas.savefig(paths[1], metadata={"Date": None})
    return paths
