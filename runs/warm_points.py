"""Start a model that reads points from one that reads statistics: all weights but those of its first layer.

    python runs/warm_points.py points-low --old runs/small-low --out runs/out/points-start

The decoder and the network behind the first layer are taken over, so that only the reading of points is to be learned.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file

from unisymnet.model.config import ModelConfig, preset
from unisymnet.model.schedule import settings_for
from unisymnet.model.train import Run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset")
    parser.add_argument("--old", type=Path, required=True, help="path of .safetensors and .json without the suffix")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    source = ModelConfig.from_dict(json.loads(args.old.with_suffix(".json").read_text())["config"])
    run = Run(replace(preset(args.preset), live=source.live), settings_for(args.preset, seed=args.seed))
    weights = run.model.state_dict()
    old = {k.removeprefix("model."): v.float() for k, v in load_file(args.old.with_suffix(".safetensors")).items()}
    with torch.no_grad():
        for name, values in weights.items():
            if not name.startswith("summary.first."):
                values.copy_(old[name])
    run.average = {k: v.clone() for k, v in weights.items()}
    run.save(args.out)
    new = sum(v.numel() for k, v in weights.items() if k.startswith("summary.first."))
    print(f"{args.out}: {sum(v.numel() for v in weights.values()):,} weights, {new:,} of them new")


if __name__ == "__main__":
    main()
