"""JSON from outside: read within limits, every value of the kind it should be; what is not is a CheckpointError.

A file may be damaged or made by somebody who wishes harm. Whatever is read here is later printed, compared and put into
pages, so its kind is settled once, at the door.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from ..errors import CheckpointError

MAX_CHARACTERS = 100_000_000
MAX_ITEMS = 100_000  # in one list


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


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a very large number"
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
