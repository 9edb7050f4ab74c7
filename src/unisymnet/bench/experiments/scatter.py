"""Figure "3D scatter plot of artificial dataset": columns, label length and layers of the ablations' functions.

The functions are those of `optimisers` and `pruning`; nothing is fitted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

from ...corpus import LOW, Corpus
from ..records import Key, performed
from .base import Block, Experiment, Figure, Record, Setup, Table, colour

N_FUNCTIONS, QUICK = 200, 50


def collect(setup: Setup) -> list[Record]:
    number = QUICK if setup.quick else N_FUNCTIONS
    examples = list(islice(Corpus(LOW, setup.seed).starting_at(0), number))

    def perform(key: Key) -> Record:
        example = examples[key["number"]]
        return {**key, "columns": example.n_features, "length": len(example.label), "layers": example.depth}

    keys = [{"experiment": "scatter", "seed": setup.seed, "number": place} for place in range(len(examples))]
    return performed(keys, setup.out, perform)


def report(records: Sequence[Record]) -> list[Block]:
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
        axis.scatter(*points, c=points[2], cmap="viridis", s=16, edgecolor=colour("truth"), linewidth=0.3)
        axis.set(xlabel="columns d", ylabel="tokens of the label", zlabel="layers L", xticks=sorted({*points[0]}))

    return [
        Table(f"{len(own)} random functions: columns by layers", ("columns", *map(str, depths)), rows),
        Figure("scatter", "Random functions: columns, label length and layers", draw, (5.4, 4.6)),
    ]


EXPERIMENT = Experiment(
    "scatter",
    "columns, label length and layers of the 200 functions of the ablations (3-D scatter)",
    "a second on one core",
    collect,
    report,
)
