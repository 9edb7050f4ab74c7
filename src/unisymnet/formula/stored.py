"""JSON from outside: read within limits, every value of the kind it should be; what is not is a CheckpointError.

A file may be damaged or made by somebody who wishes harm. Whatever is read here is later printed, compared and put into
pages, so its kind is settled once, at the door.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CheckpointError

MAX_CHARACTERS = 100_000_000
MAX_ITEMS = 100_000  # in one list
_MOST_SHOWN = 200  # characters of a name or of another error in a message


def read_object(text: str, what: str) -> dict[str, Any]:
    """A JSON object; `what` it should be stands in the message."""
    if len(text) > MAX_CHARACTERS:
        raise CheckpointError(f"{what} is larger than {MAX_CHARACTERS // 10**6} MB; unisymnet did not write it")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:  # also an integer of thousands of digits
        raise CheckpointError(f"{what} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise CheckpointError(f"{what} should be a JSON object, got {type(data).__name__}")
    return data


def read_file(path: str | os.PathLike[str], what: str) -> dict[str, Any]:
    """The JSON object in a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: no text, or a name that no file can have
        raise CheckpointError(f"cannot read {what} from {os.fspath(path)[:_MOST_SHOWN]}: {_shown(error)}") from error
    return read_object(text, os.fspath(path))


def expect(data: Any, schema: str, version: int, what: str) -> Mapping[str, Any]:
    """An object that says to be of this schema and version."""
    if not isinstance(data, Mapping):
        raise CheckpointError(f"{what} should be a JSON object, got {type(data).__name__}")
    if data.get("schema") != schema:
        raise CheckpointError(f"not {what}: schema {schema!r} expected, got {_shown(data.get('schema'))}")
    if data.get("version") != version:
        raise CheckpointError(
            f"{what} of version {_shown(data.get('version'))} of the format; this package reads version {version}: "
            "update unisymnet"
        )
    return data


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Whatever a value of the wrong kind raises becomes one sentence: `what` is damaged."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise CheckpointError(f"{what} is damaged: {_shown(error)}") from error


def number(value: Any, *, missing: Any = ...) -> float:
    """A finite number; null is `missing`, where that is given."""
    if value is None and missing is not ...:
        return missing
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"a number expected, got {_shown(value)}")
    try:
        found = float(value)
    except OverflowError as error:
        raise ValueError("a number is too large") from error
    if not math.isfinite(found):
        raise ValueError(f"a finite number expected, got {found}")
    return found


def whole(value: Any) -> int:
    """A whole number that is no surprise."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise ValueError(f"a count expected, got {_shown(value)}")
    return value


def word(value: Any, *, missing: Any = ...) -> str:
    """Text that can be written to a file."""
    if value is None and missing is not ...:
        return missing
    if not isinstance(value, str):
        raise ValueError(f"text expected, got {_shown(value)}")
    value.encode("utf-8")  # half a character raises
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"true or false expected, got {_shown(value)}")
    return value


def listed(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        raise ValueError(f"a list expected, got {_shown(value)}")
    return value


def words(value: Any) -> tuple[str, ...]:
    return tuple(word(item) for item in listed(value))


def record(value: Any, known: Iterable[str]) -> dict[str, Any]:
    """An object with no other keys than these."""
    if not isinstance(value, dict):
        raise ValueError(f"an object expected, got {_shown(value)}")
    unknown = sorted(set(value) - set(known))
    if unknown:
        raise ValueError(f"unknown key {_shown(unknown[0])}")
    return value


def finite(value: Any) -> Any:
    """Plain data for JSON, which knows neither inf nor nan: both become null."""
    if isinstance(value, dict):
        return {str(key): finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def is_plain(value: Any) -> bool:
    """Can JSON hold it as it is?"""
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(inner) for key, inner in value.items())
    return value is None or isinstance(value, str | int | float | bool)


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a very large number"
    text = repr(value)
    most = _MOST_SHOWN if isinstance(value, Exception) else 60
    return text if len(text) <= most else text[: most - 1] + "…"
