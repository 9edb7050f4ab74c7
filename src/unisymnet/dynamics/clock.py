"""A deadline that also ends when somebody presses Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..deadline import Deadline, now


@dataclass(frozen=True)
class Clock(Deadline):
    """A `Deadline` that has expired, too, once ``stop`` says so."""

    stop: Callable[[], bool] = lambda: False

    def expired(self) -> bool:
        return self.stop() or super().expired()

    def remaining(self) -> float:
        return 0.0 if self.stop() else super().remaining()

    def sooner(self, seconds: float) -> Clock:
        moment = min(self.moment, now() + seconds)
        return Clock(moment, self.sliced, self.whole().moment, self.stop)
