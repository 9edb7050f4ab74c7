"""A finite corpus on disk (one .npz file), and what a corpus looks like in figures.

For comparisons that need the same functions twice, and to look at a distribution; training reads the stream instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..symbolic.expr import Call, walk
from ..symbolic.parse import parse
from ..symbolic.text import to_text
from .settings import CorpusSettings
from .stream import Corpus, Example


def generate_file(path: Path | str, n_examples: int, settings: CorpusSettings, *, seed: int = 0) -> dict[str, Any]:
    """Write the first ``n_examples`` of the stream to ``path``; returns the summary, rejections included."""
    examples, counts = Corpus(settings, seed).take(n_examples)
    longest = max(len(e.label) for e in examples)
    labels = np.zeros((len(examples), longest), dtype=np.int32)  # zeros pad, as in the paper
    for row, example in zip(labels, examples):
        row[: len(example.label)] = example.label
    np.savez_compressed(
        path,
        points=np.stack([e.points for e in examples]),
        labels=labels,
        lengths=np.array([len(e.label) for e in examples]),
        n_features=np.array([e.n_features for e in examples]),
        formulas=np.array([to_text(e.expr) for e in examples]),
    )
    return summary(examples, counts)


def read_file(path: Path | str) -> list[Example]:
    """The examples of a file written by ``generate_file``."""
    with np.load(path) as file:
        columns = [file[k] for k in ("formulas", "n_features", "points", "labels", "lengths")]
    return [
        Example(parse(str(formula)), int(d), points, tuple(int(i) for i in label[:length]))
        for formula, d, points, label, length in zip(*columns)
    ]


def summary(examples: Iterable[Example], counts: Counter[str] | None = None) -> dict[str, Any]:
    """Counts of dimension, depth, label length and operators; shares of rejected functions by reason."""
    examples = list(examples)
    labels = Counter(e.label for e in examples)
    ranked = [count for _, count in labels.most_common()]
    operators = Counter(node.op for e in examples for node in walk(e.expr) if isinstance(node, Call))
    counts = Counter() if counts is None else counts
    tried = max(counts["tried"], 1)
    return {
        "n_examples": len(examples),
        "dimension": dict(sorted(Counter(e.n_features for e in examples).items())),
        "depth": dict(sorted(Counter(e.depth for e in examples).items())),
        "label_length": dict(sorted(Counter(len(e.label) for e in examples).items())),
        "operators": dict(operators.most_common()),
        "distinct_labels": len(labels),
        "covered": {k: sum(ranked[:k]) / max(len(examples), 1) for k in (1, 5, 20, 100, 500) if k <= len(ranked)},
        "tried": counts["tried"],
        "rejected": {k: n / tried for k, n in sorted(counts.items()) if k not in ("tried", "accepted", "merged")},
        "merged": counts["merged"],
    }
