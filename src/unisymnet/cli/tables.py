"""Data files as people have them: CSV, TSV, Excel, Parquet or stdin, read without asking about their dialect.

Delimiter, header, encoding and decimal comma are read off the first lines. Columns of text are left out with a
note, rows with missing values too. Does not know formulas; what it cannot use it names in a DataError.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError
from .heads import Heads, without_units

if TYPE_CHECKING:
    import pandas as pd

HEAD_BYTES = 65_536
HEAD_LINES = 60
DELIMITERS = (",", ";", "\t", "|", " ")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """How a text file is written."""

    delimiter: str
    decimal: str
    header: bool
    encoding: str


@dataclass(frozen=True)
class Table:
    """Numeric columns to learn from, the target, weights if asked for, and what was left out."""

    X: pd.DataFrame
    y: pd.Series
    weights: pd.Series | None
    notes: tuple[str, ...]
    dialect: Dialect | None
    units: dict[str, str] = field(default_factory=dict)  # read from heads such as "v [m/s]"
    renamed: dict[str, str] = field(default_factory=dict)  # those heads, and the names without the unit


def read_frame(source: str, delimiter: str | None = None) -> tuple[pd.DataFrame, Dialect | None]:
    """The file as it is; `-` is stdin."""
    if source != "-" and not Path(source).is_file():
        raise DataError(f"there is no file {source!r}; give the path of a CSV, TSV, Excel or Parquet file, or -")
    suffix = Path(source).suffix.lower()
    if suffix in (".xlsx", ".xls", ".xlsm", ".ods"):
        return _read_excel(source), None
    if suffix in (".parquet", ".pq"):
        return _read_parquet(source), None
    raw = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    return _read_text(raw, source, delimiter)


def load_table(
    source: str,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    weights: str | None = None,
    delimiter: str | None = None,
    heads: bool = True,
) -> Table:
    """Choose columns and rows that can be learned from. Without `target` the last column is taken.

    With `heads`, a column called "v [m/s]" is called v, and its unit is told.
    """
    frame, dialect = read_frame(source, delimiter)
    notes: list[str] = []
    read = without_units(frame) if heads else Heads(frame, {}, {})
    frame = read.frame
    target, weights = (read.short(name) for name in (target, weights))
    features = None if features is None else [str(read.short(name)) for name in features]
    drop = [str(read.short(name)) for name in drop]
    if read.units:
        shown = ", ".join(f"{name} in {unit}" for name, unit in read.units.items())
        notes.append(f"units read from the heads: {shown} (--units none: do without)")
    if target is None:
        target = str(frame.columns[-1])
        notes.append(f"target: {target}, the last column (choose another with --target)")
    for name in (target, weights, *(features or ()), *drop):
        if name is not None and name not in frame.columns:
            raise DataError(f"{source} has no column {name!r}; it has {', '.join(map(str, frame.columns))}")
    asked = [c for c in frame.columns if c not in (target, weights, *drop)] if features is None else list(features)
    kept = []
    for name in asked:
        fault = _text_fault(frame[name], name)
        if fault is None:
            kept.append(name)
        elif features is not None:
            raise DataError(f"{fault}; a formula needs numbers")
        else:
            notes.append(f"column left out: {fault}")
    for name in (target, weights):
        fault = None if name is None else _text_fault(frame[name], name)
        if fault is not None:
            raise DataError(f"{fault}; the target and the weights must be numbers")
    if not kept:
        raise DataError(f"{source} has no column of numbers beside the target {target!r}")
    table = _complete(frame, kept, target, weights, notes, dialect, source)
    used = (*kept, target)
    units = {name: unit for name, unit in read.units.items() if name in used}
    return replace(table, units=units, renamed={old: new for old, new in read.renamed.items() if new in used})


def _complete(
    frame: pd.DataFrame,
    kept: list[str],
    target: str,
    weights: str | None,
    notes: list[str],
    dialect: Dialect | None,
    source: str,
) -> Table:
    """Rows without missing or infinite values."""
    import numpy as np

    used = frame[[*kept, target, *([weights] if weights else [])]].astype("float64")
    good = np.isfinite(used.to_numpy()).all(axis=1)
    if not good.any():
        raise DataError(f"{source} has no row in which all of {', '.join(used.columns)} are given")
    if not good.all():
        first = int(np.flatnonzero(~good)[0])
        column = next(c for c in used.columns if not np.isfinite(used[c].iloc[first]))
        notes.append(
            f"{int((~good).sum())} of {len(used)} rows left out: a value is missing (first: row {first}, {column})"
        )
    used = used[good].reset_index(drop=True)
    return Table(used[kept], used[target], used[weights] if weights else None, tuple(notes), dialect)


def _text_fault(column: Any, name: str) -> str | None:
    """Why a column is not numeric, or None."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        return None
    numbers = pd.to_numeric(column, errors="coerce")
    bad = column[numbers.isna() & column.notna()]
    if len(bad) == 0:
        return f"{name} is empty" if numbers.isna().all() else f"{name} holds numbers written as text"
    return f"{name} holds text ({str(bad.iloc[0])!r} in row {bad.index[0]})"


