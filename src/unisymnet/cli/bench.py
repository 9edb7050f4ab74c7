"""Declaration of `bench` and which benchmark a name stands for; nothing is computed here."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import words


def bench(
    name: Annotated[str, typer.Argument(metavar="NAME", help="a suite, a table of the paper, `page`, or `list`")],
    method: Annotated[str, typer.Option(help="for a suite: unisymnet or a peer")] = "unisymnet",
    methods: Annotated[str | None, typer.Option(help="for a table: methods, separated by commas")] = None,
    noise: Annotated[float, typer.Option(help="for a suite: noise level, as in SRBench")] = 0.0,
    max_time: Annotated[float | None, typer.Option(help="seconds for one run [suite 60, table 10]")] = None,
    seed: Annotated[int, typer.Option(help="same seed, same formulas")] = 0,
    jobs: Annotated[int, typer.Option(help="runs at a time")] = 1,
    cores: Annotated[int, typer.Option(help="threads of one run")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="for a table: a part of it, within ten minutes")] = False,
    problems: Annotated[str | None, typer.Option(help="for a suite: only these problems, separated by commas")] = None,
    out: Annotated[str | None, typer.Option(help="JSON lines file; runs that it holds are skipped")] = None,
    judge_time: Annotated[float, typer.Option(help="seconds for SRBench's judge")] = 20.0,
    grace: Annotated[float, typer.Option(help="a run is killed after 1.5 × max-time plus this")] = 60.0,
    python: Annotated[str | None, typer.Option(help="Python of the peers, if installed elsewhere")] = None,
    backend: Annotated[str | None, typer.Option(help="joblib backend of a cluster: dask, ray")] = None,
    scheduler: Annotated[str | None, typer.Option(help="address of Dask's scheduler")] = None,
    results: Annotated[str, typer.Option(help="for the page: folder of results")] = "benchmarks/results",
    since: Annotated[str | None, typer.Option(help="for the page: use records from this commit on")] = None,
    data: Annotated[str | None, typer.Option(help="for units, class, odebench, …: folder of their catalogs")] = None,
    subsample: Annotated[float, typer.Option(help="for odebench, systems: share of the points left out")] = 0.0,
    both: Annotated[bool, typer.Option("--both", help="for odebench, systems: fit both trajectories")] = False,
    seeds: Annotated[int, typer.Option(help="for pmlb: how many of SRBench's seeds")] = 1,
    clock: Annotated[str, typer.Option(help="clock of the time limits: wall or processor")] = "wall",
    max_complexity: Annotated[int, typer.Option(help="for pmlb: largest size of a formula")] = 60,
) -> None:
    """Run benchmarks. A suite, a table of the paper, or the page of results."""
    from ..bench.experiments import NAMES
    from ..deadline import count
    from .benching import (
        KNOWN,
        BenchOptions,
        build_pages,
        list_suites,
        run_bench,
        run_known,
        run_named,
        run_odes,
        run_pde_bench,
        run_pmlb,
    )

    if clock not in ("wall", "processor"):
        raise typer.BadParameter(f"--clock is wall or processor, not {clock}")
    count(clock)
    options = BenchOptions(max_time, seed, jobs, cores, out, quick, judge_time, grace, python, backend, scheduler)
    only = words(problems)
    if name == "list":
        list_suites()
    elif name == "page":
        build_pages(results, out or "docs", since)
    elif name in ("odebench", "systems"):
        run_odes(name, data, method, noise, subsample, both, only, options)
    elif name == "pmlb":
        run_pmlb(data, options, seeds, max_complexity, only)
    elif name == "pde":
        run_pde_bench(noise, only or None, options)
    elif name in KNOWN:
        run_known(name, data, noise, only, options)
    elif name in NAMES:
        run_named(name, words(methods), options)
    elif out is None:
        raise typer.BadParameter("say where to write the results: --out FILE.jsonl")
    else:
        run_bench(name, method, noise, only, options)
