"""The benchmarks that are no suite of y = f(x), as tables of the page: units, classes, systems, PDEs, tables, domains.

Every row is a setting with its counts; the counts are those that the command prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from .experiments.base import Block, Cell, Table
from .experiments.tally import groups
from .records import Record


def beyond(records: Sequence[Record]) -> list[Block]:
    """One table for each benchmark that has records."""
    blocks: list[Block] = []
    for suite, (title, keys, columns, row) in BENCHES.items():
        mine = [_flat(record) for record in records if record.get("suite") == suite]
        mine = [record for record in mine if all(key in record for key in keys)]
        rows: list[tuple[Cell, ...]] = []
        for setting, some in groups(mine, *keys).items():
            rows.append((*map(_cell, setting), len(some), *row(some)))
        if rows:
            blocks.append(Table(title, (*keys, "runs", *columns), tuple(rows), f"`unisymnet bench {suite}`"))
    return blocks


def _flat(record: Record) -> Record:
    """The settings of a run beside its results, wherever the bench keeps them."""
    return {**record, **record.get("run", {})}


def _cell(value: Any) -> Cell:
    return str(value) if isinstance(value, bool) else value


def _share(some: Sequence[Record], *names: str) -> list[Cell]:
    return [sum(bool((record.get("scores") or record).get(name)) for record in some) for name in names]


def _units(some: Sequence[Record]) -> tuple[Cell, ...]:
    wrong = sum(len(record["wrong"]) for record in some)
    return (*_share(some, "strict", "form", "srbench"), wrong, median(record["cpu"] for record in some))


def _classes(some: Sequence[Record]) -> tuple[Cell, ...]:
    return (*_share(some, "strict", "form"), median(record["cpu"] for record in some))


def _systems(some: Sequence[Record]) -> tuple[Cell, ...]:
    first, second = (sum((record[name] or 0.0) > 0.9 for record in some) for name in ("r2", "r2_second"))
    return (first, second, *_share(some, "form", "strict"), median(record["cpu"] for record in some))


def _fields(some: Sequence[Record]) -> tuple[Cell, ...]:
    return (*_share(some, "form"), max(record["error"] for record in some), median(record["time"] for record in some))


def _tables(some: Sequence[Record]) -> tuple[Cell, ...]:
    return tuple(median(record[name] for record in some) for name in ("r2", "r2_linear", "size", "cpu_seconds"))


def _outside(some: Sequence[Record]) -> tuple[Cell, ...]:
    return tuple(median(record["scores"][f"nmse_{part}"] for record in some) for part in ("test_id", "test_ood"))


Row = Callable[[Sequence[Record]], tuple[Cell, ...]]
BENCHES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], Row]] = {
    "units": (
        "Feynman laws with units",
        ("noise", "max_time"),
        ("strict", "form", "Sol", "formulas with wrong units", "median s"),
        _units,
    ),
    "class": ("Laws with constants per group", ("noise", "max_time"), ("found", "right form", "median s"), _classes),
    "odebench": (
        "Systems of differential equations (R² > 0.9 on the trajectory and from another start)",
        ("method", "noise", "subsample", "both", "max_time"),
        ("reconstruction", "second start", "form", "strict", "median s"),
        _systems,
    ),
    "pde": ("Partial differential equations", ("noise",), ("forms right", "largest error", "median s"), _fields),
    "pmlb": (
        "Tables without a known law, set by set",
        ("table", "goal", "max_time"),
        ("median R²", "linear model", "size", "median s"),
        _tables,
    ),
    "llmsr": (
        "Normalised error out of the domain",
        ("problem", "data", "noise", "max_time"),
        ("in domain", "out of domain"),
        _outside,
    ),
}
