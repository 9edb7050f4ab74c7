"""Random functions of the corpus, counted; nothing is fitted.

Figure "Complexity comparison": C = L·N by dimension, as tree, EQL-type network and UniSymNet, the same number of
functions for each dimension from 1 to 10; networks are counted as in the theorems (symbolic/network/counts.py).  The
paper compares UniSymNet with symbolic trees; EQL-type networks are added.
Figure "3D scatter plot of artificial dataset": columns, label length and layers of the functions of `optimisers` and
`pruning`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from ...corpus import Corpus
from ...corpus.settings import HIGH, LOW
from ...corpus.trees import TreeSampler, uniforms
from ...errors import EncodingError
from ...symbolic.network.counts import Counts, counts
from ..records import Key, performed
from ..run import provenance
from .base import COLOURS, CYCLE, Block, Cell, Experiment, Figure, Record, Setup, Table

DIMENSIONS = range(1, 11)
KINDS = {"tree": "symbolic tree", "eql": "EQL-type network", "unisymnet": "UniSymNet"}
FULL, QUICK = 100_000, 2_000
N_FUNCTIONS, FEW = 200, 50  # of the scatter plot, which has those of the ablations


def collect(setup: Setup) -> list[Record]:
    total = QUICK if setup.quick else FULL
    own = {"kind": "complexity", "functions": total, "seed": setup.seed}

    def perform(key: Key) -> Record:
        d = key["dimension"]
        found = _sizes(d, total // len(DIMENSIONS), uniforms(np.random.default_rng([setup.seed, d])))
        return {**key, **found, **provenance()}

    return performed([{**own, "dimension": d} for d in DIMENSIONS], setup.out, perform)


def _sizes(d: int, n: int, draws: Any) -> dict[str, Any]:
    """Means of depth, nodes and their product, with quartiles, for each kind of representation."""
    sampler = TreeSampler(LOW if d <= LOW.n_features else HIGH)
    found: list[Counts] = []
    while len(found) < n:
        try:
            found.append(counts(sampler.draw(d, draws)))
        except EncodingError:  # nowhere defined: drawn again
            continue
    sizes: dict[str, Any] = {}
    for kind in KINDS:
        rows = np.array([(getattr(one, kind).depth, getattr(one, kind).nodes) for one in found], dtype=float)
        product = rows[:, 0] * rows[:, 1]
        means = {"L": rows[:, 0].mean(), "N": rows[:, 1].mean(), "C": product.mean()}
        quartiles = dict(zip(("C25", "C75"), np.percentile(product, (25, 75)), strict=True))
        sizes[kind] = {key: round(float(value), 3) for key, value in (means | quartiles).items()}
    return sizes


def report(records: Sequence[Record]) -> list[Block]:
    own = [record for record in records if record.get("kind") == "complexity"]
    most = max((record["functions"] for record in own), default=0)
    chosen = {r["dimension"]: r for r in own if r["functions"] == most}
    if not chosen:
        return []
    rows: list[tuple[Cell, ...]] = [
        (d, *(one[kind][key] for kind in KINDS for key in ("L", "N", "C")), one["tree"]["C"] / one["unisymnet"]["C"])
        for d, one in sorted(chosen.items())
    ]
    heads = tuple(f"{key} {short}" for short in ("tree", "EQL", "UniSymNet") for key in ("L", "N", "C"))
    note = "C = L·N as in the paper, which shows a figure: trees grow faster than UniSymNet with the dimension."
    title = f"Complexity by dimension, {most:,} random functions"
    return [Table(title, ("d", *heads, "tree / UniSymNet"), tuple(rows), note), _figure(chosen, title)]


def _figure(chosen: dict[int, Record], title: str) -> Figure:
    def draw(fig: Any) -> None:
        left, right = fig.subplots(1, 2)
        x = sorted(chosen)
        for colour, (kind, label) in zip((CYCLE[1], CYCLE[6], CYCLE[0]), KINDS.items(), strict=True):
            cells = [chosen[d][kind] for d in x]
            left.plot(x, [cell["C"] for cell in cells], "o-", color=colour, label=label)
            low, high = [cell["C25"] for cell in cells], [cell["C75"] for cell in cells]
            left.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)
            right.plot(x, [cell["L"] for cell in cells], "o-", color=colour)
            right.plot(x, [cell["N"] for cell in cells], "s--", color=colour)
        left.set(xlabel="dimension d", title="mean C = L·N (band: middle half)", xticks=x)
        right.set(xlabel="dimension d", yscale="log", title="mean L (solid) and N (dashed)", xticks=x)
        right.set_yticks([2, 5, 10, 20, 40], labels=["2", "5", "10", "20", "40"])
        right.minorticks_off()
        # The corpus draws smaller trees per variable from five inputs on: the paper's two settings.
        left.axvline(LOW.n_features + 0.5, color="#bbbbbb", linewidth=0.8, linestyle=":")
        left.legend()

    return Figure("complexity", title, draw, (9.0, 3.8))


COMPLEXITY = Experiment(
    "complexity",
    "C = L·N of 100,000 random functions by dimension, as trees and as networks",
    "two minutes on one core",
    collect,
    report,
)


def collect_scatter(setup: Setup) -> list[Record]:
    number = FEW if setup.quick else N_FUNCTIONS
    examples = list(islice(Corpus(LOW, setup.seed).starting_at(0), number))
    here = provenance()  # the page refuses records that do not say which version made them

    def perform(key: Key) -> Record:
        example = examples[key["number"]]
        return {**key, "columns": example.n_features, "length": len(example.label), "layers": example.depth, **here}

    keys = [{"experiment": "scatter", "seed": setup.seed, "number": place} for place in range(len(examples))]
    return performed(keys, setup.out, perform)


def report_scatter(records: Sequence[Record]) -> list[Block]:
    own = [record for record in records if record.get("experiment") == "scatter"]
    if not own:
        return []
    counts = Counter((record["columns"], record["layers"]) for record in own)
    depths = sorted({layers for _, layers in counts})
    rows = tuple(
        (columns, *(counts[columns, layers] for layers in depths)) for columns in sorted({c for c, _ in counts})
    )

    def draw(fig: Any) -> None:
        axis = fig.add_subplot(projection="3d")
        points = [[record[key] for record in own] for key in ("columns", "length", "layers")]
        axis.scatter(*points, c=points[2], cmap="viridis", s=16, edgecolor=COLOURS["truth"], linewidth=0.3)
        axis.set(xlabel="columns d", ylabel="tokens of the label", zlabel="layers L", xticks=sorted({*points[0]}))

    return [
        Table(f"{len(own)} random functions: columns by layers", ("columns", *map(str, depths)), rows),
        Figure("scatter", "Random functions: columns, label length and layers", draw, (5.4, 4.6)),
    ]


SCATTER = Experiment(
    "scatter",
    "columns, label length and layers of the 200 functions of the ablations (3-D scatter)",
    "a second on one core",
    collect_scatter,
    report_scatter,
)
