"""`unisymnet bench pmlb`: run what is missing, print the tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from ...errors import DataError
from ..experiments.base import show
from .protocol import run_tables
from .report import find_published, read_published, report


class Options(Protocol):
    """What the command line says about how to run."""

    @property
    def max_time(self) -> float | None: ...
    @property
    def out(self) -> str | None: ...
    @property
    def cores(self) -> int: ...
    @property
    def jobs(self) -> int: ...


def run_pmlb(data: str | None, options: Options, seeds: int, max_complexity: int, only: Sequence[str] | None) -> None:
    if data is None:
        raise DataError("say where the tables are: --data FOLDER, one CSV or TSV file a set with a column `target`")
    path = Path(options.out or "bench_results/pmlb.jsonl")
    records = run_tables(
        data,
        path,
        seeds=seeds,
        goal="predict",
        max_time=60.0 if options.max_time is None else options.max_time,
        max_complexity=max_complexity,
        only=only,
        cores=options.cores,
        jobs=options.jobs,
        tell=_tell,
    )
    known = find_published(data)
    show(report(records, {} if known is None else read_published(known)), path.parent / "figures")
    print(f"{len(records)} records in {path}")


def _tell(record: dict[str, Any]) -> None:
    run = record["run"]
    text = f"{run['table']} seed {run['seed']}: R² {record['r2']:.3f} (linear {record['r2_linear']:.3f})"
    print(f"{text}, size {record['size']}, {record['seconds']} s", file=sys.stderr, flush=True)
