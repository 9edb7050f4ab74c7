"""Ctrl-C and SIGALRM during a fit: stop and keep the best so far.

SRBench sends SIGALRM at the time limit; a person presses Ctrl-C. While `watching` is on, either raises
KeyboardInterrupt inside the search, which ends it with what it has; outside it only leaves a mark. The caller's
own handlers are back when the fit ends. Does not know the search.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_NAMES = ("SIGINT", "SIGALRM")


class Interrupts:
    """Has anyone asked to stop?"""

    def __init__(self) -> None:
        self.requested = False
        self.watching = False

    def __call__(self) -> bool:
        return self.requested

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        if self.watching:
            self.watching = False  # once is enough: a second signal must not break the tidying up
            raise KeyboardInterrupt

    @contextmanager
    def caught(self) -> Iterator[Interrupts]:
        """Signals come here until the block ends. Elsewhere than in the main thread Python has none to catch."""
        previous: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for name in _NAMES:
                number = getattr(signal, name, None)  # no SIGALRM on Windows
                if number is not None:
                    previous[number] = signal.signal(number, self._handle)
        try:
            yield self
        finally:
            for number, handler in previous.items():
                # None: the handler was not set from Python and cannot be put back by it.
                signal.signal(number, signal.SIG_DFL if handler is None else handler)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """A signal inside this block raises KeyboardInterrupt at once."""
        if self.requested:
            raise KeyboardInterrupt
        self.watching = True
        try:
            yield
        finally:
            self.watching = False
