"""An endless, seeded corpus of labelled examples that can be entered at any position.

Block k is a pure function of (settings, seed, shard, k): resuming, sharding by worker or rank and repeating a run need
no stored state.  Rejected functions are counted by reason.  Equivalent functions within a block share the shorter label
(ADR 7).  Knows formulas, points and labels, not the model that learns from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..errors import EncodingError
from ..symbolic.expr import Expr
from ..symbolic.network.identify import identify
from ..symbolic.network.structure import Structure
from ..symbolic.network.tokens import Vocabulary
from .points import probes, sample_points
from .settings import CorpusSettings
from .trees import TreeSampler, uniforms

Label = tuple[int, ...]
BLOCK = 64


@dataclass(frozen=True)
class Example:
    """One labelled function: rows (n_points, d_max + 1) with y last, zero rows where it is undefined."""

    expr: Expr
    n_features: int
    points: NDArray[np.float32]
    label: Label
    fingerprint: bytes = field(repr=False, default=b"")

    @property
    def depth(self) -> int:
        return self.label[0]


@dataclass(frozen=True)
class Corpus:
    """The stream.  ``known`` maps fingerprints to shorter labels found elsewhere, for merging beyond a block."""

    settings: CorpusSettings
    seed: int = 0
    shard: int = 0
    n_shards: int = 1
    known: Mapping[bytes, Label] = field(default_factory=dict, repr=False)

    def __call__(self, number: int, size: int = BLOCK) -> list[Example]:
        """Block ``number`` of ``size`` accepted examples (another size is another stream)."""
        return self.block(number, size)[0]

    def block(self, number: int, size: int = BLOCK) -> tuple[list[Example], Counter[str]]:
        """The examples of a block, and how many functions were tried, accepted and rejected for which reason."""
        rng = np.random.default_rng([self.seed, number * self.n_shards + self.shard, size])
        draws = uniforms(rng)
        maker = _Maker(self.settings)
        counts: Counter[str] = Counter()
        examples: list[Example] = []
        while len(examples) < size:
            made = maker.make(rng, draws)
            counts["tried"] += 1
            if isinstance(made, Example):
                counts["accepted"] += 1
                examples.append(made)
            else:
                counts[made] += 1
        merged = merge_equivalent(examples, self.known)
        counts["merged"] += sum(old is not new for old, new in zip(examples, merged))
        return merged, counts

    def take(self, n: int, first: int = 0, size: int = BLOCK) -> tuple[list[Example], Counter[str]]:
        """``n`` examples from block ``first`` on, and the counts of all blocks that they took."""
        counts: Counter[str] = Counter()
        examples: list[Example] = []
        while len(examples) < n:
            block, found = self.block(first, size)
            examples += block
            counts += found
            first += 1
        return examples[:n], counts

    def __iter__(self) -> Iterator[Example]:
        return self.starting_at(0)

    def starting_at(self, position: int) -> Iterator[Example]:
        """Endless examples from number ``position`` on."""
        number, skip = divmod(position, BLOCK)
        while True:
            yield from self(number)[skip:]
            number, skip = number + 1, 0


@dataclass(frozen=True)
class Mixture:
    """Blocks with equal parts of several corpora; as pure as they are."""

    corpora: tuple[Corpus, ...]

    def __call__(self, number: int, size: int = BLOCK) -> list[Example]:
        part = size // len(self.corpora)
        sizes = [size - part * (len(self.corpora) - 1), *[part] * (len(self.corpora) - 1)]
        return [example for corpus, n in zip(self.corpora, sizes) for example in corpus(number, n)]


class _Maker:
    """Draws one function after the other; holds what need not be computed for each."""

    def __init__(self, settings: CorpusSettings) -> None:
        self.settings = settings
        self.trees = TreeSampler(settings)
        self.vocabulary = vocabulary_of(settings)
        self.fixed: Floats = probes(settings.n_features)

    def make(self, rng: np.random.Generator, draws: Iterator[float]) -> Example | str:
        """An example, or the reason of its rejection."""
        n_features = self.trees.dimension(draws)
        expr = self.trees.draw(n_features, draws)
        label = self.label(expr, n_features)
        if isinstance(label, str):
            return label
        points = sample_points(expr, n_features, self.settings, self.fixed, rng=rng)
        if isinstance(points, str):
            return points
        return Example(expr, n_features, points[0], label, points[1])

    def label(self, expr: Expr, n_features: int) -> Label | str:
        """The label, or why there is none: nowhere defined, a variable cancelled, too deep, too wide, too long."""
        try:
            structure = identify(expr).structure
        except EncodingError:
            return "nowhere defined"
        if structure.n_features < n_features or len({j for node in structure.inputs[0] for j in node}) < n_features:
            return "variable cancelled"
        reason = misfit(structure, self.settings)
        if reason:
            return reason
        label = self.vocabulary.encode(structure)
        return label if len(label) <= self.settings.max_tokens else "label too long"


def vocabulary_of(settings: CorpusSettings) -> Vocabulary:
    """The label space of a corpus."""
    return Vocabulary(settings.n_features, settings.repeats, settings.max_depth)


def misfit(structure: Structure, settings: CorpusSettings) -> str:
    """Why a structure has no place in the network of fixed size, or ""."""
    if structure.depth > settings.max_depth:
        return "too deep"
    for layer in structure.ops:
        if max(Counter(layer).values()) > settings.repeats:
            return "too wide"
    return ""


def merge_equivalent(examples: list[Example], known: Mapping[bytes, Label]) -> list[Example]:
    """Every example with the shortest label of its fingerprint; ties go to the smaller label."""
    best = dict(known)
    for example in examples:
        other = best.get(example.fingerprint)
        if other is None or (len(example.label), example.label) < (len(other), other):
            best[example.fingerprint] = example.label
    return [
        example if best[example.fingerprint] == example.label else replace(example, label=best[example.fingerprint])
        for example in examples
    ]
