"""Tables as people have them, before they are checked: words become numbers, gaps are dealt with as the user says.

What is done to the rows of a fit is done again to the rows of a prediction. Does not search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..errors import DataError
from ..formula import Formula
from ..tables.encoding import Encoding, as_frame, check_missing, encode, is_words
from .checks import check_kinds
from .known.functions import computed_columns, with_computed
from .validation import Operators, check_rows, every_own

ERRORS = 3  # the place of errors of inputs in what belongs to the rows


@dataclass(frozen=True)
class Intake:
    """Columns, target and what belongs to each row, with rows left out; how the columns became numbers."""

    X: Any
    y: Any
    beside: tuple[Any, ...]  # weights, standard errors, groups: one entry a row, or None
    encoding: Encoding | None = None
    notes: tuple[str, ...] = ()


def take_in(
    X: Any,
    y: Any,
    beside: Sequence[Any],
    categories: Any = None,
    missing: str | None = None,
    operators: Operators = None,
) -> Intake:
    """The table as numbers, with columns for the user's Python functions; what needs nothing is passed on as it is."""
    check_kinds(X, y, str(getattr(y, "name", None) or "y"))
    taken = _as_numbers(X, y, beside, categories, missing)
    functions = [operator for operator in every_own(operators) if operator.is_python]
    if not functions:
        return taken
    if len(beside) > ERRORS and beside[ERRORS] is not None:
        raise DataError("sigma: errors of inputs cannot be combined with a Python function as operator")
    computed = computed_columns(taken.X, taken.y, functions)
    encoding = replace(taken.encoding or Encoding(), computed=computed)
    return replace(taken, X=with_computed(taken.X, computed, functions), encoding=encoding)


def _as_numbers(X: Any, y: Any, beside: Sequence[Any], categories: Any, missing: str | None) -> Intake:
    check_missing(missing)
    if not _needed(X, y, categories, missing):
        return Intake(X, y, tuple(beside))
    found = encode(as_frame(X), categories, missing)
    frame, encoding, notes = found.frame, found.encoding, list(found.notes)
    if found.refused:
        frame = frame.drop(columns=list(found.refused))
        encoding = replace(encoding, left_out=tuple(found.refused))
        notes += [f"column left out: {name}; {reason}" for name, reason in found.refused.items()]
    if not frame.shape[1]:
        reasons = "".join(f"; {name}: {reason}" for name, reason in list(found.refused.items())[:3])
        raise DataError(f"there is nothing to learn from: no column holds numbers or repeated words{reasons}")
    if missing is None:
        for item in encoding.categories:
            gone = np.isnan(frame[item.names[0]].to_numpy())
            if gone.any():
                row = int(gone.argmax())
                raise DataError(f"column {item.column!r} holds nothing in row {row}; {REMEDY}")
        return Intake(frame, y, tuple(beside), encoding, tuple(notes))
    empty = next((str(name) for name in frame.columns if frame[name].isna().all()), None)
    if empty is not None:
        raise DataError(f"column {empty!r} is empty; drop it")
    good = _given(y) & (frame.notna().to_numpy().all(axis=1) if missing == "drop" else True)
    if not good.any():
        raise DataError("no row has a value in every column and in the target; drop the columns with the most gaps")
    if not good.all():
        left = int((~good).sum())
        notes.append(f"{left} of {len(good)} rows left out: a value is missing (first: row {int(good.argmin())})")
        frame, y = frame[good], _rows(y, good)
        beside = [None if column is None else _rows(column, good) for column in beside]
    return Intake(frame, y, tuple(beside), encoding, tuple(notes))


REMEDY = (
    'use missing="drop" to leave such rows out, or missing="indicator" to fill the gaps and mark them in a new column'
)


def prepared(model: Any, X: Any) -> Any:
    """Rows to predict, with words and gaps as the fit has turned them into numbers."""
    encoding = getattr(model, "encoding_", None)
    if encoding is None:
        return X
    frame = encoding.apply(X)
    return with_computed(frame, encoding.computed, every_own(model.operators)) if encoding.computed else frame


def predicted(model: Any, formula: Formula, X: Any, compute: Callable[[Any], Floats] | None = None) -> Floats:
    """Values of a formula, or what `compute` says of it; nan where the fit would have left the row out, or a word was
    never seen."""
    compute = formula.predict if compute is None else compute
    if getattr(model, "encoding_", None) is None:
        return compute(X if formula.groups is not None else check_rows(model, X))
    frame = prepared(model, X)
    whole = ~frame.isna().to_numpy().any(axis=1)
    values = np.full(len(frame), np.nan)
    if whole.any():
        rows = frame[whole]
        values[whole] = compute(rows if formula.groups is not None else check_rows(model, rows))
    return values


def interval(model: Any, formula: Formula, X: Any, level: float) -> tuple[Floats, Floats]:
    """Both ends of the intervals of new measurements, nan as in `predicted`."""
    low = predicted(model, formula, X, lambda rows: formula.predict_interval(rows, level)[0])
    return low, predicted(model, formula, X, lambda rows: formula.predict_interval(rows, level)[1])


def _needed(X: Any, y: Any, categories: Any, missing: str | None) -> bool:
    if categories is not None or missing is not None:
        return getattr(X, "ndim", 2) == 2
    if getattr(X, "columns", None) is None or getattr(X, "ndim", 2) != 2:
        return False
    frame = X if hasattr(X, "iloc") else as_frame(X)  # a frame of another library
    return any(is_words(frame.iloc[:, i]) for i in range(frame.shape[1]))


def _given(y: Any) -> NDArray[np.bool_]:
    """Rows with a target; what is no number is the validation's to refuse."""
    import pandas as pd

    return np.asarray(~pd.isna(np.asarray(y, dtype=object).ravel()), dtype=bool)


def _rows(values: Any, good: NDArray[np.bool_]) -> Any:
    if hasattr(values, "iloc"):
        return values[good]
    if isinstance(values, list):
        return [value for value, kept in zip(values, good, strict=True) if kept]
    return np.asarray(values)[good]
