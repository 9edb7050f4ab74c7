"""The whole search with irrelevant columns beside the law, and on functions of the corpus.

    python benchmarks/engine.py irrelevant --max-time 60 --out irrelevant.jsonl
    python benchmarks/engine.py corpus --count 200 --max-time 20 --out corpus.jsonl

No noise, one core a fit, the strict judge.  For the corpus a law must also hold to eight digits on twice the range:
long formulas come as near to a smooth function as the judge asks, but only where they were fitted.  Interrupt and
start again at will: what is in the file is not run again.  Ablations are made by gate.py.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisymnet import UniSymNetRegressor
from unisymnet.bench.problems import BenchProblem, load_suite
from unisymnet.bench.task import split
from unisymnet.corpus import LOW, Corpus
from unisymnet.metrics import is_solution_strict
from unisymnet.search.order import PROPOSERS
from unisymnet.symbolic.expr import Expr, evaluate
from unisymnet.symbolic.parse import parse

Floats = NDArray[np.float64]
Record = dict[str, Any]
SUITES = ("strogatz", "standard", "feynman")
CORPUS_SEED = 20_261_119  # used nowhere else
DIGITS, MOST = 1e-8, 0.9  # of the value, and of the points: near a pole rounding grows


def main() -> None:
    options = _options()
    kinds: dict[str, tuple[Callable[..., Iterator[Record]], Callable[[list[Record]], None]]] = {
        "irrelevant": (_irrelevant, _print_irrelevant),
        "corpus": (_corpus, _print_corpus),
    }
    run, show = kinds[options.what]
    path = Path(options.out)
    done = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    with path.open("a", encoding="utf-8") as file:
        for record in run(options, {record["problem"] for record in done}):
            file.write(json.dumps(record) + "\n")
            file.flush()
            print(json.dumps(record)[:170], flush=True)
            done.append(record)
    show(done)


def _irrelevant(options: argparse.Namespace, done: set[str]) -> Iterator[Record]:
    """The protocol's rows and columns, and 200 rows with five columns of noise beside them."""
    for problem in _problems(options):
        if problem.name in done or problem.suite != "feynman":
            continue
        X, y = _rows(problem, None, options.seed)
        few, y_few = _rows(problem, 200, options.seed)
        more = np.random.default_rng([options.seed, 5]).uniform(1.0, 5.0, (len(few), 5))
        yield {
            "problem": problem.name,
            "whole": _fit(problem, X, y, options),
            "irrelevant": _fit(problem, np.column_stack([few, more]), y_few, options),
        }


def _corpus(options: argparse.Namespace, done: set[str]) -> Iterator[Record]:
    """Fresh functions of the training distribution on 200 points each."""
    for number, example in enumerate(Corpus(LOW, seed=options.corpus_seed)(0, options.count)):
        name = f"corpus {number}"
        points = example.points.astype(np.float64)
        X = points[:, : example.n_features][np.any(points != 0.0, axis=1)]
        y = evaluate(example.expr, X)
        good = np.isfinite(y)
        if name in done or good.sum() < 20 or number % options.parts != options.part:
            continue
        record = {"problem": name, "depth": example.depth, "n_features": example.n_features, "truth": str(example.expr)}
        for key, proposers in (("all", None), ("without transformer", [p for p in PROPOSERS if p != "transformer"])):
            record[key] = found = _try(example.expr, X[good], y[good], X[good], options, proposers=proposers)
            found["solved"] &= holds(example.expr, parse(found["formula"]), X[good])
        yield record


def _problems(options: argparse.Namespace) -> list[BenchProblem]:
    problems = [problem for suite in SUITES for problem in load_suite(suite)]
    return problems[:: options.every]


def _rows(problem: BenchProblem, rows: int | None, seed: int) -> tuple[Floats, Floats]:
    parts = split(problem, rng=np.random.default_rng(seed), rows=rows)
    return parts.X_train, parts.y_train


