"""Several processes: clocks that differ, a rank that dies, the paper's rates, and the GPU of each rank."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from unisymnet.model.schedule import PAPER_EPOCHS, paper_steps, settings_for  # noqa: E402
from unisymnet.model.train import device_of_rank, load_model  # noqa: E402

SCRIPT = """
import os, sys
from dataclasses import replace
import torch, torch.distributed as dist
from unisymnet.corpus import LOW, Corpus
from unisymnet.model.config import ModelConfig
from unisymnet.model.train import Run, TrainSettings, leave, train
folder, rank, store, steps, hours, death = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{folder}/{store}", rank=rank, world_size=2)
if rank == 1 and int(death):
    real = Run.update
    def dying(self, parts):
        if self.step >= int(death):
            os._exit(9)
        return real(self, parts)
    Run.update = dying
corpus = Corpus(replace(LOW, n_points=12), seed=1, shard=rank, n_shards=2)
config = ModelConfig(d_model=16, n_heads=2, n_latents=4, n_layers=1)
run = train(corpus, [], config, TrainSettings(batch=8, n_batches=1, warmup=5), folder + "/run", resume=True,
            max_steps=int(steps) or None, hours=float(hours) if rank == 0 else 1.0, pause=0.0, log=lambda line: None)
print(run.step)
leave(run)
"""


def both(folder: Path, store: str, *, steps: int = 0, hours: float = 1.0, death: int = 0) -> list[tuple[int, str]]:
    """Exit code and last step of each rank; whoever waits for a dead one is ended, as torchrun does."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(folder)]
    rest = [store, str(steps), str(hours), str(death)]
    ranks = [
        subprocess.Popen([*command, str(rank), *rest], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for rank in (0, 1)
    ]
    if death:
        assert ranks[1].wait(timeout=120) == 9
        ranks[0].kill()
    texts = [process.communicate(timeout=120)[0].strip() for process in ranks]
    return [(process.returncode, text) for process, text in zip(ranks, texts, strict=True)]


def test_all_ranks_stop_where_the_first_one_says(tmp_path: Path) -> None:
    """Rank 0 has a second of time, rank 1 an hour: they must end at the same step, and without an error."""
    (first, step), (second, same) = both(tmp_path, "store", hours=1.0 / 3600.0)
    assert (first, second) == (0, 0) and step == same and int(step) > 0


def test_a_killed_rank_costs_nothing_but_the_steps_since_the_checkpoint(tmp_path: Path) -> None:
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    assert [code for code, _ in both(tmp_path / "whole", "store", steps=9)] == [0, 0]
    both(tmp_path / "killed", "store", steps=9, death=5)
    assert 0 < json.loads((tmp_path / "killed/run/last.json").read_text())["step"] < 9
    assert [code for code, _ in both(tmp_path / "killed", "again", steps=9)] == [0, 0]
    whole, resumed = load_model(tmp_path / "whole/run"), load_model(tmp_path / "killed/run")
    for name, values in whole.state_dict().items():
        assert torch.equal(values, resumed.state_dict()[name]), name


@pytest.mark.parametrize(("preset", "rate"), [("paper-low", 8.18e-5), ("paper-high", 6.69e-5)])
def test_the_papers_rate_falls_by_a_hundredth_per_epoch(preset: str, rate: float) -> None:
    for world in (1, 8):
        settings = settings_for(preset)
        steps = paper_steps(preset, settings, 1)
        assert steps is not None and steps * settings.batch == PAPER_EPOCHS[preset] * settings.epoch // 512 * 512
        assert settings.rate_at(steps // world, world) == pytest.approx(rate, rel=0.01)
    assert settings_for("small-low").rate == 1e-3 and paper_steps("small-low", settings_for("small-low"), 1) is None


def test_each_rank_has_its_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert device_of_rank() == "cuda:3"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device_of_rank() == "cpu"
