"""The one table of operators: how each is written, computed, differentiated, and where it is defined.

Everything that must know an operator (parser, printer, evaluator, kernels, exports) reads this table.
It does not know expressions.  Semantics are those of IEEE real arithmetic: outside its domain an operator
gives nan or inf, never a complex number and never a "protected" value (ADR 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

Values = Any  # a float or an array of floats; numpy functions take both
Partials = tuple[Values, ...]

NARY = -1


@dataclass(frozen=True, slots=True)
class Operator:
    """One row of the table.

    ``arity`` is 1, 2 or ``NARY``; ``symbol`` is the infix sign or "" for a function call; ``precedence``
    orders infix signs (higher binds tighter); ``domain`` says in words where the result is finite;
    ``partials(args, value)`` gives the derivative by each argument.
    """

    name: str
    arity: int
    apply: Callable[..., Values]
    partials: Callable[[tuple[Values, ...], Values], Partials]
    domain: str = "all"
    symbol: str = ""
    precedence: int = 9


def _sum(*args: Values) -> Values:
    return reduce(np.add, args)


def _product(*args: Values) -> Values:
    return reduce(np.multiply, args)


def _product_partials(args: tuple[Values, ...], _value: Values) -> Partials:
    # Products of "all but one", without dividing, so that zeros are no special case.
    return tuple(_product(1.0, *args[:i], *args[i + 1 :]) for i in range(len(args)))


def _pow_partials(args: tuple[Values, ...], value: Values) -> Partials:
    base, exponent = args
    by_exponent = np.where(np.asarray(base) > 0, value * np.log(np.where(np.asarray(base) > 0, base, 1.0)), 0.0)
    return exponent * np.power(base, exponent - 1.0), by_exponent


_ROWS = (
    Operator("add", NARY, _sum, lambda a, v: (1.0,) * len(a), symbol="+", precedence=1),
    Operator("sub", 2, np.subtract, lambda a, v: (1.0, -1.0), symbol="-", precedence=1),
    Operator("mul", NARY, _product, _product_partials, symbol="*", precedence=2),
    Operator("div", 2, np.divide, lambda a, v: (1.0 / a[1], -v / a[1]), "denominator != 0", "/", 2),
    Operator("neg", 1, np.negative, lambda a, v: (-1.0,), symbol="-", precedence=3),
    Operator("pow", 2, np.power, _pow_partials, "base > 0, or an integer exponent", "**", 4),
    Operator("sin", 1, np.sin, lambda a, v: (np.cos(a[0]),)),
    Operator("cos", 1, np.cos, lambda a, v: (-np.sin(a[0]),)),
    Operator("exp", 1, np.exp, lambda a, v: (v,)),
    Operator("ln", 1, np.log, lambda a, v: (1.0 / a[0],), "argument > 0"),
    Operator("sqrt", 1, np.sqrt, lambda a, v: (0.5 / v,), "argument >= 0"),
    Operator("square", 1, np.square, lambda a, v: (2.0 * a[0],)),
    Operator("inv", 1, lambda x: np.divide(1.0, x), lambda a, v: (-v * v,), "argument != 0"),
    Operator("abs", 1, np.abs, lambda a, v: (np.sign(a[0]),)),
    Operator("sinh", 1, np.sinh, lambda a, v: (np.cosh(a[0]),)),
    Operator("cosh", 1, np.cosh, lambda a, v: (np.sinh(a[0]),)),
    Operator("tanh", 1, np.tanh, lambda a, v: (1.0 - v * v,)),
    Operator("tan", 1, np.tan, lambda a, v: (1.0 + v * v,), "cos(argument) != 0"),
    Operator("asin", 1, np.arcsin, lambda a, v: (1.0 / np.sqrt(1.0 - a[0] * a[0]),), "|argument| <= 1"),
    Operator("acos", 1, np.arccos, lambda a, v: (-1.0 / np.sqrt(1.0 - a[0] * a[0]),), "|argument| <= 1"),
    Operator("atan", 1, np.arctan, lambda a, v: (1.0 / (1.0 + a[0] * a[0]),)),
)

OPERATORS: dict[str, Operator] = {row.name: row for row in _ROWS}

# Other spellings that users type, all lower case.
ALIASES: dict[str, str] = {
    "log": "ln",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "pow2": "square",
    "fabs": "abs",
}

# O_u of the paper, in the order in which a layer of the fixed-width network lists them.
UNARY_LIBRARY = ("id", "sin", "cos", "exp", "ln")
