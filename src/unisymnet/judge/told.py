"""Units that hide laws: sin(x·π/180) says no more than sin(x) in radians, (T + 273.15)^4 no more than T^4 in kelvin.

Numbers that turn degrees into radians or back, or °C into kelvin, are units and not knowledge: they cost what stands
beside them, 2 in sin(2·x·π/180).  Which columns have such units is told.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import numpy as np

from ..arrays import Floats
from ..problem import KELVIN, TARGET, Told
from ..symbolic.expr import Call, Const, Expr, Var, product, rebuild, total, variables, walk
from ..symbolic.rewrite.collect import terms_of
from ..symbolic.rewrite.simplify import simplify
from .numbers import simple_fraction
from .tree import ADD, COLUMN, MUL, NUMBER, Node

DEGREE = math.pi / 180.0
WAVES, ARCS = ("sin", "cos", "tan"), ("asin", "acos", "atan")
LARGEST, FINEST = 12, 4  # numerator and denominator of a plain number
SUSPECT = 0.01  # relative distance from a plain multiple of an angle in degrees
LEAST_ANGLE, MOST_ANGLE = 10.0, 720.0
NEAR, NEAR_KELVIN = 0.05, 0.1  # relative: what a fit may have moved


def is_plain(number: float) -> bool:
    """A small whole number or a small part of one."""
    ratio = simple_fraction(number)
    return ratio is not None and ratio.numerator <= LARGEST and ratio.denominator <= FINEST


def is_told(argument: Expr, degrees: Collection[int]) -> bool:
    """Is it plain multiples of angles in degrees, with any phase?"""
    terms = {core: factor for core, factor in terms_of(argument).items() if variables(core)}
    told = all(isinstance(core, Var) and core.index in degrees for core in terms if not isinstance(core, Const))
    return told and all(is_plain(abs(factor) / DEGREE) for factor in terms.values())


def suspected(expr: Expr, X: Floats) -> list[int]:
    """Columns that a wave of the formula takes for angles in degrees although nobody has told so."""
    found = set()
    for node in walk(expr):
        if isinstance(node, Call) and node.op in WAVES:
            for core, factor in terms_of(node.args[0]).items():
                times = abs(factor) / DEGREE
                if isinstance(core, Var) and any(abs(times - plain) <= SUSPECT * plain for plain in (0.5, 1.0, 2.0)):
                    found.add(core.index)
    return sorted(i for i in found if LEAST_ANGLE <= float(np.max(np.abs(X[:, i]))) <= MOST_ANGLE)


def as_told(expr: Expr, told: Told) -> Expr:
    """With plain multiples of angles in degrees in its waves, and kelvin in its sums, where fitted numbers are near."""

    def moved(node: Expr) -> Expr:
        if not isinstance(node, Call):
            return node
        if node.op == ADD and len(node.args) == 2:
            return _in_kelvin(node, told)
        if node.op not in WAVES:
            return node
        terms = [
            product([Const(_plain_near(factor / DEGREE) * DEGREE if _is_angle(core, told.degrees) else factor), core])
            for core, factor in terms_of(node.args[0]).items()
        ]
        return Call(node.op, (total(terms),))

    wanted = told.degrees | told.celsius
    return simplify(rebuild(expr, moved)) if wanted and set(variables(expr)) & wanted else expr


def _in_kelvin(node: Call, told: Told) -> Expr:
    """T + 274.1 as T + 273.15, where T is in °C."""
    column, number = sorted(node.args, key=lambda one: isinstance(one, Const))
    near = isinstance(number, Const) and abs(number.value - KELVIN) <= NEAR_KELVIN * KELVIN
    known = isinstance(column, Var) and column.index in told.celsius
    return Call(ADD, (column, Const(KELVIN))) if near and known else node


def _is_angle(core: Expr, degrees: Collection[int]) -> bool:
    return isinstance(core, Var) and core.index in degrees


def _plain_near(number: float) -> float:
    """The nearest half of a whole number, or the number itself where that is far."""
    near = round(2.0 * number) / 2.0
    return near if 0.0 < abs(near) <= LARGEST and abs(near - number) <= NEAR * abs(near) else number


def in_units_of_laws(expr: Expr, told: Told) -> Expr:
    """The formula as it would be written in radians and kelvin, for its form.

    A formula that has T beside T + 273.15 is none of kelvin."""
    kelvin = [node for node in walk(expr) if isinstance(node, Call) and _is_kelvin(node, told)]
    alone = sum(isinstance(node, Var) and node.index in told.celsius for node in walk(expr)) == len(kelvin)

    def turned(node: Expr) -> Expr:
        if not isinstance(node, Call):
            return node
        if alone and _is_kelvin(node, told):
            return next(arg for arg in node.args if isinstance(arg, Var))
        if node.op == MUL and TARGET in told.degrees and any(isinstance(a, Call) and a.op in ARCS for a in node.args):
            return product([Const(a.value * DEGREE) if isinstance(a, Const) else a for a in node.args])
        if node.op in WAVES and is_told(node.args[0], told.degrees):
            terms = terms_of(node.args[0]).items()
            return Call(node.op, (total([product([Const(k / DEGREE if variables(t) else k), t]) for t, k in terms]),))
        return node

    return simplify(rebuild(expr, turned)) if told else expr


def _is_kelvin(node: Call, told: Told) -> bool:
    columns = [arg for arg in node.args if isinstance(arg, Var) and arg.index in told.celsius]
    return node.op == ADD and len(node.args) == 2 and len(columns) == 1 and Const(KELVIN) in node.args


def turning_units(tree: Node, told: Told) -> dict[int, float]:
    """By place, the numbers that only turn units, as they were in radians or kelvin; 1 for none at all.  The signs of
    angles are free."""
    return dict(_found(tree, told, within=False)) if told else {}


def _found(node: Node, told: Told, *, within: bool) -> Iterator[tuple[int, float]]:
    degrees = told.degrees
    if node.symbol == ADD and any(_is_column(child, told.celsius) for child in node.children):
        yield from ((one.place, 1.0) for one in node.children if one.symbol == NUMBER and one.value == KELVIN)
    numbers = [child for child in node.children if child.symbol == NUMBER] if node.symbol == MUL else []
    if numbers:
        others = [child for child in node.children if child.symbol != NUMBER]
        from_degrees = within and any(_holds_angle(child, degrees) for child in others)
        to_degrees = TARGET in degrees and any(child.symbol in ARCS for child in others)
        for number in numbers:
            value = number.value / DEGREE if from_degrees else number.value * DEGREE
            if (from_degrees or to_degrees) and is_plain(abs(value)):
                yield number.place, value
    for child in node.children:
        yield from _found(child, told, within=within or node.symbol in WAVES)


def _is_column(node: Node, some: Collection[int]) -> bool:
    return node.symbol == COLUMN and int(node.value) in some


def _holds_angle(node: Node, degrees: Collection[int]) -> bool:
    columns = [one for _, one in node.walk() if one.symbol == COLUMN]
    return bool(columns) and all(int(column.value) in degrees for column in columns)
