"""Dimensionless groups: every law y = f(x…) that is right in its units is y = m·F(π₁, π₂, …), with fewer columns.

m is a product of powers with the unit of y, each π one without a unit.  There are many choices; a choice takes as many
columns as there are dimensions to measure the others with.  Those with the smallest exponents come first.  Does not
know data.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...symbolic.expr import Const, Expr, Var, product
from .unit import Unit, powers_text

Powers = tuple[Fraction, ...]

MAX_SUBSETS = 3000
MAX_EXPONENT = 6


@dataclass(frozen=True)
class Choice:
    """One way to write a law without units: exponents of the columns in `factor` and in each of `groups`.

    `factor` is None where no product of powers has the unit of y: then a constant with a unit is hidden in the law.
    """

    factor: Powers | None
    groups: tuple[Powers, ...]

    @property
    def cost(self) -> float:
        """Small exponents, whole ones before fractions."""
        every = [*([] if self.factor is None else [self.factor]), *self.groups]
        return sum(float(abs(p)) + 2.0 * (p.denominator > 1) for powers in every for p in powers)


def choices(columns: Sequence[Unit], target: Unit, *, fixed: Sequence[int] = ()) -> list[Choice]:
    """Choices of groups, the simplest first.  `fixed` are columns that never vary (known constants): they may only
    measure others, and a group of nothing else is left out."""
    rank = _rank([unit.powers for unit in columns])
    places = [i for i, unit in enumerate(columns) if not unit.is_number]
    found: dict[Choice, None] = {}
    subsets = itertools.islice(itertools.combinations(places, rank), MAX_SUBSETS)
    for chosen in subsets:
        choice = _choice(columns, target, chosen, fixed)
        if choice is not None:
            found[choice] = None
    return sorted(found, key=lambda choice: (choice.cost, choice.groups))


def _choice(columns: Sequence[Unit], target: Unit, chosen: Sequence[int], fixed: Sequence[int]) -> Choice | None:
    bases = [columns[i].powers for i in chosen]
    if _rank(bases) < len(bases):
        return None
    groups = []
    for i, unit in enumerate(columns):
        if i in chosen:
            continue
        powers = _solve(bases, unit.powers)
        if powers is None or any(abs(p) > MAX_EXPONENT for p in powers):
            return None
        group = [Fraction(0)] * len(columns)
        group[i] = Fraction(1)
        for place, power in zip(chosen, powers, strict=True):
            group[place] -= power
        if any(power for k, power in enumerate(group) if k not in fixed):
            groups.append(tuple(_whole(group)))
    powers = _solve(bases, target.powers)
    if powers is None:
        return Choice(None, tuple(groups))
    if any(abs(p) > MAX_EXPONENT for p in powers):
        return None
    factor = [Fraction(0)] * len(columns)
    for place, power in zip(chosen, powers, strict=True):
        factor[place] = power
    return Choice(tuple(factor), tuple(groups))


def power_law(powers: Powers, values: Sequence[float | None]) -> Expr:
    """The product of powers as a formula; columns with a value are known constants and written as numbers."""
    factors: list[Expr] = []
    number = 1.0
    for index, power in enumerate(powers):
        if not power:
            continue
        value = values[index]
        if value is not None:
            number *= value ** float(power)
        else:
            factors.append(Var(index) if power == 1 else Var(index) ** float(power))
    return product([*([] if number == 1.0 else [Const(number)]), *factors])


def group_text(powers: Powers, names: Sequence[str]) -> str:
    """ "v*t/x", for people."""
    return powers_text(zip(names, powers))


def _whole(group: list[Fraction]) -> list[Fraction]:
    """Half powers of everything become whole ones: π² is as good a group as π."""
    denominator = math.lcm(*(power.denominator for power in group))
    return [power * denominator for power in group] if denominator in (2, 3) else group


def _rank(rows: Sequence[Powers]) -> int:
    return int(np.linalg.matrix_rank(np.array(rows, dtype=np.float64))) if rows else 0


def _solve(bases: Sequence[Powers], wanted: Powers) -> Powers | None:
    """Exponents of the independent `bases` whose product has the unit `wanted`, or None."""
    n = len(bases)
    rows = [[base[k] for base in bases] + [wanted[k]] for k in range(len(wanted))]
    lead = 0
    for column in range(n):
        pivot = next((i for i in range(lead, len(rows)) if rows[i][column]), None)
        if pivot is None:
            return None
        rows[lead], rows[pivot] = rows[pivot], rows[lead]
        head = rows[lead]
        rows[lead] = head = [v / head[column] for v in head]
        for i, row in enumerate(rows):
            if i != lead and row[column]:
                rows[i] = [a - row[column] * b for a, b in zip(row, head, strict=True)]
        lead += 1
    if any(row[n] for row in rows[lead:]):
        return None
    return tuple(rows[i][n] for i in range(n))
