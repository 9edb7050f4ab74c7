"""Tables of the comparison of inner strategies, beside the paper's numbers.  Knows records only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
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
            chosen = [r for r in records if r["domain"] == "own" and r["structures"] == kind and r["paper"] is paper]
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


def pruning_cells(records: Sequence[Record], kind: str = "true") -> dict[str, dict[int, tuple[float, float]]]:
    """Mean R² and mean complexity of the trained networks themselves, by method and depth of the function.

    ``kind`` says whose structures; the default network is given none and counts as it is.
    """
    table: dict[str, dict[int, tuple[float, float]]] = {}
    for method in ("default", "dno-np", "dno-p"):
        for depth in range(1, 7):
            cell = [
                r
                for r in records
                if (r["method"], r["noise"], r["domain"]) == (method, 0.0, "own")
                and r["structures"] == ("true" if method == "default" else kind)
                and r["depth"] == depth
                and r["r2_network"] is not None
            ]
            if cell:
                size = sum(r["network_complexity"] for r in cell) / len(cell)
                table.setdefault(method, {})[depth] = mean_r2(r["r2_network"] for r in cell), size
    return table


def print_pruning(records: Sequence[Record]) -> None:
    """The pruning ablation as a table."""
    table = pruning_cells(records)
    if not table:
        return
    depths = sorted({depth for cells in table.values() for depth in cells})
    print("\nnetworks at noise 0 by depth L: mean R² / mean complexity before cutting")
    print(f"{'method':<8}" + "".join(f"{f'L = {depth}':>16}" for depth in depths))
    for method, cells in table.items():
        pairs = [cells.get(depth, (math.nan, math.nan)) for depth in depths]
        print(f"{method:<8}" + "".join(f"{score:>8.3f} /{size:>6.0f}" for score, size in pairs))


def draw_pruning(records: Sequence[Record], path: Path) -> None:
    """The pruning ablation as the paper's figure: complexity as bars, R² as lines, both by depth."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
    colours = {"default": "#7f8c8d", "dno-np": "#2471a3", "dno-p": "#c0392b"}
    for place, (method, cells) in enumerate(pruning_cells(records).items()):
        depths = sorted(cells)
        bars = [depth + 0.27 * (place - 1) for depth in depths]
        left.bar(bars, [cells[depth][1] for depth in depths], 0.25, color=colours[method], label=method)
        right.plot(depths, [cells[depth][0] for depth in depths], "o-", color=colours[method], label=method)
    left.set(xlabel="layers L", ylabel="complexity", yscale="log")
    right.set(xlabel="layers L", ylabel="mean R²", ylim=(0.0, 1.03))
    left.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def print_signs(records: Sequence[Record]) -> None:
    """Signed against plain logarithms where inputs are negative, all of them or some."""
    chosen = [r for r in records if r["domain"] != "own"]
    if not chosen:
        return
    print("\nR² of networks with plain and with signed logarithms, means over functions")
    print(f"{'domain':<10}{'method':<8}{'':<26}{'plain':>8}{'signed':>8}{'n':>6}")
    for domain in ("negative", "mixed"):
        for method in ("dno-p", "dno-np"):
            for single, label in ((True, "single trainings (paper)"), (False, "best of all restarts")):
                cell = [
                    r for r in chosen if (r["domain"], r["method"], r["trial"] is not None) == (domain, method, single)
                ]
                plain, signed = (mean_r2(r["r2_network"] for r in cell if r["signed"] is s) for s in (False, True))
                print(f"{domain:<10}{method:<8}{label:<26}{plain:>8.4f}{signed:>8.4f}{len(cell) // 2:>6}")
