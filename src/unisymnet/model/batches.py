"""From examples to arrays: tokens, bits, and batches cut into parts of similar length.

Batch number k is a pure function of the source of examples and k, so a training run can resume at any step without
storing a generator's state.  An optional worker process prepares batches ahead; the order stays the same.  No torch.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .alphabet import PAD, START, Alphabet
from .bits import encode_points
from .config import ModelConfig
from .greedy import greedy
from .pointwise import pointwise, pointwise_size
from .prefix import PrefixAlphabet
from .relations import relations
from .summary import summarise


class Example(Protocol):
    """What training needs of an example: rows (n, d_max + 1) and the label ``[L, 0, i1, …]``."""

    @property
    def points(self) -> NDArray[np.float32]: ...

    @property
    def label(self) -> tuple[int, ...]: ...


Source = Callable[[int, int], Sequence[Example]]  # (block number, block size) -> examples


@dataclass(frozen=True)
class Batch:
    """Arrays of equal first dimension: bits (b, n, k), present (b, n), summary (b, s), tokens (b, t), START first.

    Of a model with a set network the numbers of each point stand where others have its bits.
    """

    bits: NDArray[np.uint8] | NDArray[np.float32]
    present: NDArray[np.bool_]
    summary: NDArray[np.float32]
    tokens: NDArray[np.int64]


Step = tuple[Batch, ...]  # the parts of one batch
LAG = 16  # blocks
_FAR = 10**9


Writing = Alphabet | PrefixAlphabet  # the alphabets that a model can write


@dataclass(frozen=True)
class Shape:
    """Examples in a batch, parts that a batch is cut into, batches in a block of the source, points to read.

    Every block is used ``reuse`` times, `LAG` blocks apart: making an example costs more than learning from it, and a
    second look is worth nearly as much as the first.
    """

    batch: int = 64
    n_parts: int = 2
    n_batches: int = 8
    n_read: int | None = None
    reuse: int = 1


def alphabet_of(config: ModelConfig) -> Alphabet:
    """The alphabet of labels."""
    return Alphabet(config.n_features, config.repeats, config.max_depth)


def writing_of(config: ModelConfig) -> Writing:
    """The alphabet that the model writes."""
    if config.writing == "prefix":
        return PrefixAlphabet(config.n_features, config.repeats, config.max_depth)
    return alphabet_of(config)


def read_points(
    rows: NDArray[np.floating], config: ModelConfig
) -> tuple[NDArray[np.uint8] | NDArray[np.float32], NDArray[np.bool_], NDArray[np.float32]]:
    """Everything the encoder takes, from rows (batch, n, d_max + 1)."""
    if config.reader:
        return *pointwise(rows), np.zeros((len(rows), 0), dtype=np.float32)
    makers = [summarise, *([greedy] if config.greedy else []), *([relations] if config.relations else [])]
    makers = makers if config.n_summary else []
    summary = np.concatenate([np.zeros((len(rows), 0), dtype=np.float32), *(make(rows) for make in makers)], axis=1)
    if config.n_reads == 0:
        bits = np.zeros((len(rows), 1, point_size(config)), dtype=np.uint8)
        return bits, np.ones((len(rows), 1), dtype=bool), summary
    return *encode_points(rows, config.bits), summary


def point_size(config: ModelConfig) -> int:
    """How many numbers, or bits, a model of this config reads of each point."""
    return pointwise_size(config.n_features) if config.reader else (config.n_features + 1) * config.bits


@lru_cache(maxsize=8)
def statistics_size(config: ModelConfig) -> int:
    """How many statistics a model of this config reads: counted on a table of ones."""
    return read_points(np.ones((1, 4, config.n_features + 1)), config)[2].shape[1]


def collate(examples: Sequence[Example], config: ModelConfig, alphabet: Writing, n_read: int | None = None) -> Batch:
    """One batch of all ``examples``; the encoder gets only the first ``n_read`` points of each, if given."""
    bits, present, summary = read_points(np.stack([e.points for e in examples]), config)
    rows = [[START, *alphabet.from_label(e.label)] for e in examples]
    tokens = np.full((len(rows), max(map(len, rows))), PAD, dtype=np.int64)
    for i, row in enumerate(rows):
        tokens[i, : len(row)] = row
    return Batch(bits[:, :n_read], present[:, :n_read], summary, tokens)


def make_pool(source: Source, number: int, shape: Shape, config: ModelConfig) -> list[Step]:
    """Block ``number`` of the source as the batches of ``shape.n_batches`` steps.

    A batch is drawn at random, then cut into parts of similar length, which saves padding.  Whole batches of one length
    would not do: a batch whose labels are all short says nothing about which data have short labels.
    """
    examples = source(number, shape.batch * shape.n_batches)
    alphabet = writing_of(config)
    steps = []
    for start in range(0, len(examples), shape.batch):
        group = sorted(examples[start : start + shape.batch], key=lambda e: len(e.label))
        size = -(-len(group) // shape.n_parts)
        steps.append(
            tuple(collate(group[i : i + size], config, alphabet, shape.n_read) for i in range(0, len(group), size))
        )
    return steps


def batches(source: Source, config: ModelConfig, shape: Shape, *, start: int = 0, n_workers: int = 0) -> Iterator[Step]:
    """Endless batches, each as its parts, from number ``start`` on; ``n_workers`` processes prepare them ahead."""
    place, skip = divmod(start, shape.n_batches)
    for pool in _pools(source, config, shape, place, n_workers):
        yield from pool[skip:]
        skip = 0


def _numbers(place: int, reuse: int) -> Iterator[tuple[int, bool]]:
    """The blocks in the order of training from ``place`` on, and whether each is used for the last time."""
    while True:
        newest, age = divmod(place, reuse)
        number = newest - age * LAG
        # What would have come before the first block is taken from far behind, so that the pace is always the same.
        yield number if number >= 0 else _FAR - number, age == reuse - 1
        place += 1


def _pools(source: Source, config: ModelConfig, shape: Shape, place: int, n_workers: int) -> Iterator[list[Step]]:
    if n_workers == 0:
        kept: dict[int, list[Step]] = {}
        for number, last in _numbers(place, shape.reuse):
            if number not in kept:
                kept[number] = make_pool(source, number, shape, config)
            yield kept.pop(number) if last else kept[number]
    with ProcessPoolExecutor(n_workers, mp_context=multiprocessing.get_context("spawn")) as workers:
        waiting: dict[int, Future[list[Step]]] = {}
        limit = (shape.reuse - 1) * LAG + 2 * n_workers + 1  # blocks that will be used again, and some ahead
        coming = (number for number, _ in _numbers(place, shape.reuse))
        try:
            for number, last in _numbers(place, shape.reuse):
                while len(waiting) < limit or number not in waiting:
                    following = next(coming)
                    if following not in waiting:
                        waiting[following] = workers.submit(make_pool, source, following, shape, config)
                yield (waiting.pop(number) if last else waiting[number]).result()
        finally:
            for future in waiting.values():
                future.cancel()
