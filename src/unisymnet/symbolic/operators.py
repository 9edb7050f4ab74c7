"""The one table of operators: how each is computed, differentiated, bounded, simplified and written.

Everything that must know an operator (parser, printers, evaluator, simplifier, kernels, exports) reads this table; only
the compiled interpreter needs an opcode besides (fit/kernels/tape.py).  It does not know expressions.  Semantics are
those of IEEE real arithmetic: outside its domain an operator gives nan or inf, never a complex number and never a
"protected" value (ADR 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from .spans import Span, around_zero, decreasing, increasing, periodic, reciprocal, tangent

Values = Any  # a float or an array of floats; numpy functions take both
Partials = tuple[Values, ...]

NARY = -1


@dataclass(frozen=True, slots=True)
class Operator:
    """One row of the table.

    ``arity`` is 1, 2 or ``NARY``; ``symbol`` is the infix sign or "" for a function call; ``precedence`` orders infix
    signs (higher binds tighter); ``domain`` says in words where the result is finite; ``partials(args, value)`` gives
    the derivative by each argument; ``span(low, high)`` bounds a function of one argument on an interval.  ``parity``
    is "odd", "even" or ""; ``undoes`` names the operator f with op(f(x)) = x wherever f(x) is defined; ``rare`` marks
    what laws seldom need, ``family`` what seldom stands inside itself.  ``latex`` is how LaTeX calls it, ``names`` how
    others do (sympy, torch, and the languages of `export`) where it is not simply the name; a spelling with {0} is
    filled with the arguments.
    """

    name: str
    arity: int
    apply: Callable[..., Values]
    partials: Callable[[tuple[Values, ...], Values], Partials]
    domain: str = "all"
    symbol: str = ""
    precedence: int = 9
    span: Span | None = None
    parity: str = ""
    undoes: str = ""
    rare: bool = False
    family: str = ""
    latex: str = ""
    names: Mapping[str, str] = field(default_factory=dict)


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


_erf = np.vectorize(math.erf, otypes=[np.float64])  # numpy has none


def _step(x: Values) -> Values:
    return np.heaviside(x, 0.0)


def _nowhere(args: tuple[Values, ...], value: Values) -> Partials:
    return (0.0 * args[0],)


def _first_of_two(first: Values) -> Partials:
    """Derivatives of min and max: one argument counts; where they are equal, the first."""
    return np.where(first, 1.0, 0.0), np.where(first, 0.0, 1.0)


def _spelled(**names: str) -> dict[str, str]:
    return names


def _arc(op: str) -> dict[str, str]:
    return {"numpy": f"np.arc{op[1:]}"}


_LOG = dict.fromkeys(("sympy", "torch", "c", "julia", "matlab"), "log")
_CASES = {"c": "({0} > 0 ? 1.0 : 0.0)", "julia": "({0} > 0 ? 1.0 : 0.0)", "js": "({0} > 0 ? 1 : 0)"}

_ROWS = (
    Operator("add", NARY, _sum, lambda a, v: (1.0,) * len(a), symbol="+", precedence=1),
    Operator("sub", 2, np.subtract, lambda a, v: (1.0, -1.0), symbol="-", precedence=1),
    Operator("mul", NARY, _product, _product_partials, symbol="*", precedence=2),
    Operator("div", 2, np.divide, lambda a, v: (1.0 / a[1], -v / a[1]), "denominator != 0", "/", 2),
    Operator("neg", 1, np.negative, lambda a, v: (-1.0,), symbol="-", precedence=3, span=decreasing(np.negative)),
    Operator("pow", 2, np.power, _pow_partials, "base > 0, or an integer exponent", "**", 4),
    Operator("sin", 1, np.sin, lambda a, v: (np.cos(a[0]),), span=periodic(np.sin, 0.25), parity="odd",
             undoes="asin", family="wave", latex=r"\sin"),
    Operator("cos", 1, np.cos, lambda a, v: (-np.sin(a[0]),), span=periodic(np.cos, 0.0), parity="even",
             undoes="acos", family="wave", latex=r"\cos"),
    Operator("exp", 1, np.exp, lambda a, v: (v,), span=increasing(np.exp), undoes="ln", family="growth", latex=r"\exp"),
    Operator("ln", 1, np.log, lambda a, v: (1.0 / a[0],), "argument > 0", span=increasing(np.log, 0.0), undoes="exp",
             family="growth", latex=r"\ln",
             names=_spelled(**_LOG, python="math.log", numpy="np.log", js="Math.log", excel="LN")),
    Operator("sqrt", 1, np.sqrt, lambda a, v: (0.5 / v,), "argument >= 0", span=increasing(np.sqrt, 0.0)),
    Operator("square", 1, np.square, lambda a, v: (2.0 * a[0],), span=around_zero(np.square), parity="even"),
    Operator("inv", 1, lambda x: np.divide(1.0, x), lambda a, v: (-v * v,), "argument != 0",
             span=reciprocal, parity="odd", names=_spelled(torch="reciprocal")),
    Operator("abs", 1, np.abs, lambda a, v: (np.sign(a[0]),), span=around_zero(np.abs), parity="even", rare=True,
             names=_spelled(sympy="Abs", python="abs", c="fabs")),
    Operator("sinh", 1, np.sinh, lambda a, v: (np.cosh(a[0]),), span=increasing(np.sinh), parity="odd", rare=True,
             latex=r"\sinh"),
    Operator("cosh", 1, np.cosh, lambda a, v: (np.sinh(a[0]),), span=around_zero(np.cosh), parity="even", rare=True,
             latex=r"\cosh"),
    Operator("tanh", 1, np.tanh, lambda a, v: (1.0 - v * v,), span=increasing(np.tanh), parity="odd", rare=True,
             latex=r"\tanh"),
    Operator("tan", 1, np.tan, lambda a, v: (1.0 + v * v,), "cos(argument) != 0", span=tangent, parity="odd",
             undoes="atan", rare=True, family="wave", latex=r"\tan"),
    Operator("asin", 1, np.arcsin, lambda a, v: (1.0 / np.sqrt(1.0 - a[0] * a[0]),), "|argument| <= 1",
             span=increasing(np.arcsin, -1.0, 1.0), parity="odd", rare=True, latex=r"\arcsin", names=_arc("asin")),
    Operator("acos", 1, np.arccos, lambda a, v: (-1.0 / np.sqrt(1.0 - a[0] * a[0]),), "|argument| <= 1",
             span=decreasing(np.arccos, -1.0, 1.0), rare=True, latex=r"\arccos", names=_arc("acos")),
    Operator("atan", 1, np.arctan, lambda a, v: (1.0 / (1.0 + a[0] * a[0]),), span=increasing(np.arctan), parity="odd",
             rare=True, latex=r"\arctan", names=_arc("atan")),
    Operator("erf", 1, _erf, lambda a, v: (2.0 / math.sqrt(math.pi) * np.exp(-np.square(a[0])),),
             span=increasing(_erf), parity="odd", rare=True, latex=r"\mathrm{erf}",
             names=_spelled(numpy="erf", js="erf", julia="erf")),
    Operator("min", 2, np.minimum, lambda a, v: _first_of_two(a[0] <= a[1]), rare=True, latex=r"\min",
             names=_spelled(sympy="Min", torch="minimum", python="min", numpy="np.minimum", c="fmin")),
    Operator("max", 2, np.maximum, lambda a, v: _first_of_two(a[0] >= a[1]), rare=True, latex=r"\max",
             names=_spelled(sympy="Max", torch="maximum", python="max", numpy="np.maximum", c="fmax")),
    Operator("step", 1, _step, _nowhere, span=increasing(_step), rare=True, latex=r"\mathrm{step}",
             names=_spelled(sympy="Heaviside", **_CASES, python="(1.0 if {0} > 0 else 0.0)", matlab="double({0} > 0)",
                            numpy="np.heaviside({0}, 0.0)", excel="IF({0}>0,1,0)")),
)  # fmt: skip

OPERATORS: dict[str, Operator] = {row.name: row for row in _ROWS}

# Other spellings that users type, all lower case.
ALIASES: dict[str, str] = {
    "log": "ln",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "pow2": "square",
    "fabs": "abs",
    "heaviside": "step",
    "minimum": "min",
    "maximum": "max",
}

# Functions of one argument that are called by name and have no rule of their own in a writer or in `simplify`.
FUNCTIONS = tuple(row.name for row in _ROWS if row.arity == 1 and not row.symbol and row.name not in ("square", "inv"))

# O_u of the paper, in the order in which a layer of the fixed-width network lists them.
UNARY_LIBRARY = ("id", "sin", "cos", "exp", "ln")
