"""Export a checkpoint to the package: ONNX graphs, the frequency list, and facts about the training.

    python runs/export.py small-low --start runs/out/cooled --labels runs/out/labels-low.json
    python runs/export.py small-low --start runs/out/small-low --compact runs/small-low
    python runs/export.py points/low --start runs/out/points3 --like src/unisymnet/model/weights/small-low

The second form writes a checkpoint that is small enough to commit: the mean weights in 16 bits and nothing else.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from unisymnet.model.export import export
from unisymnet.model.runtime import MANIFEST, WEIGHTS
from unisymnet.model.train import LOG, load_model, read_checkpoint

N_FREQUENT = 100


def compact(folder: Path, out: Path) -> None:
    """Checkpoint ``folder`` as ``out``.safetensors and ``out``.json: a run from it warms up again, at step 0."""
    state, arrays = read_checkpoint(folder)
    means = {k.removeprefix("average."): v for k, v in arrays.items() if k.startswith("average.")}
    save_file({f"model.{k}": v.to(torch.float16) for k, v in means.items()}, out.with_suffix(".safetensors"))
    settings = state["settings"] | {"cooldown_from": None, "cooldown_steps": 0}
    fresh = state | {"step": 0, "best": 1e9, "stale": 0, "settings": settings, "steps_before": state["step"]}
    out.with_suffix(".json").write_text(json.dumps(fresh))
    print(f"{out}: {out.with_suffix('.safetensors').stat().st_size / 1e6:.1f} MB, after step {state['step']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="folder below src/unisymnet/model/weights")
    parser.add_argument("--start", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--labels", type=Path, help="file written by runs/labels.py")
    parser.add_argument("--like", type=Path, help="exported model whose frequency list is taken instead")
    parser.add_argument("--compact", type=Path, help="write a small checkpoint to this path instead")
    parser.add_argument("--before", type=int, default=0, help="examples that the weights saw before this run began")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.compact:
        compact(args.start, args.compact)
        return
    if args.labels is None and args.like is None:
        parser.error("--labels or --like is needed: the frequency list goes into the package")
    state, _ = read_checkpoint(args.start)
    last = json.loads((args.start / LOG).read_text().splitlines()[-1])
    about = {k: last[k] for k in ("examples", "nll", "shuffled", "gain")} | {"step": state["step"]}
    about["examples"] += args.before
    if args.like is not None:
        frequent = {int(d): labels for d, labels in json.loads((args.like / MANIFEST).read_text())["frequent"].items()}
    else:
        counted = json.loads(args.labels.read_text())
        frequent = {int(d): [label for label, _ in labels[:N_FREQUENT]] for d, labels in counted.items()}
    folder = export(load_model(args.start), args.out / args.name, frequent=frequent, about=about)
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{folder}: {size / 1e6:.2f} MB, {about}")


if __name__ == "__main__":
    main()
