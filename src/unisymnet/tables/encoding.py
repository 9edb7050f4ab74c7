"""Columns of words and cells without a value as columns of numbers, so that a formula can compute with them.

Each level of a column of words becomes a column of zeros and ones; a gap is filled with the median, and a column of
zeros and ones says where. What was done is an `Encoding`: it does the same to new rows, and is stored with the model.
Does not know formulas or the target.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..formula import stored
from .cells import is_number, number_fault

if TYPE_CHECKING:
    import pandas as pd

MAX_LEVELS = 20  # of a column that get a column of their own
LEAST_ROWS = 3  # in which a level must stand
LEAST_COVERED = 0.5  # of the rows by those levels; otherwise the column is a list of names
MOST_NUMBERS = 0.5  # of the cells; a column with more is one of numbers with faults, which the user should see
MISSING = ("drop", "indicator")
IT_HOLDS_WORDS = "it holds words"


@dataclass(frozen=True)
class Category:
    """A column of words: all its levels, and the column of zeros and ones of those that have one."""

    column: str
    levels: tuple[str, ...]
    shown: tuple[tuple[str, str], ...]  # level, name of its column
    gap: str = ""  # name of the column that is 1 where no word is given, if there is one

    @property
    def names(self) -> tuple[str, ...]:
        return (*(own for _, own in self.shown), *([self.gap] if self.gap else []))


@dataclass(frozen=True)
class Gap:
    """A column with gaps: what fills them, and the column of zeros and ones that says where."""

    column: str
    fill: float
    name: str


@dataclass(frozen=True)
class Computed:
    """A column that is a Python function of the user, which is not stored, of another column times a factor."""

    name: str
    function: str
    argument: str
    factor: float


@dataclass(frozen=True)
class Encoding:
    """How a table became numbers."""

    categories: tuple[Category, ...] = ()
    gaps: tuple[Gap, ...] = ()
    left_out: tuple[str, ...] = ()
    computed: tuple[Computed, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.categories or self.gaps or self.left_out or self.computed)

    def apply(self, X: Any) -> pd.DataFrame:
        """New rows as numbers; nan where a level was never seen, which a warning says."""
        import pandas as pd

        frame = as_frame(X)
        words = {item.column: item for item in self.categories}
        holes = {item.column: item for item in self.gaps}
        found: dict[str, Any] = {}
        for name in map(str, frame.columns):
            if name in self.left_out:
                continue
            column = frame[name]
            if name in words:
                found |= _indicators(words[name], column)
            elif name in holes:
                values = _numbers(column)
                gone = np.isnan(values)
                found |= {name: np.where(gone, holes[name].fill, values), holes[name].name: gone.astype(np.float64)}
            else:
                found[name] = column.to_numpy()
        return pd.DataFrame(found, index=frame.index)

    def source(self, name: str) -> str:
        """The column of the table from which a column of numbers comes."""
        for item in self.categories:
            if name in item.names:
                return item.column
        return next((gap.column for gap in self.gaps if gap.name == name), name)

    @classmethod
    def from_dict(cls, data: Any) -> Encoding:
        """What `to_dict` wrote; whatever else comes in is refused."""
        words = []
        for row in stored.listed(data["categories"]):
            shown = tuple((pair[0], pair[1]) for pair in map(stored.words, stored.listed(row["shown"])))
            words.append(
                Category(stored.word(row["column"]), stored.words(row["levels"]), shown, stored.word(row["gap"]))
            )
        gaps = [
            Gap(stored.word(row["column"]), stored.number(row["fill"]), stored.word(row["name"]))
            for row in stored.listed(data["gaps"])
        ]
        computed = [
            Computed(
                stored.word(row["name"]),
                stored.word(row["function"]),
                stored.word(row["argument"]),
                stored.number(row["factor"]),
            )
            for row in stored.listed(data.get("computed", []))
        ]
        return cls(tuple(words), tuple(gaps), stored.words(data["left_out"]), tuple(computed))

    def to_dict(self) -> dict[str, Any]:
        return {
            "categories": [
                {"column": c.column, "levels": list(c.levels), "shown": [list(p) for p in c.shown], "gap": c.gap}
                for c in self.categories
            ],
            "gaps": [{"column": g.column, "fill": g.fill, "name": g.name} for g in self.gaps],
            "left_out": list(self.left_out),
            **({"computed": [asdict(item) for item in self.computed]} if self.computed else {}),
        }


@dataclass(frozen=True)
class Encoded:
    """The table as numbers, how that was done, sentences about it, and columns of words that cannot be used."""

    frame: pd.DataFrame
    encoding: Encoding
    notes: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)  # column, reason


def as_frame(X: Any) -> pd.DataFrame:
    """A table with names of text; columns of an array are called x0, x1, …"""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return (
            X
            if all(isinstance(name, str) for name in X.columns)
            else X.set_axis([str(name) for name in X.columns], axis=1)
        )
    if hasattr(X, "columns"):
        return pd.DataFrame({str(name): np.asarray(X[name]) for name in X.columns})
    table = np.asarray(X)
    if table.ndim != 2:
        raise DataError(f"X must be a table with rows and columns, got shape {table.shape}")
    return pd.DataFrame(table, columns=[f"x{i}" for i in range(table.shape[1])])


def encode(frame: pd.DataFrame, categories: str | Sequence[str] | None, missing: str | None) -> Encoded:
    """Words and, with missing="indicator", gaps as numbers; columns that need nothing stay as they are."""
    named = named_categories(categories, [str(name) for name in frame.columns])
    taken = {str(name) for name in frame.columns}
    words: list[Category] = []
    gaps: list[Gap] = []
    notes: list[str] = []
    refused: dict[str, str] = {}
    for name in map(str, frame.columns):
        column = frame[name]
        if name in named or is_words(column):
            if categories == "drop":
                refused[name] = IT_HOLDS_WORDS
                continue
            item, reason = _category(name, column, taken, missing == "indicator")
            if item is None:
                refused[name] = reason
                continue
            words.append(item)
            taken |= set(item.names)
            notes.append(_told(item))
        elif missing == "indicator":
            values = _numbers(column)
            gone = np.isnan(values)
            if gone.any() and not gone.all():
                gap = Gap(name, float(np.median(values[~gone])), _free(f"{name}_missing", taken))
                gaps.append(gap)
                taken.add(gap.name)
                many = f"{int(gone.sum())} of {len(values)} cells of {name} are missing"
                notes.append(f"{many}: filled with the median, {gap.fill:.6g}; {gap.name} is 1 there")
    encoding = Encoding(tuple(words), tuple(gaps))
    return Encoded(encoding.apply(frame) if encoding else frame, encoding, tuple(notes), refused)


def named_categories(categories: str | Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    """Columns that the user calls categories, whatever they hold."""
    if categories is None or isinstance(categories, str):
        if categories not in (None, "drop"):
            raise DataError(f'categories must be a list of columns, or "drop", got {categories!r}')
        return ()
    if not isinstance(categories, Iterable):
        raise DataError(f'categories must be a list of columns, or "drop", got {categories!r}')
    for name in categories:
        if str(name) not in known:
            raise DataError(f"categories: there is no column {str(name)!r}; the columns are {', '.join(known)}")
    return tuple(map(str, categories))


def check_missing(missing: str | None) -> None:
    if missing is not None and missing not in MISSING:
        raise DataError(f'missing must be "drop" or "indicator", or None for an error, got {missing!r}')


def is_words(column: pd.Series) -> bool:
    """Does the column hold words, and not numbers with a few faults?"""
    import pandas as pd

    kind = column.dtype
    if pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind):
        return False
    if isinstance(kind, pd.CategoricalDtype):
        return not pd.api.types.is_numeric_dtype(kind.categories.dtype)
    if not (pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind)):
        return False  # dates and durations
    cells = [cell for cell in column if not is_gone(cell)]
    if not cells or not all(isinstance(cell, str | int | float) for cell in cells):
        return False
    return sum(is_number(cell) for cell in cells) < MOST_NUMBERS * len(cells)


def is_gone(cell: Any) -> bool:
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)


def _numbers(column: pd.Series) -> NDArray[np.float64]:
    """Numbers, nan for gaps; what is no number at all is the validation's to refuse."""
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError, OverflowError):
        return np.zeros(len(column))


