"""The columns and rows of a file that can be learned from, and a sentence for everything that was left out.

`read_table` is what the command line reads with, so that a few lines of Python do exactly the same.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from ..errors import DataError
from ..tables.cells import TO_NUMBERS, cure
from ..tables.encoding import IT_HOLDS_WORDS, Encoding, check_missing, encode
from .dialect import MISSING, Dialect
from .errors import read_errors, taken_errors
from .heads import Heads, without_units
from .pieces import Part, Pieces
from .read import as_numbers, read_frame, shortened

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMED, MOST_REASONS = 20, 3
LEAST_ROWS = 3  # in which a law can be seen at all
LEFT_OUT = "column left out: "


@dataclass(frozen=True)
class Table:
    """Numeric columns to learn from, the target, weights and errors if asked for, and what was left out.

    `columns` are all columns of the file, in its order.
    """

    X: pd.DataFrame
    y: pd.Series
    weights: pd.Series | None
    notes: tuple[str, ...]
    dialect: Dialect | None
    columns: tuple[str, ...] = ()
    units: dict[str, str] = field(default_factory=dict)  # read from heads such as "v [m/s]", or from a row of units
    renamed: dict[str, str] = field(default_factory=dict)  # those heads, and the names without the unit
    pieces: Pieces | None = None  # all rows, where X and y are a sample of them
    groups: pd.Series | None = None  # the group of each row, text or numbers, if asked for
    encoding: Encoding | None = None  # how words and gaps became numbers
    sigma: pd.Series | dict[str, Any] | None = None  # standard errors, as `fit` takes them: of y, or by column

    @property
    def with_groups(self) -> pd.DataFrame:
        """The columns to learn from, and the column of groups if there is one."""
        return self.X if self.groups is None else self.X.assign(**{str(self.groups.name): self.groups})

    def parts(self) -> list[Part]:
        """All rows file by file, for workers that can read the files: the columns of X, y, and the weights."""
        assert self.pieces is not None
        known = {self.renamed.get(name, name): raw for name, raw in zip(self.columns, self.pieces.names)}
        last = [] if self.weights is None else [self.weights.name]
        written = [known[str(name)] for name in (*self.X.columns, self.y.name, *last)]  # as the files call them
        return self.pieces.parts(written, self.weights is not None)

    def batches(self) -> Iterator[tuple[Any, ...]]:
        """The same rows one piece after the other."""
        for part in self.parts():
            yield from part()


def read_table(
    source: str | PathLike[str],
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    weights: str | None = None,
    delimiter: str | None = None,
    heads: bool = True,
    groups: str | None = None,
    categories: str | Sequence[str] | None = None,
    missing: str | None = None,
    encoding: Encoding | None = None,
    sigma: str | float | Mapping[str, str | float] | None = None,
) -> Table:
    """Read a CSV, TSV, Excel or Parquet file, or stdin ("-"), and choose the columns and rows to learn from.

    Without `target` the last column is taken. Columns of words enter as columns of zeros and ones (`categories` lists
    columns of numbers to treat alike, or is "drop"); rows with missing values are left out, or filled with
    missing="indicator". `sigma` is a column with errors of y, or names columns and their errors: {"x": "dx", "y": 0.1}.
    `notes` say what was done. `encoding` is that of a finished fit, to be done again. With
    `heads`, a column called "v [m/s]" is called v, and its unit is told.
    """
    source = fspath(source)
    check_missing(missing)
    frame, dialect = read_frame(source, delimiter)
    notes = list(frame.attrs.get("notes", ()))
    every = [str(name) for name in frame.columns]
    features = None if features is None else joined(features, every)
    drop = joined(drop, every)
    read = without_units(frame, () if dialect is None else dialect.units) if heads else Heads(frame, {}, {})
    frame, known = read.frame, [str(name) for name in read.frame.columns]
    target, weights, groups = (read.short(name) for name in (target, weights, groups))
    features = None if features is None else [str(read.short(name)) for name in features]
    drop = [str(read.short(name)) for name in drop]
    if read.units:
        shown = ", ".join(f"{name} in {unit}" for name, unit in read.units.items())
        notes.append(f"units read from the table: {shown} (to ignore them: --units none)")
    if target is None:
        target = known[-1]
        notes.append(f"target: {target}, the last column (choose another with --target)")
    if encoding is not None:
        frame = encoding.apply(frame)
        known = [*map(str, frame.columns), *encoding.left_out]
    for name in (target, weights, groups, *(features or ()), *drop):
        if name is not None and name not in known:
            raise DataError(f"{source} has no column {name!r}{near(name, known)}; it has {listed(known)}")
    errors = read_errors(sigma, target, known, read.short)
    held = list(dict.fromkeys(error for error in errors.values() if isinstance(error, str)))
    roles: dict[str, Sequence[str | None]] = {"weights": [weights], "sigma": held, "groups": [groups]}
    _check_roles(target, features, roles)
    taken = {*drop, target, *(name for names in roles.values() for name in names)}
    refused: dict[str, str] = {}
    if encoding is None:
        frame, features, encoding, refused = _encoded(frame, taken, features, categories, missing, notes)
    kept = _usable(frame, features, taken, notes, refused)
    _check_numbers(frame, [name for name in (target, weights, *held) if name is not None])
    if not kept:
        why = [note.removeprefix(LEFT_OUT) for note in notes if note.startswith(LEFT_OUT)]
        reasons = "".join(f"; {reason}" for reason in why[:MOST_REASONS])
        raise DataError(f"{source} has no column of numbers besides the target {target!r}{reasons}")
    units = {name: unit for name, unit in read.units.items() if name in (*kept, target)}
    renamed = {old: new for old, new in read.renamed.items() if new in (*kept, target, weights)}
    if groups is not None:
        frame = frame[frame[groups].notna()].reset_index(drop=True)
    used, good = _complete(frame, [*kept, target, *([weights] if weights else []), *held], notes, source)
    labels = None if groups is None else frame[groups][good].reset_index(drop=True)
    pieces = frame.attrs.get("pieces")
    for option, asked in (("groups", groups), ("sigma", errors)):
        if pieces is not None and asked:
            raise DataError(f"{source} is read in pieces, where {option} does not work; leave it out, or fit a sample")
    return Table(
        used[kept],
        used[target],
        None if weights is None else used[weights],
        tuple(notes),
        dialect,
        tuple(every),
        units,
        renamed,
        pieces,
        labels,
        encoding,
        taken_errors(errors, used, target, kept),
    )


def _encoded(
    frame: pd.DataFrame,
    taken: set[str | None],
    features: Sequence[str] | None,
    categories: str | Sequence[str] | None,
    missing: str | None,
    notes: list[str],
) -> tuple[pd.DataFrame, Sequence[str] | None, Encoding | None, dict[str, str]]:
    """Words and gaps of the columns to learn from as numbers; the columns asked for under their new names; and why
    columns of words cannot be used."""
    if frame.attrs.get("pieces") is not None:
        if categories not in (None, "drop") or missing == "indicator":
            raise DataError("a table read in pieces takes numbers only; leave out --categories and --missing indicator")
        return frame, features, None, {}
    names = [name for name in map(str, frame.columns) if name not in taken and (features is None or name in features)]
    found = encode(frame[names], categories, missing)
    if not found.encoding:
        return frame, features, None, found.refused
    notes += found.notes
    others = frame[[name for name in frame.columns if str(name) not in names]]
    joined_up = found.frame.join(others)
    joined_up.attrs = dict(frame.attrs)
    if features is not None:
        own = [str(name) for name in found.frame.columns]
        features = [new for old in features for new in own if found.encoding.source(new) == old]
    return joined_up, features, found.encoding, found.refused


def joined(words: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Names that were cut at the commas within them, put together again: "T", "K" is the column "T, K"."""
    found: list[str] = []
    place = 0
    while place < len(words):
        for end in range(len(words), place, -1):
            tried = [sign.join(words[place:end]) for sign in (", ", ",")]
            whole = next((name for name in tried if name in known), "")
            if whole or end == place + 1:
                found.append(whole or words[place])
                place = end
                break
    return tuple(dict.fromkeys(found))


