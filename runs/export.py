"""Export a checkpoint to the package: ONNX graphs, the frequency list, and facts about the training.

    python runs/export.py small-low --start runs/out/small-low --labels runs/out/labels-low.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from unisymnet.model.export import export
from unisymnet.model.runtime import WEIGHTS
from unisymnet.model.train import LOG, load_model, read_checkpoint

N_FREQUENT = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="folder below src/unisymnet/model/weights")
    parser.add_argument("--start", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--labels", type=Path, required=True, help="file written by runs/labels.py")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    state, _ = read_checkpoint(args.start)
    last = json.loads((args.start / LOG).read_text().splitlines()[-1])
    about = {k: last[k] for k in ("examples", "nll", "shuffled", "gain")} | {"step": state["step"]}
    counted = json.loads(args.labels.read_text())
    frequent = {int(d): [label for label, _ in labels[:N_FREQUENT]] for d, labels in counted.items()}
    folder = export(load_model(args.start), args.out / args.name, frequent=frequent, about=about)
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{folder}: {size / 1e6:.2f} MB, {about}")


if __name__ == "__main__":
    main()
