"""Training: it learns, a resumed run equals the uninterrupted one, two processes equal one with twice the batch."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file, save_file  # noqa: E402

from unisymnet.corpus import LOW, Corpus  # noqa: E402
from unisymnet.errors import CheckpointError  # noqa: E402
from unisymnet.model.config import ModelConfig  # noqa: E402
from unisymnet.model.schedule import cooling  # noqa: E402
from unisymnet.model.train import LOG, WEIGHTS, Run, TrainSettings, load_model, train, validate  # noqa: E402

TINY = ModelConfig(d_model=16, n_heads=2, n_latents=4, n_layers=1)
CORPUS = Corpus(replace(LOW, n_points=12), seed=1)
FAST = TrainSettings(batch=8, n_batches=4, warmup=5, encoder_rate=1.0)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def quiet(_line: str) -> None:
    pass


def test_it_learns_and_logs(tmp_path: Path) -> None:
    valid = Corpus(replace(LOW, n_points=12), seed=2)(0, 32)
    before = validate(Run(TINY, FAST).averaged(), valid).nll
    train(CORPUS, valid, TINY, replace(FAST, rate=3e-3), tmp_path, max_steps=60, log=quiet)
    found = validate(load_model(tmp_path), valid)
    assert found.nll < 0.6 * before
    line = json.loads((tmp_path / LOG).read_text().splitlines()[-1])
    assert line["step"] == 60 and line["examples"] == 480 and abs(line["nll"] - found.nll) < 1e-3
    assert line["gain"] == pytest.approx(found.gain, abs=1e-3)


def test_a_resumed_run_equals_the_uninterrupted_one(tmp_path: Path) -> None:
    whole = train(CORPUS, [], TINY, FAST, tmp_path / "whole", max_steps=14, log=quiet)
    train(CORPUS, [], TINY, FAST, tmp_path / "parts", max_steps=6, log=quiet)  # stops inside a pool
    parts = train(CORPUS, [], TINY, FAST, tmp_path / "parts", max_steps=14, resume=True, log=quiet)
    assert parts.step == whole.step == 14
    for name, values in whole.model.state_dict().items():
        assert torch.equal(values, parts.model.state_dict()[name]), name
        assert torch.equal(whole.average[name], parts.average[name]), name


def test_a_cooled_copy_leaves_the_run_alone(tmp_path: Path) -> None:
    train(CORPUS, [], TINY, FAST, tmp_path / "run", max_steps=6, log=quiet)
    slower = replace(FAST, cooldown_from=6, cooldown_steps=4)
    assert slower.rate_at(6) > slower.rate_at(9) > slower.rate_at(10) == 0.0
    cooled = train(CORPUS, [], TINY, slower, tmp_path / "cooled", max_steps=10, start=tmp_path / "run", log=quiet)
    assert cooled.step == 10 and json.loads((tmp_path / "run" / "last.json").read_text())["step"] == 6


@pytest.mark.parametrize(("state", "begin"), [({"cooldown_from": None}, 7), ({"cooldown_from": 0}, 0), ({}, 7)])
def test_a_cool_down_that_was_cut_short_goes_on(state: dict[str, object], begin: int) -> None:
    settings, last = cooling(FAST, {"step": 7, "settings": state}, 20)
    assert (settings.cooldown_from, last) == (begin, begin + 20)


def test_weights_alone_are_enough_to_go_on(tmp_path: Path) -> None:
    train(CORPUS, [], TINY, FAST, tmp_path, max_steps=3, log=quiet)
    file = tmp_path / WEIGHTS
    save_file({k: v for k, v in load_file(file).items() if k.startswith("model.")}, file)
    kept = load_model(tmp_path).state_dict()
    run = train(CORPUS, [], TINY, FAST, tmp_path, max_steps=5, resume=True, log=quiet)
    assert run.step == 5 and not torch.equal(kept["norm_out.weight"], run.model.state_dict()["norm_out.weight"])


def test_early_stopping_counts_a_rising_loss_as_no_progress(tmp_path: Path) -> None:
    impatient = replace(FAST, patience=2, tolerance=1e9)
    run = train(CORPUS, [], TINY, impatient, tmp_path, max_steps=50, pause=0.0, log=quiet)
    assert run.step < 10


def test_unreadable_checkpoints_say_so(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="train without resume"):
        load_model(tmp_path)
    train(CORPUS, [], TINY, FAST, tmp_path, max_steps=1, log=quiet)
    with pytest.raises(CheckpointError, match="another model"):
        train(CORPUS, [], replace(TINY, n_layers=2), FAST, tmp_path, max_steps=2, resume=True, log=quiet)


PARALLEL = """
import os, sys
from dataclasses import replace
import torch, torch.distributed as dist
from unisymnet.corpus import LOW, Corpus
from unisymnet.model.config import ModelConfig
from unisymnet.model.train import TrainSettings, train
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}/store", rank=int(sys.argv[2]), world_size=2)
corpus = Corpus(replace(LOW, n_points=12), seed=1, shard=dist.get_rank(), n_shards=2)
config = ModelConfig(d_model=16, n_heads=2, n_latents=4, n_layers=1)
train(corpus, [], config, TrainSettings(batch=8, n_batches=1, warmup=5), sys.argv[1] + "/two", max_steps=3)
dist.destroy_process_group()
"""


def test_two_processes_equal_one_with_twice_the_batch(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", PARALLEL, str(tmp_path)]
    both = [subprocess.Popen([*command, str(rank)], stdout=subprocess.DEVNULL) for rank in (0, 1)]
    assert [process.wait(timeout=90) for process in both] == [0, 0]

    def joined(number: int, size: int):
        return [e for shard in (0, 1) for e in replace(CORPUS, shard=shard, n_shards=2)(number, size // 2)]

    one = TrainSettings(batch=16, n_batches=1, warmup=5)
    train(joined, [], TINY, one, tmp_path / "one", max_steps=3, log=quiet)
    alone, together = load_model(tmp_path / "one"), load_model(tmp_path / "two")
    for name, values in alone.state_dict().items():
        assert torch.allclose(values, together.state_dict()[name], atol=2e-5), name
