"""Whether kernels are compiled or loaded is read off numba's cache: a slow machine must not be taken for a new one."""

import logging
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from unisymnet import UniSymNetRegressor, deadline
from unisymnet.fit.kernels import compiling
from unisymnet.regressor import warm


def double(x: float) -> float:
    return 2.0 * x


def test_compiling_is_told_and_loading_is_not() -> None:
    ours, theirs = njit(double), njit(lambda x: 3.0 * x)
    ours.py_func.__module__ = "unisymnet.fit.anything"
    told: list[str] = []
    with compiling.watched_compiler(lambda: told.append("compiling")) as compiled:
        assert theirs(1.0) == 3.0 and not compiled  # somebody else's kernel
        assert ours(1.0) == 2.0 and compiled
        assert ours(2.0) == 4.0 and ours(2) == 4.0  # again, and for integers
    assert told == ["compiling"]


def test_a_slow_machine_is_not_taken_for_a_new_installation(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    UniSymNetRegressor(max_time=1).fit(np.arange(4.0)[:, None], np.arange(4.0))  # whatever there is to compile
    caplog.clear()

    def slowly(announce: object) -> bool:
        time.sleep(3.5)  # longer than any stopwatch allowed for loading
        return False

    monkeypatch.setattr(warm, "warm_up", slowly)
    monkeypatch.setattr(warm, "warm_stages", lambda names: pytest.fail("nothing is to be compiled"))
    warm._warmed.cache_clear()
    rng = np.random.default_rng(0)
    with caplog.at_level(logging.WARNING, "unisymnet"):
        model = UniSymNetRegressor(max_time=4).fit(rng.normal(size=(60, 3)), rng.normal(size=60))
    assert caplog.text == ""
    assert model.seconds_ >= 3.5  # loading counts


def test_a_warm_up_that_was_stopped_is_taken_up_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[object] = []
    monkeypatch.setattr(warm, "warm_up", lambda announce: False)  # the fitter's kernels were compiled, but not
    monkeypatch.setattr(warm, "warm_stages", asked.append)  # those of the stages
    monkeypatch.setattr(warm, "cache_folder", lambda: str(tmp_path))
    warm._warmed.cache_clear()
    before = time.monotonic()
    assert warm.warm_all() >= before and asked == [warm.HERE, warm.THERE]
    monkeypatch.setattr(deadline, "_CLOCK", ["processor"])
    assert warm.warm_all() == 0.0  # a moment of another clock says nothing
    monkeypatch.setattr(deadline, "_CLOCK", ["wall"])
    warm._warmed.cache_clear()
    assert warm.warm_all() == 0.0 and len(asked) == 2
    assert [path.suffix for path in tmp_path.iterdir()] == [".mark"]


def test_nothing_is_marked_where_nothing_can_be_written(tmp_path: Path) -> None:
    compiling.mark(str(tmp_path / "nowhere"))
    compiling.mark(None)
    assert not compiling.is_marked(str(tmp_path / "nowhere")) and not compiling.is_marked(None)


def test_a_line_says_now_and_then_that_compiling_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    def slowly(announce: Callable[[str], None]) -> bool:
        announce("compiling")
        time.sleep(1.0)
        return True

    def no_process(*_args: object, **_settings: object) -> None:
        raise OSError("no second process here")

    monkeypatch.setattr(warm, "EVERY", 0.2)
    monkeypatch.setattr(warm, "warm_up", slowly)
    monkeypatch.setattr(warm, "warm_stages", lambda names: None)
    monkeypatch.setattr(warm, "cache_folder", lambda: str(tmp_path))
    monkeypatch.setattr(warm.subprocess, "Popen", no_process)
    warm._warmed.cache_clear()
    with caplog.at_level(logging.WARNING, "unisymnet"):
        assert warm.warm_all() > 0.0
        said = [record.getMessage() for record in caplog.records]
        time.sleep(0.6)
        assert len(caplog.records) == len(said)  # and nothing once it is over
    assert said[0] == "compiling" and 2 <= len(said) <= 6 and all("still compiling" in line for line in said[1:])
    warm._warmed.cache_clear()


def test_what_an_older_version_compiled_is_forgotten(tmp_path: Path) -> None:
    """numba would go on with kernels whose own file is unchanged, although a file that they take in is not."""
    old, other = tmp_path / "fit._run-269.py311.nbi", tmp_path / "notes.txt"
    for path in (old, other):
        path.touch()
    compiling.drop_older(str(tmp_path))
    assert old.exists()  # no mark: compiled by whom is not known, or just now
    compiling.mark(str(tmp_path))
    compiling.drop_older(str(tmp_path))
    assert old.exists()
    next(tmp_path.glob("*.mark")).rename(tmp_path / "kernels-0123456789abcdef.mark")
    compiling.drop_older(str(tmp_path))
    assert not old.exists() and other.exists()
