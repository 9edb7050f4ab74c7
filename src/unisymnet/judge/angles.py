"""Angles in degrees: sin(x·π/180) says no more than sin(x) does where x is in radians.

The numbers that turn degrees into radians, and radians back, are units and not knowledge: they cost what is written
beside them, 2 in sin(2·x·π/180).  Which columns are in degrees is told.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import numpy as np

from ..arrays import Floats
from ..problem import TARGET
from ..symbolic.expr import Call, Const, Expr, Var, product, rebuild, total, variables, walk
from ..symbolic.rewrite.collect import terms_of
from ..symbolic.rewrite.simplify import simplify
from .numbers import simple_fraction
from .tree import COLUMN, MUL, NUMBER, Node

DEGREE = math.pi / 180.0
WAVES, ARCS = ("sin", "cos", "tan"), ("asin", "acos", "atan")
LARGEST, FINEST = 12, 4  # numerator and denominator of a plain number
SUSPECT = 0.01  # relative distance from a plain multiple of an angle in degrees
LEAST_ANGLE, MOST_ANGLE = 10.0, 720.0
NEAR = 0.05  # relative: what a fit may have moved


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


def on_angles(expr: Expr, degrees: Collection[int]) -> Expr:
    """With plain multiples of angles in degrees in its waves, where a fit has found numbers near them."""

    def moved(node: Expr) -> Expr:
        if not (isinstance(node, Call) and node.op in WAVES):
            return node
        terms = [
            product([Const(_plain_near(factor / DEGREE) * DEGREE if _is_angle(core, degrees) else factor), core])
            for core, factor in terms_of(node.args[0]).items()
        ]
        return Call(node.op, (total(terms),))

    return simplify(rebuild(expr, moved)) if degrees and set(variables(expr)) & set(degrees) else expr


def _is_angle(core: Expr, degrees: Collection[int]) -> bool:
    return isinstance(core, Var) and core.index in degrees


def _plain_near(number: float) -> float:
    """The nearest half of a whole number, or the number itself where that is far."""
    near = round(2.0 * number) / 2.0
    return near if 0.0 < abs(near) <= LARGEST and abs(near - number) <= NEAR * abs(near) else number


def without_degrees(tree: Node, degrees: Collection[int]) -> dict[int, float]:
    """By place, the numbers that turn degrees into radians or back, as they were in radians."""
    return dict(_found(tree, degrees, within=False)) if degrees else {}


def _found(node: Node, degrees: Collection[int], *, within: bool) -> Iterator[tuple[int, float]]:
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
        yield from _found(child, degrees, within=within or node.symbol in WAVES)


def _holds_angle(node: Node, degrees: Collection[int]) -> bool:
    columns = [one for _, one in node.walk() if one.symbol == COLUMN]
    return bool(columns) and all(int(column.value) in degrees for column in columns)
