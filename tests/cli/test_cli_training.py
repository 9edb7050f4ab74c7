"""`generate`, `corpus` and `train`, as typed in a terminal."""

import json
import sys
from pathlib import Path

import pytest

from unisymnet.cli import main
from unisymnet.model.config import PRESETS


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["unisymnet", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        code = ended.value.code
        return (0 if code is None else int(code)), captured.out, captured.err

    return call


def test_a_corpus_is_written_counted_and_drawn(run) -> None:
    pytest.importorskip("matplotlib")
    code, out, _ = run("generate", "c.npz", "--n", "80", "--points", "20", "--trajectories", "0.5", "--noise", "0.1")
    assert code == 0 and "80 functions" in out and "too deep" in out and Path("c.npz").stat().st_size > 1000
    code, out, _ = run("corpus", "c.npz", "--plot", "c.png", "--json")
    found = json.loads(out)
    assert code == 0 and found["n_examples"] == 80 == sum(found["depth"].values())
    assert Path("c.png").read_bytes()[:4] == b"\x89PNG"
    code, out, _ = run("corpus", "high", "--n", "40")
    assert code == 0 and "40 functions" in out and "10:" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("corpus", "nowhere"), "low, high, or the path"),
        (("generate", "x.npz", "--setting", "middle"), "known are low, high"),
        (("generate", "x.npz", "--points", "2"), "at least 4 points"),
        (("generate", "x.npz", "--trajectories", "7"), "between 0 and 1"),
        (("generate", "no/folder/x.npz", "--n", "4"), "cannot write"),
        (("train", "--preset", "huge"), "points-high"),
        (("train", "--cooldown", "5", "--labels", "0"), "nothing to cool down"),
        (("train", "--start", "nowhere"), "no checkpoint in nowhere"),
    ],
)
def test_mistakes_are_told(run, words: tuple[str, ...], told: str) -> None:
    if words[0] == "train":
        pytest.importorskip("torch")
    code, _, err = run(*words)
    assert code == 3 and told in err


def test_the_help_names_every_preset(run) -> None:
    code, out, _ = run("train", "--help")
    assert code == 0 and all(name in out for name in PRESETS)


def test_training_starts_goes_on_and_cools_down(run) -> None:
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    small = ("--batch", "8", "--points", "16", "--valid", "8", "--labels", "500", "--workers", "0", "--reuse", "1")
    code, out, err = run("train", "--steps", "3", "--out", "a", *small)
    assert code == 0 and "24 examples" in out, err
    state = json.loads(Path("a/last.json").read_text())
    assert state["step"] == 3 and 50 < len(state["config"]["live"]) < 1000
    assert run("train", "--steps", "5", "--out", "a", *small)[0] == 0
    assert json.loads(Path("a/last.json").read_text())["step"] == 5
    assert run("train", "--cooldown", "2", "--start", "a", "--out", "b", *small)[0] == 0
    lines = [json.loads(line) for line in Path("b/log.jsonl").read_text().splitlines()]
    assert lines[-1]["step"] == 7 and lines[-1]["rate"] == 0.0
    torch.set_num_threads(threads)
