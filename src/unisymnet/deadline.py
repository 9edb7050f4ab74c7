"""When to stop: one clock and one object that every long-running part asks."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

CLOCK = "UNISYMNET_CLOCK"  # in the environment, so that the processes of a benchmark count alike


def now() -> float:
    """The moment by the clock that all limits count on.

    A person's limit is wall time.  A benchmark on a busy machine counts the processor time of its process instead, as
    the peers' clocks do.
    """
    return time.process_time() if on_processor() else time.monotonic()


def on_processor() -> bool:
    return _CLOCK[0] == "processor"


def count(clock: str) -> None:
    """Count "processor" or "wall" time from now on, here and in processes that start later.

    Only between searches: moments of two clocks cannot be compared.
    """
    _CLOCK[0] = os.environ[CLOCK] = clock


_CLOCK = [os.environ.get(CLOCK, "wall")]


@dataclass(frozen=True)
class Deadline:
    """A moment of `now`; ``inf`` means never.

    With ``sliced`` False, stages get no time slices of their own: results then depend on counts alone, as they must
    for a search that is to be repeatable.  A slice remembers the ``end`` of what it was cut from.
    """

    moment: float
    sliced: bool = True
    end: float | None = None

    @staticmethod
    def after(seconds: float) -> Deadline:
        return Deadline(now() + seconds)

    @staticmethod
    def never() -> Deadline:
        return Deadline(float("inf"), sliced=False)

    def expired(self) -> bool:
        return now() >= self.moment

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.moment - now())

    def sooner(self, seconds: float) -> Deadline:
        """This deadline, or ``seconds`` from now, whichever comes first (itself where there are no slices)."""
        moment = now() + seconds
        return Deadline(moment, end=self.whole().moment) if self.sliced and moment < self.moment else self

    def whole(self) -> Deadline:
        """The end itself, for a stage that gives way to others after every few proposals."""
        return self if self.end is None else Deadline(self.end, self.sliced)
