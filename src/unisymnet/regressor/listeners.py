"""Those who hear of a search while it runs: the checkpoint, the caller's function. What they raise is their own matter.

A full disk or a mistake in a callback must neither end a stage nor be blamed on it: whoever fails is not told any more,
the search goes on, and a note says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..candidate import ParetoFront
from .checkpoint import Checkpoint
from .kinds import FitEvent


class Listeners:
    """Tells them; `notes` are sentences about those who failed."""

    def __init__(self, callback: Callable[[FitEvent], Any] | None = None) -> None:
        self.notes: list[str] = []
        self._callback = callback
        self._full: set[str] = set()  # folders that could not be written

    @property
    def wanted(self) -> bool:
        return self._callback is not None

    def save(self, checkpoint: Checkpoint | None, front: ParetoFront) -> None:
        """Save the front, unless the folder has failed before."""
        if checkpoint is None or str(checkpoint.folder) in self._full:
            return
        try:
            checkpoint.write(front)
        except OSError as error:
            self._full.add(str(checkpoint.folder))
            why = f"the checkpoint in {checkpoint.folder} could not be written ({error.strerror or error})"
            self.notes.append(f"{why}; the fit went on without it")

    def tell(self, event: FitEvent) -> None:
        """Call the function; a KeyboardInterrupt that it raises ends the search, as it should."""
        if self._callback is None:
            return
        try:
            self._callback(event)
        except Exception as error:
            self._callback = None
            self.notes.append(f"the callback raised {type(error).__name__}: {error}; it was not called again")
