"""May a formula have these units?  Linear algebra over the unknown units of its constants.

Sums need equal units, exp, ln and waves need a plain number, powers with exponents that vary need plain numbers.  A
constant may have any unit that makes the formula right, but the 1 of 1*x and exponents have none.  What is known of a
node's unit is one vector: exponents of the base units, the logarithm of the size, and how often the unit of each
constant (and of each column whose unit was not given) is in it.  Does not know data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...arrays import MAX_LOG, Floats
from ...symbolic.expr import Call, Const, Expr, Param, Var, walk
from .unit import BASES, MAX_DENOMINATOR, Unit, as_fraction

KNOWN = len(BASES) + 1  # coordinates of a known unit: powers and the logarithm of its size
TOLERANCE = 1e-7
_KEEP = {"neg", "abs"}
_POWERS = {"sqrt": 0.5, "square": 2.0, "inv": -1.0}


@dataclass(frozen=True)
class Reading:
    """The units of a formula: whether they fit, and the unit of every constant in reading order.

    `n_with_unit` counts constants that need a dimension, `n_odd` exponents that no simple fraction equals on something
    with a unit.
    """

    fits: bool
    constants: tuple[Unit, ...] = ()
    n_with_unit: int = 0
    n_odd: int = 0


def read_units(expr: Expr, columns: Sequence[Unit | None], target: Unit | None) -> Reading:
    """Units of the constants of `expr`, or that none would do.

    Constants are those that formula/constants.py counts: no integer exponent, no factor ±1, no 1 of 1/x.
    """
    reader = _Walk(columns, sum(isinstance(node, Const | Param) for node in walk(expr)))
    whole = reader.visit(expr)
    if target is not None:
        reader.equal(whole, reader.known(target))
    return reader.solved()


class _Walk:
    def __init__(self, columns: Sequence[Unit | None], n_constants: int) -> None:
        self.columns = columns
        self.unknown = {i: k for k, i in enumerate(i for i, unit in enumerate(columns) if unit is None)}
        self.n_constants = n_constants
        self.width = KNOWN + len(self.unknown) + n_constants
        self.next = 0
        self.counted: list[int] = []  # which of the constants are free ones, in reading order
        self.equations: list[Floats] = []
        self.odd_base: list[Floats] = []

    def zero(self) -> Floats:
        return np.zeros(self.width)

    def known(self, unit: Unit) -> Floats:
        vector = self.zero()
        vector[: len(BASES)] = [float(power) for power in unit.powers]
        vector[len(BASES)] = math.log(unit.scale)
        return vector

    def equal(self, a: Floats, b: Floats) -> None:
        if np.abs(a - b).max() > TOLERANCE:
            self.equations.append(a - b)

    def number(self, vector: Floats) -> Floats:
        self.equal(vector, self.zero())
        return self.zero()

    def constant(self, fixed: bool) -> Floats:
        vector = self.zero()
        if not fixed:
            self.counted.append(self.next)
            vector[KNOWN + len(self.unknown) + self.next] = 1.0
        self.next += 1
        return vector

    def visit(self, node: Expr, fixed: bool = False) -> Floats:
        if isinstance(node, Const | Param):
            return self.constant(fixed)
        if isinstance(node, Var):
            unit = self.columns[node.index] if node.index < len(self.columns) else None
            if unit is not None:
                return self.known(unit)
            vector = self.zero()
            if node.index in self.unknown:
                vector[KNOWN + self.unknown[node.index]] = 1.0
            return vector
        assert isinstance(node, Call)
        op, args = node.op, node.args
        if op == "pow":
            return self.power(node)
        inside = [self.visit(arg, _is_form(node, place)) for place, arg in enumerate(args)]
        if op in ("add", "sub"):
            kept = [v for v, arg in zip(inside, args, strict=True) if arg != Const(0.0)] or inside
            for other in kept[1:]:
                self.equal(kept[0], other)
            return kept[0]
        if op == "mul":
            return np.sum(inside, axis=0)
        if op == "div":
            return inside[0] - inside[1]
        if op in _POWERS:
            return _POWERS[op] * inside[0]
        if op in _KEEP:
            return inside[0]
        return self.number(inside[0])

    def power(self, node: Call) -> Floats:
        base, exponent = node.args
        if not isinstance(exponent, Const):
            inside = self.visit(base)
            self.number(inside)
            return self.number(self.visit(exponent))
        inside = self.visit(base)
        self.constant(fixed=exponent.value == round(exponent.value))
        if exponent.value != round(exponent.value):
            # The unit of an exponent itself is none.
            own = self.zero()
            own[KNOWN + len(self.unknown) + self.next - 1] = 1.0
            self.equations.append(own)
            if not is_simple(exponent.value):
                self.odd_base.append(inside)
        return exponent.value * inside

    def solved(self) -> Reading:
        units = np.zeros((self.n_constants, KNOWN))
        if self.equations:
            table = np.array(self.equations)
            wanted, design = -table[:, :KNOWN], table[:, KNOWN:]
            if np.abs(wanted).max() > TOLERANCE:  # else plain numbers solve them
                found = _sparsest(design, wanted, len(self.unknown))
                if found is None:
                    return Reading(False)
                units = found[len(self.unknown) :]
        # The size of a unit such as cm**400 is no number: nobody could state a constant that has it.
        if np.abs(units[self.counted, len(BASES)]).max(initial=0.0) > MAX_LOG:
            return Reading(False)
        of_constants = tuple(_as_unit(units[place]) for place in self.counted)
        dimensioned = sum(not unit.is_number for unit in of_constants)
        n_odd = sum(bool(np.abs(vector[: len(BASES)]).max() > TOLERANCE) for vector in self.odd_base)
        return Reading(True, of_constants, dimensioned, n_odd)


def _sparsest(design: Floats, wanted: Floats, n_columns: int) -> Floats | None:
    """Units of columns and constants that solve the equations, as few of them dimensions as is possible greedily."""
    n = design.shape[1]
    if not _solves(design, wanted, np.arange(n)):
        return None
    kept = list(range(n))
    for k in [*range(n_columns, n), *range(n_columns)]:
        fewer = [i for i in kept if i != k]
        if _solves(design, wanted, np.array(fewer, dtype=int)):
            kept = fewer
    found = np.zeros((n, KNOWN))
    if kept:
        found[kept] = np.linalg.lstsq(design[:, kept], wanted, rcond=None)[0]
    return found


def _solves(design: Floats, wanted: Floats, chosen: NDArray[np.intp]) -> bool:
    if not len(chosen):
        return bool(np.abs(wanted).max() < TOLERANCE)
    part = design[:, chosen]
    solution = np.linalg.lstsq(part, wanted, rcond=None)[0]
    return bool(np.abs(part @ solution - wanted).max() < TOLERANCE * (1.0 + np.abs(wanted).max()))


def _as_unit(vector: Floats) -> Unit:
    powers = tuple(as_fraction(float(v)) for v in vector[: len(BASES)])
    return Unit(powers, math.exp(float(vector[len(BASES)])))


def is_simple(exponent: float) -> bool:
    """Is it a fraction with a small denominator, as exponents of laws are?"""
    return abs(float(Fraction(exponent).limit_denominator(MAX_DENOMINATOR)) - exponent) < TOLERANCE


def _is_form(parent: Call, place: int) -> bool:
    """A factor of ±1 or the 1 of 1/x: part of the form, without a unit."""
    node = parent.args[place]
    return isinstance(node, Const) and parent.op in ("div", "mul") and abs(node.value) == 1.0
