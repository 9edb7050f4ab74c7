"""What `--sigma` says: which columns hold standard errors, or how large they are, of the target and of inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import DataError

if TYPE_CHECKING:
    import pandas as pd

HINT = "write a column of errors of the target, or pairs such as x=dx, y=0.1"


def read_errors(
    sigma: str | float | Mapping[str, str | float] | None,
    target: str,
    known: Sequence[str],
    short: Callable[[str | None], str | None],
) -> dict[str, str | float]:
    """For each measured column the column of its errors, or one number.

    A name alone, or a number, is about the target; names may be written with their unit, as in the file.
    """
    if sigma is None:
        return {}
    if isinstance(sigma, str):
        sigma = {target: sigma} if short(sigma) in known or "=" not in sigma else _pairs(sigma)
    given = sigma.items() if isinstance(sigma, Mapping) else [(target, sigma)]
    found: dict[str, str | float] = {}
    for name, error in given:
        column = target if name == "target" and name not in known else str(short(str(name)))
        if column not in known:
            raise DataError(f"--sigma: there is no column {name!r}; {HINT}")
        found[column] = _size(name, error) if str(short(str(error))) not in known else str(short(str(error)))
    return found


def taken_errors(errors: Mapping[str, str | float], rows: pd.DataFrame, target: str, kept: Sequence[str]) -> Any:
    """The errors as `fit` takes them: the column of those of the target, or numbers and columns by name."""
    lost = [name for name in errors if name not in (*kept, target)]
    if lost:
        raise DataError(f"--sigma: {lost[0]!r} is not among the columns to learn from: {', '.join(kept)} and {target}")
    sizes = {name: rows[error] if isinstance(error, str) else error for name, error in errors.items()}
    alone = list(errors) == [target] and isinstance(errors[target], str)
    return sizes[target] if alone else sizes or None


def _pairs(text: str) -> dict[str, str | float]:
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    wrong = [name for name, sign, error in pairs if not sign or not error.strip() or not name.strip()]
    if wrong or not pairs:
        raise DataError(f"--sigma: {text!r} cannot be read; {HINT}")
    return {name.strip(): error.strip() for name, _, error in pairs}


def _size(name: str, error: str | float) -> float:
    try:
        number = float(error)
    except ValueError as fault:
        raise DataError(f"--sigma: {error!r} is neither a column nor a number; {HINT}") from fault
    if not math.isfinite(number) or number < 0.0:
        raise DataError(f"--sigma: the error of {name} must be a number that is not negative, got {error}")
    return number
