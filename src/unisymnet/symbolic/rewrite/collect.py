"""Canonical sums, and the facts and the arithmetic that powers.py and simplify.py need as well.

A canonical formula is made of ``add``, ``mul``, ``pow`` and functions only: a difference is a coefficient -1, a
quotient a power -1, a root a power 0.5.  In a product the coefficient comes first, in a sum the constant comes
last; everything else stands in ``order_key`` order, and terms that share a coefficient are written ``c*(a + b)``.

What floating point cannot hold (1e200*1e200, 1/0) raises ``Unfoldable``; simplify.py then leaves that node as it
is.  Nothing here knows data, names or free constants.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..expr import Call, Const, Expr, order_key, product

SMALLEST, LARGEST = 1e-300, 1e300  # folded constants stay well inside what a float can hold
ZERO, ONE = Const(0.0), Const(1.0)
_EPS = 2.0**-52


class Unfoldable(ArithmeticError):
    """A constant would leave the range of floating point."""


def make_sum(pairs: Iterable[tuple[float, Expr]]) -> Expr:
    """The sum of ``coefficient * expr`` over the pairs, like terms collected."""
    terms: dict[Expr, float] = {}
    for scale, expr in pairs:
        _put_terms(expr, scale, terms)
    constant = terms.pop(ONE, 0.0)
    live = [(core, c) for core, c in terms.items() if c != 0.0]
    if len(live) > 1:
        live.sort(key=_core_key)
        parts = _grouped(live)
    else:
        parts = [scaled(c, core) for core, c in live]
    if constant != 0.0 or not parts:
        parts.append(Const(constant))
    return parts[0] if len(parts) == 1 else Call("add", parts)


def terms_of(expr: Expr) -> dict[Expr, float]:
    """A canonical sum as {core: coefficient}; its constant is the coefficient of ``ONE``."""
    terms: dict[Expr, float] = {}
    _put_terms(expr, 1.0, terms)
    return terms


def is_nonnegative(expr: Expr) -> bool:
    """Is the value surely >= 0 wherever it is defined?"""
    if type(expr) is Const:
        return expr.value >= 0.0
    if type(expr) is not Call:
        return False
    if expr.op == "pow":
        exponent = expr.args[1]
        free = type(exponent) is Const and (exponent.value % 2.0 == 0.0 or not exponent.value.is_integer())
        return free or is_nonnegative(expr.args[0])
    if expr.op in ("add", "mul"):
        return all(map(is_nonnegative, expr.args))
    return expr.op in ("exp", "cosh", "abs", "acos")


def is_number(expr: Expr) -> bool:
    """Is this a power of numbers that could not be folded, such as 0**-1 or (-2)**0.5?  It is left alone."""
    return type(expr) is Call and expr.op == "pow" and all(type(a) is Const for a in expr.args)


def takes_factor(expr: Call, factor: float) -> bool:
    """Does factor*(canonical sum) have fewer numbers when multiplied out?  2*(3*x + 1) has, 2*(x + 3) has not."""
    coefficients = [coefficient_of(term) for term in expr.args if type(term) is not Const]
    plain = any(abs(c) == 1.0 for c in coefficients)
    return not plain or any(_near_one(c * factor) for c in coefficients)


def coefficient_of(term: Expr) -> float:
    """The number in front of a canonical term."""
    first = term.args[0] if type(term) is Call and term.op == "mul" else None
    return first.value if type(first) is Const else 1.0


def leads_negative(expr: Expr) -> bool:
    """Does a canonical product, or the first term of a canonical sum, carry a negative coefficient?"""
    if type(expr) is Call and expr.op == "add":
        expr = expr.args[0]
    first = expr.args[0] if type(expr) is Call and expr.op == "mul" else expr
    return type(first) is Const and first.value < 0.0


def negated(expr: Expr) -> Expr:
    """``-expr``, canonical if ``expr`` is."""
    if type(expr) is Call and expr.op == "add":
        return Call("add", [_negated_term(a) for a in expr.args])
    return _negated_term(expr)


def checked(value: float) -> float:
    if not SMALLEST < abs(value) < LARGEST and value != 0.0:
        raise Unfoldable
    return value


def times(a: float, b: float) -> float:
    value = a * b
    if _near_one(value):
        return 1.0 if value > 0.0 else -1.0
    if not SMALLEST < abs(value) < LARGEST and abs(a) not in (0.0, 1.0) and abs(b) not in (0.0, 1.0):
        raise Unfoldable
    return value


def _near_one(value: float) -> bool:
    """3*(1/3) and the like are 1."""
    return abs(abs(value) - 1.0) <= 2 * _EPS


def plus(a: float, b: float) -> float:
    """a + b, where 0.1 + 0.2 - 0.3 is 0: what is left of a cancellation is rounding."""
    value = a + b
    if abs(value) <= 4 * _EPS * abs(a):
        return 0.0
    if not math.isfinite(value):
        raise Unfoldable
    return value


def power_of_numbers(base: float, exponent: float) -> float:
    if exponent == 1.0:
        return base
    try:
        value = math.pow(base, exponent)
    except (ValueError, OverflowError):
        raise Unfoldable from None
    if base != 0.0 and not SMALLEST < abs(value) < LARGEST:
        raise Unfoldable
    return value


def tidy(exponent: float) -> float:
    """Exponents that miss a whole number by rounding only, such as 3*(1/3), become it."""
    whole = round(exponent)
    near = whole != 0 and exponent != whole and abs(exponent - whole) < 1e-14 * abs(exponent)
    return float(whole) if near else exponent


def _put_terms(expr: Expr, scale: float, terms: dict[Expr, float]) -> None:
    if type(expr) is Call:
        if expr.op == "add":
            for arg in expr.args:
                _put_terms(arg, scale, terms)
            return
        if expr.op == "mul" and type(expr.args[0]) is Const and type(expr.args[1]) is not Const:
            scale = times(scale, expr.args[0].value)
            if len(expr.args) > 2:
                expr = Call("mul", expr.args[1:])
            else:
                expr = expr.args[1]
                if type(expr) is Call and expr.op == "add":
                    for arg in expr.args:
                        _put_terms(arg, scale, terms)
                    return
    elif type(expr) is Const:
        scale, expr = times(scale, expr.value), ONE
    old = terms.get(expr)
    terms[expr] = scale if old is None else plus(old, scale)


def _core_key(term: tuple[Expr, float]) -> tuple[Any, ...]:
    return order_key(term[0])


def scaled(coefficient: float, core: Expr) -> Expr:
    if coefficient == 1.0:
        return core
    rest = core.args if type(core) is Call and core.op == "mul" else (core,)
    return Call("mul", (Const(coefficient), *rest))


def _negated_term(term: Expr) -> Expr:
    if type(term) is Const:
        return Const(-term.value)
    if type(term) is Call and term.op == "mul" and type(term.args[0]) is Const:
        value, rest = -term.args[0].value, term.args[1:]
        return product(rest) if value == 1.0 else Call("mul", (Const(value), *rest))
    return scaled(-1.0, term)


def _grouped(live: list[tuple[Expr, float]]) -> list[Expr]:
    """The terms, those with a common coefficient other than 1 and -1 joined as ``c*(a + b)``."""
    sizes = [abs(c) for _, c in live]
    if len(set(sizes)) == len(sizes):
        return [scaled(c, core) for core, c in live]
    parts: list[Expr] = []
    for i, (core, c) in enumerate(live):
        common = sizes[i]
        if common == 1.0 or sizes.count(common) == 1:
            parts.append(scaled(c, core))
        elif sizes.index(common) == i:
            inner = [scaled(1.0 if d == c else -1.0, other) for other, d in live if abs(d) == common]
            parts.append(Call("mul", (Const(c), Call("add", inner))))
    return parts
