"""Evolution alone on random functions: with the transformer's hints (ADR 22), without, and guessing all parts (ADR 23).

    python benchmarks/evolution.py --count 60 --max-time 10 --out evolution.jsonl

One core, no other stage, an empty front.  Solved is what the strict judge takes for the law anywhere in the front; the
second number is the median of log10 of the best loss over var(y) where none solved it.  Interrupt and start again at
will: what is in the file is not run again.  The last line is for machines.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from unisymnet.corpus import LOW, Corpus
from unisymnet.fit.polish import Polish
from unisymnet.metrics import is_solution_strict
from unisymnet.model.proposer import TransformerProposer
from unisymnet.problem import make_problem
from unisymnet.propose.evolve.evolve import Evolve
from unisymnet.search.loop import SearchSettings, search
from unisymnet.symbolic.expr import Expr, evaluate

Record = dict[str, Any]
LEAST_ROWS = 20
HINTS = TransformerProposer(n_candidates=0, n_bags=1, n_samples=0, n_frequent=0, brief=8, width=40)
KINDS = {"hints": Evolve(hints=(HINTS,)), "plain": Evolve(), "guessing": Evolve(solved=0.0)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=91, help="of the corpus")
    parser.add_argument("--max-time", type=float, default=10.0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    lines = options.out.read_text("utf-8").splitlines() if options.out.exists() else []
    records: list[Record] = [json.loads(line) for line in lines]
    done = {record["problem"] for record in records}
    with options.out.open("a", encoding="utf-8") as file:
        for number, example in enumerate(Corpus(LOW, seed=options.seed)(0, options.count)):
            points = example.points.astype(np.float64)
            X = points[:, : example.n_features][np.any(points != 0.0, axis=1)]
            good = np.isfinite(evaluate(example.expr, X))
            if number in done or good.sum() < LEAST_ROWS:
                continue
            record: Record = {"problem": number, "depth": example.depth, "truth": str(example.expr)}
            for kind, stage in KINDS.items():
                record[kind] = evolved(stage, example.expr, X[good], options.max_time)
            file.write(json.dumps(record) + "\n")
            file.flush()
            records.append(record)
            print(number, example.depth, *(f"{kind}: {record[kind]}" for kind in KINDS), flush=True)
    show(records)


def evolved(stage: Evolve, truth: Expr, X: np.ndarray, seconds: float) -> Record:
    y, began = evaluate(truth, X), time.perf_counter()
    settings = SearchSettings(max_time=seconds)
    found = search(make_problem(X, y), [stage], Polish(), settings, rng=np.random.default_rng(0))
    best = min(candidate.loss for candidate in found.front)
    return {
        "solved": any(is_solution_strict(truth, candidate.expr, X) for candidate in found.front),
        "seconds": round(time.perf_counter() - began, 2),
        "generations": found.n_evaluations,
        "left": round(math.log10(best / float(np.var(y)) + 1e-30), 2),
    }


def show(records: list[Record]) -> None:
    missed = [r for r in records if not any(r[kind]["solved"] for kind in KINDS)]
    numbers = []
    for kind, stage in KINDS.items():
        solved = sum(r[kind]["solved"] for r in records)
        left = statistics.median(r[kind]["left"] for r in missed) if missed else math.nan
        spent = sum(r[kind]["seconds"] for r in records)
        children = stage.n_children * sum(r[kind]["generations"] for r in records) / max(spent, 1e-9)
        numbers.append(f"{kind}={solved} {kind}_left={left:.2f} {kind}_children_per_s={children:.0f}")
    print(f"of={len(records)}", *numbers)


if __name__ == "__main__":
    main()
