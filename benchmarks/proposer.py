"""What the shipped transformer is worth: recall of exact structures on fresh functions against a frequency list.

    python benchmarks/proposer.py [--n 300] [--weights FOLDER] [--labels runs/out/labels-low.json] [--speed]

Fresh functions come from a seed that training never used.  "list" proposes the most frequent labels for the same number
of columns and reads no data; any recall has to be read against it.  ``--speed`` compares training on the live corpus
with training on ready-made tensors (needs torch).  The last line is key=value.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from unisymnet.corpus import SETTINGS, Corpus, Example
from unisymnet.model.beam import beam_search, vocabulary_of
from unisymnet.model.runtime import WEIGHTS, Runtime
from unisymnet.symbolic.structure import Structure

FRESH = 4242
CUTS = (1, 5, 20)


def place(truth: Structure, structures: list[Structure]) -> float:
    """At which place (from 1) the true structure was proposed; infinity if it was not."""
    return next((i for i, structure in enumerate(structures, 1) if structure == truth), np.inf)


def table(title: str, groups: dict) -> None:
    print(f"\n{title:>10} {'n':>5}  beam@1  beam@5 beam@20  list@1  list@5 list@20")
    for key in [*sorted(groups), "all"]:
        rows = np.array([r for k, g in groups.items() if key in (k, "all") for r in g])
        shares = [float(np.mean(rows[:, c] <= cut)) for c in (0, 1) for cut in CUTS]
        print(f"{key!s:>10} {len(rows):5d}  " + "  ".join(f"{s:6.3f}" for s in shares))


def recall(runtime: Runtime, examples: list[Example], known: set) -> dict[str, float]:
    """Places of the true structure in the beam and in the list, tabulated by depth, dimension and novelty."""
    vocabulary = vocabulary_of(runtime)
    by: dict[str, dict] = {name: defaultdict(list) for name in ("depth", "dimension", "label")}
    seconds, rows = [], []
    listed = {d: [vocabulary.decode(x) for x in labels[:20]] for d, labels in runtime.frequent.items()}
    for example in examples:
        truth = vocabulary.decode(example.label)
        real = example.points[example.points.any(axis=1)]
        began = time.perf_counter()
        found = beam_search(runtime, real, example.n_features, width=20)
        seconds.append(time.perf_counter() - began)
        row = (place(truth, [f.structure for f in found]), place(truth, listed.get(example.n_features, [])))
        rows.append(row)
        by["depth"][example.depth].append(row)
        by["dimension"][example.n_features].append(row)
        if known:
            by["label"]["seen" if example.label in known else "new"].append(row)
    for title, groups in by.items():
        if groups:
            table(title, groups)
    places = np.array(rows)
    shallow = np.array([r for d, g in by["depth"].items() if d <= 3 for r in g])
    return {
        "recall20": float(np.mean(places[:, 0] <= 20)),
        "recall20_list": float(np.mean(places[:, 1] <= 20)),
        "recall20_shallow": float(np.mean(shallow[:, 0] <= 20)),
        "beam20_s": float(np.median(seconds[1:])),
    }


def speed(preset_name: str, corpus: Corpus, n_steps: int = 40) -> float:
    """Training throughput on the live corpus over that on ready-made tensors."""
    import torch

    from unisymnet.model.batches import batches
    from unisymnet.model.config import preset
    from unisymnet.model.train import Run, TrainSettings

    torch.set_num_threads(1)
    settings, config = TrainSettings(), preset(preset_name)
    run = Run(config, settings)

    def steps(source: Callable) -> float:
        began = time.perf_counter()
        for _ in range(n_steps):
            run.update(source())
        return n_steps * settings.batch / (time.perf_counter() - began)

    stream = batches(corpus, config, settings.shape, n_workers=1)
    ready = [next(stream) for _ in range(n_steps)]
    run.update(ready[0])
    ideal = steps(iter(ready).__next__)
    live = steps(stream.__next__)
    stream.close()
    print(f"\ntraining: {live:.0f} examples/s on the live corpus, {ideal:.0f} on ready-made tensors")
    return live / ideal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--weights", type=Path, default=WEIGHTS / "small-low")
    parser.add_argument("--labels", type=Path, default=Path("runs/out/labels-low.json"))
    parser.add_argument("--speed", action="store_true")
    args = parser.parse_args()
    setting = "high" if args.weights.name.endswith("high") else "low"
    corpus = Corpus(SETTINGS[setting], FRESH)
    runtime = Runtime.load(args.weights)
    known = set()
    if args.labels.is_file():
        known = {tuple(label) for group in json.loads(args.labels.read_text()).values() for label, _ in group}
    print(f"model: {runtime.about}, d_model {runtime.config.d_model}")
    figures = recall(runtime, corpus(0, args.n), known)
    figures["train_efficiency"] = speed(f"small-{setting}", replace(corpus, seed=1)) if args.speed else float("nan")
    order = ("recall20", "recall20_list", "recall20_shallow", "train_efficiency", "beam20_s")
    print("\n" + " ".join(f"{key}={figures[key]:.3f}" for key in order))


if __name__ == "__main__":
    main()