def near(name: str, known: Sequence[str]) -> str:
    """ "; did you mean …?" where something is close, else nothing."""
    lower = {str(other).lower(): str(other) for other in known}
    found = difflib.get_close_matches(str(name).lower(), list(lower), n=1, cutoff=0.6)
    return f" (did you mean {lower[found[0]]!r}?)" if found else ""


def listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(shortened(name, 40) for name in names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def text_fault(column: Any, name: str) -> str | None:
    """Why a column is not numeric, or None."""
    if as_numbers(column) is not None:
        return f"{name} is empty" if column.isna().all() else None
    bad = next((i for i, value in enumerate(column) if as_numbers(column.iloc[i : i + 1]) is None), 0)
    kind = str(column.dtype)
    if kind.startswith(("datetime", "timedelta")):
        return f"{name} holds dates or times"
    return f"{shortened(name, 60)} holds text ({str(column.iloc[bad])[:40]!r} in row {bad})"


def what_to_do(column: Any) -> str:
    """About a column that must be numbers and is not; empty where nothing helps."""
    if str(column.dtype).startswith(("datetime", "timedelta")):
        return TO_NUMBERS
    return cure([cell for cell in column.dropna() if str(cell).strip().lower() not in MISSING])


def _with_cure(fault: str, name: str, told: str) -> str:
    """One sentence of both; the cell is shown once."""
    return f"{name}: {told}" if "('" in told else f"{fault}; {told}"


def _check_roles(target: str, features: Sequence[str] | None, roles: Mapping[str, Sequence[str | None]]) -> None:
    for role, other in (("features", features or ()), *roles.items()):
        if target in other:
            raise DataError(f"{target!r} is the target and cannot be in --{role} too")
    for role, names in roles.items():
        name = next((name for name in names if features is not None and name in features), None)
        if name is not None:
            what = {"weights": "the weights", "sigma": "the errors", "groups": "the groups"}[role]
            raise DataError(f"{name!r} holds {what} and cannot be in --features too")


def _check_numbers(frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Refuse a target, weights or errors that are words."""
    for name in names:
        fault = text_fault(frame[name], name)
        if fault is not None:
            told = what_to_do(frame[name])
            raise DataError(f"{fault}; the target, the weights and the errors must be numbers{told and ': '}{told}")


def _usable(
    frame: pd.DataFrame,
    features: Sequence[str] | None,
    taken: set[str | None],
    notes: list[str],
    refused: Mapping[str, str],
) -> list[str]:
    """The columns of numbers; others, and a column without a name that only counts the rows, get a note."""
    kept = []
    for place, name in enumerate(map(str, frame.columns)) if features is None else enumerate(features):
        if features is None and name in taken:
            continue
        fault = text_fault(frame[name], name)
        if fault is None and features is None and only_counts(frame, place):
            fault = "the first has no name and counts the rows"
        elif fault is not None and (told := refused.get(name) or what_to_do(frame[name])) and told != IT_HOLDS_WORDS:
            fault = _with_cure(fault, name, told)
        if fault is None:
            kept.append(name)
        elif features is not None:
            raise DataError(f"{fault}; a formula needs numbers")
        else:
            notes.append(f"{LEFT_OUT}{fault}")
    return kept


def only_counts(frame: pd.DataFrame, place: int) -> bool:
    """Is it the first column, without a name, that a program wrote to number the rows?"""
    name = str(frame.columns[place])
    return place == 0 and name in ("column_1", "row") and counts_rows(frame[name])


def counts_rows(column: Any) -> bool:
    """Does it go up by one from row to row?"""
    import numpy as np

    steps = np.diff(column.to_numpy(dtype="float64", na_value=np.nan))
    return bool(len(steps) and (steps == 1.0).all())


def _complete(frame: pd.DataFrame, wanted: list[str], notes: list[str], source: str) -> tuple[pd.DataFrame, Any]:
    """These columns in the rows without missing or infinite values, and which of all rows these are."""
    import numpy as np
    import pandas as pd

    used = pd.DataFrame({name: frame[name].to_numpy(dtype="float64", na_value=np.nan) for name in wanted})
    good = np.isfinite(used.to_numpy()).all(axis=1)
    if not good.any():
        worst = used.isna().to_numpy().sum(axis=0).argmax()
        raise DataError(
            f"{source} has no row in which all of {listed(wanted)} are given; {wanted[worst]} has the most gaps "
            "(leave it out with --drop)"
        )
    if not good.all():
        first = int(np.flatnonzero(~good)[0])
        column = next(c for c in used.columns if not np.isfinite(used[c].iloc[first]))
        left = int((~good).sum())
        notes.append(f"{left} of {len(used)} rows left out: a value is missing (first: row {first}, {column})")
    return used[good].reset_index(drop=True), good
