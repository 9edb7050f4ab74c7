"""What a caller gives, looked at piece by piece: cells and names of a table, and parameters that are lists or texts.

Looks only; what cannot be used becomes one sentence, with column, row and remedy where it stands in a table.
"""

from __future__ import annotations

import datetime
import math
import numbers
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from textwrap import shorten
from typing import Any

import numpy as np

from ..errors import DataError
from ..tables.cells import TO_NUMBERS, cure
from ..tables.encoding import is_gone


def unmasked(values: Any) -> Any:
    """An array with nan where it is masked: what stands under a mask was never measured."""
    if isinstance(values, np.ma.MaskedArray):
        kind = np.result_type(values.dtype, np.float64) if values.dtype.kind in "biuf" else object
        return np.ma.filled(values.astype(kind), np.nan)
    return values


def check_names(X: Any) -> None:
    """Refuse two columns of one name: nobody could tell which one a formula means."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return
    twice = next((name for name, count in Counter(map(str, columns)).items() if count > 1), None)
    if twice is not None:
        raise DataError(f"two columns are called {twice!r}; rename one, or drop it")


def check_kinds(X: Any, y: Any, target: str) -> None:
    """Refuse a target of dates, which numpy would read as nanoseconds without a word, and a table not yet computed."""
    for what, values in (("X", X), ("y", y)):
        if callable(getattr(values, "collect", None)) and not hasattr(values, "__array__"):
            kind = type(values).__name__
            raise DataError(f"{what} is a {kind}, whose rows are not computed yet; give {what}.collect()")
    if str(getattr(y, "dtype", "")).lower().startswith(("date", "timedelta", "duration")):
        raise DataError(explain(None, y, target) or f"the target {target!r} holds dates or times; {TO_NUMBERS}")


def check_order(X: Any, y: Any) -> None:
    """Refuse rows of X and y with the same labels in another order: they would be joined by place, without a word."""
    labels: Any = getattr(X, "index", None)
    others: Any = getattr(y, "index", None)
    if not hasattr(labels, "equals") or not hasattr(others, "equals") or len(labels) != len(others):
        return
    if labels.equals(others) or not labels.is_unique or not others.is_unique:
        return
    if labels.sort_values().equals(others.sort_values()):
        raise DataError(
            "X and y have the same row labels in another order; write y.loc[X.index], or y.to_numpy() if the rows "
            "belong together as they stand"
        )


def spoken(names: Iterable[str]) -> tuple[str, ...]:
    """Names that can be read in a formula: a column without one is called by its place."""
    given = tuple(names)
    return tuple(name if name.strip() else _free(f"x{i}", given) for i, name in enumerate(given))


def _free(name: str, taken: tuple[str, ...]) -> str:
    return name if name not in taken else _free(f"{name}_", taken)


def explain(X: Any, y: Any, target: str) -> str | None:
    """Which column and row cannot be used, or None when nothing is found."""
    for column, values in _columns(X, y, target):
        for row in _suspects(values):
            value = values[row]
            fault = _fault(value)
            if fault:
                word = fault.removeprefix("the ").split(" ")[0]
                remedy = _REMEDIES.get(word, _REMEDIES["the"])
                if fault.startswith("the text") and column == f"the target {target!r}":
                    told = cure([value for value in values if not is_gone(value)])
                    remedy = told or "a target must be numbers"
                return f"{column} holds {fault} in row {row}; {remedy}"
    return None


def _suspects(values: Any) -> Iterable[int]:
    """The rows to look at: of a column of floats only those that are not finite."""
    if values.dtype.kind == "f":
        return [int(row) for row in np.flatnonzero(~np.isfinite(values))[:1]]
    return range(len(values))


_REMEDIES = {
    "NaN": 'drop these rows or fill them, or let fit do it with missing="drop" or missing="indicator"',
    "inf": "drop these rows before fitting",
    "the": "drop the column or turn it into numbers",
    "date": "turn it into numbers, such as the days since the first: (t - t.min()) / pandas.Timedelta(days=1)",
    "time": "turn it into numbers, such as seconds: t / pandas.Timedelta(seconds=1)",
    "complex": "Complex data not supported; give real and imaginary part, or modulus and phase, as two columns",
}


def _columns(X: Any, y: Any, target: str) -> list[tuple[str, Any]]:
    """Every column with a name for the message; nothing for what is not a table."""
    found: list[tuple[str, Any]] = []
    columns = getattr(X, "columns", None)
    if columns is not None:
        found = [(f"column {str(name)!r}", _values(X[name])) for name in columns if getattr(X[name], "ndim", 1) == 1]
    elif isinstance(X, np.ndarray | list | tuple):
        try:
            table = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
        except ValueError:
            return []
        if table.ndim == 2:
            found = [(f"column x{i}", table[:, i]) for i in range(table.shape[1])]
    if y is not None:
        values = _values(y)
        if values.ndim == 1:
            found.append((f"the target {target!r}", values))
    return found


def _values(column: Any) -> Any:
    """Floats as they are, anything else as objects."""
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    return np.asarray(column) if kind == "f" else np.asarray(column, dtype=object)


def _fault(value: Any) -> str | None:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "NaN (nothing)"
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return f"the text {value!r}"
    if isinstance(value, numbers.Real):
        try:
            value = float(value)
        except OverflowError:
            return "inf (a number too large)"
        if math.isnan(value):
            return "NaN"
        return "inf" if math.isinf(value) else None
    return _other(value)


def _other(value: Any) -> str | None:
    """What a cell holds that is no number at all; None where Python can make one of it."""
    kind = type(value).__name__
    if isinstance(value, datetime.date | np.datetime64) or kind == "Period":
        return f"the date {str(value)[:40]}"
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return f"the time {str(value)[:40]}"
    if isinstance(value, numbers.Complex):
        return f"the complex number {str(value)[:40]}"
    if isinstance(value, np.ndarray):
        return None  # a table of tables: its shape is what is wrong
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return f"the {kind} {shorten(str(value), 40, placeholder='…')!r}"
    return None


def check_lists(given: Mapping[str, Any]) -> None:
    """Refuse what cannot be read as the parameter is meant."""
    operators, exponents, proposers = (given[name] for name in ("operators", "exponents", "proposers"))
    if operators is not None and not isinstance(operators, Iterable) and not hasattr(operators, "name"):
        raise ValueError(f'operators must be names or signs such as "+,-,*,/,sin", got {operators!r}')
    if exponents is not None and not (_is_list(exponents) and all(map(_is_number, exponents))):
        raise ValueError(f"exponents must be a list of finite numbers such as [-1, 0.5, 2], or None, got {exponents!r}")
    if proposers is not None and not (_is_list(proposers) and all(map(_is_proposer, proposers))):
        raise ValueError(f'proposers must be a list of names such as ["monomial", "evolve"], got {proposers!r}')
    for name, example in (("units", {"m": "kg", "v": "m/s"}), ("constants", {"g": "9.81 m/s^2"})):
        if given[name] is not None and not isinstance(given[name], Mapping):
            raise ValueError(f"{name} must be a dictionary such as {example}, got {given[name]!r}")
    if given["checkpoint"] is not None and not (
        isinstance(given["checkpoint"], str | os.PathLike) and str(given["checkpoint"])
    ):
        raise ValueError(f"checkpoint must be the name of a folder, got {given['checkpoint']!r}")


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(float(value))


def _is_proposer(value: Any) -> bool:
    return isinstance(value, str) or hasattr(value, "propose")
