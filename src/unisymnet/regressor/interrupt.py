"""Ctrl-C, SIGALRM, SIGTERM and the time limit during a fit: stop and keep the best so far.

SRBench sends SIGALRM at the time limit; a person presses Ctrl-C; `timeout` and schedulers send SIGTERM; and a proposer
may forget to look at the clock.
Inside `watched`, each of these raises KeyboardInterrupt, which ends the search with what it has; elsewhere a signal
only leaves a mark. The caller's own handlers are back when the fit ends. Does not know the search.
"""

from __future__ import annotations

import _thread
import gc
import multiprocessing
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ..deadline import now, on_processor

_NAMES = ("SIGINT", "SIGALRM", "SIGTERM")
AGAIN = 0.2  # seconds

# The compiler calls Python from C, a weak reference from wherever the last strong one ends, the garbage collector those
# who watch it; an exception raised there is printed and forgotten, and the search would go on without a limit.
_SWALLOWING = ("llvmlite", "numba", "weakref")


def _would_be_lost(frame: FrameType | None) -> bool:
    collecting = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        if frame.f_code in collecting or str(frame.f_globals.get("__name__", "")).split(".")[0] in _SWALLOWING:
            return True
        frame = frame.f_back
    return False


def _would_kill(number: int) -> bool:
    """Would the signal end the process and lose the result?  A worker is to end when its parent says so."""
    return signal.getsignal(number) is signal.SIG_DFL and multiprocessing.parent_process() is None


class Interrupts:
    """Has anyone asked to stop?"""

    def __init__(self) -> None:
        self.requested = False
        self.watching = False
        self._bell = False
        self._clocks: list[threading.Timer] = []

    def __call__(self) -> bool:
        return self.requested

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._bell:
            self._bell = False  # our own alarm clock, not a wish of anyone
        else:
            self.requested = True
        if self.watching and _would_be_lost(frame):
            self._alarm(AGAIN)
        elif self.watching:
            self.watching = False  # once is enough: a second signal must not break the tidying up
            raise KeyboardInterrupt

    @contextmanager
    def caught(self) -> Iterator[Interrupts]:
        """Signals come here until the block ends. Elsewhere than in the main thread Python has none to catch."""
        previous: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for name in _NAMES:
                number = getattr(signal, name, None)  # no SIGALRM on Windows
                if number is not None and (name != "SIGTERM" or _would_kill(number)):
                    previous[number] = signal.signal(number, self._handle)
        try:
            yield self
        finally:
            for number, handler in previous.items():
                # None: the handler was not set from Python and cannot be put back by it.
                signal.signal(number, signal.SIG_DFL if handler is None else handler)

    @contextmanager
    def watched(self, max_time: float | None = None, *, tidying: bool = False) -> Iterator[None]:
        """A signal inside this block, or the end of `max_time` seconds, raises KeyboardInterrupt at once.

        An earlier wish to stop does, too, unless what the block does is the `tidying` that follows it.
        """
        if self.requested and not tidying:
            raise KeyboardInterrupt
        finite = max_time is not None and max_time < threading.TIMEOUT_MAX
        if max_time is not None and finite and threading.current_thread() is threading.main_thread():
            self._alarm(max_time)
        self.watching = True
        try:
            yield
        finally:
            self.watching = False
            while self._clocks:
                self._clocks.pop().cancel()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Inside `watched`, a block that has a limit of its own: nothing is raised before its end."""
        watching, self.watching = self.watching, False
        try:
            yield
        finally:
            self.watching = watching
        if self.requested:
            raise KeyboardInterrupt

    def _alarm(self, seconds: float) -> None:
        clock = threading.Timer(seconds, self._ring, (now() + seconds,))
        clock.daemon = True
        self._clocks.append(clock)
        clock.start()

    def _ring(self, due: float) -> None:
        if self.watching and on_processor() and now() < due:
            self._alarm(due - now())  # a timer counts wall time only: not yet
        elif self.watching:
            self._bell = True
            # A real signal, where there are threads to send it to: it also ends a sleep or a wait.
            if sys.platform == "win32":
                _thread.interrupt_main()
            else:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
