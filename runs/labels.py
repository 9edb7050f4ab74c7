"""Count the labels of a corpus: the frequency list that a model has to beat, and which labels training may have seen.

python runs/labels.py low --n 60000 --out runs/out/labels-low.json
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

from unisymnet.corpus import SETTINGS, Corpus

SEED = 1  # that of the reference training


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setting", choices=SETTINGS)
    parser.add_argument("--n", type=int, default=60_000)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    corpus = Corpus(replace(SETTINGS[args.setting], n_points=32), SEED)
    counts: dict[int, Counter[tuple[int, ...]]] = {}
    for number in range(args.n // 512 + 1):
        for example in corpus(number, 512):
            counts.setdefault(example.n_features, Counter())[example.label] += 1
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps({d: [[list(k), n] for k, n in c.most_common()] for d, c in sorted(counts.items())}))
    for d, c in sorted(counts.items()):
        total = sum(c.values())
        top = sum(n for _, n in c.most_common(20))
        print(f"d={d}: {total} functions, {len(c)} labels, the 20 most frequent cover {top / total:.3f}")


if __name__ == "__main__":
    main()
