"""What the shipped transformer is worth: recall of exact structures on fresh functions against a frequency list.

    python benchmarks/proposer.py [--n 300] [--wide 100] [--recovery 60] [--weights FOLDER] [--labels FILE] [--speed]
    python benchmarks/proposer.py --n 400 --conditions [--weights FOLDER]
    python benchmarks/proposer.py --n 1000 --weights src/unisymnet/model/weights/points/low --control --out FILE.jsonl

Fresh functions come from a seed that training never used.  "list" proposes the most frequent labels for the same number
of columns and reads no data; any recall has to be read against it.  ``--wide N`` adds a beam of 100 on the first N
functions, ``--recovery N`` fits the constants of the five best candidates of the first N.  ``--speed`` compares
training on the live corpus with training on ready-made tensors (needs torch).  ``--conditions`` asks instead about data
unlike the paper's: noise, few points, ranges over orders of magnitude, curves.  ``--control`` adds the nats of the
labels with the points of another function of as many columns: what is read from the data is the difference.  ``--out``
appends the figures as a record.  The last line is key=value.
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

from unisymnet.bench.encoding import N_FITTED, fit_noisy
from unisymnet.bench.records import append_record
from unisymnet.bench.run import provenance
from unisymnet.corpus import SETTINGS, Corpus, Example
from unisymnet.fit.polish import Polish
from unisymnet.model.alphabet import PAD, START
from unisymnet.model.beam import beam_search, vocabulary_of
from unisymnet.model.runtime import WEIGHTS, Runtime, weights_hash
from unisymnet.symbolic.network.skeleton import to_skeleton
from unisymnet.symbolic.network.structure import Structure

FRESH = 4242
CUTS = (1, 5, 20)
# Data that users have and the paper's corpus does not: options of the corpus, each for every function.
CONDITIONS: dict[str, dict[str, float]] = {
    "plain": {},
    "noise0.01": {"noise": 0.01},
    "points50": {"n_points": 50},
    "tails": {"heavy_tails": 1.0},
    "curves": {"trajectories": 1.0},
}


def place(truth: Structure, structures: list[Structure]) -> float:
    """At which place (from 1) the true structure was proposed; infinity if it was not."""
    return next((i for i, structure in enumerate(structures, 1) if structure == truth), np.inf)


def table(title: str, groups: dict) -> None:
    print(f"\n{title:>10} {'n':>5}  beam@1  beam@5 beam@20  list@1  list@5 list@20  right tokens   nats")
    for key in [*sorted(groups), "all"]:
        rows = np.array([r for k, g in groups.items() if key in (k, "all") for r in g])
        shares = [float(np.mean(rows[:, c] <= cut)) for c in (0, 1) for cut in CUTS]
        tokens = f"  {rows[:, 2].sum() / rows[:, 3].sum():12.3f} {rows[:, 4].mean():6.2f}"
        print(f"{key!s:>10} {len(rows):5d}  " + "  ".join(f"{s:6.3f}" for s in shares) + tokens)


def points_of(example: Example) -> np.ndarray:
    return example.points[example.points.any(axis=1)]


def teacher_forced(
    runtime: Runtime, examples: list[Example], read: list[Example] | None = None
) -> list[tuple[int, int, float]]:
    """For each function: tokens guessed right when all before are given, tokens, and nats of the label.

    The model reads the points of ``read``, if given, instead of the functions' own.
    """
    found = []
    for start in range(0, len(examples), 50):
        chunk = examples[start : start + 50]
        told = (read or examples)[start : start + 50]
        rows = [[START, *runtime.alphabet.from_label(e.label)] for e in chunk]
        tokens = np.full((len(rows), max(map(len, rows))), PAD)
        for i, row in enumerate(rows):
            tokens[i, : len(row)] = row
        data = np.concatenate([runtime.encode(points_of(e)[None]) for e in told], axis=2)
        past, right, nats = runtime.empty_cache(len(chunk)), np.zeros(len(chunk)), np.zeros(len(chunk))
        for position in range(tokens.shape[1] - 1):
            logs, past = runtime.step(tokens[:, position], position, data, past)
            after = tokens[:, position + 1]
            real = after != PAD
            right += real & (logs.argmax(axis=1) == after)
            nats -= np.where(real, np.maximum(logs[np.arange(len(chunk)), after], -30.0), 0.0)
        found += [(int(r), len(row) - 1, float(n)) for r, row, n in zip(right, rows, nats)]
    return found


def control(runtime: Runtime, examples: list[Example]) -> dict[str, float]:
    """Nats of the labels with the functions' own points and with those of the next one of as many columns."""
    by_columns: dict[int, list[int]] = defaultdict(list)
    for i, example in enumerate(examples):
        by_columns[example.n_features].append(i)
    other = {a: b for group in by_columns.values() for a, b in zip(group, group[1:] + group[:1])}
    own = float(np.mean([nats for *_, nats in teacher_forced(runtime, examples)]))
    read = [examples[other[i]] for i in range(len(examples))]
    foreign = float(np.mean([nats for *_, nats in teacher_forced(runtime, examples, read)]))
    print(f"\nnats of a label: own points {own:.3f}, another function's {foreign:.3f}, difference {foreign - own:.3f}")
    return {"nats": own, "nats_other": foreign}


