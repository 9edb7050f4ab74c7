"""The terms an equation is made of: derivatives of products of powers of the fields, ∂^α (u^a·v^b), or of a function.

In this form every derivative can be moved to a test function (weak.py), and every conservation law is linear in its
coefficients.  For reading, first derivatives are written out: ∂x(u²) is 2·u·u_x.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..metrics import complexity
from ..symbolic.expr import evaluate
from ..symbolic.parse import parse
from ..symbolic.text import to_text

FUNCTION_DEGREE = 3  # of frequencies: a function is folded back like a cube


@dataclass(frozen=True, order=True)
class Term:
    """∂^orders of the product of fields to their ``powers``; one order for each axis of space.

    With a ``function``, a formula in x0, x1, … for the fields, of that instead: the powers are then all 0.
    """

    orders: tuple[int, ...]
    powers: tuple[int, ...]
    function: str = ""

    @property
    def order(self) -> int:
        return sum(self.orders)

    @property
    def degree(self) -> int:
        return FUNCTION_DEGREE if self.function else sum(self.powers)

    @property
    def price(self) -> float:
        """Nats: high derivatives and high powers are rarer in equations that people write."""
        function = 0.8 * complexity(parse(self.function)) + 2.0 if self.function else 0.0
        return 0.7 * self.order + (function or 0.7 * max(self.degree - 1, 0))

    def is_linear_in(self, field: int) -> bool:
        return self.degree == 1 and self.powers[field] == 1

    def values(self, fields: Sequence[Floats], noise: Sequence[float]) -> Floats:
        """What the derivative acts on; of functions without what noise adds on average, which is not known."""
        if not self.function:
            return values(self.powers, fields, noise)
        table = np.column_stack([field.ravel() for field in fields])
        return np.asarray(evaluate(parse(self.function), table)).reshape(fields[0].shape)

    def body(self, fields: Sequence[str]) -> list[str]:
        """The factors that the derivative acts on, as text."""
        if self.function:
            return [to_text(parse(self.function), list(fields), 6)]
        return _product(self.powers, fields)


def library(n_fields: int, n_space: int, max_order: int, max_degree: int) -> list[Term]:
    """Every term up to these orders and degrees; a constant has no derivative."""
    orders = [o for o in itertools.product(range(max_order + 1), repeat=n_space) if sum(o) <= max_order]
    if n_space > 1:  # mixed derivatives beyond the second are seldom meant
        orders = [o for o in orders if sum(o) <= 2 or max(o) == sum(o)]
    powers = [p for p in itertools.product(range(max_degree + 1), repeat=n_fields) if sum(p) <= max_degree]
    # Derivatives beyond the second of products of three are not asked for: they crowd the library.
    return sorted(
        Term(o, p)
        for o in orders
        for p in powers
        if (sum(p) or not sum(o)) and (sum(o) <= 2 or sum(p) <= 2) and (n_space == 1 or sum(o) <= 2 or sum(p) == 1)
    )


def values(powers: Sequence[int], fields: Sequence[Floats], noise: Sequence[float]) -> Floats:
    """The product of powers, without what noise of this size adds to it on average: u² − σ², u³ − 3σ²u, …"""
    result = np.ones_like(fields[0])
    for power, field, sigma in zip(powers, fields, noise, strict=True):
        if power:
            result = result * _power(field, power, sigma**2)
    return result


def _power(field: Floats, power: int, variance: float) -> Floats:
    """Hermite's polynomials: their mean over noise is the power of the true value."""
    before, now = np.ones_like(field), field
    for n in range(1, power):
        before, now = now, field * now - n * variance * before
    return now


def spelled(term: Term, fields: Sequence[str], space: Sequence[str]) -> str:
    """The term as it was fitted, without its coefficient: (u^2)_x."""
    marks = "".join(axis * order for axis, order in zip(space, term.orders))
    body = "*".join(term.body(fields)) or "1"
    if not marks:
        return body
    return f"{body}_{marks}" if term.degree == 1 else f"({body})_{marks}"


def written(term: Term, coefficient: float, fields: Sequence[str], space: Sequence[str], digits: int) -> str:
    """The term with its coefficient, first derivatives of powers written out."""
    marks = "".join(axis * order for axis, order in zip(space, term.orders))
    if term.order == 1 and term.degree > 1 and not term.function:
        pieces = []
        for k, power in enumerate(term.powers):
            if power:
                rest = tuple(p - (i == k) for i, p in enumerate(term.powers))
                pieces.append(_times(coefficient * power, [*_product(rest, fields), f"{fields[k]}_{marks}"], digits))
        return " + ".join(pieces).replace("+ -", "- ")
    return _times(coefficient, [spelled(term, fields, space)] if term.degree else [], digits)


def _product(powers: Sequence[int], fields: Sequence[str]) -> list[str]:
    return [name if power == 1 else f"{name}^{power}" for name, power in zip(fields, powers, strict=True) if power]


def _times(coefficient: float, factors: Sequence[str], digits: int) -> str:
    number = f"{coefficient:.{digits}g}"
    if not factors:
        return number
    if number in ("1", "-1"):
        return ("-" if number == "-1" else "") + "*".join(factors)
    return "*".join([number, *factors])
