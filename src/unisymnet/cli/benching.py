"""`bench`: run a suite, an experiment of the paper or a benchmark of another kind, or rebuild the pages.

The work is done in `unisymnet.bench`; here its results are printed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..bench.experiments import NAMES, Setup, find_experiment
from ..bench.experiments.base import run_experiment, show
from ..bench.known import classes, constraints, outside, templates, units
from ..bench.known.records import run_keys
from ..bench.methods import METHODS
from ..bench.pool import Limits
from ..bench.problems import suites
from ..bench.records import Record
from ..bench.run import Machine, run_suite
from ..errors import DataError

BY_FOLDER = {
    "units": "Feynman laws with the units of their variables (feynman_units.csv)",
    "class": "laws with constants per realisation (class_sr.csv)",
    "odebench": "systems of differential equations from trajectories (odebench.csv)",
    "pmlb": "SRBench's black-box protocol on tables (--seeds N)",
    "llmsr": "errors out of the domain, in LLM-SR's layout; without --data on four sets made here",
    "pde": "eight partial differential equations; needs no folder",
}
# Benchmarks of what a scientist already knows: the file with `keys`, `perform` and `summary`.
KNOWN: dict[str, Any] = {
    "units": units,
    "class": classes,
    "constraints": constraints,
    "templates": templates,
    "llmsr": outside,
}
RESULTS = Path("bench_results")  # where experiments write unless told otherwise


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

    def seconds(self, default: float) -> float:
        return default if self.max_time is None else self.max_time

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
    out = Path(options.out or RESULTS / f"{name}{'-quick' if options.quick else ''}.jsonl")
    setup = Setup(
        out=out,
        quick=options.quick,
        max_time=options.seconds(5.0 if options.quick else 10.0),
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
    from ..bench.page import write_pages

    source = Path(results)
    if not any(source.glob("*.jsonl")):
        raise DataError(f"there is no file of JSON lines in {source}; name the folder with --results")
    for path in write_pages(source, Path(out), since):
        print(path)


def run_bench(suite: str, method: str, noise: float, problems: Sequence[str] | None, options: BenchOptions) -> None:
    def tell(record: Record) -> None:
        scores = record["scores"]
        _say(record, ("problem", "status", "time", "expression"), solved=scores.get("strict"), r2=scores.get("r2"))

    assert options.out is not None
    try:
        records = run_suite(
            suite,
            method=method,
            noise=noise,
            max_time=options.seconds(60.0),
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


def run_known(name: str, data: str | None, noise: float, problems: Sequence[str] | None, options: BenchOptions) -> None:
    """Run what the file of results does not hold yet, and print the sums."""

    def tell(record: Record) -> None:
        scores = {name: value for name, value in record["scores"].items() if name in ("strict", "nmse_test_ood")}
        _say(record, ("problem", "time", "cpu", "expression"), **scores)

    if options.out is None:
        raise DataError("say where to write the results: --out FILE.jsonl")
    suite = KNOWN[name]
    shared = {"suite": name, "noise": noise, "max_time": options.seconds(60.0), "seed": options.seed}
    keys = [{**shared, **key} for key in suite.keys(data, problems)]
    perform = partial(suite.perform, folder=data, judge_time=options.judge_time)
    print(suite.summary(run_keys(keys, perform, options.out, tell)))


def run_odes(
    suite: str,
    data: str | None,
    method: str,
    noise: float,
    subsample: float,
    both: bool,
    problems: Sequence[str] | None,
    options: BenchOptions,
) -> None:
    """Systems found again from trajectories, by us or by PySINDy: run what is missing, and print the counts."""
    from ..bench.odes.catalog import own_tasks, read_tasks
    from ..bench.odes.run import Setting, run_systems, summary

    def tell(record: Record) -> None:
        _say(record, ("system", "status", "cpu", "r2", "r2_second", "form"))

    if not 0.0 <= subsample < 1.0 or noise < 0.0:
        raise DataError(f"--subsample must be in [0, 1) and --noise not negative, got {subsample:g} and {noise:g}")
    name = "ours" if method == "unisymnet" else method
    setting = Setting(name, noise, subsample, both, options.seed, options.seconds(15.0))
    tasks = own_tasks() if suite == "systems" else read_tasks(data)
    print(summary(run_systems(tasks, setting, options.out, problems, tell)))


def run_pmlb(
    data: str | None, options: BenchOptions, seeds: int, max_complexity: int, only: Sequence[str] | None
) -> None:
    """SRBench's black-box protocol: run what is missing, print the tables."""
    from ..bench.pmlb import find_published, read_published, report, run_tables

    def tell(record: Record) -> None:
        run = record["run"]
        text = f"{run['table']} seed {run['seed']}: R² {record['r2']:.3f} (linear {record['r2_linear']:.3f})"
        print(f"{text}, size {record['size']}, {record['seconds']} s", file=sys.stderr, flush=True)

    if data is None:
        raise DataError("say where the tables are: --data FOLDER, one CSV or TSV file a set with a column `target`")
    path = Path(options.out or RESULTS / "pmlb.jsonl")
    records = run_tables(
        data,
        path,
        seeds=seeds,
        goal="predict",
        max_time=options.seconds(60.0),
        max_complexity=max_complexity,
        only=only,
        cores=options.cores,
        jobs=options.jobs,
        tell=tell,
    )
    known = find_published(data)
    show(report(records, {} if known is None else read_published(known)), path.parent / "figures")
    print(f"{len(records)} records in {path}")


def run_pde_bench(noise: float, problems: Sequence[str] | None, options: BenchOptions) -> None:
    """Every equation once; the table on the terminal."""
    from ..bench.pdes import run_pdes

    records = run_pdes(problems, noise, options.seed, None if options.out is None else Path(options.out))
    for record in records:
        mark = "right" if record["form"] else "wrong"
        used = f"{record['time']:.2f} s of processor time"
        print(f"{record['problem']:<22} {mark}  coefficients within {100 * record['error']:.2g} %  {used}")
        for line in record["found"]:
            print(f"    {line}")
    right = [record for record in records if record["form"]]
    print(f"{len(right)} of {len(records)} forms right at noise {noise:g}")


def _say(record: Record, names: Sequence[str], **more: Any) -> None:
    """One line about a run on standard error."""
    shown = {name: record[name] for name in names} | more
    print("  ".join(f"{key}={value}" for key, value in shown.items()), file=sys.stderr, flush=True)
