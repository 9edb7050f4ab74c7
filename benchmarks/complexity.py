"""The paper's "Statistical Comparison of Complexity": C = L·N of random functions by dimension, drawn as a figure.

Usage: python benchmarks/complexity.py [--functions N] [--out FILE.svg] [--seed S]
Functions come from the corpus, the same number for each dimension from 1 to 10; networks are counted as in the
theorems (symbolic/counts.py).  The paper compares UniSymNet with symbolic trees; EQL-type networks are added.
Functions that are nowhere defined are drawn again.  The last line is for machines.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from unisymnet.corpus.settings import HIGH, LOW
from unisymnet.corpus.trees import TreeSampler, uniforms
from unisymnet.errors import EncodingError
from unisymnet.symbolic.counts import Counts, counts

DIMENSIONS = range(1, 11)
KINDS = {"tree": "symbolic tree", "eql": "EQL-type network", "unisymnet": "UniSymNet"}
Table = dict[str, dict[int, np.ndarray]]


def measure(n_per_dimension: int, *, rng: np.random.Generator) -> Table:
    """For every kind and dimension the rows (depth, nodes) of all functions."""
    draws = uniforms(rng)
    samplers = {d: TreeSampler(LOW if d <= LOW.n_features else HIGH) for d in DIMENSIONS}
    table: Table = {kind: {} for kind in KINDS}
    for d in DIMENSIONS:
        found: list[Counts] = []
        while len(found) < n_per_dimension:
            try:
                found.append(counts(samplers[d].draw(d, draws)))
            except EncodingError:
                continue
        for kind in KINDS:
            sizes = [getattr(one, kind) for one in found]
            table[kind][d] = np.array([(size.depth, size.nodes) for size in sizes], dtype=float)
    return table


def complexity(rows: np.ndarray) -> np.ndarray:
    return rows[:, 0] * rows[:, 1]


def draw(table: Table, n: int, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colours = {"tree": "#c0392b", "eql": "#7f8c8d", "unisymnet": "#2471a3"}
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
    for kind, title in KINDS.items():
        means = [complexity(table[kind][d]).mean() for d in DIMENSIONS]
        quartiles = np.array([np.percentile(complexity(table[kind][d]), (25, 75)) for d in DIMENSIONS])
        left.plot(DIMENSIONS, means, "o-", color=colours[kind], label=title, markersize=4)
        left.fill_between(DIMENSIONS, quartiles[:, 0], quartiles[:, 1], color=colours[kind], alpha=0.12, linewidth=0)
        right.plot(
            DIMENSIONS, [table[kind][d][:, 0].mean() for d in DIMENSIONS], "o-", color=colours[kind], markersize=4
        )
        right.plot(
            DIMENSIONS, [table[kind][d][:, 1].mean() for d in DIMENSIONS], "s--", color=colours[kind], markersize=4
        )
    left.set(xlabel="dimension d", ylabel="complexity C = L·N", title="mean complexity (band: middle half)")
    right.set(xlabel="dimension d", yscale="log", title="mean depth L (solid) and nodes N (dashed)")
    left.legend(frameon=False)
    right.set_yticks([2, 5, 10, 20, 40], labels=["2", "5", "10", "20", "40"])
    right.minorticks_off()
    for axis in (left, right):
        axis.set_xticks(list(DIMENSIONS))
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    # The corpus draws smaller trees per variable from five inputs on: the paper's two settings.
    left.axvline(LOW.n_features + 0.5, color="#bbbbbb", linewidth=0.8, linestyle=":")
    fig.suptitle(f"{n:,} random functions", fontsize=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--functions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/out/complexity.svg"))
    options = parser.parse_args()
    share = max(1, options.functions // len(DIMENSIONS))
    table = measure(share, rng=np.random.default_rng(options.seed))
    print(f"{'d':>3}" + "".join(f"{title:>34}" for title in KINDS.values()))
    for d in DIMENSIONS:
        cells = [table[kind][d] for kind in KINDS]
        texts = [f"L {c[:, 0].mean():5.2f}  N {c[:, 1].mean():6.2f}  C {complexity(c).mean():7.1f}" for c in cells]
        print(f"{d:>3}" + "".join(f"{text:>34}" for text in texts))
    draw(table, share * len(DIMENSIONS), options.out)
    ratios = {d: complexity(table["tree"][d]).mean() / complexity(table["unisymnet"][d]).mean() for d in DIMENSIONS}
    smaller = np.mean([complexity(table["unisymnet"][d]) <= complexity(table["tree"][d]) for d in DIMENSIONS])
    print(f"figure: {options.out}")
    print(
        f"functions={share * len(DIMENSIONS)} "
        + " ".join(f"tree_over_unisymnet_d{d}={ratios[d]:.2f}" for d in (1, 4, 5, 10))
        + f" share_not_larger={smaller:.3f}"
    )


if __name__ == "__main__":
    main()