def recall(runtime: Runtime, examples: list[Example], known: set) -> dict[str, float]:
    """Places of the true structure in the beam and in the list, tabulated by depth, dimension and novelty."""
    vocabulary = vocabulary_of(runtime)
    by: dict[str, dict] = {name: defaultdict(list) for name in ("depth", "dimension", "label")}
    seconds, rows = [], []
    listed = {d: [vocabulary.decode(x) for x in labels[:20]] for d, labels in runtime.frequent.items()}
    for example, forced in zip(examples, teacher_forced(runtime, examples)):
        truth = vocabulary.decode(example.label)
        began = time.perf_counter()
        found = beam_search(runtime, points_of(example), example.n_features, width=20)
        seconds.append(time.perf_counter() - began)
        row = (place(truth, [f.structure for f in found]), place(truth, listed.get(example.n_features, [])), *forced)
        rows.append(row)
        by["depth"][example.depth].append(row)
        by["dimension"][example.n_features].append(row)
        if known:
            by["label"]["seen" if example.label in known else "new"].append(row)
    for title, groups in by.items():
        if groups:
            table(title, groups)
    places = np.array(rows)
    shallow = [r[0] <= 20 for d, g in by["depth"].items() if d <= 3 for r in g]
    return {
        "recall20": float(np.mean(places[:, 0] <= 20)),
        "recall20_list": float(np.mean(places[:, 1] <= 20)),
        "recall20_shallow": float(np.mean(shallow)) if shallow else float("nan"),
        "beam20_s": float(np.median(seconds[1:])),
    }


def conditions(runtime: Runtime, setting: str, n: int) -> None:
    """Recall of a beam of 20 where the data are not the paper's, and nats of the labels."""
    vocabulary = vocabulary_of(runtime)
    found = []
    print("\n condition  beam@1  beam@5 beam@20    nats")
    for name, options in CONDITIONS.items():
        examples = Corpus(replace(SETTINGS[setting], **options), FRESH)(0, n)
        beams = [beam_search(runtime, points_of(e), e.n_features, width=20) for e in examples]
        truths = [vocabulary.decode(e.label) for e in examples]
        places = np.array([place(t, [f.structure for f in beam]) for t, beam in zip(truths, beams)])
        nats = float(np.mean([nats for *_, nats in teacher_forced(runtime, examples)]))
        shares = [float(np.mean(places <= cut)) for cut in CUTS]
        print(f"{name:>10}  " + "  ".join(f"{share:6.3f}" for share in shares) + f"  {nats:6.2f}", flush=True)
        found.append(f"{name}={shares[-1]:.3f}")
    print(" ".join(found))


def wide(runtime: Runtime, examples: list[Example]) -> None:
    """Recall of a beam of 100 by depth."""
    vocabulary = vocabulary_of(runtime)
    found: dict[int, list[float]] = defaultdict(list)
    for example in examples:
        beam = beam_search(runtime, points_of(example), example.n_features, width=100)
        found[example.depth].append(place(vocabulary.decode(example.label), [f.structure for f in beam]))
    listed = {d: [vocabulary.decode(x) for x in labels[:100]] for d, labels in runtime.frequent.items()}
    in_list = [place(vocabulary.decode(e.label), listed.get(e.n_features, [])) <= 100 for e in examples]
    everything = [p for places in found.values() for p in places]
    print("\nbeam of 100:" + "".join(f"  L={d}: {np.mean(np.array(p) <= 100):.3f}" for d, p in sorted(found.items())))
    shares = "  ".join(f"@{cut}: {np.mean(np.array(everything) <= cut):.3f}" for cut in (1, 5, 20, 100))
    print(f"all {len(examples)}: {shares}  list@100: {np.mean(in_list):.3f}")


