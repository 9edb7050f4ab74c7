"""How the islands are doing, for whoever shows a search while it runs: a few numbers, written by one, read by another.

The reader begins with `listening` in the thread of the search; whoever works there calls `beat`.  Without a reader
nothing happens.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

FRESH = 10.0  # seconds after which a beat is no news


@dataclass
class Pulse:
    """Islands, cores that they live on, and formulas a second since the beat before."""

    n_islands: int = 0
    n_cores: int = 0
    rate: float = 0.0
    moment: float = -FRESH
    _counted: int = 0

    def text(self) -> str:
        """For a line; nothing where evolution is not at work."""
        if time.monotonic() - self.moment > FRESH:
            return ""
        islands, cores = _many(self.n_islands, "island"), _many(self.n_cores, "core")
        return f"{islands} on {cores}, {self.rate:,.0f} formulas/s"

    def take(self, n_islands: int, n_cores: int, n_formulas: int) -> None:
        """``n_formulas`` is how many all islands have tried so far."""
        now = time.monotonic()
        if now - self.moment < FRESH and n_formulas > self._counted:
            self.rate = (n_formulas - self._counted) / max(now - self.moment, 1e-9)
        self.n_islands, self.n_cores, self.moment, self._counted = n_islands, n_cores, now, n_formulas


_LISTENER: ContextVar[Pulse | None] = ContextVar("pulse", default=None)


@contextmanager
def listening() -> Iterator[Pulse]:
    """A pulse that hears what happens in this block."""
    token = _LISTENER.set(Pulse())
    try:
        pulse = _LISTENER.get()
        assert pulse is not None
        yield pulse
    finally:
        _LISTENER.reset(token)


def beat(n_islands: int, n_cores: int, n_formulas: int) -> None:
    """Tell whoever listens."""
    pulse = _LISTENER.get()
    if pulse is not None:
        pulse.take(n_islands, n_cores, n_formulas)


def _many(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
