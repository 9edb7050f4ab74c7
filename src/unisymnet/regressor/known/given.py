"""What `fit` is told about every row: `sigma=`, standard errors of target and inputs, and `groups=`, where it belongs.

Groups are a column of the table, which may be text, or one label a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import DataError, quoted
from ..validation import Data, with_sigma

if TYPE_CHECKING:  # the search is imported when it is needed
    from ..options import Options


@dataclass(frozen=True)
class Given:
    """Errors of y (one a row, or None) and of the columns `names` (one row and column each, or None)."""

    of_y: Any
    of_x: Any = None
    names: tuple[str, ...] = ()
    alike: float | None = None  # the error of y, if it is the same for all rows and inputs have none

    def told(self, options: Options) -> Options:
        """One error for all rows is the noise, unless the user has said how large that is."""
        if self.alike is None or options.noise is not None or options.noise_kind is not None:
            return options
        return replace(options, noise=self.alike)

    def beside(self, sample_weight: Any, labels: Any) -> tuple[Any, Any, Any, Any]:
        """What belongs to each row, for the intake."""
        return sample_weight, self.of_y, labels, self.of_x

    def weights(self, sample_weight: Any, of_y: Any, y: Any) -> Any:
        """What each row counts before anything is known of the formula."""
        return with_sigma(sample_weight, of_y if self.of_x is None else None, y)

    def placed(self, of_y: Any, of_x: Any, data: Data) -> Any:
        """The errors for the columns of the checked data, where inputs have some."""
        if of_x is None:
            return None
        missing = [name for name in self.names if name not in data.names]
        if missing:
            raise DataError(f"sigma: the column {missing[0]!r} was left out; its errors cannot be used")
        table = np.asarray(of_x, dtype=np.float64)
        return np.asarray(of_y, dtype=np.float64), {data.names.index(n): table[:, k] for k, n in enumerate(self.names)}


def read_sigma(sigma: Any, X: Any, y: Any, groups: Any) -> Given:
    """What `sigma` says: one error a row of y, or a mapping from names of columns and the target to errors."""
    if sigma is None or (not isinstance(sigma, Mapping) and np.ndim(sigma)):
        return Given(sigma)
    n_rows = max(np.size(y), 1)  # whatever y is: what is wrong with it is said later
    if not isinstance(sigma, Mapping):
        return _one(_column("the target", sigma, n_rows))
    columns = [str(name) for name in getattr(X, "columns", ())] or [f"x{i}" for i in range(np.shape(X)[1])]
    target = str(getattr(y, "name", None) or "y")
    of_y = np.zeros(n_rows)
    of_x: dict[str, Any] = {}
    for key, given in sigma.items():
        errors = _column(key, given, n_rows)
        if key in columns:
            of_x[key] = errors
        elif key in (target, "target", "y"):
            of_y = errors
        else:
            raise DataError(f"sigma: there is no column {key!r}; the columns are {', '.join(columns)} and {target}")
    if not of_x:
        return _one(of_y)
    if groups is not None:
        raise DataError("sigma: errors of inputs cannot be combined with groups=; leave one of them out")
    return Given(of_y, np.column_stack(list(of_x.values())), tuple(of_x))


def _one(of_y: Any) -> Given:
    alike = len(of_y) and of_y[0] > 0.0 and bool((of_y == of_y[0]).all())
    return Given(of_y, alike=float(of_y[0]) if alike else None)


def _column(name: str, given: Any, n_rows: int) -> Any:
    try:
        errors = np.broadcast_to(np.asarray(given, dtype=np.float64), (n_rows,))
    except (TypeError, ValueError) as error:
        raise DataError(f"sigma: {name} must be one number, or one for each of the {n_rows} rows") from error
    if not np.isfinite(errors).all() or (errors < 0.0).any():
        row = int(np.argmin(np.where(np.isfinite(errors), errors, -np.inf)))
        raise DataError(f"sigma: the error of {name} must not be negative, got {errors[row]} in row {row}")
    return errors


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
