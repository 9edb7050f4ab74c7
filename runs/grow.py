"""Start a run of a preset from the weights of an older, smaller model: what has the same name and fits is copied.

    python runs/grow.py small-low --old runs/small-low --labels runs/out/labels-low.json --out runs/out/small-low

The old model's statistics stay where they were; new ones, new units and new latents start at random, with small weights
out.  Tokens that do not occur in the file of labels (runs/labels.py) are dropped.  The optimiser starts afresh.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from unisymnet.model.batches import alphabet_of
from unisymnet.model.config import preset
from unisymnet.model.train import Run, TrainSettings


def transplant(new: dict[str, Tensor], old: dict[str, Tensor], live: tuple[int, ...]) -> list[str]:
    """Copy old weights into the corner of the new ones; returns the names of what stayed new."""
    names = (("summary.0.", "summary.first."), ("summary.2.", "summary.last."))
    renamed = {k.replace(*names[0]).replace(*names[1]): v for k, v in old.items()}
    fresh = []
    for name, values in new.items():
        source = renamed.get(name)
        if source is None:
            fresh.append(name)
            continue
        if name == "by_token.weight" and len(source) != len(values):
            source = source[list(live)]
        if name.startswith("summary.first.weight"):
            values[: source.shape[0], source.shape[1] :] *= 0.0
        if name == "summary.last.weight":
            values *= 0.3
            values[: source.shape[0], source.shape[1] :] *= 0.0
        corner = tuple(slice(min(a, b)) for a, b in zip(values.shape, source.shape))
        values[corner] = source[corner]
    return fresh


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
    old = {k.removeprefix("average."): v.float() for k, v in arrays.items() if k.startswith("average.")}
    weights = run.model.state_dict()
    with torch.no_grad():
        fresh = transplant(weights, old, config.live)
    run.average = {k: v.clone() for k, v in weights.items()}
    run.save(args.out)
    print(f"{args.out}: {sum(v.numel() for v in weights.values()):,} weights; new: {', '.join(fresh) or 'none'}")


if __name__ == "__main__":
    main()
