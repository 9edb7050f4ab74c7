"""What runs on tables say beside published figures: medians, sizes, and who wins how often.

Published figures are medians over seeds of R² on test rows, one line for each method and set (columns algorithm,
dataset, r2_test, model_size). Does not run anything.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from scipy.stats import studentized_range

from ..experiments.base import Block, Table

PUBLISHED = "pmlb_published.csv"
TIE = 0.01  # of R²
LINEAR_TOLERANCE = 0.02
FRIEDMAN = "_fri_"  # in the names of PMLB's sets that are made with Friedman's function


def find_published(folder: str | Path) -> Path | None:
    """The table of published figures in the folder of the data, or beside it."""
    place = Path(folder)
    found = [path / PUBLISHED for path in (place, place.parent) if (path / PUBLISHED).is_file()]
    return found[0] if found else None


def read_published(path: Path) -> dict[str, dict[str, tuple[float, float]]]:
    """R² and size by method and set."""
    found: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["r2_test"]:
                size = float(row["model_size"]) if row["model_size"] else float("nan")
                found[row["algorithm"].lstrip("*")][row["dataset"]] = float(row["r2_test"]), size
    return dict(found)


def report(records: Sequence[dict[str, Any]], published: dict[str, dict[str, tuple[float, float]]]) -> list[Block]:
    """Tables: set by set, and method by method."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        groups[record["run"]["table"]].append(record)
    ours = {name: median(r["r2"] for r in rows) for name, rows in groups.items()}
    linear = {name: median(r["r2_linear"] for r in rows) for name, rows in groups.items()}
    sizes = {name: median(r["size"] for r in rows) for name, rows in groups.items()}
    lines = []
    for name, rows in groups.items():
        best = max(((figures[name][0], m) for m, figures in published.items() if name in figures), default=(None, ""))
        seconds = median(r["seconds"] for r in rows)
        lines.append((name, len(rows), ours[name], sizes[name], linear[name], best[0], best[1], seconds))
    columns = ("set", "runs", "R²", "size", "linear here", "best published", "by", "seconds")
    below = [name for name in ours if ours[name] < linear[name] - LINEAR_TOLERANCE]
    note = f"below linear by more than {LINEAR_TOLERANCE}: {', '.join(below) or 'none'}"
    blocks: list[Block] = [Table("Tables, median test R² over the seeds", columns, tuple(lines), note)]
    boosted = [(r["r2_boosting"], r["r2"]) for r in records if r.get("r2_boosting") is not None]
    return [*blocks, _kinds(ours, sizes, linear, boosted), _duels(ours, sizes, published), _ranks(ours, published)]


def _kinds(
    ours: dict[str, float], sizes: dict[str, float], linear: dict[str, float], boosted: Sequence[tuple[float, float]]
) -> Table:
    """Medians over all sets, over Friedman's artificial ones and over the others."""
    rows: list[tuple[str | float | int | None, ...]] = []
    for kind, names in (
        ("all", list(ours)),
        ("Friedman's", [name for name in ours if FRIEDMAN in name]),
        ("others", [name for name in ours if FRIEDMAN not in name]),
    ):
        if names:
            rows.append((kind, len(names), *(median(what[n] for n in names) for what in (ours, sizes, linear))))
    note = ""
    if boosted:
        gap = median(theirs - own for theirs, own in boosted)
        note = f"gradient boosting on the same rows: median R² {median(r for r, _ in boosted):.3f}, " + (
            f"ahead of the formula by {gap:.3f} in the median" if gap > 0.0 else f"behind the formula by {-gap:.3f}"
        )
    return Table("Medians by kind of set", ("sets", "number", "R²", "size", "linear here"), tuple(rows), note)


def _ranks(ours: dict[str, float], published: dict[str, dict[str, tuple[float, float]]]) -> Table:
    """Mean ranks over the sets that every method has, and how far apart two must be to differ (Nemenyi, 5 %)."""
    methods = {name: figures for name, figures in published.items() if all(s in figures for s in ours)}
    everyone = {"unisymnet (here)": ours} | {m: {s: f[s][0] for s in ours} for m, f in methods.items()}
    total = dict.fromkeys(everyone, 0.0)
    for name in ours:
        values = {method: figures[name] for method, figures in everyone.items()}
        for method, value in values.items():
            above = sum(other > value for other in values.values())
            same = sum(other == value for other in values.values())
            total[method] += above + (same + 1) / 2
    rows = sorted(((method, rank / len(ours)) for method, rank in total.items()), key=lambda row: row[1])
    k, n = len(everyone), len(ours)
    note = "methods that have all these sets; rank 1 is the best"
    if k > 1:
        apart = studentized_range.ppf(0.95, k, math.inf) / math.sqrt(2.0) * math.sqrt(k * (k + 1) / (6.0 * n))
        note += f"; ranks less than {apart:.2f} apart do not differ (Nemenyi, 5 %)"
    return Table("Mean ranks", ("method", "mean rank"), tuple(rows), note)


def _duels(
    ours: dict[str, float], sizes: dict[str, float], published: dict[str, dict[str, tuple[float, float]]]
) -> Table:
    rows: list[tuple[str | float | int | None, ...]] = []
    for method, figures in published.items():
        shared = [name for name in ours if name in figures]
        if not shared:
            continue
        gaps = [ours[name] - figures[name][0] for name in shared]
        won, lost = sum(gap > TIE for gap in gaps), sum(gap < -TIE for gap in gaps)
        theirs = median(figures[name][0] for name in shared)
        size = median(figures[name][1] for name in shared)
        rows.append((method, len(shared), theirs, size, won, len(shared) - won - lost, lost))
    rows.sort(key=lambda row: -float(row[2] or 0.0))
    mine = (median(ours.values()), median(sizes.values()))
    rows.insert(0, ("unisymnet (here)", len(ours), *mine, None, None, None))
    columns = ("method", "sets", "median R²", "median size", "we win", "tie", "we lose")
    note = f"a tie is a difference of at most {TIE} in R²; sizes are counted by each tool in its own way"
    return Table("Win, tie, loss against published medians", columns, tuple(rows), note)
