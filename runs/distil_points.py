"""Teach a model that reads points what one that reads statistics hears: its last layer by least squares.

    python runs/distil_points.py --old runs/small-low --start runs/out/points-start --corpus DIR --n 16384 --out DIR

For every function the old model's first layer turns statistics into numbers that its decoder understands.  The new
reader's last layer is linear, so the weights that come nearest to these numbers are had in closed form, without one
step of training.  Everything behind that layer is the old model's.  Sums are kept in OUT, so a run cut short goes on.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from unisymnet.corpus import LOW, Corpus, Shards
from unisymnet.model.batches import read_points
from unisymnet.model.config import ModelConfig
from unisymnet.model.reader import Reader
from unisymnet.model.train import Run, TrainSettings, load_model, read_checkpoint, validate

BATCH, RIDGE = 64, 1e-4


def sums(reader: Reader, first: tuple[Tensor, Tensor], old: ModelConfig, new: ModelConfig, rows: np.ndarray) -> Tensor:
    """Products of what the reader hears (and a one) with itself and with the old first layer's numbers."""
    points, present, _ = read_points(rows, new)
    heard = reader.heard(torch.from_numpy(points), torch.from_numpy(present))
    heard = torch.cat([heard, torch.ones(len(heard), 1)], dim=1).double()
    told = torch.from_numpy(read_points(rows, old)[2]) @ first[0].T + first[1]
    return heard.T @ torch.cat([heard, told.double()], dim=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, required=True, help="path of .safetensors and .json without the suffix")
    parser.add_argument(
        "--start", type=Path, required=True, help="checkpoint whose reader is taken, but its last layer"
    )
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--n", type=int, default=16_384)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    old = ModelConfig.from_dict(json.loads(args.old.with_suffix(".json").read_text())["config"])
    weights = {k.removeprefix("model."): v.float() for k, v in load_file(args.old.with_suffix(".safetensors")).items()}
    first = weights["summary.first.weight"], weights["summary.first.bias"]
    model = load_model(args.start)
    reader = model.summary.first
    assert isinstance(reader, Reader)
    source = Shards(args.corpus, seed=2)
    args.out.mkdir(parents=True, exist_ok=True)
    kept = args.out / "sums.npz"
    done, total = 0, torch.zeros(())
    if kept.is_file():
        with np.load(kept) as file:
            done, total = int(file["done"]), torch.from_numpy(file["total"])
    last = time.monotonic()
    while done * BATCH < args.n:
        rows = np.stack([e.points for e in source(done, BATCH)])
        total, done = total + sums(reader, first, old, model.config, rows), done + 1
        if time.monotonic() - last > 30 or done * BATCH >= args.n:
            np.savez(kept, done=done, total=total.numpy())
            print(f"{done * BATCH:,} functions", flush=True)
            last = time.monotonic()
    k = total.shape[0]
    gram = total[:, :k]
    size = gram.diagonal().clamp(min=1e-9).sqrt()
    scaled = gram / size / size[:, None] + RIDGE * torch.eye(k)
    solution = torch.linalg.solve(scaled, total[:, k:] / size[:, None]) / size[:, None]
    state, _ = read_checkpoint(args.start)
    run = Run(model.config, TrainSettings(**state["settings"]))
    new = run.model.state_dict()
    for name, values in new.items():
        values.copy_(
            weights[name] if name in weights and not name.startswith("summary.first") else model.state_dict()[name]
        )
    new["summary.first.out.weight"].copy_(solution[:-1].T)
    new["summary.first.out.bias"].copy_(solution[-1])
    run.average = {name: values.clone() for name, values in new.items()}
    run.save(args.out)
    found = validate(run.averaged(), Corpus(LOW, 999)(0, 200))
    print(f"{args.out}: nll {found.nll:.3f}, gain {found.gain:.3f}")


if __name__ == "__main__":
    main()
