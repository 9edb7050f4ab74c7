"""One run on disk: what was asked, what has happened, how it stands. `unisymnet fit` writes the same folder.

    asked.json      the wish of the page           model.json      the table of formulas, when a search has ended
    events.jsonl    what happens, line by line     checkpoint/     the front, replaced whenever it grows
    worker.lock     held by the worker             stop            written by whoever wants it to end

Nothing about a run is kept in memory, so that any server finds it as it is.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..regressor.checkpoint import write_atomically
from . import events, lock

ASKED, MODEL, STOP = "asked.json", "model.json", "stop"
QUEUED = "queued"  # the last event of a run that nobody has begun
OVER = ("end", "error", "lost")  # the last event of a search


@dataclass(frozen=True)
class Run:
    """A folder with a search in it."""

    folder: Path
    name: str

    def exists(self) -> bool:
        return any((self.folder / file).is_file() for file in (MODEL, events.NAME, ASKED))

    def changed(self) -> float:
        """When something was last written, in seconds since 1970."""
        times = [0.0]
        for file in (MODEL, events.NAME, ASKED):
            try:
                times.append((self.folder / file).stat().st_mtime)
            except OSError:
                continue
        return max(times)

    def asked(self) -> dict[str, Any] | None:
        """What the page asked for; None for a run of the command line."""
        try:
            found = json.loads((self.folder / ASKED).read_text("utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise DataError(f"{self.name}/{ASKED} is damaged: {error}") from error
        return found

    def ask(self, asked: dict[str, Any]) -> None:
        """Write down the wish and put the run in the queue."""
        write_atomically(self.folder / ASKED, json.dumps(asked, ensure_ascii=False, indent=1))
        (self.folder / STOP).unlink(missing_ok=True)
        self.tell(QUEUED, part=asked.get("part", 1))

    def tell(self, kind: str, **facts: Any) -> None:
        log = events.Log(self.folder)
        log.write(kind, at=time.time(), **facts)
        log.close()

    def events(self) -> list[dict[str, Any]]:
        return events.read_events(self.folder)

    def is_running(self) -> bool:
        return lock.is_held(self.folder)

    def state(self) -> str:
        """queued, running, done, failed, or lost: its worker is gone without a word."""
        last = events.last_kind(self.folder)
        if last in OVER:
            return {"end": "done", "error": "failed"}.get(last, "lost")
        if self.is_running():
            return "running"
        if last is None:
            return "done" if (self.folder / MODEL).is_file() else "queued"
        return "queued" if last == QUEUED else "lost"

    def stop(self) -> None:
        (self.folder / STOP).touch()

    def is_system(self) -> bool:
        """Does it look for differential equations?"""
        asked = self.asked()
        if asked is not None:
            return asked.get("kind") == "dynamics"
        try:
            with (self.folder / MODEL).open(encoding="utf-8") as file:
                head = file.read(4000)
            return "unisymnet-dynamics" in head or "unisymnet-system" in head
        except OSError:
            return False

    def has_model(self) -> bool:
        return (self.folder / MODEL).is_file()