def _read_text(raw: bytes, source: str, delimiter: str | None) -> tuple[pd.DataFrame, Dialect]:
    import pandas as pd

    if not raw.strip():
        raise DataError(f"{'the input' if source == '-' else source} is empty")
    dialect = detect(raw[:HEAD_BYTES], delimiter)
    separator = r"\s+" if dialect.delimiter == " " else dialect.delimiter
    try:
        frame = pd.read_csv(
            io.BytesIO(raw),
            sep=separator,
            decimal=dialect.decimal,
            header=0 if dialect.header else None,
            encoding=dialect.encoding,
            skipinitialspace=True,
            comment="#" if raw.lstrip()[:1] == b"#" else None,
        )
    except (ValueError, UnicodeError) as error:
        raise DataError(f"{source} cannot be read as a table: {error}") from error
    if not dialect.header:
        frame.columns = [f"x{i}" for i in range(frame.shape[1])]
    frame.columns = [str(column).strip() for column in frame.columns]
    return frame, dialect


def detect(head: bytes, delimiter: str | None = None) -> Dialect:
    """Read the dialect off the first lines."""
    encoding = _encoding(head)
    text = head.decode(encoding, errors="ignore")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")][:HEAD_LINES]
    if len(head) >= HEAD_BYTES and len(lines) > 1:
        lines = lines[:-1]  # may be cut off
    chosen = delimiter.encode().decode("unicode_escape") if delimiter else _delimiter(lines)
    cells = list(csv.reader(lines, delimiter=chosen, skipinitialspace=True))
    comma = chosen != "," and any(DECIMAL_COMMA.fullmatch(cell.strip()) for row in cells[1:] for cell in row)
    decimal = "," if comma else "."
    return Dialect(chosen, decimal, _has_header(cells, decimal), encoding)


def _encoding(head: bytes) -> str:
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if head.startswith(mark):
            return name
    try:
        head[: len(head) - 4 if len(head) >= HEAD_BYTES else len(head)].decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _delimiter(lines: Sequence[str]) -> str:
    """The sign that cuts every line into the same number of cells, and more than one."""
    best, score = ",", (0.0, 0)
    for sign in DELIMITERS:
        counts = [len(row) for row in csv.reader(lines, delimiter=sign, skipinitialspace=True)]
        most = max(set(counts), key=counts.count) if counts else 0
        if most > 1:
            found = (counts.count(most) / len(counts), 1 if sign == " " else 2)
            if found > score:
                best, score = sign, found
    if best == "," and any(";" in line for line in lines[:1]):
        return ";"  # "1,5;2,5": both signs cut every line alike, but only one can be the decimal comma
    return best


def _has_header(cells: Sequence[Sequence[str]], decimal: str) -> bool:
    """Is there a cell in the first line that is no number, above numbers?"""
    if not cells:
        return True
    return any(not _is_number(cell, decimal) for cell in cells[0])


def _is_number(cell: str, decimal: str) -> bool:
    try:
        float(cell.strip().replace(decimal, "."))
    except ValueError:
        return cell.strip() == ""
    return True


def _read_excel(source: str) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_excel(source)
    except ImportError as error:
        raise DataError(f"reading {source} needs one more package: pip install openpyxl ({error})") from error
    except Exception as error:  # whatever a reader of a foreign format raises
        raise DataError(f"{source} cannot be read as a table: {error}") from error


def _read_parquet(source: str) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(source)
    except ImportError:
        try:
            import polars

            table = polars.read_parquet(source)
        except ImportError as error:
            raise DataError(f"reading {source} needs one more package: pip install pyarrow") from error
        return pd.DataFrame({name: table[name].to_numpy() for name in table.columns})
    except Exception as error:  # whatever a reader of a foreign format raises
        raise DataError(f"{source} cannot be read as a table: {error}") from error
