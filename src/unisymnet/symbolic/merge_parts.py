"""What merge.py works on: terms with a fixed or free coefficient, factors with a power, and safe arithmetic."""

from __future__ import annotations

import math
from typing import NamedTuple

from .expr import Call, Const, Expr, Var, walk

ONE = Const(1.0)


class Term(NamedTuple):
    """``value * core``; a free value will be a parameter; without a core it is a constant."""

    free: bool
    value: float
    core: Expr | None


class Factor(NamedTuple):
    """``(sum of terms) ** power`` in a product."""

    terms: list[Term]
    power: Expr

    @property
    def number(self) -> float:
        return self.power.value if isinstance(self.power, Const) else math.nan


def put_term(joined: dict[Expr | None, Term], term: Term) -> None:
    old = joined.get(term.core)
    joined[term.core] = term if old is None else Term(old.free or term.free, old.value + term.value, term.core)


def has_variables(expr: Expr) -> bool:
    return not isinstance(expr, Const) and any(isinstance(node, Var) for node in walk(expr))


def times(number: Expr, expr: Expr) -> Expr:
    if expr == ONE:
        return number
    return Call("mul", (number, *expr.args) if isinstance(expr, Call) and expr.op == "mul" else (number, expr))


def bases(core: Expr, power: float) -> list[tuple[Expr, float]]:
    """core ** power taken apart into its factors."""
    if isinstance(core, Call):
        if core.op == "mul":
            return [pair for a in core.args for pair in bases(a, power)]
        if core.op == "div":
            return [*bases(core.args[0], power), *bases(core.args[1], -power)]
        if core.op == "pow" and isinstance(core.args[1], Const):
            return [(core.args[0], core.args[1].value * power)]
    return [] if core == ONE else [(core, power)]


def raised(base: Expr, power: float) -> Expr:
    if power == 1.0:
        return base
    return Call("sqrt", (base,)) if power == 0.5 else Call("pow", (base, Const(power)))


def power_of(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (ValueError, OverflowError):
        return math.nan


def exp_of(value: float) -> float:
    return math.exp(value) if value < 700.0 else math.inf
