"""Candidates: a rate as a sum of terms with coefficients, a system as one rate for each state, and their price.

The description length of a fit is what it leaves (unknown variance), half a logarithm of the number of values for
each constant, and a price for the form.  Knows how to price and to take apart, not how to find.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..metrics import complexity
from ..symbolic.expr import Call, Const, Expr, order_key, product, total, walk
from ..symbolic.rewrite.simplify import present, simplify
from .library import factored
from .program import free_system
from .shooting import Shot

Terms = tuple[tuple[float, Expr], ...]

FORM_PRICE = 0.8  # nats for a node of a formula
# Nats for functions beyond sums and products: rates in the literature are mostly polynomials.
FUNCTION_PRICES = {
    **dict.fromkeys(("sin", "cos"), 2.0),
    **dict.fromkeys(("exp", "tanh", "inv", "div"), 2.5),
    **dict.fromkeys(("ln", "sqrt", "abs", "tan", "sinh", "cosh", "asin", "acos", "atan"), 4.0),
}
LEAST_LEFT = 0.3  # χ² per value below which noise is being fitted


@dataclass(frozen=True)
class Rate:
    """One candidate for the rate of one state, fitted alone; ``length`` in nats."""

    expr: Expr
    source: str
    length: float
    reduced: float


@dataclass(frozen=True)
class Candidate:
    """One candidate for the whole system; ``exprs`` hold the fitted numbers of ``shot``."""

    exprs: tuple[Expr, ...]
    shot: Shot
    length: float
    n_segments: int
    forms: tuple[Expr, ...] = ()


def terms_of(expr: Expr) -> Terms:
    """The summands of a formula as coefficients and terms."""
    found: dict[Expr, float] = {}
    for factor, term in _terms(expr, 1.0):
        found[term] = found.get(term, 0.0) + factor
    return tuple((factor, term) for term, factor in found.items() if factor != 0.0)


def _terms(expr: Expr, factor: float) -> list[tuple[float, Expr]]:
    if isinstance(expr, Const):
        return [(factor * expr.value, Const(1.0))]
    if isinstance(expr, Call):
        if expr.op == "add":
            return [pair for arg in expr.args for pair in _terms(arg, factor)]
        if expr.op == "sub":
            return [*_terms(expr.args[0], factor), *_terms(expr.args[1], -factor)]
        if expr.op == "neg":
            return _terms(expr.args[0], -factor)
        if expr.op in ("mul", "div", "inv"):
            number, rest = factored(expr)
            if isinstance(rest, Call) and rest.op in ("mul", "div", "inv"):
                return [(factor * number, rest)]
            return _terms(rest, factor * number)
    return [(factor, expr)]


def sum_of(terms: Sequence[tuple[float, Expr]]) -> Expr:
    """The formula again, its terms in one order whatever it was before.

    A coefficient of one would be part of the form, so it is kept off by a hair.
    """
    parts: list[Expr] = []
    for factor, term in sorted(terms, key=lambda pair: order_key(pair[1])):
        number = Const(factor if abs(factor) != 1.0 else factor * (1.0 + 2e-16 * 2))
        parts.append(number if term == Const(1.0) else product([number, *_factors(term)]))
    return total(parts)


def _factors(term: Expr) -> tuple[Expr, ...]:
    return term.args if isinstance(term, Call) and term.op == "mul" else (term,)


def shown(expr: Expr) -> Expr:
    """The same rate as a person writes it; a search keeps factors in front of every term, signs and all."""
    try:
        return present(expr)
    except (ValueError, RecursionError):
        return expr


def form_price(exprs: Sequence[Expr]) -> float:
    """Nats for the forms; a function that occurs twice in the same part is paid once."""
    parts = [node for expr in exprs for node in set(walk(expr)) if isinstance(node, Call)]
    functions = math.fsum(FUNCTION_PRICES.get("sqrt" if _is_root(node) else node.op, 0.0) for node in parts)
    return FORM_PRICE * sum(complexity(simplify(expr)) for expr in exprs) + functions


def _is_root(node: Call) -> bool:
    """A power with an exponent that is no whole number: x**1.02 - x would else be cheaper than x*ln(x)."""
    exponent = node.args[1] if node.op == "pow" else None
    return isinstance(exponent, Const) and not exponent.value.is_integer()


def description_length(shot: Shot, exprs: Sequence[Expr], *, clean: bool, n_constants: int | None = None) -> float:
    """Nats for the measured values given this system; inf where a trajectory is lost."""
    if not math.isfinite(shot.chi2):
        return math.inf
    n = max(shot.n, 2)
    left = max(shot.reduced, 1.0 if clean else LEAST_LEFT)
    count = len(free_system(exprs)[1]) if n_constants is None else n_constants
    return 0.5 * n * math.log(left) + 0.5 * count * math.log(n) + form_price(exprs)
