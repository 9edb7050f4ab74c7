"""A file into a frame: text, Excel or Parquet, with names that can be shown and numbers that are numbers.

Every name is one printable line and stands for one column. A column whose cells are all numbers in some spelling is
numeric; any other stays as it is. Does not choose columns (see table.py).
"""

from __future__ import annotations

import io
import re
import sys
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError
from ..symbolic.text import printable
from .dialect import MISSING, YEARS, Dialect, detect, may_be_unit, ungrouped
from .pieces import is_many, open_pieces
from .titles import MOST_ROWS, n_titles, titles_note

if TYPE_CHECKING:
    import pandas as pd

MAX_BYTES = 4_000_000_000
MAX_COLUMNS = 20_000
MAX_NAME = 200  # characters
LEAST_NUMBERS = 2  # columns of numbers of a sheet that can be learned from
EXCEL = (".xlsx", ".xls", ".xlsm", ".ods")
PARQUET = (".parquet", ".pq")
_FOREIGN = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"%PDF": "PDF", b"\x28\xb5\x2f\xfd": "zstd"}


def read_frame(source: str, delimiter: str | None = None) -> tuple[pd.DataFrame, Dialect | None]:
    """The file as it is, and its dialect if it is text; `-` is stdin. `attrs["notes"]` say what had to be guessed."""
    if is_many(source):
        pieces = open_pieces(source)
        frame = pieces.sample()
        frame = _converted(frame.set_axis(clean_names(list(frame.columns)), axis=1).reset_index(drop=True))
        drawn = f"{len(frame)} of {pieces.n_rows} rows drawn at random for the search"
        frame.attrs |= {"notes": (f"{drawn}; constants and scores use all rows",), "pieces": pieces}
        return frame, None
    suffix = "" if source == "-" else Path(source).suffix.lower()
    raw = _bytes(source, only_head=suffix in (*EXCEL, *PARQUET))
    what = "the input" if source == "-" else source
    if not raw.strip():
        raise DataError(f"{what} is empty")
    dialect = None
    try:
        if suffix in EXCEL or (raw.startswith(b"PK\3\4") and source != "-"):
            frame, notes = _excel(source)
        elif suffix in PARQUET or (raw.startswith(b"PAR1") and source != "-"):
            frame, notes = _parquet(source), ()
        else:
            frame, dialect = _text(raw, delimiter)
            notes = dialect.notes
    except DataError as error:
        raise DataError(f"{what} cannot be read as a table: {shortened(str(error), 400)}") from error
    if not frame.shape[1] or not len(frame):
        raise DataError(f"{what} has {'names but no rows' if frame.shape[1] else 'no columns'}")
    frame.attrs["notes"] = tuple(shortened(printable(note), 400) for note in notes)
    return frame, dialect


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def clean_names(given: Sequence[Any]) -> list[str]:
    """One printable line for each column, none twice."""
    found: list[str] = []
    for place, name in enumerate(given):
        text = "" if name is None or name != name else str(name)
        base = printable(" ".join(text.split()))[:MAX_NAME] or f"column_{place + 1}"
        name, count = base, 2
        while name in found:
            name, count = f"{base}_{count}", count + 1
        found.append(name)
    return found


def as_numbers(column: Any, decimal: str = ".") -> Any:
    """The column as numbers, or None if it holds anything else."""
    import pandas as pd

    kind = column.dtype
    plain = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind)
    if plain or pd.api.types.is_bool_dtype(kind):
        return column
    if isinstance(kind, pd.CategoricalDtype):
        column = column.astype(object)
    elif not (pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind)):
        return None  # dates and durations
    values = [_number(value, decimal) for value in column]
    if any(value is None for value in values):
        return None
    return pd.Series(values, index=column.index, name=column.name, dtype="float64")


def _number(value: Any, decimal: str) -> float | None:
    """A cell as a number, nan where nothing is given, None for text and other things."""
    if isinstance(value, str):
        text = ungrouped(value)
        if text.lower() in MISSING:
            return float("nan")
        group = "." if decimal == "," else ","
        if re.fullmatch(rf"[+-]?\d{{1,3}}(?:\{group}\d{{3}})+(?:\{decimal}\d+)?", text):
            text = text.replace(group, "")
        try:
            return float(text.replace(decimal, ".")) if "_" not in text else None
        except ValueError:
            return None
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # pandas' signs for nothing
        return float("nan")
    try:
        return float(value) if not isinstance(value, complex | bytes | list | dict) else None
    except OverflowError:
        return float("inf")
    except (TypeError, ValueError):
        return None


