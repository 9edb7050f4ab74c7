"""`bench units` and its like: benchmarks of what a scientist already knows, from catalogs that the user has."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from ...bench.known import classes, constraints, outside, templates, units
from ...bench.known.records import run_keys
from ...bench.records import Record
from ...errors import DataError
from .benching import BenchOptions

# Name: the file with `keys`, `perform` and `summary`.
KNOWN: dict[str, Any] = {
    "units": units,
    "class": classes,
    "constraints": constraints,
    "templates": templates,
    "llmsr": outside,
}


def run_known(name: str, data: str | None, noise: float, problems: Sequence[str] | None, options: BenchOptions) -> None:
    """Run what the file of results does not hold yet, and print the sums."""
    if options.out is None:
        raise DataError("say where to write the results: --out FILE.jsonl")
    suite = KNOWN[name]
    limit = 60.0 if options.max_time is None else options.max_time
    keys = suite.keys(data, noise, limit, options.seed, problems)
    perform = partial(suite.perform, folder=data, judge_time=options.judge_time)
    print(suite.summary(run_keys(keys, perform, options.out, _tell)))


def _tell(record: Record) -> None:
    shown = {key: record[key] for key in ("problem", "time", "cpu", "expression")}
    shown |= {name: value for name, value in record["scores"].items() if name in ("strict", "nmse_test_ood")}
    print("  ".join(f"{key}={value}" for key, value in shown.items()), file=sys.stderr, flush=True)
