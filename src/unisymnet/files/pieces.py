"""Tables that do not fit into memory: several files, or one large file, read piece by piece through pyarrow.

A sample of whole rows is what a search sees; a `Part` gives all rows of a file, a bounded number at a time, always in
the same order. Does not know formulas.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

MANY_ROWS = 2_000_000  # of one Parquet file; larger ones are read in pieces
MANY_BYTES = 500_000_000  # of one CSV file
SAMPLE = 50_000  # rows that a search gets
BATCH = 65_536
PARQUET, TEXT = (".parquet", ".pq"), (".csv", ".tsv", ".txt")


def _can_be_asked(path: Path) -> bool:
    """A name too long for the system is no file; whoever opens it will say so."""
    try:
        path.exists()
    except (OSError, ValueError):
        return False
    return True


def is_many(source: str) -> bool:
    """Is it a pattern, a folder, or a file too large to read at once?"""
    path = Path(source)
    if source == "-" or not _can_be_asked(path):
        return False
    if path.is_dir() or (any(sign in source for sign in "*?[") and not path.exists()):
        return True
    suffix = path.suffix.lower()
    if not path.is_file() or suffix not in (*PARQUET, *TEXT):
        return False
    if suffix in TEXT:
        return path.stat().st_size > MANY_BYTES
    try:
        from pyarrow import parquet  # type: ignore[import-untyped]

        return bool(parquet.ParquetFile(source).metadata.num_rows > MANY_ROWS)
    except Exception:  # no pyarrow, or no such format: whoever reads it will say so
        return False


@dataclass(frozen=True)
class Part:
    """The rows of one file: columns to learn from, the target and, last, the weights if there are any."""

    file: str
    columns: tuple[str, ...]
    weighted: bool = False

    def __call__(self) -> Iterator[tuple[Floats, ...]]:
        for rows in _batches(_open([self.file]), self.columns):
            yield (rows[:, :-2], rows[:, -2], rows[:, -1]) if self.weighted else (rows[:, :-1], rows[:, -1])


@dataclass(frozen=True)
class Pieces:
    """An open set of files; `names` are the columns as the files call them."""

    source: str
    dataset: Any
    names: tuple[str, ...]
    n_rows: int
    files: tuple[str, ...] = ()

    def parts(self, columns: Sequence[str], weighted: bool) -> list[Part]:
        """One partition for each file; each can be read on its own, on another machine too if the files are there."""
        return [Part(file, tuple(columns), weighted) for file in self.files]

    def sample(self, size: int = SAMPLE, seed: int = 0) -> pd.DataFrame:
        """Rows drawn at random from all pieces, in their order."""
        import pyarrow as pa

        rng = np.random.default_rng(seed)
        some = min(size, self.n_rows)
        chosen = np.sort(rng.choice(self.n_rows, some, replace=False, shuffle=False))
        found, start = [], 0
        scanner = self.dataset.scanner(batch_size=BATCH, use_threads=False, batch_readahead=1, fragment_readahead=1)
        for batch in scanner.to_batches():
            first, last = np.searchsorted(chosen, (start, start + batch.num_rows))
            if last > first:
                found.append(batch.take(pa.array(chosen[first:last] - start)))
            start += batch.num_rows
        return pa.Table.from_batches(found, self.dataset.schema).to_pandas()


def _batches(dataset: Any, columns: Sequence[str]) -> Iterator[Floats]:
    """All rows of these columns as float64, (rows, columns), nan where a value is missing."""
    from pyarrow import compute, float64

    scanner = dataset.scanner(
        columns=list(columns), batch_size=BATCH, use_threads=False, batch_readahead=1, fragment_readahead=1
    )
    for batch in scanner.to_batches():
        if batch.num_rows:
            table = np.empty((batch.num_rows, len(columns)))
            for place in range(len(columns)):
                numbers = compute.cast(batch.column(place), float64(), safe=False)
                table[:, place] = numbers.to_numpy(zero_copy_only=False)
            yield table


def _open(files: Sequence[str]) -> Any:
    from pyarrow import dataset

    suffix = Path(files[0]).suffix.lower()
    return dataset.dataset(list(files), format="parquet" if suffix in PARQUET else _text_format(files[0]))


def open_pieces(source: str) -> Pieces:
    """All files of a pattern or a folder as one table; they must have the same columns."""
    if find_spec("pyarrow") is None:
        raise DataError(f"reading {source} in pieces needs one more package: pip install pyarrow")
    files = _files(source)
    suffix = Path(files[0]).suffix.lower()
    other = next((name for name in files if Path(name).suffix.lower() != suffix), None)
    if other is not None or suffix not in (*PARQUET, *TEXT):
        raise DataError(f"{source} must be Parquet or CSV files of one kind, got {files[0]} and {other or suffix}")
    try:
        found = _open(files)
        n_rows = int(found.count_rows())
    except Exception as error:  # whatever a reader of a foreign format raises
        raise DataError(f"{source} cannot be read as one table: {error}") from error
    if n_rows == 0:
        raise DataError(f"{source} has no rows")
    return Pieces(source, found, tuple(found.schema.names), n_rows, tuple(files))


def _files(source: str) -> list[str]:
    if Path(source).is_dir():
        found = sorted(str(path) for path in Path(source).iterdir() if path.suffix.lower() in (*PARQUET, *TEXT))
    else:
        found = sorted(glob.glob(source, recursive=True))
    if not found:
        raise DataError(f"no file matches {source!r}; give a pattern such as 'data/*.parquet', or a folder")
    return found


def _text_format(path: str) -> Any:
    """How the first file is written."""
    from pyarrow import csv, dataset

    from .dialect import detect
    from .encodings import HEAD_BYTES

    with open(path, "rb") as file:
        dialect = detect(file.read(HEAD_BYTES))
    if not dialect.header:
        raise DataError(f"{path} has no line of names; files read in pieces need one")
    parse = csv.ParseOptions(delimiter=dialect.delimiter)
    convert = csv.ConvertOptions(decimal_point=dialect.decimal)
    return dataset.CsvFileFormat(parse_options=parse, read_options=csv.ReadOptions(), convert_options=convert)
