"""Records picked, grouped and averaged, the same way for every table."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ..records import Record, read_records


def mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def mean_r2(records: Iterable[Record], key: str = "r2") -> float | None:
    """The mean with an undefined or negative R² as 0, as a single one would ruin it."""
    return mean(max(0.0, record["scores"].get(key) or 0.0) for record in records)


def interval(records: Sequence[Record], measure: Callable[[Sequence[Record]], float | None]) -> float | None:
    """Half the width of the 95 % interval of a measure over seeds (Student's t); None with fewer than two."""
    from scipy.stats import t

    values = [measure(chosen) or 0.0 for chosen in groups(records, "seed").values()]
    if len(values) < 2:
        return None
    return float(t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5)


def share(records: Sequence[Record], verdict: str) -> float | None:
    """Share of the runs with a positive verdict; a failed run has none."""
    return mean(float(bool(record["scores"].get(verdict))) for record in records)


def solved(record: Record) -> bool:
    return bool(record["scores"].get("strict") or record["scores"].get("srbench"))


def seconds(record: Record) -> float:
    """Time of a fit: processor time of peers, whose clocks count that, and wall time of everything else."""
    ours = str(record["method"]).startswith("unisymnet")
    return float(record["time"] if ours or record.get("cpu") is None else record["cpu"])


def tasks_among(records: Iterable[Record]) -> list[Record]:
    """Records of runs of a method on a problem, the newest of each run."""
    keys = ("method", "problem", "form", "seed", "noise", "max_time", "rows", "cores")
    newest: dict[tuple[Any, ...], Record] = {}
    for record in records:
        if all(key in record for key in keys) and "scores" in record:
            key = tuple(record[name] for name in keys)
            if key not in newest or str(record.get("date")) >= str(newest[key].get("date")):
                newest[key] = record
    return list(newest.values())


def plain_tasks(records: Iterable[Record], suites: Sequence[str], *, clean: bool = True) -> list[Record]:
    """The runs on these suites by methods as they are, without settings of SFO; clean: without noise."""
    return [
        record
        for record in tasks_among(records)
        if record["suite"] in suites and "[" not in record["method"] and not (clean and record["noise"])
    ]


def label(method: str, budget: float) -> str:
    """What a table calls a method that was given so many seconds."""
    return f"{method} ({budget:g} s)"


def load_results(folder: Path) -> list[Record]:
    """All records of all files of JSON lines in a folder."""
    return [record for path in sorted(folder.glob("*.jsonl")) for record in read_records(path)]


def groups(records: Iterable[Record], *keys: str) -> dict[tuple[Any, ...], list[Record]]:
    """Records by the values of some of their keys, sorted by these."""
    found: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        found.setdefault(tuple(record[key] for key in keys), []).append(record)
    # Ours come first, numbers in their order.
    order = {key: tuple((not str(v).startswith("unisymnet"), isinstance(v, str), v) for v in key) for key in found}
    return {key: found[key] for key in sorted(found, key=order.__getitem__)}
