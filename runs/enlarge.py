"""Start a run from the weights of a smaller model: the same function at first, with more to learn with.

    python runs/enlarge.py --width --old runs/out/low3cool --out runs/out/wide
    python runs/enlarge.py --relations --old runs/out/wide --out runs/out/related

``--relations`` adds the statistics of model/relations.py, which count for nothing at first.  ``--width`` doubles the
width: every channel and every head is there twice; a weight is shared out between the two copies of its input at
random, so that the copies get different gradients and part.  The optimiser starts afresh.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn

from unisymnet.model.schedule import config_of
from unisymnet.model.train import Run, TrainSettings, load_model, read_checkpoint
from unisymnet.model.transformer import Summary, Transformer

UNEQUAL = 0.3  # how far the shares of the two copies are from one half


def twice(x: Tensor, dim: int, n_groups: int = 1) -> Tensor:
    """Each of ``n_groups`` equal parts of ``x`` along ``dim`` twice in a row."""
    return torch.cat([copy for part in x.chunk(n_groups, dim) for copy in (part, part)], dim)


def shared(weight: Tensor) -> Tensor:
    """A weight matrix for inputs that are there twice."""
    share = 0.5 + UNEQUAL * torch.randn_like(weight)
    return torch.cat([share * weight, (1.0 - share) * weight], 1)


def widened(name: str, old: nn.Module, summary: Summary, n_summary: int) -> dict[str, Tensor]:
    """The doubled parameters of one module."""
    if isinstance(old, nn.Linear):
        inside = name.startswith("summary.")
        if inside and old is not summary.last:
            return {"weight": old.weight, "bias": old.bias}
        groups = n_summary if inside else 2 if name.endswith("key_value") else 1
        weight = twice(old.weight, 0, groups)
        return {"weight": weight if inside else shared(weight), "bias": twice(old.bias, 0, groups)}
    if isinstance(old, nn.LayerNorm):
        if name.startswith("summary."):
            return {"weight": old.weight, "bias": old.bias}
        half = 0.5 if name == "norm_out" else 1.0  # logits are products of two vectors that are there twice
        return {"weight": half * twice(old.weight, 0), "bias": half * twice(old.bias, 0)}
    if isinstance(old, nn.Embedding):
        return {"weight": twice(old.weight, 1)}
    return {}


@torch.no_grad()
def inform(old: Transformer, new: Transformer) -> None:
    """Fill ``new``, which reads more statistics than ``old``; the new ones come last."""
    values = old.state_dict()
    first = torch.zeros_like(new.summary.first.weight)
    first[:, : old.summary.first.weight.shape[1]] = old.summary.first.weight
    new.load_state_dict(values | {"summary.first.weight": first})


@torch.no_grad()
def widen(old: Transformer, new: Transformer) -> None:
    """Fill ``new``, which has twice the width and heads of ``old``."""
    values = {"latents": twice(old.latents, 1)}
    for name, module in old.named_modules():
        for part, value in widened(name, module, old.summary, old.config.n_summary).items():
            values[f"{name}.{part}"] = value
    new.load_state_dict(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--width", action="store_true")
    what.add_argument("--relations", action="store_true")
    parser.add_argument("--old", type=Path, required=True, help="folder of a checkpoint")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    config = config_of(read_checkpoint(args.old)[0])
    if args.width:
        config = replace(config, d_model=2 * config.d_model, n_heads=2 * config.n_heads)
    run = Run(replace(config, relations=config.relations or args.relations), TrainSettings(seed=args.seed))
    (widen if args.width else inform)(load_model(args.old), run.model)
    run.average = {k: v.clone() for k, v in run.model.state_dict().items()}
    run.save(args.out)
    print(f"{args.out}: {sum(p.numel() for p in run.model.parameters()):,} weights")


if __name__ == "__main__":
    main()
