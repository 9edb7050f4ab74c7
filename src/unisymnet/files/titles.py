"""What stands above a table: the title of a sheet, the settings of an instrument, a line that names the delimiter.

Spreadsheets and instruments write such lines without a sign for comments. Taken for names they would give every column
a wrong one, without a word. Does not know encodings or pandas.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

LEAST_CELLS = 2  # of a row of names above which a title can stand
MOST_ROWS = 60  # looked at; a title stands near the top

# Excel's own line: sep=; on top says with which sign the cells are divided.
_SEPARATOR = re.compile(r'\ufeff?"?sep=([^\r\n"])"?[^\S\t\r\n]*(?:\r\n|\r|\n)', re.IGNORECASE)


def separator_line(text: str) -> tuple[str, str]:
    """Excel's line `sep=;` with its end, and the sign it names; both empty where there is none."""
    found = _SEPARATOR.match(text)
    return ("", "") if found is None else (found[0], found[1])


def n_titles(rows: Sequence[Sequence[str]], is_number: Callable[[str], bool]) -> int:
    """How many rows stand above the names: at most half full, and followed by a full row of words.

    A row of numbers below would mean that a half empty row holds the names after all.
    """
    full = [sum(bool(cell.strip()) for cell in row) for row in rows[:MOST_ROWS]]
    usual = max(Counter(full).items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))[0]
    if usual < LEAST_CELLS:
        return 0
    count = next((place for place, cells in enumerate(full) if 2 * cells > usual), 0)
    names = [cell for cell in rows[count] if cell.strip()]
    return count if len(names) >= usual and not any(map(is_number, names)) else 0


def titles_note(rows: Sequence[Sequence[str]]) -> str:
    """A sentence about the rows left out."""
    lines = [" ".join(cell.strip() for cell in row if cell.strip()) for row in rows]
    shown = "; ".join(line for line in lines if line)
    return f"above the names stands {shown!r}, which is left out"
