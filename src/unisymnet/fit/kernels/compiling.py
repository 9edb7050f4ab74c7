"""Does numba compile a kernel of ours, or load it from its cache?  numba's own events tell.

A stopwatch cannot: on a busy machine loading takes as long as compiling does on an idle one.  Also keeps the mark in
the cache that says that every kernel of this installation has been compiled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.event import Listener, install_listener

_PACKAGE = __name__.split(".")[0]
_SOURCE = Path(__file__).parents[2]


class Compiled(Listener):  # type: ignore[misc]
    """Truthy once a kernel of this package has been compiled; ``tell`` is called when the first one begins."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell
        self.begun = False

    def __bool__(self) -> bool:
        return self.begun

    def on_start(self, event: Any) -> None:
        function = getattr(event.data["dispatcher"], "py_func", None)
        if not self.begun and str(getattr(function, "__module__", "")).split(".")[0] == _PACKAGE:
            self.begun = True
            self.tell()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def watched_compiler(tell: Callable[[], None] = lambda: None) -> Iterator[Compiled]:
    """Has anything been compiled within this block?"""
    found = Compiled(tell)
    with install_listener("numba:compile", found):
        yield found


def drop_older(folder: str | None) -> None:
    """Forget what an older version has compiled.  numba looks only at the file of a kernel, not at those of the kernels
    that it calls and has taken in: after an upgrade it would mix the two."""
    if folder is None or is_marked(folder) or not any(Path(folder).glob("kernels-*.mark")):
        return
    inside = Path(folder).is_relative_to(_SOURCE)
    for place in _SOURCE.rglob("__pycache__") if inside else [Path(folder)]:
        for old in (*place.glob("*.nbi"), *place.glob("*.nbc")):
            with suppress(OSError):  # where nothing can be removed, nothing can be kept either
                old.unlink()


def is_marked(folder: str | None) -> bool:
    """Have all kernels of this source been compiled into the cache in ``folder``?"""
    return folder is not None and (Path(folder) / _mark()).is_file()


def mark(folder: str | None) -> None:
    """Say so.  Where nothing can be written, nothing is: the kernels are looked for again next time."""
    if folder is None:
        return
    try:
        for old in Path(folder).glob("kernels-*.mark"):
            old.unlink()
        (Path(folder) / _mark()).touch()
    except OSError:
        pass


@cache
def _mark() -> str:
    """A name that changes with numba and with every file that holds kernels.  Times say nothing: those of a wheel are
    all the same."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(_SOURCE.rglob("*.py")):
        text = path.read_bytes()
        if b"njit" in text:
            digest.update(path.name.encode() + text)
    return f"kernels-{digest.hexdigest()[:16]}.mark"
