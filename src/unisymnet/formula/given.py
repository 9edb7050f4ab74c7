"""What a caller hands over, as numbers: arrays, weights and options, each refused in a sentence where it is none."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats
from ..errors import DataError, quoted

MOST_DIGITS = 17  # that a number of 64 bits has


def numbers(values: Any, what: str) -> Floats:
    """An array of real numbers; cells without a value are nan."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise TypeError("complex numbers; give real and imaginary parts as two columns")
        if array.dtype.kind == "O":  # pandas' NA is no float
            blank = [cell is None or type(cell).__name__ == "NAType" for cell in array.ravel()]
            array = np.where(np.reshape(blank, array.shape), np.nan, array)
        with np.errstate(over="ignore"):
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{what} must hold numbers{_first_word(values) or f': {quoted(str(error))[1:-1]}'}") from error


def _first_word(values: Any) -> str:
    """Where a column of texts and numbers holds one that is no number; empty for anything else."""
    array = np.asarray(values, dtype=object)
    for row, cell in enumerate(array if array.ndim == 1 else ()):
        if isinstance(cell, str):
            try:
                float(cell)
            except ValueError:
                return f", got the text {quoted(cell)} in row {row}"
    return ""


def truth_and_weights(y: Any, sample_weight: Any, n_rows: int) -> tuple[Floats, Floats | None]:
    """A finite target and weights, one of each for every row."""
    truth = numbers(y, "y")
    if truth.shape != (n_rows,):
        raise DataError(f"y must have one value per row, got shape {truth.shape} for {n_rows} rows")
    if not np.isfinite(truth).all():
        row = int(np.flatnonzero(~np.isfinite(truth))[0])
        raise DataError(f"y holds {truth[row]} in row {row}; leave such rows out")
    if sample_weight is None:
        return truth, None
    weights = numbers(sample_weight, "sample_weight")
    if weights.shape != (n_rows,):
        raise DataError(f"sample_weight must have one value per row, got shape {weights.shape} for {n_rows} rows")
    if not np.isfinite(weights).all() or (weights < 0.0).any() or not (weights > 0.0).any():
        raise DataError("sample_weight must hold finite numbers that are not negative, and not only zeros")
    return truth, weights


def check_level(level: Any) -> None:
    if isinstance(level, bool) or not isinstance(level, int | float | np.number) or not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1, got {quoted(level)}")


def check_digits(digits: Any) -> None:
    whole = isinstance(digits, int | np.integer) and not isinstance(digits, bool)
    if digits is not None and not (whole and 1 <= digits <= MOST_DIGITS):
        raise ValueError(f"digits must be a whole number from 1 to {MOST_DIGITS}, or None, got {quoted(digits)}")
