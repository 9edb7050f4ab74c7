"""`bench`: run a suite or an experiment of the paper, or rebuild the pages; the work is done in `unisymnet.bench`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...bench.experiments import NAMES, Setup, find_experiment
from ...bench.methods import METHODS
from ...bench.pool import Limits
from ...bench.problems import suites
from ...bench.run import Machine, run_suite
from ...errors import DataError

BY_FOLDER = {
    "units": "Feynman laws with the units of their variables (feynman_units.csv)",
    "class": "laws with constants per realisation (class_sr.csv)",
    "odebench": "systems of differential equations from trajectories (odebench.csv)",
    "pmlb": "SRBench's black-box protocol on tables (--seeds N)",
    "llmsr": "errors out of the domain, in LLM-SR's layout; without --data on four sets made here",
    "pde": "eight partial differential equations; needs no folder",
}
RESULTS = "bench_results"  # where experiments write unless told otherwise


@dataclass(frozen=True)
class BenchOptions:
    """What the command line says about how to run."""

    max_time: float | None = None
    seed: int = 0
    jobs: int = 1
    cores: int = 1
    out: str | None = None
    quick: bool = False
    judge_time: float = 20.0
    grace: float = 60.0
    python: str | None = None
    backend: str | None = None
    scheduler: str | None = None

    def machine(self) -> Machine:
        limits = Limits(grace=self.grace, judge_time=self.judge_time)
        return Machine(self.jobs, limits, self.python, self.backend, self.scheduler)


def list_suites() -> None:
    """Suites, experiments and methods."""
    print("suites: unisymnet bench SUITE --out FILE.jsonl")
    for name, (about, count) in suites().items():
        print(f"  {name:<15} {count:>4} problems  {about}")
    print("\ntables and figures of the paper: unisymnet bench NAME [--quick]")
    for name in NAMES:
        experiment = find_experiment(name)
        print(f"  {name:<15} {experiment.about}\n  {'':<15} full: {experiment.full}")
    print("\nwith --data FOLDER, the folder of their catalogs")
    for name, about in BY_FOLDER.items():
        print(f"  {name:<15} {about}")
    print("\npage: unisymnet bench page rebuilds docs/results.md and docs/results.html from benchmarks/results")
    print(f"\nmethods: {', '.join(METHODS)}")


def run_named(name: str, methods: Sequence[str] | None, options: BenchOptions) -> None:
    """An experiment: what its file does not hold is run, then the tables are printed and the figures drawn."""
    from ...bench.experiments.base import run_experiment

    folder = Path(RESULTS)
    out = Path(options.out) if options.out else folder / f"{name}{'-quick' if options.quick else ''}.jsonl"
    default = 5.0 if options.quick else 10.0
    setup = Setup(
        out=out,
        quick=options.quick,
        max_time=default if options.max_time is None else options.max_time,
        seed=options.seed,
        cores=options.cores,
        methods=None if methods is None else tuple(methods),
        machine=options.machine(),
    )
    try:
        run_experiment(find_experiment(name), setup, out.parent / "figures")
    except (ValueError, RuntimeError) as error:
        raise DataError(str(error)) from error


def build_pages(results: str, out: str, since: str | None = None) -> None:
    """docs/results.md and docs/results.html from the records."""
    from ...bench.page import write_pages

    source = Path(results)
    if not any(source.glob("*.jsonl")):
        raise DataError(f"there is no file of JSON lines in {source}; name the folder with --results")
    for path in write_pages(source, Path(out), since):
        print(path)


def run_bench(suite: str, method: str, noise: float, problems: Sequence[str] | None, options: BenchOptions) -> None:
    def tell(record: dict[str, Any]) -> None:
        scores = record["scores"]
        shown = {key: record[key] for key in ("problem", "status", "time", "expression")}
        shown |= {"solved": scores.get("strict"), "r2": scores.get("r2")}
        print("  ".join(f"{key}={value}" for key, value in shown.items()), file=sys.stderr, flush=True)

    assert options.out is not None
    try:
        records = run_suite(
            suite,
            method=method,
            noise=noise,
            max_time=60.0 if options.max_time is None else options.max_time,
            seed=options.seed,
            jobs=options.jobs,
            cores=options.cores,
            out=options.out,
            problems=problems,
            limits=options.machine().limits,
            python=options.python,
            backend=options.backend,
            scheduler=options.scheduler,
            on_result=tell,
        )
    except (ValueError, RuntimeError) as error:
        raise DataError(str(error)) from error
    solved = sum(bool(record["scores"].get("strict")) for record in records)
    print(f"{len(records)} records in {options.out}, {solved} solved (strict judge)")
