"""Shards: the stream on disk, every function once in a pass, the same block each time, shares of processes."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unisymnet.corpus import LOW, Corpus, Shards, write_shards
from unisymnet.corpus.shards import shard_files
from unisymnet.errors import DataError

SETTINGS = replace(LOW, n_points=20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("corpus")
    write_shards(out, 50, SETTINGS, seed=3, size=20, log=lambda line: None)
    return out


def key(example: object) -> bytes:
    return example.points.tobytes()  # type: ignore[attr-defined]


def test_shards_hold_the_stream(folder: Path) -> None:
    stream = Corpus(SETTINGS, 3)
    wanted = [stream(number, 512)[i] for number, n in ((0, 20), (1, 20), (2, 10)) for i in range(n)]
    found = Shards(folder)(0, 50)
    assert {(key(e), e.label) for e in found} == {(key(e), e.label) for e in wanted}


def test_a_pass_takes_every_function_once_and_the_next_in_another_order(folder: Path) -> None:
    source = Shards(folder, seed=1)
    passes = [[key(e) for number in (k, k + 1) for e in source(number, 25)] for k in (0, 2)]
    assert len(set(passes[0])) == 50 and set(passes[0]) == set(passes[1]) and passes[0] != passes[1]


def test_blocks_are_pure_and_processes_share_a_pass(folder: Path) -> None:
    parts = [Shards(folder, seed=1, shard=rank, n_shards=2) for rank in (0, 1)]
    seen = [key(e) for part in parts for e in part(0, 25)]
    assert len(set(seen)) == 50
    again = pickle.loads(pickle.dumps(parts[1]))  # as a worker process gets it
    assert [key(e) for e in again(0, 25)] == seen[25:]


def test_fewer_points_are_drawn_anew_in_every_pass(folder: Path) -> None:
    source = Shards(folder, seed=1, n_points=7)
    assert all(e.points.shape == (7, 5) for e in source(0, 5))
    full = {row.tobytes() for e in Shards(folder, seed=1)(0, 5) for row in e.points}
    assert all(row.tobytes() in full for e in source(0, 5) for row in e.points)


def test_a_folder_goes_on_where_it_stopped(folder: Path, tmp_path: Path) -> None:
    write_shards(tmp_path, 20, SETTINGS, seed=3, size=20, log=lambda line: None)
    first = shard_files(tmp_path, 0)[0].stat().st_mtime_ns
    told: list[str] = []
    write_shards(tmp_path, 50, SETTINGS, seed=3, size=20, log=told.append)
    assert shard_files(tmp_path, 0)[0].stat().st_mtime_ns == first and len(told) == 2
    ours, theirs = (np.load(shard_files(f, 2)[0]) for f in (tmp_path, folder))
    assert np.array_equal(ours, theirs)


def test_what_is_wrong_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="another corpus"):
        write_shards(folder, 50, SETTINGS, seed=4, size=20)
    with pytest.raises(DataError, match="unisymnet generate"):
        Shards(tmp_path)(0, 4)
