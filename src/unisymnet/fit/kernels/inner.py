"""The inner functions u(s), s = offset + κt: their numbers, columns and slopes.

One table for numpy (whole arrays) and one for numba (single numbers with derivatives).  Names that begin with LOG_ give
ln|g(s)|, for log space.  Formulas of these functions are in dictionary.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .elementary import PART

__all__ = ["COLUMNS", "Codes", "OFFSET", "inner", "plain_slopes", "rarer_slopes"]

Reals = NDArray[np.floating[Any]]


class Codes:
    """Numbers of the inner functions, s = offset + κ·t.  Names with LOG_ give ln|g(s)|, for log space."""

    EXP, WAVE, LN1, INV1, SQRT1, RSQRT1, TANH, ATAN, SOFT, LOGISTIC, BOSE, HYPERBOLIC = range(12)
    ABS1, INVSQ1, TAN, ASIN, LOG_SIN, LOG_COS, LOG_EXPM1, LOG_SINH, LOG_COSH, LOG_TANH, LOG_ATAN = range(12, 23)
    LOG_LN1 = 23


# s = OFFSET + κ·t: the functions of 1 + κt.
OFFSET = np.zeros(24)
OFFSET[[Codes.LN1, Codes.INV1, Codes.SQRT1, Codes.RSQRT1, Codes.ABS1, Codes.INVSQ1, Codes.LOG_LN1]] = 1.0
# sin with cos, and exp(s) with exp(-s), come as two columns.
COLUMNS = np.ones(24, dtype=np.int64)
COLUMNS[[Codes.WAVE, Codes.HYPERBOLIC]] = 2


def inner(code: int, s: Reals) -> tuple[Reals, ...]:
    """The column(s) of an inner function at s (offset included), vectorised; nan outside its domain."""
    with np.errstate(all="ignore"):
        if code == Codes.WAVE:
            return np.sin(s), np.cos(s)
        if code == Codes.HYPERBOLIC:
            return np.exp(s), np.exp(-s)
        return (_SINGLE[code](s),)


_SINGLE: dict[int, Callable[[Reals], Reals]] = {
    Codes.EXP: np.exp,
    Codes.LN1: lambda s: np.log(np.abs(s)),
    Codes.INV1: lambda s: 1.0 / s,
    Codes.SQRT1: np.sqrt,
    Codes.RSQRT1: lambda s: 1.0 / np.sqrt(s),
    Codes.TANH: np.tanh,
    Codes.ATAN: np.arctan,
    Codes.SOFT: lambda s: np.maximum(s, 0.0) + np.log1p(np.exp(-np.abs(s))),
    Codes.LOGISTIC: lambda s: 1.0 / (1.0 + np.exp(s)),
    Codes.BOSE: lambda s: 1.0 / np.expm1(s),
    Codes.ABS1: np.abs,
    Codes.INVSQ1: lambda s: 1.0 / (s * s),
    Codes.TAN: np.tan,
    Codes.ASIN: np.arcsin,
    Codes.LOG_SIN: lambda s: np.log(np.abs(np.sin(s))),
    Codes.LOG_COS: lambda s: np.log(np.abs(np.cos(s))),
    Codes.LOG_EXPM1: lambda s: np.log(np.abs(np.expm1(s))),
    Codes.LOG_SINH: lambda s: np.log(np.abs(np.sinh(s))),
    Codes.LOG_COSH: lambda s: np.abs(s) + np.log1p(np.exp(-2.0 * np.abs(s))) - math.log(2.0),
    Codes.LOG_TANH: lambda s: np.log(np.abs(np.tanh(s))),
    Codes.LOG_ATAN: lambda s: np.log(np.abs(np.arctan(s))),
    Codes.LOG_LN1: lambda s: np.log(np.abs(np.log(s))),
}


@njit(**PART)
def plain_slopes(code, x):  # type: ignore[no-untyped-def]
    """Columns a, b and their derivatives of the inner functions numbered below 12."""
    if code == 0:
        a = math.exp(x)
        return a, 0.0, a, 0.0
    if code == 1:
        a, b = math.sin(x), math.cos(x)
        return a, b, b, -a
    if code == 2:
        return math.log(abs(x)), 0.0, 1.0 / x, 0.0
    if code == 3:
        return 1.0 / x, 0.0, -1.0 / (x * x), 0.0
    if code == 4:
        a = math.sqrt(x)
        return a, 0.0, 0.5 / a, 0.0
    if code == 5:
        a = 1.0 / math.sqrt(x)
        return a, 0.0, -0.5 * a / x, 0.0
    if code == 6:
        a = math.tanh(x)
        return a, 0.0, 1.0 - a * a, 0.0
    if code == 7:
        return math.atan(x), 0.0, 1.0 / (1.0 + x * x), 0.0
    if code == 8:
        return max(x, 0.0) + math.log1p(math.exp(-abs(x))), 0.0, 1.0 / (1.0 + math.exp(-x)), 0.0
    if code == 9:
        a = 1.0 / (1.0 + math.exp(x))
        return a, 0.0, -a * (1.0 - a), 0.0
    if code == 10:
        a = 1.0 / math.expm1(x)
        return a, 0.0, -a * (1.0 + a), 0.0
    a, b = math.exp(x), math.exp(-x)
    return a, b, a, -b


@njit(**PART)
def rarer_slopes(code, x):  # type: ignore[no-untyped-def]
    """Value and derivative of the inner functions numbered 12 and more."""
    if code == 12:
        return abs(x), 1.0 if x > 0 else -1.0
    if code == 13:
        return 1.0 / (x * x), -2.0 / (x * x * x)
    if code == 14:
        a = math.tan(x)
        return a, 1.0 + a * a
    if code == 15:
        return (math.asin(x) if abs(x) < 1.0 else math.nan), 1.0 / math.sqrt(1.0 - x * x)
    if code == 16:
        return math.log(abs(math.sin(x))), 1.0 / math.tan(x)
    if code == 17:
        return math.log(abs(math.cos(x))), -math.tan(x)
    if code == 18:
        return math.log(abs(math.expm1(x))), -1.0 / math.expm1(-x)
    if code == 19:
        return math.log(abs(math.sinh(x))), 1.0 / math.tanh(x)
    if code == 20:
        return abs(x) + math.log1p(math.exp(-2.0 * abs(x))) - math.log(2.0), math.tanh(x)
    if code == 21:
        return math.log(abs(math.tanh(x))), 2.0 / math.sinh(2.0 * x)
    if code == 22:
        return math.log(abs(math.atan(x))), 1.0 / ((1.0 + x * x) * math.atan(x))
    a = math.log(x)
    return math.log(abs(a)), 1.0 / (x * a)
