"""`bench`: run a suite and say how it goes; the work is done in `unisymnet.bench`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..bench.methods import METHODS
from ..bench.problems import suites
from ..bench.run import run_suite
from ..errors import DataError


def list_suites() -> None:
    for name, (about, count) in suites().items():
        print(f"{name:<12} {count:>4} problems  {about}")
    print("optimisers    200 problems  SFO, DNO-P and DNO-NP on random functions, at four noise levels")
    print(f"methods: {', '.join(METHODS)}")


def run_optimisers(out: str, max_time: float, seed: int, jobs: int) -> None:
    """The comparison of SFO, DNO-P and DNO-NP."""
    from ..bench.optimisers import compare
    from ..fit.dno import require_torch

    require_torch()
    compare(Path(out), seed=seed, max_time=max_time, jobs=jobs)


def run_bench(
    suite: str,
    method: str,
    noise: float,
    max_time: float,
    seed: int,
    jobs: int,
    out: str,
    problems: Sequence[str] | None,
) -> None:
    def tell(record: dict[str, Any]) -> None:
        shown = {
            k: record[k] for k in ("problem", "status", "solved", "r2_test", "seconds", "expression") if k in record
        }
        print("  ".join(f"{key}={value}" for key, value in shown.items()), file=sys.stderr, flush=True)

    try:
        records = run_suite(
            suite,
            method=method,
            noise=noise,
            max_time=max_time,
            seed=seed,
            jobs=jobs,
            out=out,
            problems=problems,
            on_result=tell,
        )
    except ValueError as error:
        raise DataError(str(error)) from error
    print(f"{len(records)} records in {out}")
