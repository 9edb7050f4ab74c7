"""What a caller may pass: parameters and data, checked once, with errors that name the column and the row.

scikit-learn's own validation runs first, so that its conventions hold; where it refuses, the data are looked at
again to say which column and row it was. Does not scale, split or choose columns.
"""

from __future__ import annotations

import numbers
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight, validate_data

from ..arrays import Floats, evenly
from ..candidate import RULES
from ..errors import DataError, quoted
from ..fit.kernels.robust import LOSSES, Loss
from ..formula import given
from ..judge.noise import read_noise
from ..problem import check_inputs, check_size
from ..symbolic.operators import ALIASES, OPERATORS
from ..symbolic.own import Operator, is_definition, read_operator
from .checks import check_lists, check_names, check_order, explain, spoken, unmasked

GOALS = ("law", "predict")
WORKING = ("relative", "poisson", "logistic")  # losses that need more than the residual, see known/work.py
NAMED_LOSSES = (*LOSSES, "absolute", *WORKING)
LARGEST_WEIGHT = 1e50  # of a row; and the inverse of it the smallest
STRATEGIES = ("auto", "sfo", "dno-p", "dno-np", "literal")

# What a user means by a sign, as rows of the operator table.
_SIGNS = {
    "+": ("add",),
    "-": ("sub", "neg"),
    "*": ("mul", "square"),
    "/": ("div", "inv"),
    "^": ("pow", "square", "sqrt", "inv"),
}
_SAME = {"**": "^", "pow": "^", "add": "+", "sub": "-", "neg": "-", "mul": "*", "div": "/"}


_EXAMPLE = "hill(x) = x^n/(1 + x^n)"
Operators = str | Operator | Iterable[str | Operator] | None


@dataclass(frozen=True)
class Data:
    """Checked rows: finite float64, one name per column, weights or None."""

    X: Floats
    y: Floats
    weights: Floats | None
    names: tuple[str, ...]
    target: str

    def only(self, columns: Sequence[int]) -> Data:
        """These columns."""
        if list(columns) == list(range(len(self.names))):
            return self
        return replace(self, X=self.X[:, list(columns)], names=tuple(self.names[i] for i in columns))

    def thinned(self, most: int) -> Data:
        """At most so many rows, evenly spaced."""
        if len(self.y) <= most:
            return self
        rows = evenly(len(self.y), most)
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], weights=weights)

    def without(self, rows: NDArray[np.intp]) -> Data:
        """All rows but these."""
        if not len(rows):
            return self
        weights = None if self.weights is None else np.delete(self.weights, rows)
        return replace(self, X=np.delete(self.X, rows, axis=0), y=np.delete(self.y, rows), weights=weights)


