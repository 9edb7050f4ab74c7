"""What units say about the price of a formula: nats that take the place of those for units nobody gave.

A judge that knows no units charges a formula for every relation between units that it takes for granted, and for each
place of a column as if any column could stand there.  Where units are given, neither is right: relations that hold are
no coincidence, and few columns may stand beside the others.  So the belief in a shape of formula is shared out among
the ways to fill it with columns that the units allow.  A constant with a unit that nobody has named must be explained,
and costs what a relation costs.  Does not know data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from ...judge.scales import UNIT_NATS, assumed_units
from ...judge.tree import ADD, COLUMN, MUL, NUMBER, POW, Node
from ...problem import TARGET
from ...symbolic.expr import Expr
from .homogeneous import is_simple
from .system import UnitSystem
from .unit import Unit

# One number stands for a unit: the sum of its exponents times large numbers of which no simple combination is zero,
# whole for every exponent with a denominator up to 12.
Ways = dict[float, float]  # how many ways to fill a part of a formula with columns give it each unit
Column = Callable[[Node], Ways]  # of a column at one place
WEIGHTS = tuple(27_720.0 * prime for prime in (104_729, 130_363, 224_737, 350_377, 611_953, 746_773, 821_641))
ONE, ANY = 0.0, math.inf  # units of a plain number, and of a constant that takes whatever is needed
DIGITS = 3
ODD = math.sqrt(2.0)  # for an exponent that was fitted: it makes no two units equal
MAX_UNITS = 3000  # different ones of one part: beyond that units are not counted


@dataclass(frozen=True)
class UnitNats:
    """Called with a formula in the columns of `system`, and with its tree as the judge reads it."""

    system: UnitSystem
    found: dict[tuple[Node, bool], float] = field(default_factory=dict, repr=False)

    def __call__(self, expr: Expr, tree: Node) -> float:
        nats = UNIT_NATS * assumed_units(tree, self.exponents)
        columns = self.columns
        if self.system.target is None or len(columns) < len(self.system.columns):
            return nats
        plain = asked(tree, self.target, lambda node: {columns[int(node.value)]: 1.0}, ONE) > 0.0
        if not plain:
            nats += UNIT_NATS * self.system.n_unexplained(self.system.read(expr))
        key = _shape(tree), plain
        if key not in self.found:
            self.found[key] = narrowed(key[0], columns, self.target, ONE if plain else ANY)
        return nats - self.found[key]

    @cached_property
    def columns(self) -> tuple[float, ...]:
        return tuple(as_number(unit) for unit in self.system.columns if unit is not None)

    @cached_property
    def target(self) -> float:
        return ONE if self.system.target is None else as_number(self.system.target)

    @cached_property
    def exponents(self) -> dict[int, dict[int, float]]:
        """Known units as scales.py wants them: base units are numbered from -2 downwards."""
        every = [*enumerate(self.system.columns), (TARGET, self.system.target)]
        return {
            place: {-2 - i: float(power) for i, power in enumerate(unit.powers) if power}
            for place, unit in every
            if unit is not None
        }


def no_units(expr: Expr, tree: Node) -> float:
    """The price where every column and the target is a plain number: nothing is taken for granted."""
    return 0.0


def narrowed(shape: Node, columns: Sequence[float], target: float, constant: float) -> float:
    """ln of the ratio of all ways to fill a shape with columns to those that have the target's unit."""
    each: Ways = {}
    for unit in columns:
        each[unit] = each.get(unit, 0.0) + 1.0
    allowed = asked(shape, target, lambda node: each, constant)
    places = sum(node.symbol == COLUMN for _, node in shape.walk())
    return places * math.log(len(columns)) - math.log(allowed) if allowed else 0.0


def asked(node: Node, unit: float, column: Column, constant: float) -> float:
    """Ways to fill what stands below a node so that it has this unit; numbers have the unit `constant`."""
    if node.symbol in (NUMBER, COLUMN):
        return _giving(count(node, column, constant), unit)
    if node.symbol == MUL:
        halves = [_product([count(child, column, constant) for child in node.children[i::2]]) for i in (0, 1)]
        whole = sum(halves[1].values())
        return sum(n * (whole if first == ANY else _giving(halves[1], unit - first)) for first, n in halves[0].items())
    if node.symbol == POW and node.children[1].symbol == NUMBER:
        power = _power(node.children[1].value)
        return asked(node.children[0], unit / power if power else ONE, column, constant)
    if node.symbol not in (ADD, "abs") and unit != ONE:  # only a plain number comes out of exp, ln and waves
        return 0.0
    return math.prod(asked(child, unit, column, constant) for child in node.children)


def count(node: Node, column: Column, constant: float) -> Ways:
    """Ways to fill what stands below a node, by the unit that it then has; numbers have the unit `constant`."""
    if node.symbol == NUMBER:
        return {constant: 1.0}
    if node.symbol == COLUMN:
        return column(node)
    if node.symbol == POW and node.children[1].symbol == NUMBER:
        power = _power(node.children[1].value)
        return _gathered((power * unit, n) for unit, n in count(node.children[0], column, constant).items())
    below = [count(child, column, constant) for child in node.children]
    if node.symbol == ADD:
        return _sum(below)
    if node.symbol == MUL:
        return _product(below)
    if node.symbol == "abs":
        return below[0]
    return {ONE: math.prod(_giving(part, ONE) for part in below)}


def as_number(unit: Unit) -> float:
    return _rounded(sum(float(power) * weight for power, weight in zip(unit.powers, WEIGHTS, strict=True)))


def _giving(ways: Ways, unit: float) -> float:
    return ways.get(_rounded(unit), 0.0) + ways.get(ANY, 0.0)


@lru_cache(maxsize=4096)
def _power(value: float) -> float:
    return value if is_simple(value) else ODD


def _sum(below: Sequence[Ways]) -> Ways:
    """All terms have one unit."""
    anything = math.prod(part.get(ANY, 0.0) for part in below)
    units = {unit for part in below for unit in part if unit != ANY}
    found = {unit: math.prod(part.get(unit, 0.0) + part.get(ANY, 0.0) for part in below) - anything for unit in units}
    return {unit: n for unit, n in {**found, ANY: anything}.items() if n}


def _product(below: Sequence[Ways]) -> Ways:
    found: Ways = {ONE: 1.0}
    for part in below:
        found = _gathered((a + b, n * m) for a, n in found.items() for b, m in part.items())
    return found


def _gathered(pairs: Iterable[tuple[float, float]]) -> Ways:
    found: Ways = {}
    for unit, n in pairs:
        rounded = ANY if math.isinf(unit) else _rounded(unit)
        found[rounded] = found.get(rounded, 0.0) + n
    return found if len(found) <= MAX_UNITS else {ANY: sum(found.values())}


def _rounded(unit: float) -> float:
    return round(unit, DIGITS) + 0.0  # -0.0 is 0.0


def _shape(node: Node, exponent: bool = False) -> Node:
    """The tree without its columns and numbers, but for exponents that decide about units."""
    if node.symbol == NUMBER:
        return Node(NUMBER, value=_power(node.value) if exponent else 0.0)
    below = tuple(_shape(child, node.symbol == POW and i == 1) for i, child in enumerate(node.children))
    return Node(node.symbol, below)
