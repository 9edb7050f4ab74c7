"""Whose run it is: the lock is had by one, and whoever only looks does not take it away."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from unisymnet.serve import lock as module
from unisymnet.serve.lock import NAME, Lock, is_held


def test_only_one_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    first, second = Lock(tmp_path), Lock(tmp_path)
    assert first.take() and is_held(tmp_path)
    assert not second.take()
    first.release()
    assert not is_held(tmp_path)
    assert second.take()
    second.release()


def test_looking_does_not_keep_a_worker_from_its_run(tmp_path: Path) -> None:
    """A server that looked at the very moment when a worker came had made the worker go away without a word."""
    (tmp_path / NAME).write_text("")
    fcntl = pytest.importorskip("fcntl")
    looking = os.open(tmp_path / NAME, os.O_RDWR)
    fcntl.flock(looking, fcntl.LOCK_EX | fcntl.LOCK_NB)
    look_away = threading.Timer(0.05, os.close, [looking])
    look_away.start()
    worker = Lock(tmp_path)
    assert worker.take()
    look_away.join()
    worker.release()
