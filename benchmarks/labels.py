"""How fast formulas become labels: identify + encode, parsing, and the import of the package.

Usage: python benchmarks/labels.py [--functions N]
The functions are those of the corpus, 5 to 30 nodes.  The last line is for machines:
labels_per_s=… parse_nodes_per_s=… import_s=…
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable

import numpy as np

from unisymnet.corpus.settings import CorpusSettings
from unisymnet.corpus.trees import TreeSampler, uniforms
from unisymnet.errors import EncodingError
from unisymnet.symbolic import Expr, parse
from unisymnet.symbolic.expr import size
from unisymnet.symbolic.network.identify import identify
from unisymnet.symbolic.network.tokens import Vocabulary

ROUNDS = 3


def sample(n: int, *, rng: np.random.Generator) -> list[Expr]:
    """Corpus functions of 5 to 30 nodes."""
    sampler, draws = TreeSampler(CorpusSettings()), uniforms(rng)
    found: list[Expr] = []
    while len(found) < n:
        expr = sampler.draw(sampler.dimension(draws), draws)
        if 5 <= size(expr) <= 30:
            found.append(expr)
    return found


def best_rate(job: Callable[[], int]) -> float:
    """Units of work per second of processor time, the best of a few rounds."""
    rates = []
    for _ in range(ROUNDS):
        start = time.process_time()
        done = job()
        rates.append(done / (time.process_time() - start))
    return max(rates)


def label_all(exprs: list[Expr], vocabulary: Vocabulary, outcomes: Counter[str]) -> int:
    for expr in exprs:
        try:
            vocabulary.encode(identify(expr).structure)
            outcomes["labelled"] += 1
        except EncodingError as error:
            text = str(error)
            outcomes["too deep" if "layers" in text else "too wide" if "copies" in text else "nowhere defined"] += 1
    return len(exprs)


def import_seconds() -> float:
    """A fresh interpreter with the package minus one without, the best of a few rounds."""

    def run(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    return min(run("import unisymnet") for _ in range(5)) - min(run("pass") for _ in range(5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--functions", type=int, default=5000)
    n = parser.parse_args().functions
    exprs = sample(n, rng=np.random.default_rng(0))
    sizes = [size(e) for e in exprs]
    texts = [str(e) for e in exprs]
    outcomes: Counter[str] = Counter()
    labels = best_rate(lambda: label_all(exprs, Vocabulary(4, 5, 6), outcomes))
    nodes = best_rate(lambda: sum(size for size, text in zip(sizes, texts) if parse(text)))
    print(f"{n} functions of {np.mean(sizes):.1f} nodes on average")
    for outcome, count in outcomes.most_common():
        print(f"  {outcome:<16}{100 * count / (n * ROUNDS):5.1f} %")
    print(f"labels_per_s={labels:.0f} parse_nodes_per_s={nodes:.0f} import_s={import_seconds():.3f}")


if __name__ == "__main__":
    main()
