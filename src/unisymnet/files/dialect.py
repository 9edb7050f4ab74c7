"""How a text file is written, read off its first lines: delimiter, decimal sign, header, units, encoding.

Whatever had to be guessed is said in `notes`; what cannot be a table is refused. Does not know pandas.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import DataError
from .encodings import HEAD_BYTES, encoding_of
from .titles import n_titles, separator_line, titles_note

MAX_HEAD = 8_000_000
HEAD_LINES = 60
DELIMITERS = (",", ";", "\t", "|", " ")
MISSING = frozenset(["", "na", "n/a", "n.a.", "nan", "null", "none", "-", "--", "?", ".", "#n/a", "missing"])
YEARS = range(1500, 2201)
MINUS = "\u2212"  # as typesetters write it
_BETWEEN = " \u00a0\u202f\u2009'\u2019"  # thousands, in France, in Sweden, in Switzerland

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d*|\d{1,3}(?:\.\d{3})+),\d+(?:[eE][+-]?\d+)?")
_GROUPS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_SPACED = re.compile(rf"[+-]?\d{{1,3}}([{_BETWEEN}])\d{{3}}(?:\1\d{{3}})*(?:[.,]\d+)?")


@dataclass(frozen=True)
class Dialect:
    """How a text file is written. `start` is the byte at which the rows of numbers begin, `width` their cells."""

    delimiter: str
    decimal: str
    header: bool
    encoding: str
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    comments: bool = False
    start: int = 0
    width: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Line:
    """One row of cells, or a comment, and where the file goes on behind it (in characters)."""

    cells: tuple[str, ...]
    end: int
    comment: bool = False


def detect(raw: bytes, delimiter: str | None = None) -> Dialect:
    """Read the dialect off the first lines."""
    encoding, skipped, guessed = encoding_of(raw)
    head = raw[skipped : skipped + _head_length(raw)]
    whole = skipped + len(head) >= len(raw)
    text = head.decode(encoding, errors="ignore")
    separator, own = separator_line(text)
    text, skipped = text[len(separator) :], skipped + len(separator.encode(encoding))
    delimiter = delimiter or own
    plain = [line for line in io.StringIO(text, newline=None) if line.strip() and not line.lstrip().startswith("#")]
    sign = _checked(delimiter) if delimiter else _delimiter(plain[:HEAD_LINES] if whole else plain[:-1][:HEAD_LINES])
    lines = _lines(text, sign)
    rows = [line for line in lines if not line.comment][: HEAD_LINES + 2]
    if not whole and len(rows) > 1 and rows[-1] is lines[-1]:
        rows = rows[:-1]  # may be cut off
    if not rows:
        raise DataError("the file holds nothing but comments")
    notes = [] if guessed is None else [guessed]
    decimal = _decimal([line.cells for line in rows], sign, notes)
    above = n_titles([line.cells for line in rows], lambda cell: is_number(cell, decimal))
    if above:
        notes.append(titles_note([line.cells for line in rows[:above]]))
    names, rows, from_comment = _header(lines, rows[above:], sign, decimal, notes)
    units, body = _units(rows[1:] if names and not from_comment else rows, names, decimal, notes)
    start = 0 if not names else rows[0].end if not from_comment else 0
    if units:
        start = next(line.end for line in rows if line.cells == units)
    width = max((len(line.cells) for line in body), default=len(names))
    names = _fitted(names, [line.cells for line in body], width, notes)
    comments = any(line.comment for line in lines)
    offset = skipped + len(text[:start].encode(encoding))
    return Dialect(sign, decimal, bool(names), encoding, names, units, comments, offset, width, tuple(notes))


def is_number(cell: str, decimal: str) -> bool:
    """A number as the file writes them, or a sign for a missing one."""
    cell = ungrouped(cell)
    return cell.lower() in MISSING or _NUMBER.fullmatch(cell.replace(decimal, ".")) is not None


def ungrouped(cell: str) -> str:
    """The cell with a plain minus and without spaces or apostrophes between thousands: 5 000 is 5000."""
    cell = cell.strip().replace(MINUS, "-")
    found = _SPACED.fullmatch(cell)
    return cell if found is None else cell.replace(found[1], "")


def _checked(delimiter: str) -> str:
    sign = {"\\t": "\t", "tab": "\t", "space": " ", "\\s": " "}.get(delimiter, delimiter)
    if len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in "\r\n\0.+-\"'#":
        raise DataError(f"the delimiter must be one character such as ; or | or \\t, got {delimiter!r}")
    return sign


def _head_length(raw: bytes) -> int:
    """So many bytes that a few whole lines are among them, however long they are."""
    length = HEAD_BYTES
    while length < min(len(raw), MAX_HEAD) and raw[:length].count(b"\n") + raw[:length].count(b"\r") < 5:
        length *= 2
    return length


def _lines(text: str, sign: str) -> list[_Line]:
    """Rows of cells, quoted line ends included, with the place behind each."""
    found: list[_Line] = []
    at, pending = 0, ""
    for piece in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text):
        at += len(piece)
        pending += piece
        if not pending.lstrip().startswith("#") and pending.count('"') % 2 == 1 and len(pending) < 10_000:
            continue  # a quoted cell goes on in the next line
        bare, pending = pending.strip("\r\n"), ""
        if not bare.strip():
            continue
        if bare.lstrip().startswith("#"):
            found.append(_Line((bare.lstrip().lstrip("#").strip(),), at, comment=True))
        else:
            found.append(_Line(tuple(_cells(bare, sign)), at))
        if len(found) > 4 * HEAD_LINES:
            break
    return found


def _cells(line: str, sign: str) -> list[str]:
    line = line.strip() if sign == " " else line
    try:
        rows = list(csv.reader(io.StringIO(line, newline=""), delimiter=sign, skipinitialspace=True))
    except csv.Error as error:
        raise DataError(f"a cell of the file cannot be read ({error})") from error
    return [cell for row in rows for cell in row]


def _delimiter(lines: Sequence[str]) -> str:
    """The sign that cuts every line into the same number of cells, and more than one."""
    best, score = ",", (0.0, 0)
    for sign in DELIMITERS:
        counts = [len(_cells(line, sign)) if sign in line else 1 for line in lines]
        most = max(set(counts), key=counts.count) if counts else 0
        if most > 1:
            found = (counts.count(most) / len(counts), 1 if sign == " " else 2)
            if found > score:
                best, score = sign, found
    for other in ";\t":
        if best == "," and lines and all(other in line for line in lines):
            return other  # "1,5;2,5": both signs cut every line alike, but only one can be the decimal comma
    return best


def _decimal(rows: Sequence[Sequence[str]], sign: str, notes: list[str]) -> str:
    """Comma or point: 1,5 is a decimal comma, 1,234,567 is not; 1,234 alone can be either."""
    spaced = next((cell.strip() for row in rows for cell in row if _SPACED.fullmatch(cell.strip())), None)
    if spaced is not None:
        notes.append(
            f"{' '.join(spaced.split())} is read as {ungrouped(spaced)}, without what stands between thousands"
        )
    cells = [ungrouped(cell) for row in rows for cell in row if "," in cell]
    groups = [cell for cell in cells if _GROUPS.fullmatch(cell)]
    commas = [cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell) and cell not in groups]
    unclear = [cell for cell in groups if cell.count(",") == 1 and "." not in cell]
    if commas and len(unclear) == len(groups):
        return ","
    if groups and len(unclear) == len(groups) and not commas and sign != ",":
        value = unclear[0].replace(",", ".")
        notes.append(
            f"{unclear[0]} is read as {value}, with a decimal comma; if the comma separates thousands, remove it"
        )
        return ","
    if groups:
        notes.append(f"{groups[0]} is read as {groups[0].replace(',', '')}, with commas between thousands")
    return "."


def _header(
    lines: Sequence[_Line], rows: list[_Line], sign: str, decimal: str, notes: list[str]
) -> tuple[tuple[str, ...], list[_Line], bool]:
    """The names, the rows, and whether the names stand in a comment."""
    first = rows[0].cells
    if any(not is_number(cell, decimal) for cell in first):
        return first, rows, False
    if _are_years(first) and len(rows) > 1 and not _are_years(rows[1].cells):
        shown = ", ".join(first[:3])
        notes.append(f"the first row ({shown}) is taken as column names: they look like years, the rows below do not")
        return first, rows, False
    above = [line for line in lines[: lines.index(rows[0])] if line.comment]
    names = tuple(_cells(above[-1].cells[0], sign)) if above else ()
    if len(names) == len(first) and all(name.strip() and not is_number(name, decimal) for name in names):
        notes.append(f"names of the columns: the comment {above[-1].cells[0]!r}")
        return names, rows, True
    shown = ", ".join(first[:4]) + (", …" if len(first) > 4 else "")
    notes.append(f"no names above the numbers: columns are called x0, x1, …, the first row ({shown}) counts as data")
    return (), rows, False


def _are_years(cells: Sequence[str]) -> bool:
    years = [int(cell) for cell in cells if re.fullmatch(r"\s*\d{4}\s*", cell)]
    return len(years) == len(cells) > 1 and len(set(years)) == len(years) and all(year in YEARS for year in years)


def _units(
    rows: Sequence[_Line], names: Sequence[str], decimal: str, notes: list[str]
) -> tuple[tuple[str, ...], Sequence[_Line]]:
    """A row of units between the names and the numbers, and the rows below it."""
    if not names or len(rows) < 3 or len(rows[0].cells) != len(names):
        return (), rows
    numeric = [
        place
        for place in range(len(names))
        if all(place < len(row.cells) and is_number(row.cells[place], decimal) for row in rows[1:])
        and any(row.cells[place].strip().lower() not in MISSING for row in rows[1:])
    ]
    cells = rows[0].cells
    words = [place for place in numeric if not is_number(cells[place], decimal)]
    if not words or not all(may_be_unit(cells[place]) for place in numeric):
        return (), rows
    notes.append(f"the row below the names holds units ({', '.join(cells)}) and is left out")
    return cells, rows[1:]


def may_be_unit(cell: str) -> bool:
    """Not a measurement, plain or as "<0.1" and "5%": a digit in a unit has a letter beside it, but for 1."""
    cell = cell.strip()
    return cell == "1" or any(sign.isalpha() for sign in cell) or not any(sign.isdigit() for sign in cell)


def _fitted(names: tuple[str, ...], rows: Sequence[Sequence[str]], width: int, notes: list[str]) -> tuple[str, ...]:
    """As many names as the rows have cells; a cell too many may be the end of the row, or the name of the row."""
    while names and not names[-1].strip() and all(not cell.strip() for row in rows for cell in row[len(names) - 1 :]):
        names = names[:-1]  # the names, too, end with the delimiter
    if not names or len(names) >= width:
        return names
    spare = range(len(names), width)
    if all(not cell.strip() for row in rows for cell in row[len(names) :]):
        return names  # every row ends with the delimiter
    long = [row for row in rows if len(row) > len(names)]
    labels = [row[0].strip() for row in rows]
    counted = labels in ([str(i) for i in range(len(rows))], [str(i + 1) for i in range(len(rows))])
    if len(spare) == 1 and len(long) == len(rows) and (counted or not any(is_number(cell, ".") for cell in labels)):
        notes.append("the first cell of each row has no name above it; it is read as the name of the row")
        return ("row", *names)
    shown = ", ".join(long[0])
    raise DataError(
        f"there {'is 1 name' if len(names) == 1 else f'are {len(names)} names'}, but a row of {len(long[0])} cells "
        f"({shown}); give the rows as many cells as names (a decimal comma needs another delimiter)"
    )