def _labels(column: pd.Series) -> list[str | None]:
    return [None if is_gone(cell) else str(cell) for cell in column]


def _category(name: str, column: pd.Series, taken: set[str], gaps: bool) -> tuple[Category | None, str]:
    labels = _labels(column)
    counts = Counter(label for label in labels if label is not None)
    known = sum(counts.values())
    if len(counts) < 2:
        return None, "it holds the same word in every row" if counts else "it is empty"
    common = [level for level, n in counts.most_common(MAX_LEVELS) if n >= LEAST_ROWS]
    if sum(counts[level] for level in common) < LEAST_COVERED * known:
        fault = number_fault(counts)
        if fault:
            return None, fault
        return None, f"it holds {len(counts)} different words in {len(column)} rows, so it looks like a list of names"
    levels = tuple(sorted(counts))
    chosen = sorted(common)[-1:] if len(counts) == 2 and len(common) == 2 else sorted(common)
    names = set(taken)
    shown = []
    for level in chosen:
        own = _free(f"{name}_{_short(level)}", names)
        names.add(own)
        shown.append((level, own))
    gap = _free(f"{name}_missing", names) if gaps and known < len(labels) else ""
    return Category(name, levels, tuple(shown), gap), ""


def _short(level: str) -> str:
    """The level as a part of a name: letters and digits."""
    kept = "".join(sign if sign.isalnum() else "_" for sign in level.strip())[:40].strip("_")
    return kept or "blank"


def _free(name: str, taken: Iterable[str]) -> str:
    found, count = name, 2
    while found in set(taken):
        found, count = f"{name}_{count}", count + 1
    return found


def _told(item: Category) -> str:
    names, rest = ", ".join(item.names), len(item.levels) - len(item.shown)
    head = f"{item.column} holds {len(item.levels)} words and enters as columns of zeros and ones: {names}"
    if rest and len(item.levels) > 2:
        head += f" (the {rest} rarest words have none)"
    return f"{head}; with groups={item.column!r} each word would have constants of its own"


def _indicators(item: Category, column: pd.Series) -> dict[str, Any]:
    labels = _labels(column)
    new = sorted({label for label in labels if label is not None and label not in item.levels})
    if new:
        more = f" and {len(new) - 1} more" if len(new) > 1 else ""
        warnings.warn(
            f"column {item.column!r} holds {new[0]!r}{more}, which the fit never saw; these rows have no prediction",
            UserWarning,
            stacklevel=4,
        )
    gone = np.array([label is None for label in labels], dtype=bool)
    unknown = np.array([label in new for label in labels], dtype=bool) | (gone if not item.gap else False)
    found = {own: np.array([label == level for label in labels], dtype=np.float64) for level, own in item.shown}
    if item.gap:
        found[item.gap] = gone.astype(np.float64)
    return {own: np.where(unknown, np.nan, values) for own, values in found.items()}
