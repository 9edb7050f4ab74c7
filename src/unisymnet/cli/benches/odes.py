"""`bench odebench`: systems found again from trajectories, by us or by PySINDy."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ...bench.odes.run import Setting, run_odebench, summary
from ...errors import DataError
from .benching import BenchOptions


def run_odes(
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
    print(summary(run_odebench(data, setting, options.out, problems, _tell)))


def _tell(record: dict[str, Any]) -> None:
    shown = {key: record[key] for key in ("system", "status", "cpu", "r2", "r2_second", "form")}
    print("  ".join(f"{key}={value}" for key, value in shown.items()), file=sys.stderr, flush=True)
