"""When to stop: one object that every long-running part asks."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """A moment on the monotonic clock; ``inf`` means never.

    With ``sliced`` False, stages get no time slices of their own: results then depend on counts alone, as they must
    for a search that is to be repeatable.  A slice remembers the ``end`` of what it was cut from.
    """

    moment: float
    sliced: bool = True
    end: float | None = None

    @staticmethod
    def after(seconds: float) -> Deadline:
        return Deadline(time.monotonic() + seconds)

    @staticmethod
    def never() -> Deadline:
        return Deadline(float("inf"), sliced=False)

    def expired(self) -> bool:
        return time.monotonic() >= self.moment

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.moment - time.monotonic())

    def sooner(self, seconds: float) -> Deadline:
        """This deadline, or ``seconds`` from now, whichever comes first (itself where there are no slices)."""
        moment = time.monotonic() + seconds
        return Deadline(moment, end=self.whole().moment) if self.sliced and moment < self.moment else self

    def whole(self) -> Deadline:
        """The end itself, for a stage that gives way to others after every few proposals."""
        return self if self.end is None else Deadline(self.end, self.sliced)
