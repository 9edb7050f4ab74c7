"""`bench odebench` and `bench systems`: systems found again from trajectories, by us or by PySINDy."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ...bench.odes.catalog import read_tasks
from ...bench.odes.own import own_tasks
from ...bench.odes.run import Setting, run_systems, summary
from ...errors import DataError
from .benching import BenchOptions


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
    """Run what the file of results does not hold yet, and print the counts."""
    if not 0.0 <= subsample < 1.0 or noise < 0.0:
        raise DataError(f"--subsample must be in [0, 1) and --noise not negative, got {subsample:g} and {noise:g}")
    name = "ours" if method == "unisymnet" else method
    limit = 15.0 if options.max_time is None else options.max_time
    setting = Setting(name, noise, subsample, both, options.seed, limit)
    tasks = own_tasks() if suite == "systems" else read_tasks(data)
    print(summary(run_systems(tasks, setting, options.out, problems, _tell)))


def _tell(record: dict[str, Any]) -> None:
    shown = {key: record[key] for key in ("system", "status", "cpu", "r2", "r2_second", "form")}
    print("  ".join(f"{key}={value}" for key, value in shown.items()), file=sys.stderr, flush=True)