def _bytes(source: str, only_head: bool) -> bytes:
    if source == "-":
        return _limited(sys.stdin.buffer.read(MAX_BYTES + 1))
    try:
        if not Path(source).is_file():
            raise DataError(f"there is no file {source!r}; give the path of a CSV, TSV, Excel or Parquet file, or -")
        with open(source, "rb") as file:
            return file.read(8) if only_head else _limited(file.read(MAX_BYTES + 1))
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{source[:200]} cannot be opened: {getattr(error, 'strerror', None) or error}") from error


def _limited(raw: bytes) -> bytes:
    if len(raw) > MAX_BYTES:
        raise DataError(f"the file is larger than {MAX_BYTES // 10**9} GB; give a sample of its rows")
    return raw


def _text(raw: bytes, delimiter: str | None) -> tuple[pd.DataFrame, Dialect]:
    import pandas as pd

    for mark, kind in _FOREIGN.items():
        if raw.startswith(mark):
            raise DataError(f"it is a {kind} file, not text; unpack it or save it as CSV")
    dialect = detect(raw, delimiter)
    width = max(dialect.width, len(dialect.names))
    _limited_width(width)
    given = dialect.names or tuple(f"x{i}" for i in range(width))
    spare = [f"\0{i}" for i in range(len(given), width)]  # behind the last delimiter; no name can be equal to these
    names = clean_names(given)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # a row with more cells would lose them in silence
            frame = pd.read_csv(
                io.BytesIO(raw[dialect.start :]),
                sep=r"\s+" if dialect.delimiter == " " else dialect.delimiter,
                decimal=dialect.decimal,
                header=None,
                names=[*names, *spare],
                index_col=False,
                encoding=dialect.encoding,
                encoding_errors="replace",
                skipinitialspace=True,
                comment="#" if dialect.comments else None,
                na_values=["-", "--", "?", ".", "n.a.", "N.A.", "missing"],
                low_memory=False,
            )
    except pd.errors.EmptyDataError:
        return pd.DataFrame({name: [] for name in names}), dialect
    except pd.errors.ParserWarning as error:
        raise DataError(f"a row has more cells than there are names ({len(names)})") from error
    except (ValueError, UnicodeError, OverflowError) as error:
        raise DataError(str(error).removeprefix("Error tokenizing data. C error: ").strip()) from error
    for name in spare:
        if frame[name].notna().any():
            row = int(frame[name].notna().to_numpy().argmax())
            raise DataError(f"row {row} has more cells than there are names ({len(names)})")
    return _converted(frame[names], dialect.decimal), dialect


def _converted(frame: pd.DataFrame, decimal: str = ".") -> pd.DataFrame:
    import pandas as pd

    found = {}
    for name in frame.columns:
        numbers = as_numbers(frame[name], decimal)
        if numbers is None and decimal != ".":
            numbers = frame[name].map(lambda cell: _pointed(cell, decimal))
        found[name] = frame[name] if numbers is None else numbers
    return pd.DataFrame(found)


def _pointed(cell: Any, decimal: str) -> Any:
    """A number among words with a decimal point, so that whoever looks for what is no number finds the words only."""
    if not isinstance(cell, str) or decimal not in cell:
        return cell
    number = _number(cell, decimal)
    return cell if number is None else repr(number)


