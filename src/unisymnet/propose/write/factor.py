"""Factors hidden in a table of coefficients: products over separate atoms, squares of sums, linear factors.

Every function returns a decomposition or None; writing it down and weighing its cost is compact.py's task.
"""

from __future__ import annotations

import math
from itertools import combinations, combinations_with_replacement

import numpy as np

from ...arrays import Floats
from .polynomial import Poly, Powers, plus

Terms = list[tuple[Powers, float]]


def rank_one(poly: Poly, tol: float) -> tuple[Poly, Poly] | None:
    """poly = A·B with no atom in both, or None: its coefficients form a matrix of rank one."""
    used = poly.used()
    if len(used) < 2 or len(poly) < 4:
        return None
    for count in range(1, len(used) // 2 + 1):
        for side in combinations(used, count):
            found = _outer_product(poly, side, tol)
            if found is not None:
                return found
    return None


def _outer_product(poly: Poly, side: tuple[int, ...], tol: float) -> tuple[Poly, Poly] | None:
    rows: dict[Powers, int] = {}
    columns: dict[Powers, int] = {}
    entries = []
    for powers, c in poly.terms:
        left = tuple(p if i in side else 0.0 for i, p in enumerate(powers))
        right = tuple(0.0 if i in side else p for i, p in enumerate(powers))
        entries.append((rows.setdefault(left, len(rows)), columns.setdefault(right, len(columns)), c))
    if len(rows) < 2 or len(columns) < 2 or len(rows) * len(columns) != len(poly):
        return None
    table = np.zeros((len(rows), len(columns)))
    for i, j, c in entries:
        table[i, j] = c
    i, j = divmod(int(np.argmax(np.abs(table))), len(columns))
    guess = np.outer(table[:, j], table[i]) / table[i, j]
    if np.any(np.abs(guess - table) > 4 * tol * np.abs(table)):
        return None
    a = poly.with_terms(zip(rows, (float(c) for c in table[:, j]), strict=True))
    b = poly.with_terms(zip(columns, (float(c) for c in table[i] / table[i, j]), strict=True))
    return a, b


def squares(poly: Poly, tol: float) -> tuple[list[tuple[float, Terms]], Terms]:
    """Groups c·(Σ s_k r_k)² with monomials r_k, and the terms in no group.

    A term c·r² is a square if r's powers are whole or half numbers; two squares belong together if the mixed
    term 2·√(c_i c_j)·r_i·r_j is there with either sign.
    """
    left = dict(poly.terms)
    roots = [(tuple(p / 2 for p in powers), c) for powers, c in poly.terms]
    # A whole power needs a root with whole powers: x is no square of sqrt(x) unless x already has roots.
    fractional = any(p != round(p) for powers, _ in poly.terms for p in powers)
    roots = [(r, c) for r, c in roots if fractional or all(p == round(p) for p in r)]
    groups: list[tuple[float, Terms]] = []
    for r, c in sorted(roots, key=lambda root: -abs(root[1])):
        if tuple(2 * p for p in r) not in left:
            continue
        members: Terms = [(r, 1.0)]
        for other, d in roots:
            sign = _joins(left, c, members, other, d, tol)
            if sign:
                members.append((other, sign * math.sqrt(d / c)))
        used = [plus(a, b) for (a, _), (b, _) in combinations_with_replacement(members, 2)]
        # 1 + x + x² and the like: a mixed term that is also a square cannot be spent twice.
        if len(members) < 2 or len(set(used)) < len(used):
            continue
        for powers in used:
            del left[powers]
        groups.append((c, members))
    return groups, list(left.items())


def _joins(left: dict[Powers, float], c: float, members: Terms, other: Powers, d: float, tol: float) -> float:
    """The sign with which c·(members)² can take in ``other``, or 0."""
    if plus(other, other) not in left or any(other == m for m, _ in members) or c * d <= 0:
        return 0.0
    sign = 0.0
    for m, share in members:
        mixed = left.get(plus(m, other))
        if mixed is None:
            return 0.0
        wanted = 2.0 * c * share * math.sqrt(d / c)
        if abs(abs(mixed) - abs(wanted)) > 4 * tol * abs(wanted):
            return 0.0
        here = math.copysign(1.0, mixed * wanted)
        if sign and here != sign:
            return 0.0
        sign = here
    return sign


def linear_factors(row: list[float], tol: float) -> tuple[list[tuple[float, int]], list[float]]:
    """Real roots with multiplicities, and the coefficients (high powers first) of what they leave."""
    left = np.array(row)
    factors: list[tuple[float, int]] = []
    for root in np.roots(left):
        # A multiple root splits into a ring of close complex ones, wider than rounding.
        if abs(root.imag) > 0.03 * abs(root):
            continue
        for multiplicity in range(min(len(left) - 1, 4), 0, -1):
            # An m-fold root is a simple root of the (m-1)-th derivative, where it is well conditioned.
            place = _newton(np.polyder(left, multiplicity - 1), float(root.real))
            if abs(place - root.real) > 0.05 * abs(root.real):
                continue
            quotient, rest = np.polydiv(left, np.poly([place] * multiplicity))
            if np.max(np.abs(rest)) <= 4 * tol * np.max(np.abs(left)):
                factors.append((place, multiplicity))
                left = quotient
                break
    small = np.abs(left) <= tol * np.max(np.abs(left))
    return factors, [float(c) for c in np.where(small, 0.0, left)]


def _newton(row: Floats, guess: float) -> float:
    slope = np.polyder(row)
    for _ in range(6):
        below = float(np.polyval(slope, guess))
        if below == 0.0:
            break
        guess -= float(np.polyval(row, guess)) / below
    return guess
