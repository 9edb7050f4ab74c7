"""Islands on disk: their states at the end of an epoch, so that a killed search goes on where it was.

One file of plain arrays for the data, the seed and the settings; whoever reads it goes on with the same epochs, bit for
bit.  Nothing in the file is believed: arrays of another form, or genomes that are none, and the file is not used.
"""

from __future__ import annotations

import hashlib
import logging
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from .genome import ATAN, COLUMN, CONST, DIV, KINDS, LONGEST
from .islands import UNDONE, Island, Islands, can_see
from .niches import State, new_state
from .translate import Tokens, packed

VERSION = 2
EVERY = 16  # epochs, a few seconds
MOST_BYTES = 1 << 28
VIEWS = ("y", *UNDONE)


@contextmanager
def kept(islands: Islands, folder: str | os.PathLike[str] | None) -> Iterator[Callable[[], None]]:
    """Go on from what is in the folder, and leave there what has become of the islands; call the function that you get
    after every epoch.  Without a folder nothing happens."""
    if folder is None:
        yield lambda: None
        return
    path = place_of(folder, islands)
    load(islands, path)
    before = islands.n_epochs

    def note() -> None:
        if islands.n_epochs % EVERY == 0:
            save(islands, path)

    try:
        yield note
    finally:
        # A life of a few seconds is not worth a file: it would be lived again as soon as read.
        if islands.n_epochs > max(before, EVERY) and islands.n_epochs % EVERY:
            save(islands, path)


def place_of(folder: str | os.PathLike[str], islands: Islands) -> Path:
    """The file for these islands."""
    problem, digest = islands.problem, hashlib.sha256()
    for array in (problem.X, problem.y, problem.weights):
        digest.update(np.ascontiguousarray(array).data)
    facts = (VERSION, islands.seed, islands.n_islands, islands.work, islands.max_size, islands.patience)
    digest.update(repr((facts, problem.X.shape, sorted(problem.operators))).encode())
    return Path(folder) / f"islands-{digest.hexdigest()[:16]}.npz"


def save(islands: Islands, path: Path) -> None:
    """Replace the file; a reader sees the old or the new one, never a part.  A full disk costs the file only."""
    arrays: dict[str, Any] = {"n_epochs": np.array([islands.n_epochs])}
    for k, island in enumerate(islands.islands):
        view = float(VIEWS.index(island.world.view))
        counts = (island.waited, island.lives, island.finished, island.apart)
        arrays[f"{k}.facts"] = np.array([island.shortest, *map(float, counts), view])
        for name, part in (*island.state._asdict().items(), *_named("new", packed(island.newcomers))):
            arrays[f"{k}.{name}"] = part
        rules = island.world.rules
        for name, part in _named("units", (rules.tokens, rules.values, rules.lengths)):
            arrays[f"{k}.{name}"] = part
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(beside, "wb") as file:
            np.savez_compressed(file, **arrays)
        os.replace(beside, path)
    except OSError as mistake:
        logging.getLogger("unisymnet").warning(f"the islands could not be saved in {path}: {mistake}")
        with suppress(OSError):
            beside.unlink()


def load(islands: Islands, path: Path) -> bool:
    """Go on from the file, if there is one that can be believed."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            if sum(part.file_size for part in arrays.zip.infolist()) > MOST_BYTES:
                raise ValueError("it is too large")
            n_epochs = int(arrays["n_epochs"][0])
            found = [_island(islands, k, arrays) for k in range(islands.n_islands)]
        if n_epochs < 0:
            raise ValueError("its count of epochs is negative")
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, IndexError, EOFError, AttributeError, zipfile.BadZipFile) as mistake:
        logging.getLogger("unisymnet").warning(f"the islands in {path} are not used: {mistake}")
        return False
    islands.islands, islands.n_epochs = found, n_epochs
    return True


def _named(name: str, parts: tuple[Any, Any, Any]) -> list[tuple[str, Any]]:
    return [(f"{name}.{kind}", part) for kind, part in zip(("tokens", "values", "lengths"), parts, strict=True)]


def _island(islands: Islands, k: int, arrays: Any) -> Island:
    d, empty = islands.problem.n_features, new_state()
    parts = {}
    for name, model in empty._asdict().items():
        part = arrays[f"{k}.{name}"]
        if part.shape != model.shape or part.dtype != model.dtype:
            raise ValueError(f"{name} of island {k} has another form")
        parts[name] = np.ascontiguousarray(part)
    state = State(**parts)
    if np.isnan(state.losses).any() or np.isnan(state.scores).any() or (state.counts < 0).any():
        raise ValueError(f"the numbers of island {k} cannot be read")
    _checked(d, state.tokens, state.values, state.lengths)
    newcomers = _checked(d, *(arrays[f"{k}.new.{kind}"] for kind in ("tokens", "values", "lengths")))
    units = _checked(d, *(arrays[f"{k}.units.{kind}"] for kind in ("tokens", "values", "lengths")))
    shortest, waited, lives, finished, apart, number = arrays[f"{k}.facts"].astype(np.float64).tolist()
    view = VIEWS[int(number)]
    if not can_see(islands.problem, view):
        raise ValueError(f"island {k} cannot see {view}")
    counts = int(waited), int(lives), int(finished)
    island = Island(islands.world(k, units, view), state, newcomers, shortest, *counts, bool(apart))
    if not (island.waited >= 0 and island.lives > island.finished >= 0) or np.isnan(shortest):
        raise ValueError(f"the facts of island {k} cannot be read")
    return island


def _checked(n_columns: int, tokens: Any, values: Any, lengths: Any) -> list[Tokens]:
    """The genomes as lists; compiled code does not look twice at what it is given."""
    if tokens.shape != values.shape or tokens.ndim != 2 or lengths.shape != tokens.shape[:1]:
        raise ValueError("genomes have another form")
    if tokens.shape[1] > LONGEST or (lengths < 0).any() or (lengths > tokens.shape[1]).any():
        raise ValueError("a genome is too long")
    found = []
    for row, numbers, n in zip(tokens.tolist(), values.tolist(), lengths.tolist(), strict=True):
        depth = 0
        for token, value in zip(row[:n], numbers[:n], strict=True):
            kind, column = token % KINDS, token // KINDS
            depth += 1 if kind <= CONST else (-1 if kind <= DIV else 0)
            known = kind <= ATAN and 0 <= column < (n_columns if kind == COLUMN else 1)
            if not known or depth < 1 or not abs(value) < np.inf:
                raise ValueError("a genome cannot be read")
        if n and depth != 1:
            raise ValueError("a genome cannot be read")
        if n:
            found.append(list(zip(row[:n], numbers[:n], strict=True)))
    return found
