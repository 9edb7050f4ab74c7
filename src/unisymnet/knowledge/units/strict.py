"""A formula without the terms that its units forbid: what a regression proposes becomes right in its units.

Constants count as plain numbers here.  In a sum the terms whose unit is the wanted one stay; inside exp, ln and waves
those without a unit.  Does not fit anything: constants are refitted by whoever takes the proposal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...candidate import Proposal
from ...problem import Problem
from ...protocols import Wrapped
from ...symbolic.expr import Call, Const, Expr, Param, Var, total
from ...symbolic.rewrite.simplify import simplify
from .homogeneous import is_simple
from .system import UnitSystem
from .unit import Unit

_PRODUCTS = {"mul", "div", "inv", "neg", "abs", "sqrt", "square"}


@dataclass(frozen=True)
class Strict(Wrapped):
    """A proposer each of whose formulas is put forward once more without what units forbid, where that differs."""

    units: UnitSystem
    seen: set[Expr] = field(default_factory=set)

    def beside(self, problem: Problem, proposal: Proposal) -> Iterator[Proposal]:
        strict = without_forbidden(simplify(problem.to_original(proposal.expr)), self.units)
        if strict is not None and strict not in self.seen:
            self.seen.add(strict)
            yield Proposal(problem.to_scaled(strict), proposal.source, proposal.brief)


def without_forbidden(expr: Expr, units: UnitSystem) -> Expr | None:
    """The formula with forbidden terms left out; None if nothing or everything would go."""
    if units.target is None or any(unit is None for unit in units.columns):
        return None
    found = _kept(expr, units.target, units)
    return None if found is None or found == expr or isinstance(found, Const | Param) else found


def unit_of(expr: Expr, units: UnitSystem) -> Unit | None:
    """The unit of a formula whose constants are plain numbers, or None if it has none."""
    if isinstance(expr, Const | Param):
        return Unit()
    if isinstance(expr, Var):
        return units.columns[expr.index]
    assert isinstance(expr, Call)
    inside = [unit_of(arg, units) for arg in expr.args]
    known = [unit for unit in inside if unit is not None]
    if len(known) < len(inside):
        return None
    if expr.op in ("add", "sub"):
        return known[0] if all(known[0].same(other) for other in known[1:]) else None
    if expr.op == "mul":
        whole = Unit()
        for unit in known:
            whole = whole * unit
        return whole
    if expr.op == "div":
        return known[0] / known[1]
    if expr.op == "pow":
        exponent = expr.args[1]
        if isinstance(exponent, Const) and (known[0].is_one or is_simple(exponent.value)):
            return known[0] ** exponent.value
        return Unit() if known[0].is_one and known[1].is_one else None
    if expr.op in _PRODUCTS:
        return known[0] ** {"inv": -1.0, "sqrt": 0.5, "square": 2.0}.get(expr.op, 1.0)
    return Unit() if known[0].is_one else None


def _kept(expr: Expr, wanted: Unit, units: UnitSystem) -> Expr | None:
    """The part of a formula that has the wanted unit; terms of sums may go, factors may not."""
    own = unit_of(expr, units)
    if own is not None:
        return expr if own.same(wanted) else None
    if not isinstance(expr, Call):
        return None
    if expr.op == "add":
        terms = [kept for arg in expr.args if (kept := _kept(arg, wanted, units)) is not None]
        return total(terms) if terms else None
    if expr.op == "sub":
        left, right = (_kept(arg, wanted, units) for arg in expr.args)
        if left is None:
            return None if right is None else -right
        return left if right is None else left - right
    if expr.op in ("mul", "div", "neg"):
        return _kept_product(expr, wanted, units)
    if expr.op in _PRODUCTS or expr.op == "pow":
        return _kept_power(expr, wanted, units)
    inner = _kept(expr.args[0], Unit(), units)
    return Call(expr.op, (inner,)) if inner is not None and wanted.is_one and not isinstance(inner, Const) else None


def _kept_product(expr: Call, wanted: Unit, units: UnitSystem) -> Expr | None:
    """One factor is wrong in itself: it is asked for the unit that the others leave it."""
    inside = [unit_of(arg, units) for arg in expr.args]
    wrong = [i for i, unit in enumerate(inside) if unit is None]
    if len(wrong) != 1:
        return _plain_factors(expr, wrong, wanted, units)
    place = wrong[0]
    rest = Unit()
    for i, unit in enumerate(inside):
        if unit is not None:
            rest = rest * (unit**-1 if expr.op == "div" and i == 1 else unit)
    needed = wanted / rest
    if expr.op == "div" and place == 1:
        needed = needed**-1
    part = _kept(expr.args[place], needed, units)
    if part is None:
        return None
    return Call(expr.op, [part if i == place else arg for i, arg in enumerate(expr.args)])


def _plain_factors(expr: Call, wrong: list[int], wanted: Unit, units: UnitSystem) -> Expr | None:
    """Several wrong factors: the first gets what is wanted of the product, the others become plain numbers."""
    if expr.op == "neg":
        return None
    args = list(expr.args)
    for place in wrong[1:]:
        part = _kept(args[place], Unit(), units)
        if part is None:
            return None
        args[place] = part
    return _kept_product(Call(expr.op, args), wanted, units)


def _kept_power(expr: Call, wanted: Unit, units: UnitSystem) -> Expr | None:
    power = {"inv": -1.0, "sqrt": 0.5, "square": 2.0, "abs": 1.0}.get(expr.op)
    if expr.op == "pow":
        exponent = expr.args[1]
        if not isinstance(exponent, Const) or not is_simple(exponent.value) or exponent.value == 0.0:
            return None
        power = exponent.value
    assert power is not None
    inner = _kept(expr.args[0], wanted ** (1.0 / power), units)
    return None if inner is None else Call(expr.op, (inner, *expr.args[1:]))
