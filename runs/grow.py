"""Start a run of one preset from the weights of another: what means the same is copied.

    python runs/grow.py small-high --old runs/small-low --labels runs/out/labels-high.json --out runs/out/small-high

A token is known by its layer, operator and place, whatever the presets' numbers of columns and copies are; a
statistic by its values on data sets that both models can read.  A new hidden layer starts as a copy of the one below
it; everything else that is new starts small.  Tokens that do not occur in the file of labels (runs/labels.py) are
dropped.  The optimiser starts afresh.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from unisymnet.corpus import LOW, Corpus
from unisymnet.model.alphabet import FIRST_DEPTH
from unisymnet.model.batches import alphabet_of, read_points
from unisymnet.model.config import ModelConfig, preset
from unisymnet.model.train import Run, TrainSettings

Table = dict[int, int]  # index in the new weights, index in the old ones
NEAR = 1e-3  # statistics that differ by less are the same
NEW = 0.3  # factor on what starts at random


def rows_of(config: ModelConfig) -> list[Hashable]:
    """What each row means: nothing, or an operator and its copy."""
    return [None, *((op, copy) for op in range(5) for copy in range(config.repeats))]


def columns_of(config: ModelConfig) -> list[Hashable]:
    return [None, *range(config.n_features), *rows_of(config)[1:], "bias"]


def layers_of(config: ModelConfig, highest: int) -> list[Hashable]:
    """What each layer means; hidden layers above ``highest`` count as that one."""
    return [None, *(min(layer, highest) for layer in range(1, config.max_depth)), "output"]


def tokens_of(config: ModelConfig) -> list[Hashable]:
    """What each live token means."""
    alphabet = alphabet_of(config)
    rows, columns, layers = rows_of(config), columns_of(config), layers_of(config, config.max_depth)
    special: list[Hashable] = [("special", t) for t in range(FIRST_DEPTH + config.max_depth)]
    places = zip(alphabet.layer, alphabet.row, alphabet.column)
    edges = [(layers[layer], rows[row], columns[column]) for layer, row, column in islice(places, len(special), None)]
    every = [*special, *edges]
    return [every[t] for t in config.live or range(len(every))]


def pairs(new: Sequence[Hashable], old: Sequence[Hashable]) -> Table:
    at = {meaning: i for i, meaning in enumerate(old)}
    return {i: at[meaning] for i, meaning in enumerate(new) if meaning in at}


def statistics(new: ModelConfig, old: ModelConfig, n: int = 200) -> Table:
    """Statistics with the same values, found with data sets whose columns both models can take."""
    points = np.stack([example.points for example in islice(Corpus(LOW, seed=77).starting_at(0), n)])

    def read(config: ModelConfig) -> np.ndarray:
        rows = np.zeros((*points.shape[:2], config.n_features + 1), dtype=points.dtype)
        rows[:, :, : points.shape[2] - 1], rows[:, :, -1] = points[:, :, :-1], points[:, :, -1]
        return read_points(rows, config)[2]

    theirs, ours = read(old), read(new)
    found: Table = {}
    for i in np.flatnonzero(np.ptp(ours, axis=0) > NEAR):
        apart = np.abs(theirs - ours[:, i : i + 1]).max(axis=0)
        if apart.min() < NEAR:
            found[int(i)] = int(apart.argmin())
    return found


def transplant(new: dict[str, Tensor], old: dict[str, Tensor], into: ModelConfig, source: ModelConfig) -> None:
    """Copy what means the same; print how much that is."""
    highest = source.max_depth - 1
    tables = {
        "by_layer.weight": pairs(layers_of(into, highest), layers_of(source, highest)),
        "by_row.weight": pairs(rows_of(into), rows_of(source)),
        "by_column.weight": pairs(columns_of(into), columns_of(source)),
        "by_token.weight": pairs(tokens_of(into), tokens_of(source)),
        "position.weight": {i: min(i, source.max_tokens + 2) for i in range(into.max_tokens + 3)},
    }
    known = statistics(into, source)
    print(f"statistics: {len(known)} of {new['summary.first.weight'].shape[1]} known")
    for name, values in new.items():
        if name == "summary.first.weight":
            values *= NEW
            values[:, list(known)] = old[name][:, list(known.values())]
        elif name in tables:
            table = tables[name]
            print(f"{name}: {len(table)} of {len(values)} known")
            values *= NEW
            values[list(table)] = old[name][list(table.values())]
        else:
            values.copy_(old[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset")
    parser.add_argument("--old", type=Path, required=True, help="path of .safetensors and .json without the suffix")
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    config = preset(args.preset)
    labels = [label for group in json.loads(args.labels.read_text()).values() for label, _ in group]
    config = replace(config, live=alphabet_of(config).occurring(labels))
    run = Run(config, TrainSettings())
    arrays = load_file(args.old.with_suffix(".safetensors"))
    means = "average." if any(k.startswith("average.") for k in arrays) else "model."  # a compact one has no others
    old = {k.removeprefix(means): v.float() for k, v in arrays.items() if k.startswith(means)}
    source = ModelConfig.from_dict(json.loads(args.old.with_suffix(".json").read_text())["config"])
    if source.d_model != config.d_model:
        parser.error(f"{args.old} is {source.d_model} wide, {args.preset} {config.d_model}; take weights of that width "
                     "(small-low of commit df27ccc is 96 wide)")  # fmt: skip
    weights = run.model.state_dict()
    with torch.no_grad():
        transplant(weights, old, config, source)
    run.average = {k: v.clone() for k, v in weights.items()}
    run.save(args.out)
    print(f"{args.out}: {sum(v.numel() for v in weights.values()):,} weights")


if __name__ == "__main__":
    main()
