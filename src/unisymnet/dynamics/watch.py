"""Who hears of a search for a system while it runs: a person, a callback, and a file that keeps the best so far.

Neither a full disk nor a callback that raises may end a search: whoever fails is not told any more, and a note says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..deadline import now
from ..formula import Formula
from .course import Course
from .equations.system import System, rate_name
from .finish import as_system
from .rate import Candidate, Rate


@dataclass(frozen=True)
class DynamicsEvent:
    """What a callback is told: `kind` is "stage", "rate" (a state has a better equation) or "system"."""

    kind: str
    stage: str
    seconds: float
    rates: dict[str, Formula] = field(default_factory=dict)  # the best equation of each state so far, fitted alone
    system: System | None = None  # the best system so far


class Watch:
    """Told by find.py; tells a person and a callback, and keeps the best system in a file.  By default nobody."""

    def __init__(
        self,
        *,
        verbose: bool = False,
        callback: Callable[[DynamicsEvent], Any] | None = None,
        checkpoint: Path | None = None,
    ) -> None:
        self.began, self.verbose, self.callback, self.checkpoint = now(), verbose, callback, checkpoint
        self.faults: list[str] = []
        self._stage = ""
        self._rates: dict[str, Formula] = {}
        self._system: System | None = None

    def stage(self, text: str) -> None:
        """What is tried next."""
        self._stage = text
        if self.verbose:
            print(f"unisymnet: {text}", file=sys.stderr)
        self._call("stage")

    def rate(self, course: Course, state: int, rate: Rate) -> None:
        """The best equation of one state so far."""
        name = course.names[state]
        self._rates[name] = Formula(rate.expr, course.names, rate_name(name))
        self._call("rate")

    def system(self, course: Course, candidate: Candidate) -> None:
        """The best system so far."""
        if self.callback is None and self.checkpoint is None:
            return
        found = as_system(course, candidate, candidate.exprs, candidate.shot)
        note = "the search had not ended; this is the best system so far"
        self._system = found.with_notes(note)
        if self.checkpoint is not None:
            try:
                self.checkpoint.parent.mkdir(parents=True, exist_ok=True)
                self._system.save(self.checkpoint)
            except OSError as error:
                self.faults.append(f"the best so far could not be written to {self.checkpoint}: {error}")
                self.checkpoint = None
        self._call("system")

    def _call(self, kind: str) -> None:
        if self.callback is None:
            return
        try:
            self.callback(DynamicsEvent(kind, self._stage, now() - self.began, dict(self._rates), self._system))
        except Exception as error:
            self.callback = None
            self.faults.append(f"the callback raised {type(error).__name__}: {error}; it was not called again")