def _fit(problem: BenchProblem, X: Floats, y: Floats, options: argparse.Namespace, **settings: Any) -> Record:
    fresh, _ = problem.sample(400, rng=np.random.default_rng([options.seed, 7]))
    if X.shape[1] > fresh.shape[1]:  # columns of noise stand behind the others
        fresh = np.column_stack([fresh, np.full((len(fresh), X.shape[1] - fresh.shape[1]), 2.5)])
    assert problem.expr is not None
    return _try(problem.expr, X, y, fresh, options, **settings)


def _try(truth: Expr, X: Floats, y: Floats, fresh: Floats, options: argparse.Namespace, **settings: Any) -> Record:
    began = time.perf_counter()
    model = UniSymNetRegressor(max_time=options.max_time, random_state=options.seed, **settings).fit(X, y)
    return {
        "solved": bool(is_solution_strict(truth, model.formula_.expr, fresh)),
        "seconds": round(time.perf_counter() - began, 3),
        "source": str(model.equations_["source"].iloc[model.picked_]),
        "formula": str(model.formula_),
    }


def holds(truth: Expr, found: Expr, X: Floats) -> bool:
    """Is it the law on points of twice the range of every column, on the same side of 0, where that is defined?"""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.5 * (high - low)
    ends = [np.where(low > 0.0, np.maximum(low - margin, 0.2 * low), low - margin), high + margin]
    ends[1] = np.where(high < 0.0, np.minimum(ends[1], 0.2 * high), ends[1])
    points = np.random.default_rng(7).uniform(*ends, (1000, X.shape[1]))
    y, values = evaluate(truth, points), evaluate(found, points)
    defined = np.isfinite(y)
    if not defined.any():
        return True
    sizes = np.abs(y[defined]) + np.median(np.abs(y[defined]))
    return bool(np.mean(np.abs(values - y)[defined] <= DIGITS * sizes) >= MOST)


def _print_irrelevant(records: list[Record]) -> None:
    whole, few = (sum(record[key]["solved"] for record in records) for key in ("whole", "irrelevant"))
    lost = [r["problem"] for r in records if r["whole"]["solved"] and not r["irrelevant"]["solved"]]
    print("lost:", ", ".join(lost) or "none")
    points = 100 * (whole - few) / max(len(records), 1)
    print(f"n={len(records)} whole={whole} irrelevant={few} lost_points={points:.1f}")


def _print_corpus(records: list[Record]) -> None:
    keys = ("all", "without transformer")

    def laws(some: list[Record], key: str, seconds: float = math.inf) -> int:
        return sum(r[key]["solved"] and r[key]["seconds"] <= seconds for r in some)

    print("\ndepth     n   all stages   without the transformer")
    for depth in sorted({record["depth"] for record in records}):
        mine = [record for record in records if record["depth"] == depth]
        shares = [laws(mine, key) / len(mine) for key in keys]
        print(f"{depth:>5} {len(mine):>5} {shares[0]:>12.3f} {shares[1]:>25.3f}")
    for seconds in (1, 2, 5, 10, 20, 30, 40, 50):
        print(f"within {seconds:>2} s: {laws(records, keys[0], seconds):>4} {laws(records, keys[1], seconds):>4}")
    every = [laws(records, key) for key in keys]
    print(f"n={len(records)} all={every[0]} without_transformer={every[1]}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("irrelevant", "corpus"))
    parser.add_argument("--out", required=True, help="file of JSON lines; what it holds is not run again")
    parser.add_argument("--max-time", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="only every so many problems")
    parser.add_argument("--count", type=int, default=200, help="functions of the corpus")
    parser.add_argument("--corpus-seed", type=int, default=CORPUS_SEED, help="which functions")
    parser.add_argument("--parts", type=int, default=1, help="split the corpus' functions for several processes")
    parser.add_argument("--part", type=int, default=0, help="which of the parts this process takes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
