"""What happens in a run, one JSON object a line, in a file that outlives everybody who writes or reads it.

The id of an event is the number of its line, so that a reader can go on where it stopped. Lines are appended whole; one
that a crash has cut is closed by the next writer and skipped by every reader.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..formula.stored import finite

NAME = "events.jsonl"
CHUNK = 1 << 20  # bytes read at once


class Log:
    """The end of the file, to append to."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        if os.lseek(self._file, 0, os.SEEK_END):
            os.lseek(self._file, -1, os.SEEK_END)
            if os.read(self._file, 1) != b"\n":
                os.write(self._file, b"\n")

    def write(self, kind: str, **facts: Any) -> None:
        text = json.dumps({"kind": kind, **finite(facts)}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        os.write(self._file, text.encode("utf-8") + b"\n")  # one call: a reader never sees half of a line for long

    def close(self) -> None:
        os.close(self._file)


@dataclass
class Reader:
    """A place in the file: `last` is the number of the line before it."""

    path: Path
    last: int = 0
    _at: int = 0
    _rest: bytes = b""

    def read(self, after: int = 0) -> list[tuple[int, str]]:
        """The lines that are new, with their numbers; those up to `after` are passed over."""
        found: list[tuple[int, str]] = []
        try:
            with self.path.open("rb") as file:
                file.seek(self._at)
                while piece := file.read(CHUNK):
                    self._at += len(piece)
                    *lines, self._rest = (self._rest + piece).split(b"\n")
                    for line in lines:
                        self.last += 1
                        if self.last > after and _is_event(line):
                            found.append((self.last, line.decode("utf-8")))
        except FileNotFoundError:
            pass
        return found


def read_events(folder: Path) -> list[dict[str, Any]]:
    """All events of a run as they stand."""
    return [json.loads(text) for _, text in Reader(folder / NAME).read()]


def last_kind(folder: Path) -> str | None:
    """The kind of the last event, from the end of the file: a run may have thousands."""
    try:
        with (folder / NAME).open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(file.tell() - CHUNK, 0))
            lines = file.read().split(b"\n")[:-1]  # what has no end yet is no event
    except OSError:
        return None
    return next((str(json.loads(line)["kind"]) for line in reversed(lines) if _is_event(line)), None)


def _is_event(line: bytes) -> bool:
    try:
        event = json.loads(line)
    except ValueError:
        return False
    return isinstance(event, dict) and isinstance(event.get("kind"), str)
