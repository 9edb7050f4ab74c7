"""`weights`: from a training run to a model that searches use, and which model that is."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from unisymnet.bench import stale
from unisymnet.bench.run import weights_in_use
from unisymnet.errors import CheckpointError
from unisymnet.model.runtime import WEIGHTS, Runtime, shipped, weights_hash
from unisymnet.model.weights import alternatives, folders, place_of, user_folder, weights_for


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    command = [sys.executable, "-W", "ignore", "-m", "unisymnet", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **environment})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.delenv("UNISYMNET_WEIGHTS", raising=False)
    return tmp_path


def test_named_before_installed_before_shipped(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not shipped():
        pytest.skip("no exported weights in the package")
    assert weights_for(2) == WEIGHTS / next(name for name in shipped() if name.endswith("low"))
    mine, named = user_folder() / "mine-low", home / "named-low"
    for folder in (mine, named):
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text("{}")
    assert weights_for(2) == mine and weights_for(9) != mine
    monkeypatch.setenv("UNISYMNET_WEIGHTS", str(named))
    assert weights_for(2) == named and folders()[0] == named


def test_a_trained_model_is_exported_installed_and_used(home: Path) -> None:
    torch = pytest.importorskip("torch")
    from unisymnet.corpus import LOW, Corpus
    from unisymnet.model.config import ModelConfig
    from unisymnet.model.train import TrainSettings, train

    torch.set_num_threads(1)
    config = ModelConfig(d_model=16, n_heads=2, n_latents=4, n_layers=1)
    train(Corpus(replace(LOW, n_points=12), 1), [], config, TrainSettings(batch=8), home / "run", max_steps=2, log=str)
    share = {"XDG_DATA_HOME": str(home / "share")}
    done = run("weights", "export", str(home / "run"), str(home / "tiny-low"), "--functions", "512", **share)
    assert done.returncode == 0, done.stderr
    done = run("weights", "install", str(home / "tiny-low"), **share)
    assert done.returncode == 0, done.stderr
    listed = json.loads(run("weights", "info", "--json", **share).stdout)
    assert listed[0]["name"] == "tiny-low" and listed[0]["hash"] == weights_hash(home / "tiny-low")
    assert Runtime.load(weights_for(2)).frequent[1]  # type: ignore[arg-type]


def test_what_is_no_model_is_not_installed(home: Path) -> None:
    with pytest.raises(CheckpointError, match="no exported model can be read"):
        Runtime.load(home)
    done = run("weights", "install", str(home), XDG_DATA_HOME=str(home / "share"))
    assert done.returncode != 0 and "Traceback" not in done.stderr and not user_folder().exists()


def test_records_of_the_literal_method_are_judged_by_its_own_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stale, "same_search", lambda commit: True)
    methods = (("unisymnet-literal", "points"), ("unisymnet-paper", "plain"), ("unisymnet-paper", "points"))
    records = [{"method": method, "weights": weights, "commit": "a"} for method, weights in methods]
    kept, left = stale.current(records, "plain", None, {"unisymnet-literal": "points"})
    assert kept == records[:2] and left == 1


def test_models_of_the_package_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    if "points" not in alternatives():
        pytest.skip("no exported points model in the package")
    monkeypatch.delenv("UNISYMNET_WEIGHTS", raising=False)
    points = WEIGHTS / "points" / "low"
    assert weights_for(3, named="points") == points and weights_for(3) != points
    assert weights_for(9, named="points") == weights_for(9)  # there is none for so many columns
    monkeypatch.setenv("UNISYMNET_WEIGHTS", "points")
    assert weights_for(3) == points
    assert Runtime.load(points).config.reader and place_of("no/such/folder") == Path("no/such/folder")
    assert weights_in_use("unisymnet-literal") == weights_in_use()
    monkeypatch.delenv("UNISYMNET_WEIGHTS")
    assert weights_in_use("unisymnet-literal") != weights_in_use("unisymnet-paper")
