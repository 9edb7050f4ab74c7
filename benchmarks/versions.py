"""Two versions of the package on the same data: noisy laws by size, misses of a fresh seed, long searches.

    git worktree add /tmp/old 898b647          # version 0.1.0, before the compiled islands
    python benchmarks/versions.py noisy old.jsonl --src /tmp/old/src
    python benchmarks/versions.py noisy new.jsonl --against old.jsonl
    python benchmarks/versions.py misses old.jsonl --src /tmp/old/src --seconds 60 --enough 12
    python benchmarks/versions.py misses new.jsonl --seconds 20 --against old.jsonl       # only what old.jsonl missed
    python benchmarks/versions.py long long.jsonl --seconds 600 --against new.jsonl       # what that missed again
    python benchmarks/versions.py draw long.jsonl --figure docs/_static/long-searches.svg

The version in ``--src`` (without it, this one) works in a process of its own (version_worker.py); data are drawn and
formulas judged by this one.  All seconds are processor seconds, one core.  A file that exists is gone on with.

``noisy``: evolution alone, 200 rows; of the formulas of at most a size the one that fits its rows best, and the root
mean square by which it misses the law on 1,000 other rows, over the law's spread.  LAWS are those Feynman laws that
were not found without noise, or took more than 2 s (gate_898b647.jsonl of 0.1.0, and gate_clean_cdb0d06.jsonl for
four that it lacks): no closed family has them at once.
``misses``, ``long``: the whole estimator on random functions, judged as in gate.py.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import holds
from unisymnet.bench.problems import add_noise, find_problem
from unisymnet.corpus import LOW, Corpus, Example
from unisymnet.metrics import is_solution_strict
from unisymnet.symbolic.expr import Expr, evaluate
from unisymnet.symbolic.parse import parse

Floats = NDArray[np.float64]
Record = dict[str, Any]
HERE = Path(__file__).resolve().parent
LAWS = (
    "III_15_12 II_35_21 III_8_54 III_14_14 I_40_1 I_50_26 III_4_32 test_3 I_30_3 I_6_2b II_35_18 III_4_33 "
    "test_1 test_15 test_14 test_11 test_16 test_13 I_41_16 III_9_52 test_2 test_12 test_20"
).split()
NOISE, SIZES = (0.01, 0.05, 0.1), (7, 9, 11, 15, 20, 30)
N_ROWS, N_FRESH, LEAST_ROWS = 200, 1000, 20
CORPUS_SEED, BLOCK = 20_270_311, 200  # used nowhere else; another length of the block is another stream
EVERY = 30.0  # seconds between two looks at the memory


class Worker:
    """A process with one version of the package."""

    def __init__(self, src: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "version_worker.py")],
            env=os.environ | {"PYTHONPATH": str(src.resolve()), "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.version = self._answer()["version"]
        told = subprocess.run(["git", "-C", str(src), "describe", "--always"], capture_output=True, text=True)
        self.commit = told.stdout.strip()

    def ask(self, do: str, X: Floats, y: Floats, **options: Any) -> Record:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"do": do, "X": X.tolist(), "y": y.tolist(), **options}) + "\n")
        self.process.stdin.flush()
        return {**self._answer(), "version": self.version, "commit": self.commit, "limit": options["seconds"]}

    def _answer(self) -> Record:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"the worker ended with status {self.process.wait()}")
        return json.loads(line)


def read(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def keep(path: Path, record: Record) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def noisy(options: argparse.Namespace) -> None:
    done = {(record["law"], record["noise"]) for record in read(options.out)}
    todo = [(law, noise) for law in LAWS for noise in NOISE if (law, noise) not in done]
    worker = Worker(options.src) if todo else None
    for law, noise in todo:
        assert worker is not None
        X, y, fresh, clean = noisy_data(law, noise, options.seed)
        found = worker.ask(
            "evolve", X, y, seconds=options.seconds or 5.0, seed=options.seed, finishing=options.finishers
        )
        errors = by_size(found.pop("front"), fresh, clean)
        keep(options.out, {"law": law, "noise": noise, "errors": errors, **found})
        print(
            law,
            noise,
            found["seconds"],
            {size: error and round(error, 4) for size, error in errors.items()},
            flush=True,
        )
    if options.against is not None:
        compare(read(options.against), read(options.out))


def noisy_data(law: str, noise: float, seed: int) -> tuple[Floats, Floats, Floats, Floats]:
    problem = find_problem(f"feynman_{law}")
    rng = np.random.default_rng([seed, zlib.crc32(law.encode())])
    X, y = problem.sample(N_ROWS, rng=rng)
    fresh, clean = problem.sample(N_FRESH, rng=rng)
    return X, add_noise(y, noise, rng=rng), fresh, clean


def by_size(front: list[tuple[int, float, str]], X: Floats, clean: Floats) -> dict[str, float | None]:
    """The clean error of the best fit at each size; None where it is not defined, or nothing is as small."""
    errors: dict[str, float | None] = {}
    for size in SIZES:
        small = [(loss, text) for complexity, loss, text in front if complexity <= size]
        error = math.inf
        if small:
            with np.errstate(all="ignore"):
                error = float(np.sqrt(np.mean((evaluate(parse(min(small)[1]), X) - clean) ** 2)) / np.std(clean))
        errors[str(size)] = error if math.isfinite(error) else None
    return errors


def compare(old: list[Record], new: list[Record]) -> None:
    """Ratios of clean errors, new over old, by size and noise, and the floors over all noises."""
    before = {(record["law"], record["noise"]): record["errors"] for record in old}
    pairs = [(record["noise"], before[key], record["errors"]) for record in new
             if (key := (record["law"], record["noise"])) in before]  # fmt: skip
    print(f"{len(pairs)} pairs; median of new over old (better by 5 % / worse by 5 %)")
    numbers, squares = [], []
    for size in map(str, SIZES):
        line = f"size {size:>2}"
        for noise in (*NOISE, None):
            ratios = [ratio(b[size], a[size]) for one, b, a in pairs if noise in (None, one)]
            better, worse = sum(r < 0.95 for r in ratios), sum(r > 1.05 for r in ratios)
            level = "all" if noise is None else f"{noise:.0%}"
            line += f"   {level}: {statistics.median(ratios):.3f} ({better}/{worse})"
        numbers.append(f"size{size}={statistics.median(ratios):.3f}")
        squares.append(f"{statistics.median(r * r for r in ratios):.3f}")
        print(line)
    print("in mean squares, that is in 1 - R²:", *squares)
    print(*numbers)


def ratio(before: float | None, after: float | None) -> float:
    if before == after:
        return 1.0
    if before is None or after is None:
        return 0.0 if before is None else math.inf
    return after / before if before else math.inf


@cache
def examples(seed: int) -> list[Example]:
    return Corpus(LOW, seed=seed)(0, BLOCK)


def corpus_rows(example: Example) -> tuple[Floats, Floats]:
    points = example.points.astype(np.float64)
    X = points[:, : example.n_features][np.any(points != 0.0, axis=1)]
    y = evaluate(example.expr, X)
    return X[np.isfinite(y)], y[np.isfinite(y)]


def searched(options: argparse.Namespace, numbers: Iterator[int], seconds: float) -> Iterator[Record]:
    """The whole estimator, or evolution, on these functions of the corpus, one after the other in one process."""
    worker = None
    for number in numbers:
        example = examples(options.corpus_seed)[number]
        X, y = corpus_rows(example)
        worker = worker or Worker(options.src)
        if options.evolution:
            found = worker.ask("evolve", X, y, seconds=seconds, seed=options.seed, finishing=True)
            found |= {"source": "evolve", "formula": "", "memory": []}
            formulas = [text for _, _, text in found.pop("front")]
        else:
            found = worker.ask("whole", X, y, seconds=seconds, seed=options.seed, every=EVERY)
            formulas = [found["formula"]]
        with np.errstate(all="ignore"):
            laws = [text for text in formulas if is_law(example.expr, parse(text), X)]
        found["formula"] = (laws or formulas)[-1]
        yield {"problem": number, "solved": bool(laws), "truth": str(example.expr), **found}


def is_law(truth: Expr, found: Expr, X: Floats) -> bool:
    """As in gate.py."""
    return bool(is_solution_strict(truth, found, X) and holds(truth, found, X))


def misses(options: argparse.Namespace) -> None:
    """Without ``--against`` until enough functions are missed; with it, those that the other file missed."""
    records = read(options.out)
    done = {record["problem"] for record in records}

    def numbers() -> Iterator[int]:
        if options.against is not None:
            yield from (r["problem"] for r in read(options.against) if not r["solved"] and r["problem"] not in done)
            return
        for number, example in enumerate(examples(options.corpus_seed)):
            if sum(not record["solved"] for record in records) >= options.enough:
                return
            if number not in done and len(corpus_rows(example)[1]) >= LEAST_ROWS:
                yield number

    for record in searched(options, numbers(), options.seconds or 60.0):
        if options.part == "misses":
            del record["memory"]
        keep(options.out, record)
        records.append(record)
        told = f"{record['problem']} {'ok' if record['solved'] else '--'} {record['seconds']:.1f} s {record['source']}"
        print(f"{told}  {record['truth']}"[:150], flush=True)
    n_solved = sum(record["solved"] for record in records)
    memory = [megabytes for record in records for _, megabytes in record.get("memory", ())]
    line = f"of={len(records)} solved={n_solved} missed={len(records) - n_solved} share={n_solved / len(records):.2f}"
    print(line + (f" megabytes={min(memory):.0f}..{max(memory):.0f}" if memory else ""))


def draw(options: argparse.Namespace) -> None:
    """Laws found against the processor time of a search, and the memory of the process that ran all searches.

    With ``--against``, a file of `unisymnet bench`, also the laws in there by the strict judge.
    """
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams |= {"svg.hashsalt": "unisymnet", "svg.fonttype": "none", "font.size": 8}
    records = read(options.out)
    bench = [] if options.against is None else read(options.against)
    found = {f"{len(records)} random functions": [r["seconds"] for r in records if r["solved"]]}
    if bench:
        found[f"{len(bench)} Feynman laws"] = [r["cpu"] for r in bench if r["scores"]["strict"]]
    ends = (max(r["limit"] for r in records), max((r["max_time"] for r in bench), default=0.0))
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 2.4), layout="constrained")
    for (name, times), end in zip(found.items(), ends):
        left.step([1.0, *sorted(times), end], [0, *range(1, len(times) + 1), len(times)], where="post", label=name)
    left.set(xscale="log", ylim=(0, max(len(records), len(bench))), xlabel="processor seconds of a search")
    left.set(ylabel="laws found")
    left.legend(frameon=False)
    memory = np.array([pair for record in records for pair in record["memory"]])
    right.plot(memory[:, 0] / 60.0, memory[:, 1], lw=1)
    right.set(ylim=(0, None), xlabel="processor minutes of one process", ylabel="resident megabytes")
    figure.savefig(options.figure, metadata={"Date": None})
    for name, times in found.items():
        print(f"{name}: {len(times)} found after {', '.join(f'{time:.1f}' for time in sorted(times))} s")
    for record in records:
        first, last = record["memory"][0], record["memory"][-1]
        print(f"{record['problem']}: {record['seconds']:.0f} s, {first[1]:.0f} MB before, {last[1]:.0f} MB after")
    print(f"minutes={memory[-1, 0] / 60:.0f} megabytes={memory[:, 1].min():.0f}..{memory[:, 1].max():.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("noisy", "misses", "long", "draw"))
    parser.add_argument("out", type=Path, help="file of JSON lines")
    parser.add_argument("--src", type=Path, default=HERE.parent / "src", help="folder with the package")
    parser.add_argument("--seconds", type=float, help="of processor time for each problem")
    parser.add_argument("--seed", type=int, default=0, help="of the rows, the noise and the search")
    parser.add_argument("--corpus-seed", type=int, default=CORPUS_SEED)
    parser.add_argument("--enough", type=int, default=12, help="misses")
    parser.add_argument("--finishers", action="store_true", help="noisy: also those, which are closed families")
    parser.add_argument("--evolution", action="store_true", help="misses: that stage alone, its whole front judged")
    parser.add_argument("--against", type=Path, help="the file of another version, or of an earlier run")
    parser.add_argument("--figure", type=Path, default=Path("long-searches.svg"))
    options = parser.parse_args()
    {"noisy": noisy, "misses": misses, "long": misses, "draw": draw}[options.part](options)


if __name__ == "__main__":
    main()