def check_data(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Data:
    """Validate training data as scikit-learn does, and say where it fails."""
    name = getattr(y, "name", None)
    target = name if isinstance(name, str) and name else "y"
    X, y = unmasked(X), unmasked(y)
    check_names(X)
    check_order(X, y)
    try:
        with np.errstate(invalid="ignore", over="ignore"):  # it adds up all cells to find the infinite ones
            checked, truth = validate_data(estimator, X, y, dtype=np.float64, order="C", y_numeric=True)
        truth = np.asarray(truth, dtype=np.float64)
    except (ValueError, OverflowError, TypeError) as error:
        where = explain(X, y, target)
        raise _fault_of(where or f"the data cannot be used: {error}", error) from error
    check_size(truth)  # before anything squares it
    weights = None if sample_weight is None else _weights(sample_weight, checked)
    names = getattr(estimator, "feature_names_in_", None)
    shown = tuple(f"x{i}" for i in range(checked.shape[1])) if names is None else spoken(map(str, names))
    check_inputs(checked, shown)
    return Data(checked, truth, weights, shown, target)


def check_rows(estimator: Any, X: Any) -> Floats:
    """Validate rows to predict on."""
    X = unmasked(X)
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            return validate_data(estimator, X, dtype=np.float64, order="C", reset=False)
    except (ValueError, OverflowError, TypeError) as error:
        where = explain(X, None, "")
        raise _fault_of(where or f"X cannot be used: {error}", error) from error


class _KindError(DataError, TypeError):
    """A cell of a kind that is no number; scikit-learn wants a TypeError there."""


def _fault_of(where: str, error: Exception) -> DataError:
    if type(error) is not TypeError:
        return DataError(where)
    return _KindError(where if str(error) in where else f"{where} ({error})")


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that make no sense, one sentence each."""
    given = estimator.get_params(deep=False)
    if given["max_time"] is not None and not _is_positive(given["max_time"]):
        raise ValueError(f"max_time must be a positive number or None, got {quoted(given['max_time'])}")
    read_noise(given["noise"])
    for name in ("max_complexity", "max_rows", "max_columns"):
        _count(name, given[name])
    for name in ("max_evaluations", "max_epochs"):
        if given[name] is not None:
            _count(name, given[name])
    if given["n_jobs"] is not None and (not _is_whole(given["n_jobs"]) or given["n_jobs"] == 0):
        raise ValueError(f"n_jobs must be a whole number other than 0, or None, got {given['n_jobs']!r}")
    share = given["validation_fraction"]
    if not isinstance(share, numbers.Real) or not 0.0 <= float(share) < 1.0:
        raise ValueError(f"validation_fraction must lie in [0, 1), got {share!r}")
    for name, known in (("selection", RULES), ("strategy", STRATEGIES)):
        if given[name] not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {given[name]!r}")
    check_lists(given)
    every_own(given["operators"])
    loss, _ = read_loss(given["loss"])
    if given["goal"] not in GOALS:
        raise ValueError(f"goal must be one of {', '.join(GOALS)}, got {given['goal']!r}")
    if given["goal"] == "predict" and loss != "mse":
        raise ValueError(f'goal="predict" minimises squares; leave loss at "mse", got {given["loss"]!r}')
    if given["callback"] is not None and not callable(given["callback"]):
        raise TypeError(f"callback must be a function of one event, got {given['callback']!r}")


def read_loss(given: Any) -> tuple[str, Any]:
    """Name and parameter of the `loss` of the estimator; a ValueError says what is wrong."""
    name, parameter = given, None
    if isinstance(given, tuple | list) and len(given) == 2:
        if all(map(callable, given)):
            return "own", tuple(given)
        name, parameter = given
    if name == "absolute" and parameter is None:
        return "quantile", 0.5  # the same minimum
    if not isinstance(name, str) or name not in (*LOSSES, *WORKING):
        raise ValueError(
            f"loss must be one of {', '.join(NAMED_LOSSES)}, a pair such as ('quantile', 0.9), or a residual "
            f"function of target and prediction with its derivative, got {given!r}"
        )
    if parameter is None:
        return name, 0.5 if name == "quantile" else None
    if name not in ("huber", "quantile") or isinstance(parameter, bool) or not isinstance(parameter, numbers.Real):
        raise ValueError(f'loss takes one number after "huber" or "quantile" only, got {given!r}')
    Loss(name, float(parameter))
    return name, float(parameter)


def operator_set(operators: Operators) -> frozenset[str]:
    """Rows of the operator table that the user allows; empty means all.

    Takes names and signs, as a list or as one text with commas: "+,*,/,sin" allows sums, products, quotients, sine.
    The user's own operators may stand among them; alone they do not forbid any other.
    """
    allowed: set[str] = set()
    for word in _words(operators):
        if isinstance(word, Operator) or is_definition(str(word)):
            continue
        key = str(word).strip().lower()
        key = ALIASES.get(key, key)
        key = _SAME.get(key, key)
        if key == "all":
            return frozenset()
        if key not in _SIGNS and key not in OPERATORS:
            known = ", ".join([*_SIGNS, *(name for name in OPERATORS if name not in _SAME)])
            raise ValueError(f'operators: {word!r} is not known; choose from {known}, or define it: "{_EXAMPLE}"')
        allowed.update(_SIGNS.get(key, (key,)))
    return frozenset(allowed)


def own_operators(operators: Operators) -> tuple[Operator, ...]:
    """Those of `operators` that the user has written as formulas."""
    return tuple(operator for operator in every_own(operators) if not operator.is_python)


def every_own(operators: Operators) -> tuple[Operator, ...]:
    """Those of `operators` that the user has written, as formulas or as Python functions."""
    found: list[Operator] = []
    for word in _words(operators):
        if isinstance(word, Operator):
            found.append(word)
        elif is_definition(str(word)):
            found.append(read_operator(str(word)))
    names = [operator.name for operator in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"operators: {twice!r} is defined twice")
    return tuple(found)


def _words(operators: Operators) -> list[str | Operator]:
    """The entries; a text is cut at the commas outside brackets."""
    if operators is None:
        return []
    if isinstance(operators, Operator):
        return [operators]
    return [*re.split(r",(?![^()]*\))", operators)] if isinstance(operators, str) else list(operators)


def seed_generator(random_state: Any) -> np.random.Generator:
    """The generator of one fit: the same for the same int, fresh for None."""
    if _is_whole(random_state) and random_state < 0:
        raise ValueError(f"random_state must not be negative, got {random_state!r}")
    if random_state is None or _is_whole(random_state):
        return np.random.default_rng(None if random_state is None else int(random_state))
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(int(random_state.randint(2**31)))
    raise ValueError(f"random_state must be None, a whole number or a generator, got {random_state!r}")


def _weights(sample_weight: Any, X: Floats) -> Floats:
    given = np.asarray(sample_weight)
    if given.dtype.kind in "bif" and given.size and not (given != 0).any():  # before scikit-learn says it in its words
        raise DataError("sample_weight is zero for every row; at least one row must count")
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0.0).any():
        raise DataError(f"sample_weight must not be negative, got {weights.min()} in row {int(weights.argmin())}")
    most = float(weights.max())
    # Only their ratios count; sums of larger ones would overflow.
    return weights if 1.0 / LARGEST_WEIGHT < most < LARGEST_WEIGHT else weights / most


def with_sigma(sample_weight: Any, sigma: Any, y: Any) -> Any:
    """Weights that standard errors of the rows amount to, times those given."""
    if sigma is None:
        return sample_weight
    n_rows, errors = len(np.atleast_1d(np.asarray(y))), given.numbers(sigma, "sigma")
    if errors.shape != (n_rows,):
        hint = "; if it is the same for all rows, give it as noise" if errors.shape == () else ""
        told = f"sigma must be one standard error for each of the {n_rows} rows, got shape {errors.shape}"
        raise DataError(f"{told}{hint}")
    if not np.isfinite(errors).all() or (errors <= 0.0).any():
        worst = int(np.argmin(np.where(np.isfinite(errors), errors, -np.inf)))
        raise DataError(f"sigma must be positive in every row, got {errors[worst]} in row {worst}")
    own = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    least = float(errors.min())
    scale = 1.0 if 1.0 / LARGEST_WEIGHT < least < LARGEST_WEIGHT else least
    with np.errstate(over="ignore"):
        return own / np.minimum(errors / scale, LARGEST_WEIGHT) ** 2


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    """As a float; a whole number may be too large for one, infinity is not."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    return (not _is_whole(value) or int(value) <= sys.float_info.max) and float(value) > 0.0  # type: ignore[call-overload]


def _count(name: str, value: Any) -> None:
    if not _is_whole(value) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {quoted(value)}")