def recovery(runtime: Runtime, examples: list[Example], seconds: float = 5.0) -> None:
    """The law itself among the five best candidates once their constants are fitted, by depth."""
    found: dict[int, list[tuple[bool, bool, bool]]] = defaultdict(list)
    vocabulary = vocabulary_of(runtime)
    for example in examples:
        beam = beam_search(runtime, points_of(example), example.n_features, width=20)[:N_FITTED]
        structures = [f.structure for f in beam]
        exact = place(vocabulary.decode(example.label), structures) <= N_FITTED
        forms = [to_skeleton(s).expr for s in structures]
        solved, best = fit_noisy(forms, example, seconds, 0.0, Polish())
        found[example.depth].append((exact, solved, best > 0.99))
    print(f"\nfive best candidates, constants by SFO, {seconds:g} s a function")
    print("     depth     n  exact structure  law recovered  R2 > 0.99")
    for depth in [*sorted(found), "all"]:
        rows = np.array([r for d, g in found.items() if depth in (d, "all") for r in g], dtype=float)
        exact, solved, accurate = rows.mean(axis=0)
        print(f"{depth!s:>10} {len(rows):5d}  {exact:15.3f}  {solved:13.3f}  {accurate:9.3f}")


def speed(preset_name: str, corpus: Corpus, n_steps: int = 96) -> float:
    """Training throughput on the live corpus over that on ready-made tensors, as `unisymnet train` does it.

    Points and uses of each function are those of runs/train_small.sh.  The worker needs a second core; CPU times say
    what that would give where other jobs take it away.
    """
    import torch

    from unisymnet.model.batches import LAG, batches, make_pool
    from unisymnet.model.config import preset
    from unisymnet.model.train import Run, TrainSettings

    torch.set_num_threads(1)
    settings = TrainSettings(batch=128, n_parts=3, reuse=2 if preset_name.endswith("low") else 3)
    config = replace(preset(preset_name), live=tuple(Runtime.load(WEIGHTS / preset_name).config.live))
    run = Run(config, settings)

    def steps(source: Callable) -> tuple[float, float]:
        began, cpu = time.perf_counter(), time.process_time()
        for _ in range(n_steps):
            run.update(source())
        examples = n_steps * settings.batch
        return examples / (time.perf_counter() - began), 1e3 * (time.process_time() - cpu) / examples

    stream = batches(corpus, config, settings.shape, n_workers=1)
    for _ in range(settings.reuse * (settings.reuse - 1) * LAG * settings.n_batches):  # until blocks come again
        next(stream)
    ready = [next(stream) for _ in range(n_steps)]
    run.update(ready[0])
    ideal, training = steps(iter(ready).__next__)
    live, _ = steps(stream.__next__)
    stream.close()
    cpu = time.process_time()
    make_pool(corpus, 0, settings.shape, config)
    making = 1e3 * (time.process_time() - cpu) / (settings.batch * settings.n_batches * settings.reuse)
    print(f"\ntraining: {live:.0f} examples/s on the live corpus, {ideal:.0f} on ready-made tensors")
    print(f"CPU for an example: {training:.2f} ms training, {making:.2f} ms making it, shared by {settings.reuse} uses")
    return live / ideal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--wide", type=int, default=0, help="functions for a beam of 100")
    parser.add_argument("--recovery", type=int, default=0, help="functions whose candidates are fitted")
    parser.add_argument("--weights", type=Path, default=WEIGHTS / "small-low")
    parser.add_argument("--labels", type=Path, help="default: runs/out/labels-low.json, or -high")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--conditions", action="store_true", help="recall under noise, few points, tails, curves")
    parser.add_argument("--control", action="store_true", help="nats with another function's points")
    parser.add_argument("--out", type=Path, help="file of records to append to")
    args = parser.parse_args()
    setting = "high" if args.weights.name.endswith("high") else "low"
    corpus = Corpus(SETTINGS[setting], FRESH)
    runtime = Runtime.load(args.weights)
    known = set()
    labels = args.labels or Path(f"runs/out/labels-{setting}.json")
    if labels.is_file():
        known = {tuple(label) for group in json.loads(labels.read_text()).values() for label, _ in group}
    print(f"model: {runtime.about}, d_model {runtime.config.d_model}")
    if args.conditions:
        conditions(runtime, setting, args.n)
        return
    examples = corpus(0, args.n)
    figures = recall(runtime, examples, known)
    if args.control:
        figures |= control(runtime, examples)
    if args.out is not None:
        about = {"experiment": "proposer", "weights": weights_hash(args.weights), "n": args.n, "setting": setting}
        append_record(args.out, {**about, **provenance(), **figures, "weights": weights_hash(args.weights)})
    if args.wide:
        wide(runtime, examples[: args.wide])
    if args.recovery:
        recovery(runtime, examples[: args.recovery])
    training = replace(corpus, settings=replace(corpus.settings, n_points=96 if setting == "low" else 128), seed=1)
    figures["train_efficiency"] = speed(f"small-{setting}", training) if args.speed else float("nan")
    order = ("recall20", "recall20_list", "recall20_shallow", "train_efficiency", "beam20_s")
    print("\n" + " ".join(f"{key}={figures[key]:.3f}" for key in order))


if __name__ == "__main__":
    main()
