"""Tables of the comparison of inner strategies, beside the paper's numbers.  Knows records only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

Record = dict[str, Any]

# Table "Comparison of different optimization strategies": noise -> (symbolic solution rate, mean R²).
PAPER = {
    "sfo": {0.0: (0.3350, 0.7754), 0.001: (0.2450, 0.7592), 0.01: (0.2450, 0.7369), 0.1: (0.2350, 0.7386)},
    "dno-p": {0.0: (0.1515, 0.7421), 0.001: (0.1480, 0.7286), 0.01: (0.1472, 0.7278), 0.1: (0.1371, 0.7242)},
    "dno-np": {0.0: (0.1224, 0.8216), 0.001: (0.1050, 0.7724), 0.01: (0.1150, 0.7680), 0.1: (0.1100, 0.7343)},
}


def mean_r2(scores: Iterable[float | None]) -> float:
    """The mean with an undefined or negative R² as 0."""
    clipped = [max(score, 0.0) if score is not None and math.isfinite(score) else 0.0 for score in scores]
    return sum(clipped) / len(clipped) if clipped else math.nan


def rate(records: Sequence[Record]) -> float:
    return sum(bool(record["solved"]) for record in records) / len(records) if records else math.nan


def print_strategies(records: Sequence[Record]) -> None:
    """Solution rate and mean R² by strategy and noise."""
    for kind in ("true", "transformer"):
        for paper in (True, False):
            chosen = [r for r in records if not r["negative"] and r["structures"] == kind and r["paper"] is paper]
            if chosen:
                added = "DNO as in the paper" if paper else "DNO with settling, screening and cutting"
                print(f"\nstructures: {kind}; {added}")
                _print_strategies(chosen)


def _print_strategies(records: Sequence[Record]) -> None:
    heads = (
        ("noise", 7),
        ("n", 5),
        ("solved", 9),
        ("paper", 8),
        ("mean R²", 10),
        ("paper", 8),
        ("network", 12),
        ("s", 8),
    )
    print(f"{'method':<8}" + "".join(f"{head:>{width}}" for head, width in heads))
    for method, numbers in PAPER.items():
        for noise, (paper_rate, paper_r2) in numbers.items():
            cell = [r for r in records if r["method"] == method and r["noise"] == noise]
            if not cell:
                continue
            network = mean_r2(r["r2_network"] for r in cell) if method != "sfo" else math.nan
            seconds = sum(r["seconds"] for r in cell) / len(cell)
            print(
                f"{method:<8}{noise:>7g}{len(cell):>5}{rate(cell):>9.4f}{paper_rate:>8.4f}"
                f"{mean_r2(r['r2'] for r in cell):>10.4f}{paper_r2:>8.4f}{network:>12.4f}{seconds:>8.1f}"
            )


def print_pruning(records: Sequence[Record]) -> None:
    """The pruning ablation: R² and complexity of the trained networks themselves, by depth of the function."""
    chosen = [
        r for r in records
        if r["structures"] == "true" and not r["noise"] and not r["negative"] and r.get("r2_network") is not None
    ]  # fmt: skip
    if not chosen:
        return
    print("\nnetworks at noise 0 by depth L: mean R² / mean complexity before cutting")
    depths = sorted({r["depth"] for r in chosen})
    print(f"{'method':<8}" + "".join(f"{f'L = {depth}':>16}" for depth in depths))
    for method in ("default", "dno-np", "dno-p"):
        cells = []
        for depth in depths:
            cell = [r for r in chosen if r["method"] == method and r["depth"] == depth]
            size = sum(r["network_complexity"] for r in cell) / len(cell) if cell else math.nan
            cells.append(f"{mean_r2(r['r2_network'] for r in cell):>8.3f} /{size:>6.0f}")
        print(f"{method:<8}" + "".join(cells))


def print_negative(records: Sequence[Record]) -> None:
    """Signed against plain logarithms where all inputs are negative."""
    chosen = [r for r in records if r["negative"]]
    if not chosen:
        return
    print("\nnegative domain: mean R² of the networks (formula or network)")
    for method in ("dno-p", "dno-np"):
        for paper in (True, False):
            cells = []
            for signed in (False, True):
                cell = [r for r in chosen if (r["method"], r["paper"], r["signed"]) == (method, paper, signed)]
                cells.append((mean_r2(r["r2_network"] for r in cell), mean_r2(r["r2"] for r in cell), len(cell)))
            (a, b, n), (c, d, m) = cells
            label = "the paper's training" if paper else "with what is added"
            print(f"{method:<8}{label:<22}plain {a:.4f} ({b:.4f}), signed {c:.4f} ({d:.4f}), n = {n}, {m}")
