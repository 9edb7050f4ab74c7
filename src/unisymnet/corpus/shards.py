"""A finite corpus in many files: `generate` writes a folder of shards, `train` reads it by memory map.

The paper trains for many passes over 1.5 or 3.75 million functions.  A shard is two arrays, points and labels, so that
a training process holds none of it; a pass takes every function once, in an order that depends on the seed and the pass
alone, and every process takes its own share.  A folder that was cut short goes on where it stopped.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .settings import CorpusSettings
from .stream import Corpus, Label

MANIFEST = "corpus.json"
_END = -1  # pads labels
_BLOCK = 512  # of the stream; equivalent functions within a block share a label


class Stored(NamedTuple):
    """A function of a shard: its rows and its label, all that training needs."""

    points: NDArray[np.float32]
    label: Label


def write_shards(
    folder: Path | str,
    n_examples: int,
    settings: CorpusSettings,
    *,
    seed: int = 0,
    size: int = 65_536,
    log: Callable[[str], None] = print,
) -> dict[str, int]:
    """Write the first ``n_examples`` of the stream in shards of ``size``; what is there already stays.

    Returns how many functions were tried and why some were rejected, for the shards made now.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    about = {"settings": json.loads(json.dumps(asdict(settings))), "seed": seed, "size": size}
    kept = _manifest(folder) if (folder / MANIFEST).is_file() else None
    if kept is not None and {key: kept[key] for key in about} != about:
        raise DataError(f"{folder} holds another corpus ({kept['n_examples']:,} functions); give another folder")
    corpus, counts = Corpus(settings, seed), Counter[str]()
    n_shards = -(-n_examples // size)
    for number in range(n_shards):
        points, labels = shard_files(folder, number)
        if not (points.is_file() and labels.is_file()):
            wanted = min(size, n_examples - number * size)
            first = number * (-(-size // _BLOCK))
            counts += _write_shard(corpus, first, wanted, points, labels)
            log(f"shard {number + 1} of {n_shards}")
    text = json.dumps({**about, "n_examples": n_examples, "n_shards": n_shards})
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return dict(counts)


def shard_files(folder: Path, number: int) -> tuple[Path, Path]:
    """Where the points and the labels of a shard are."""
    return folder / f"points-{number:05d}.npy", folder / f"labels-{number:05d}.npy"


def _write_shard(corpus: Corpus, first: int, n: int, points: Path, labels: Path) -> Counter[str]:
    """One shard from block ``first`` of the stream on; under its name only once it is whole."""
    examples, counts = corpus.take(n, first, _BLOCK)
    padded = np.full((n, corpus.settings.max_tokens), _END, dtype=np.int32)
    for row, example in zip(padded, examples):
        row[: len(example.label)] = example.label
    for path, array in ((points, np.stack([e.points for e in examples])), (labels, padded)):
        with open(path.with_suffix(".new"), "wb") as file:
            np.save(file, array, allow_pickle=False)
        os.replace(path.with_suffix(".new"), path)
    return counts


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        return dict(json.loads((folder / MANIFEST).read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise DataError(
            f"{folder} is not a corpus ({error}); write one with: unisymnet generate {folder} --n 1500000"
        ) from error


@dataclass(frozen=True)
class Shards:
    """The functions of a folder as a source of blocks, pass after pass; each use reads ``n_points`` random points."""

    folder: Path
    seed: int = 0
    shard: int = 0
    n_shards: int = 1
    n_points: int | None = None
    _orders: dict[int, NDArray[np.int64]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def about(self) -> dict[str, Any]:
        """What `generate` wrote about the folder."""
        return _manifest(self.folder)

    def __call__(self, number: int, size: int = _BLOCK) -> list[Stored]:
        """Block ``number``: always the same functions, and all functions once in a pass over all processes."""
        n = int(self.about["n_examples"])
        rng = np.random.default_rng([self.seed, 1, number, self.shard])
        first = (number * self.n_shards + self.shard) * size
        return [self._stored(self._place(first + i, n), rng) for i in range(size)]

    def _place(self, position: int, n: int) -> int:
        turn, place = divmod(position, n)
        if turn not in self._orders:
            self._orders.clear()  # passes come one after the other; one order is enough to keep
            self._orders[turn] = np.random.default_rng([self.seed, 0, turn]).permutation(n)
        return int(self._orders[turn][place])

    def _stored(self, index: int, rng: np.random.Generator) -> Stored:
        shard, row = divmod(index, int(self.about["size"]))
        points, labels = self._arrays[shard]
        rows, label = points[row], labels[row]
        if self.n_points is not None and self.n_points < len(rows):
            rows = rows[rng.permutation(len(rows))[: self.n_points]]
        return Stored(np.array(rows), tuple(label[label != _END].tolist()))

    @cached_property
    def _arrays(self) -> list[tuple[NDArray[np.float32], NDArray[np.int32]]]:
        """Every shard, mapped and not read."""
        found = []
        for number in range(int(self.about["n_shards"])):
            try:
                found.append(tuple(np.load(f, mmap_mode="r") for f in shard_files(self.folder, number)))
            except (OSError, ValueError) as error:
                raise DataError(f"shard {number} of {self.folder} cannot be read ({error}); generate again") from error
        return found

    def __getstate__(self) -> dict[str, Any]:
        """For worker processes: they map the files themselves."""
        return {k: v for k, v in self.__dict__.items() if k not in ("_arrays", "about")} | {"_orders": {}}
