"""The folder the page was started with: its tables and its runs, and nothing outside.

Every name that comes from the browser goes through here. Links are followed first and judged by where they end.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import DataError, quoted
from .runs import Run

HOME = "unisymnet-page"  # where the page puts what it is given and what it finds
SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".xlsx", ".xls", ".ods", ".parquet", ".pq")
MAX_TABLES, MAX_RUNS = 300, 300


@dataclass(frozen=True)
class Place:
    """The start folder."""

    root: Path

    @staticmethod
    def at(folder: Path) -> Place:
        return Place(folder.resolve())

    def table(self, name: str) -> Path:
        """The table of this name, which is a path below the folder."""
        path = self._inside(name)
        if path.suffix.lower() not in SUFFIXES or not path.is_file():
            raise DataError(f"there is no table {quoted(name)} in the folder of this page")
        return path

    def run(self, name: str) -> Run:
        """The run of this name."""
        run = Run(self._inside(name), name)
        if not run.exists():
            raise DataError(f"there is no run {quoted(name)} in the folder of this page")
        return run

    def tables(self) -> list[dict[str, Any]]:
        """What can be chosen, newest first."""
        found: list[dict[str, Any]] = []
        for folder in (self.root, self.root / HOME / "data"):
            for path in _listed(folder):
                if path.suffix.lower() in SUFFIXES and path.is_file() and self._is_ours(path):
                    state = path.stat()
                    found.append({"name": self.name_of(path), "bytes": state.st_size, "time": state.st_mtime})
        return sorted(found, key=lambda table: -table["time"])[:MAX_TABLES]

    def runs(self) -> list[Run]:
        """Finished, running, waiting and broken, newest first."""
        found = []
        for folder in (self.root, self.root / HOME):
            for path in _listed(folder):
                if path.is_dir() and self._is_ours(path):
                    run = Run(path, self.name_of(path))
                    if run.exists():
                        found.append(run)
        return sorted(found, key=lambda run: -run.changed())[:MAX_RUNS]

    def new_run(self, data: str) -> Run:
        """An empty folder named after the table."""
        stem = safe_name(Path(data).stem)
        for number in range(1, 100_000):
            folder = self.root / HOME / f"{stem}-{number}"
            try:
                folder.mkdir(parents=True)
            except FileExistsError:
                continue
            return Run(folder, self.name_of(folder))
        raise DataError(f"too many runs of {stem} in {self.root / HOME}; move some away")

    def new_table(self, name: str) -> Path:
        """Where an uploaded table goes; a table of the same name is kept."""
        stem, suffix = safe_name(Path(name).stem), _suffix(name)
        folder = self.root / HOME / "data"
        folder.mkdir(parents=True, exist_ok=True)
        numbers = ("", *(f"-{number}" for number in range(2, 100_000)))
        return next(place for extra in numbers if not (place := folder / f"{stem}{extra}{suffix}").exists())

    @contextmanager
    def upload(self, name: str) -> Iterator[tuple[BinaryIO, str]]:
        """A file to write an uploaded table to, and the name in the place that it has when it is whole."""
        target = self.new_table(name)
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with part.open("wb") as file:
                yield file, self.name_of(target)
            os.replace(part, target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    @contextmanager
    def passing(self, name: str) -> Iterator[Path]:
        """A path for a table that is only read once, outside the place."""
        suffix = _suffix(name)
        with tempfile.TemporaryDirectory(prefix="unisymnet-") as folder:
            yield Path(folder) / f"new{suffix}"

    def name_of(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def holds(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self.root)

    def _is_ours(self, path: Path) -> bool:
        return not path.name.startswith(".") and self.holds(path)

    def _inside(self, name: str) -> Path:
        parts = Path(name).parts
        if not parts or Path(name).is_absolute() or any(part.startswith(".") for part in parts) or "\0" in name:
            raise DataError(f"{quoted(name)} is not a name in the folder of this page")
        path = self.root / name
        try:
            path.exists()  # raises for a name that no file can have
            held = self.holds(path)
        except (OSError, ValueError):
            held = False
        if not held:
            raise DataError(f"{quoted(name)} is not a name in the folder of this page")
        return path


def _suffix(name: str) -> str:
    """How the name of a table ends."""
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(f"{quoted(name)} is not a table; choose a file that ends in {', '.join(SUFFIXES)}")
    return suffix


def safe_name(text: str) -> str:
    """Letters, digits, dashes: a name that every file system takes."""
    return re.sub(r"[^\w-]+", "-", text, flags=re.UNICODE).strip("-")[:60] or "table"


def _listed(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(folder.iterdir())
    except OSError:
        return
