"""What keeps a column of words from being numbers, and what its owner can do about it.

Dates, numbers with a sign or a unit around them, decimal commas, and a few words among numbers each need something
else done. Does not know tables.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from .targets import words_cure

MOST = 0.5  # of the cells: what most of them are, the column is
SHOWN = 40  # characters of a cell
TO_NUMBERS = "turn them into numbers, such as hours since the first"

_LIKE_NUMBER = re.compile(r"\W*\d")  # 50%, $5, <0.1, 3±0.1
_LIKE_TIME = re.compile(
    r"\s*(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{1,2}:\d{2}|"
    r"\d{1,2}[- ][A-Za-z]{3}[- ]\d{2,4})(?!\d)"
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")


def number_fault(labels: Collection[str]) -> str:
    """Why these different cells are no numbers although they look like it; empty for words."""
    if _share(bool(_DECIMAL_COMMA.fullmatch(label.strip())) for label in labels) > MOST:
        return 'its numbers have a decimal comma: read_table, or pandas.read_csv(…, decimal=","), reads them'
    times = [label for label in labels if _LIKE_TIME.match(label)]
    if len(times) > MOST * len(labels):
        return f"it holds dates or times ({times[0][:SHOWN]!r}); {TO_NUMBERS}"
    odd = [label for label in labels if _LIKE_NUMBER.match(label)]
    if len(odd) > MOST * len(labels):
        return f"its cells are not plain numbers ({odd[0][:SHOWN]!r}); remove what is around the numbers"
    return ""


def cure(cells: Sequence[object]) -> str:
    """What to do about a column that must be numbers and is not; `cells` without those where nothing is given."""
    words = [str(cell) for cell in cells if not is_number(cell)]
    if not words:
        return ""
    if len(words) < MOST * len(cells):
        many = "1 cell is" if len(words) == 1 else f"{len(words)} of {len(cells)} cells are"
        return f"{many} not a number; write one there, or leave the cell empty to leave the row out"
    return words_cure(map(str, cells)) or number_fault(dict.fromkeys(words))


def is_number(cell: object) -> bool:
    try:
        float(cell)  # type: ignore[arg-type]
    except OverflowError:  # a number, if too large for us; the validation says so
        return True
    except (TypeError, ValueError):
        return False
    return True


def _share(found: Iterable[bool]) -> float:
    every = list(found)
    return sum(every) / max(len(every), 1)