def _excel(source: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    import pandas as pd

    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as packed:
            _limited_size(sum(item.file_size for item in packed.infolist()))
            if not any(name.startswith("xl/") or name == "content.xml" for name in packed.namelist()):
                raise DataError("it is a zip file, not a table; unpack it first")
    try:
        with pd.ExcelFile(source) as book:
            return _sheet(book)
    except DataError:
        raise
    except ImportError as error:
        raise DataError(f"one more package is needed: pip install openpyxl ({error})") from error
    except Exception as error:  # whatever a reader of a foreign format raises
        raise DataError(f"{type(error).__name__}: {error}") from error


def _sheet(book: Any) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The first sheet with two columns of numbers, since books often begin with a page of words; else the first."""
    import pandas as pd

    first: tuple[pd.DataFrame, tuple[str, ...]] | None = None
    names = list(book.sheet_names)
    for place, name in enumerate(names):
        notes: list[str] = []
        raw = pd.read_excel(book, sheet_name=name, header=None, dtype=object)
        raw = raw.dropna(how="all").dropna(how="all", axis="columns")
        _limited_width(raw.shape[1])
        which = "the first" if place == 0 else "the first with numbers"
        if len(names) > 1:
            told = f"{which} of {len(names)} sheets is read, {str(name)!r}"
            notes.append(f"{told}; to read another, save it as a file of its own")
        frame = _headed(raw, notes)
        found = frame, tuple(notes)
        if sum(as_numbers(frame[column]) is not None for column in frame) >= LEAST_NUMBERS:
            return found
        first = found if first is None else first
    assert first is not None  # a book has a sheet
    return first


def _limited_width(n_columns: int) -> None:
    if n_columns > MAX_COLUMNS:
        raise DataError(f"it has {n_columns} columns, more than {MAX_COLUMNS}; leave some out")


def _limited_size(size: int) -> None:
    if size > MAX_BYTES:
        raise DataError(f"it unpacks to {size / 1e9:.0f} GB, more than {MAX_BYTES // 10**9}")


def _headed(raw: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Cells of a sheet: the first row names the columns, unless it is as numeric as the others; a row of units goes."""
    import pandas as pd

    if not len(raw):
        return pd.DataFrame()
    cells = [["" if cell != cell else str(cell) for cell in row] for row in raw.head(MOST_ROWS).itertuples(index=False)]
    above = n_titles(cells, lambda cell: _number(cell, ".") is not None)
    if above:
        notes.append(titles_note(cells[:above]))
        raw = raw.iloc[above:].dropna(how="all", axis="columns")
    first = list(raw.iloc[0])
    if all(_number(cell, ".") is not None for cell in first) and not all(_is_year(cell) for cell in first):
        notes.append("no names above the numbers: columns are called x0, x1, …")
        names, body = [f"x{i}" for i in range(raw.shape[1])], raw
    else:
        names, body = clean_names([int(c) if _is_year(c) else c for c in first]), raw.iloc[1:]
    body = body.reset_index(drop=True)
    body.columns = pd.Index(names)
    if len(body) > 3:
        rest = [name for name in names if as_numbers(body[name].iloc[1:]) is not None]
        words = [name for name in rest if as_numbers(body[name].iloc[:1]) is None]
        blank = [name for name in rest if name not in words and body[name].iloc[:1].isna().all()]
        units = all(may_be_unit(str(body[name].iloc[0])) for name in words)
        if words and units and len(words) + len(blank) == len(rest):
            shown = ", ".join(str(cell) for cell in body.iloc[0])
            notes.append(f"the row below the names holds units ({shown}) and is left out")
            body = body.iloc[1:].reset_index(drop=True)
    return _converted(body)


def _is_year(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and cell in YEARS


def _parquet(source: str) -> pd.DataFrame:
    import pandas as pd

    _check_parquet_size(source)
    try:
        try:
            frame = pd.read_parquet(source)
        except ImportError:
            import polars

            table = polars.read_parquet(source)
            frame = pd.DataFrame({name: table[name].to_numpy() for name in table.columns})
    except ImportError as error:
        raise DataError("one more package is needed: pip install pyarrow") from error
    except Exception as error:  # whatever a reader of a foreign format raises
        raise DataError(f"{type(error).__name__}: {error}") from error
    _limited_width(frame.shape[1])
    frame = frame.set_axis(clean_names(list(frame.columns)), axis=1)
    return _converted(frame.reset_index(drop=True))


def _check_parquet_size(source: str) -> None:
    """A few bytes of a Parquet file can stand for any number of rows; its footer says how many."""
    try:
        from pyarrow import parquet  # type: ignore[import-untyped]

        about = parquet.ParquetFile(source).metadata
    except Exception:  # no pyarrow, or no such file: whoever reads it will say so
        return
    _limited_size(8 * about.num_rows * about.num_columns)
