"""How much a formula takes for granted about the units of its columns and of the target.

A law keeps its form when metres become feet: its constants take up the change.  ``x·ln(x)`` does not, ``x^1.2 + x``
does not; that such a formula fits is a coincidence of the units in which somebody wrote the data down.  Counted is how
many changes of units a formula cannot follow, from its form alone: each number has whatever unit it needs, and is paid
for as a number; a factor that is not there is paid for here.  Where units are known, a relation that they obey is none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..problem import TARGET
from ..symbolic.expr import Expr
from .tree import ADD, COLUMN, MUL, NUMBER, POW, Node

FOLLOWED = 1e-9
UNIT_NATS = 2.0  # for each relation between units that a formula takes for granted

Unit = dict[int, float]  # exponents of the columns' units; the target is TARGET


def assumed_nats(expr: Expr, tree: Node) -> float:
    """The price of a formula's relations between units where no unit is known."""
    return UNIT_NATS * assumed_units(tree)


def assumed_units(tree: Node, known: Mapping[int, Unit] | None = None) -> int:
    """How many relations between the units of columns and target must happen to hold for the formula to make sense.

    Units that are ``known`` are written in units that are independent of all others, with numbers below that of the
    target.
    """
    known = known or {}
    relations: list[Unit] = []
    whole = _unit(tree, relations, known, shifted=False)
    if whole is not None:
        relations.append(_minus(known.get(TARGET, {TARGET: 1.0}), whole))
    return _rank(relations)


def _unit(node: Node, relations: list[Unit], known: Mapping[int, Unit], shifted: bool) -> Unit | None:
    """The unit of a part, None for any; ``shifted``: a free constant is added, which takes up the unit in a ln."""
    if node.symbol == NUMBER:
        return None
    if node.symbol == COLUMN:
        return known.get(int(node.value), {int(node.value): 1.0})
    if node.symbol == ADD:
        return _sum(node, relations, known)
    if node.symbol == MUL:
        return _product([_unit(child, relations, known, shifted) for child in node.children])
    if node.symbol == POW:
        return _power(node, relations, known)
    inside = _unit(node.children[0], relations, known, shifted=False)
    if inside and not (node.symbol == "ln" and shifted):
        relations.append(inside)
    return inside if node.symbol == "abs" else {}


def _sum(node: Node, relations: list[Unit], known: Mapping[int, Unit]) -> Unit | None:
    free = any(child.symbol == NUMBER for child in node.children)
    units = [_unit(child, relations, known, shifted=free) for child in node.children]
    some = [unit for unit in units if unit is not None]
    relations += [_minus(unit, some[0]) for unit in some[1:]]
    return some[0] if some else None


def _power(node: Node, relations: list[Unit], known: Mapping[int, Unit]) -> Unit | None:
    base, exponent = node.children
    below = _unit(base, relations, known, shifted=False)
    if exponent.symbol != NUMBER:
        above = _unit(exponent, relations, known, shifted=False)
        relations += [unit for unit in (below, above) if unit]
        return {}
    power = exponent.value if math.isfinite(exponent.value) else math.sqrt(2.0)
    return None if below is None else {column: power * size for column, size in below.items()}


def _product(units: list[Unit | None]) -> Unit | None:
    total: Unit = {}
    for unit in units:
        if unit is None:
            return None
        for column, size in unit.items():
            total[column] = total.get(column, 0.0) + size
    return total


def _minus(one: Unit, other: Unit) -> Unit:
    return {column: one.get(column, 0.0) - other.get(column, 0.0) for column in {*one, *other}}


def _rank(relations: list[Unit]) -> int:
    columns = sorted({column for relation in relations for column in relation})
    rows = [[relation.get(column, 0.0) for column in columns] for relation in relations]
    if len(rows) < 2:
        return sum(any(abs(value) > FOLLOWED for value in row) for row in rows)
    return int(np.linalg.matrix_rank(np.array(rows), tol=FOLLOWED))
