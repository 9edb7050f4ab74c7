"""Results as JSON lines: appended one by one, read back tolerantly. Does not know what a result means."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["append_record", "jsonable", "mend", "read_records"]

Record = dict[str, Any]


def read_records(path: Path) -> Iterator[Record]:
    """Every whole line of the file; a torn last line (the machine died in mid-write) is passed over."""
    if not path.exists():
        return
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            if number == len(lines):
                return
            raise ValueError(f"{path}, line {number}, is not JSON ({error}); repair or remove the line") from None
        if not isinstance(record, dict):
            raise ValueError(f"{path}, line {number}, is not a JSON object; repair or remove the line")
        yield record


def mend(path: Path) -> None:
    """Cut a torn last line off, so that the next record starts on a line of its own."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        content = file.read()
        whole, _, tail = content.rpartition(b"\n")
        if not tail:
            return
        try:
            json.loads(tail)
            file.write(b"\n")
        except ValueError:
            file.truncate(len(whole) + 1 if whole else 0)


def append_record(path: Path, record: Record) -> None:
    """One line in one write, so that a reader or a crash sees all of it or a torn end, never a mixture."""
    data = json.dumps(jsonable(record), ensure_ascii=False).encode() + b"\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as file:
        file.write(data)


def jsonable(value: Any) -> Any:
    """Plain JSON values; numpy scalars become Python's, and what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
