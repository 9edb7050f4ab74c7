"""Start or resume the training of a preset; joins the corpus and the model, which do not know each other.

    python runs/train.py small-low --hours 1 --out runs/small-low --resume
    python runs/train.py small-low --out runs/cooled --start runs/small-low --cooldown 4000
    torchrun --nproc-per-node 2 runs/train.py paper-low --hours 24 --batch 512 --rate 1e-4 --out runs/paper-low
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import torch
import torch.distributed as dist

from unisymnet.corpus import SETTINGS, Corpus, Mixture, easier
from unisymnet.model.config import preset
from unisymnet.model.train import STATE, TrainSettings, train

VALIDATION_SEED = 999


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--hours", type=float)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--start", type=Path, help="continue the checkpoint of another folder")
    parser.add_argument("--cooldown", type=int, help="lower the rate to 0 within so many steps, then stop")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--read", type=int, help="points that the encoder reads in training; default all")
    parser.add_argument("--easy", type=int, default=1, help="parts of smaller functions for one part of the table's")
    parser.add_argument("--valid", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pause", type=float, default=180.0)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped; resume with --resume"))  # takes the worker along
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    config = preset(args.preset)
    corpus = replace(SETTINGS[args.preset.split("-")[1]], n_points=args.points)
    settings = TrainSettings(batch=args.batch, rate=args.rate, seed=args.seed, n_read=args.read)
    steps = args.steps
    if args.cooldown:
        folder = args.out if args.resume and (args.out / STATE).is_file() else args.start
        done = json.loads((folder / STATE).read_text())
        begin = done["settings"].get("cooldown_from") or done["step"]
        settings = replace(settings, cooldown_from=begin, cooldown_steps=args.cooldown)
        steps = begin + args.cooldown
    sources = [Corpus(corpus, args.seed, shard=rank, n_shards=world)]
    sources += [replace(sources[0], settings=easier(corpus))] * args.easy
    train(
        Mixture(tuple(sources)),
        Corpus(corpus, VALIDATION_SEED)(0, args.valid),
        config,
        settings,
        args.out,
        max_steps=steps,
        hours=args.hours,
        resume=args.resume,
        start=args.start,
        n_workers=args.workers,
        pause=args.pause,
        log=lambda line: print(line, flush=True) if rank == 0 else None,
    )


if __name__ == "__main__":
    main()
