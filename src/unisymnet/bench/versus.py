"""Methods against each other on the runs that both have: the same problems, noise, seed and clock.

Also the honest list: every cell in which ours is behind a peer or behind the paper.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from .experiments import facts
from .experiments.base import Block, Cell, Table
from .experiments.tally import groups, mean, mean_r2, seconds, share, solved, tasks_among
from .problems import STANDARD
from .records import Record

OURS = "unisymnet"
PEERS = ("unisymnet-paper", "pyoperon", "gplearn", "rils-rols", "eql")
COLUMNS = (
    *("catalog", "noise", "budget", "method", "problems", "strict", "Sol", "form", "R² > 0.999"),
    *("mean R²", "size / truth", "median s (both solved)"),
)


def comparison(records: Sequence[Record]) -> list[Block]:
    """One table: every catalog, noise and budget on which ours and a peer were run, on their common problems."""
    rows: list[tuple[Cell, ...]] = []
    for catalog, noise, budget, ours, other in _pairs(records):
        label = (catalog, f"{noise:g}", f"{budget:g} s")
        both = {key for key in ours if solved(ours[key]) and solved(other[key])}
        for mine in (ours, other):
            rows.append((*label, *_row(list(mine.values()), [mine[key] for key in both])))
    if not rows:
        return []
    note = (
        "Pairs of rows: ours and one other method on the problems that both have run. Size is that of the solved "
        "against the truth; the median time is over problems that both solve."
    )
    return [Table("Ours beside each peer, same problems, same clock", COLUMNS, tuple(rows), note)]


def _row(records: Sequence[Record], both: Sequence[Record]) -> tuple[Cell, ...]:
    found = [record["scores"] for record in records if solved(record)]
    count = {key: sum(bool(record["scores"].get(key)) for record in records) for key in ("strict", "srbench", "form")}
    return (
        records[0]["method"],
        len(records),
        count["strict"],
        count["srbench"],
        count["form"] if all("form" in r["scores"] for r in records if r["scores"]) else None,
        sum((record["scores"].get("r2") or 0.0) > 0.999 for record in records),
        mean_r2(records),
        mean(score["complexity"] / score["true_complexity"] for score in found if score.get("true_complexity")),
        statistics.median(map(seconds, both)) if both else None,
    )


def _pairs(records: Sequence[Record]) -> list[tuple[str, float, float, dict[Any, Record], dict[Any, Record]]]:
    runs = [dict(r, catalog="standard" if r["suite"] in STANDARD else r["suite"]) for r in tasks_among(records)]
    found = []
    for (catalog, noise, budget), cell in groups(runs, "catalog", "noise", "max_time").items():
        by_method = {m: {(r["problem"], r["seed"]): r for r in some} for (m,), some in groups(cell, "method").items()}
        ours = by_method.get(OURS)
        for name in PEERS if ours and catalog != "blackbox" else ():
            common = sorted(set(ours or {}) & set(by_method.get(name, {})))
            if ours and common:
                found.append((catalog, noise, budget, *({k: m[k] for k in common} for m in (ours, by_method[name]))))
    return found


def shortfalls(records: Sequence[Record]) -> list[Block]:
    """Where ours is behind: a peer in the same runs, or the paper's own numbers."""
    rows: list[tuple[Cell, ...]] = []
    for catalog, noise, budget, ours, other in _pairs(records):
        mine, theirs = list(ours.values()), list(other.values())
        where = f"{catalog}, noise {noise:g}, {budget:g} s, {len(mine)} problems"
        for verdict, name in (("strict", "strict solutions"), ("srbench", "Sol"), ("form", "form found")):
            a, b = share(mine, verdict), share(theirs, verdict)
            if a is not None and b is not None and a < b:
                rows.append((where, name, theirs[0]["method"], a, b))
        a, b = mean_r2(mine), mean_r2(theirs)
        if a is not None and b is not None and a < b - 1e-4:
            rows.append((where, "mean R²", theirs[0]["method"], a, b))
        both = [key for key in ours if solved(ours[key]) and solved(other[key])]
        if both:
            a, b = (statistics.median(seconds(m[key]) for key in both) for m in (ours, other))
            if a > b:
                rows.append((where, "median time where both solve", theirs[0]["method"], a, b))
    rows += _behind_paper(records)
    compared = len(_pairs(records))
    note = f"Compared: ours and a peer in {compared} sets of runs, and the paper's Sol, Acc and mean R²."
    if not compared:
        note = "No other method has been run on the same problems with the same clock yet; against the paper only."
    note += "" if rows else " Ours is behind in none of these."
    return [Table("Where ours is behind", ("runs", "measure", "against", "ours", "theirs"), tuple(rows), note)]


def _behind_paper(records: Sequence[Record]) -> list[tuple[Cell, ...]]:
    """What is below the paper's numbers, for the full method and for the paper's own mode."""
    rows: list[tuple[Cell, ...]] = []
    keys = ("method", "suite", "noise", "max_time")
    for (method, suite, noise, budget), cell in groups(tasks_among(records), *keys).items():
        published = _published(suite, noise) if method in (OURS, "unisymnet-paper") else {}
        ours = {
            "Sol": share(cell, "srbench"),
            "Acc": mean(float((record["scores"].get("r2") or 0.0) > 0.99) for record in cell),
            "mean R²": mean_r2(cell),
        }
        for measure, theirs in published.items():
            mine = ours[measure]
            if mine is not None and mine < theirs - 1e-4:
                where = f"{suite}, noise {noise:g}, {budget:g} s, {len(cell)} runs, {method}"
                rows.append((where, measure, "paper", mine, theirs))
    return rows


def _published(suite: str, noise: float) -> dict[str, float]:
    if suite in STANDARD and noise == 0:
        return dict(zip(("Acc", "Sol"), facts.paper("in domain", suite)["UniSymNet"][1:], strict=True))
    if suite in ("feynman", "strogatz") and noise in facts.NOISES:
        return dict(zip(("Sol", "mean R²"), facts.by_number("srbench", suite)[noise][:2], strict=True))
    return {}
