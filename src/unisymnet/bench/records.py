"""Results as JSON lines: appended one by one, read back tolerantly, never made twice. Does not know what they mean."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..formula.stored import finite

Record = dict[str, Any]
SHOWN = 20  # names in an error
Key = dict[str, Any]  # what identifies a run: two runs with equal keys are the same run


def resumed(
    keys: Sequence[Key],
    path: Path | None,
    made: Callable[[list[Key]], Iterable[tuple[Key, Record]]],
    tell: Callable[[Record], None] | None = None,
) -> list[Record]:
    """The records of all keys, in their order; those that the file does not hold are ``made``, appended and told.

    Keys have the same names. So a benchmark can be killed at any time and started again.
    """
    if path is not None:
        mend(path)
    names = tuple(keys[0]) if keys else ()
    held = [] if path is None else [r for r in read_records(path) if all(name in r for name in names)]
    done = {_value([r[name] for name in names]): r for r in held}
    missing = [key for key in keys if _value(list(key.values())) not in done]
    for key, record in made(missing) if missing else ():
        if path is not None:
            append_record(path, record)
        done[_value([key[name] for name in names])] = record
        if tell is not None:
            tell(record)
    return [done[_value(list(key.values()))] for key in keys]


def performed(
    keys: Sequence[Key],
    path: Path | None,
    perform: Callable[[Key], Record],
    tell: Callable[[Record], None] | None = None,
) -> list[Record]:
    """The same where runs are done one after the other, each by `perform`."""
    return resumed(keys, path, lambda missing: ((key, perform(key)) for key in missing), tell)


def _value(value: Any) -> Any:
    """Something that can be looked up; 0 and 0.0 are the same."""
    if isinstance(value, dict):
        return tuple((name, _value(item)) for name, item in sorted(value.items()))
    return tuple(map(_value, value)) if isinstance(value, list | tuple) else value


def chosen(names: Sequence[str], wanted: Sequence[str] | None, where: str) -> list[str]:
    """The names that are wanted, or all, in their order; ``where`` says what holds them."""
    unknown = set(wanted or ()) - set(names)
    if unknown:
        known = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
        raise DataError(f"{where} has no {', '.join(map(repr, sorted(unknown)))}; it has {known}")
    return [name for name in names if wanted is None or name in wanted]


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
    data = json.dumps(finite(record), ensure_ascii=False).encode() + b"\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as file:
        file.write(data)
