"""Which group a row belongs to: a column of the table, which may be text, or one label a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import DataError, quoted


def split_groups(X: Any, groups: Any) -> tuple[Any, list[str] | None, str]:
    """The table without its column of groups, the group of each row, and the name of the column."""
    if groups is None:
        return X, None, ""
    if isinstance(groups, str):
        columns = [str(name) for name in getattr(X, "columns", ())]
        if groups not in columns:
            known = f"its columns are {', '.join(columns)}" if columns else "X has no named columns"
            raise DataError(f"groups: there is no column {groups!r} in X; {known}. Or give one group per row")
        place = X.columns[columns.index(groups)]
        return X.drop(columns=[place]), _labels(X[place]), groups
    if np.ndim(groups) != 1:
        raise DataError(f"groups must name a column, or hold one label per row, got {quoted(groups)}")
    labels = _labels(groups)
    if len(labels) != len(X):
        raise DataError(f"groups must have one entry per row, got {len(labels)} for {len(X)} rows")
    name = getattr(groups, "name", None)
    rest = X.drop(columns=[name]) if isinstance(name, str) and name in getattr(X, "columns", ()) else X
    return rest, labels, name if isinstance(name, str) and name else "group"


def _labels(given: Any) -> list[str]:
    """A label for each row; rows without one would silently make a group of their own."""
    found = []
    for row, label in enumerate(given):
        if label is None or str(label) in ("nan", "NaT", "<NA>") or not str(label).strip():
            raise DataError(f"groups: row {row} has no label; name its group, or leave the row out")
        found.append(str(label))
    return found


def without_groups(model: Any, X: Any) -> Any:
    """The table without the column of groups, for a formula that is the same for all."""
    column = getattr(model, "group_column_", None)
    return X.drop(columns=[column]) if column is not None and column in getattr(X, "columns", ()) else X


def fit_groups(*given: Any) -> Any:
    """`run_groups` of grouped.py, which loads the search."""
    from .grouped import run_groups

    return run_groups(*given)
