"""`dynamics` and `pde` beside somebody's files, on a full disk, and stopped."""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attacks.commands import KINDS, MINE, Kind
from attacks.tables import command
from unisymnet import PDESystem, System
from unisymnet.cli.motion import dynamics, fields
from unisymnet.dynamics.watch import Watch
from unisymnet.pde import estimator
from unisymnet.pde.findings import UNFINISHED
from unisymnet.regressor import checkpoint

WHICH = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def words(kind: Kind, folder: Path, *more: str, noisy: bool = False) -> tuple[str, ...]:
    """The command in this process; its result is in folder/out."""
    return (*kind.words(kind.data(folder, noisy), folder / "out", 20)[3:], *more)


@WHICH
def test_files_of_others_are_refused_before_the_search(kind: Kind, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    names = ("model.json", "so-far.json", "system.py", "report.html")
    for name in names if kind.name == "dynamics" else ("found.json", "found.so-far.json"):
        path = tmp_path / "out" / name
        path.write_text(MINE)
        code, said = command(*words(kind, tmp_path))
        assert code == 3 and f"{name} already exists and was not written by `unisymnet {kind.name}`" in said
        assert [p.name for p in path.parent.iterdir()] == [name] and path.read_text() == MINE
        path.unlink()


def test_the_folder_of_a_fit_is_refused(tmp_path: Path) -> None:
    kind, model = KINDS[0], tmp_path / "out" / "model.json"
    model.parent.mkdir()
    model.write_text('{"schema": "unisymnet-regressor", "formulas": []}')
    assert command(*words(kind, tmp_path))[0] == 3 and "regressor" in model.read_text()


@WHICH
def test_results_replace_those_of_the_same_command(kind: Kind, tmp_path: Path) -> None:
    for _ in range(2):
        code, said = command(*words(kind, tmp_path))
        assert code == 0 and kind.shows in said
    found = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert found == ["model.json", "report.html", "system.py"] if kind.name == "dynamics" else ["found.json"]
    assert not any("had not ended" in note for note in kind.load(tmp_path / "out" / kind.saved).notes)


@WHICH
def test_a_full_disk_loses_nothing(kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, real = tmp_path / "out", checkpoint.write_atomically

    def full(path: Path, text: str) -> None:
        if path.parent == out:
            raise OSError(28, "No space left on device")
        real(path, text)

    monkeypatch.setattr(checkpoint, "write_atomically", full)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code, said = command(*words(kind, tmp_path))
    assert code == 0 and kind.shows in said and f"{out} cannot be written (No space left on device)" in said
    (place,) = tmp_path.glob("unisymnet-*")
    assert kind.load(place / kind.saved) and f"the result is in {place}" in said


def test_a_stopped_search_for_a_system_is_shown_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "stage", lambda self, text: signal.raise_signal(signal.SIGINT))
    code, said = command(*words(KINDS[0], tmp_path, "--json", noisy=True))
    assert code == 130 and json.loads(said)["states"] == ["a", "b"]
    assert any("was stopped" in note for note in System.load(tmp_path / "out" / "model.json").notes)


def test_a_stopped_search_for_fields_is_shown_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimator, "best_curve", lambda *_: signal.raise_signal(signal.SIGINT))
    code, said = command(*words(KINDS[1], tmp_path, noisy=True))
    assert code == 130 and "u_t =" in said and "no time for an equation for v" in said
    assert [e.field for e in PDESystem.load(tmp_path / "out" / "found.json").equations] == ["u"]


def test_equations_of_fields_are_kept_while_the_search_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[PDESystem] = []
    older: set[str] = set()
    out = tmp_path / "out"

    def looked(*_: Any) -> None:
        (path,) = [path for path in out.iterdir() if path.name not in older]
        seen.append(PDESystem.load(path))

    monkeypatch.setattr(estimator, "best_curve", looked)
    for _ in range(2):
        assert command(*words(KINDS[1], tmp_path, noisy=True))[0] == 0
        older.add("found.json")  # the second time a result stands there, which is replaced only at the end
    assert [len(system.equations) for system in seen] == [1, 2, 1, 2]
    assert all(system.notes == (UNFINISHED,) for system in seen)
    assert [path.name for path in out.iterdir()] == ["found.json"]


def test_arrays_that_would_fill_the_memory_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.npz"
    np.savez_compressed(path, u=np.zeros((400, 400)), x=np.arange(400.0), t=np.arange(400.0))
    monkeypatch.setattr(fields, "MAX_BYTES", 1_000_000)
    code, said = command("pde", str(path))
    assert code == 3 and "holds 0.00129 GB of arrays" in said


def test_a_file_of_one_array_is_told_apart(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.eye(20))
    code, said = command("pde", str(tmp_path / "one.npy"))
    assert code == 3 and "holds one array" in said


def test_the_pages_and_sources_we_write_are_known_as_ours(tmp_path: Path) -> None:
    assert command(*words(KINDS[0], tmp_path))[0] == 0
    assert all(is_ours(tmp_path / "out" / name) for name, is_ours in dynamics._OURS.items() if name != "so-far.json")
