"""Who works on a run: a file that its worker holds locked, which the system releases however the worker ends."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

NAME = "worker.lock"
PATIENCE = 0.5  # seconds: whoever only looks holds the lock for some microseconds


class Lock:
    """Held from `take` until `release` or the end of the process."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._file: int | None = None

    def take(self) -> bool:
        """Whether the lock is ours now."""
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError:
            return False
        end = time.monotonic() + PATIENCE
        while not _locked(file):
            if time.monotonic() > end:
                os.close(file)
                return False
            time.sleep(0.01)
        self._file = file
        os.ftruncate(file, 0)
        os.write(file, str(os.getpid()).encode())
        return True

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def is_held(folder: Path) -> bool:
    """Is a worker at this run?"""
    if not (folder / NAME).exists():
        return False
    try:
        file = os.open(folder / NAME, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _locked(file) and _lives(os.read(file, 32))
    except OSError:  # Windows does not read what another process has locked
        return True
    finally:
        os.close(file)


def _lives(pid: bytes) -> bool:
    """A killed worker may leave children behind that still hold its lock."""
    if sys.platform == "win32" or not pid.isdigit():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _locked(file: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
