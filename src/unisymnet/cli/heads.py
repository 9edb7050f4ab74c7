"""Options of the form `a=b`; and units in the heads of columns, under the name that the commands use."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import DataError
from ..files.heads import without_units as without_units


def pairs(given: Sequence[str] | None, option: str, example: str) -> dict[str, str] | None:
    """`--units "m=kg, v=m/s"`, or the option repeated, as a dict; "none" is none."""
    found: dict[str, str] = {}
    for text in given or ():
        if text.strip().lower() == "none":
            continue
        for part in text.split(","):
            name, equals, value = part.partition("=")
            if not equals or not name.strip():
                raise DataError(f"{option}: {part.strip()!r} should be NAME=VALUE, as in {example}")
            found[name.strip()] = value.strip()
    return found or None
