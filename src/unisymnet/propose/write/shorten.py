"""Shorter sums of monomials: hidden factors, perfect squares, and terms such as cos·cos + sin·sin put together.

Algebra on polynomials with fitted coefficients: what is equal up to a tolerance is taken for equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement

import numpy as np

from ...arrays import Floats
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr
from .polynomial import Poly, Powers, make_poly, plus

__all__ = ["merged"]

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


Row = tuple[Powers, float, Expr]  # powers of the old atoms, coefficient, and one new atom


def merged(poly: Poly, tol: float, problem: Problem) -> Iterator[Poly]:
    """The sum itself, then with whatever can be merged."""
    yield poly
    ops = {atom.op for atom in poly.atoms if isinstance(atom, Call)}
    start = poly
    if "exp" in ops:
        poly = _hyperbolic(poly, tol, problem)
    if "ln" in ops:
        poly = _logarithms(poly, tol)
    waves = _waves(poly)
    for first in range(len(waves)):
        for second in range(first + 1, len(waves)):
            poly = _two_angles(poly, waves[first], waves[second], tol)
    if len(poly) < len(start):
        yield poly
    for wave in waves:
        shifted = _phase(poly, wave, tol)
        if shifted is not None:
            yield shifted


def _with_new(poly: Poly, used: set[Powers], rows: list[Row]) -> Poly:
    """``poly`` without the used terms, with new ones that have a new atom each."""
    atoms = [*poly.atoms]
    for _, _, atom in rows:
        if atom not in atoms:
            atoms.append(atom)
    width = len(atoms)
    powers = [[*p, *[0.0] * (width - len(p))] for p, _ in poly.terms if p not in used]
    coefficients = [c for p, c in poly.terms if p not in used]
    for old, c, atom in rows:
        row = [*old, *[0.0] * (width - len(old))]
        row[atoms.index(atom)] += 1.0
        powers.append(row)
        coefficients.append(c)
    return make_poly(atoms, powers, coefficients)


def _set(powers: Powers, *changes: tuple[int, float]) -> Powers:
    row = list(powers)
    for place, value in changes:
        row[place] = value
    return tuple(row)


def _same_size(a: float, b: float, tol: float) -> bool:
    return abs(abs(a) - abs(b)) <= tol * abs(a)


def _waves(poly: Poly) -> list[tuple[Expr, int, int]]:
    """(argument, place of its sin, place of its cos) for every argument that has both among the atoms."""
    places: dict[tuple[str, Expr], int] = {}
    for i, atom in enumerate(poly.atoms):
        if isinstance(atom, Call) and atom.op in ("sin", "cos"):
            places[atom.op, atom.args[0]] = i
    both = [(arg, i) for (op, arg), i in places.items() if op == "sin" and ("cos", arg) in places]
    return [(arg, i, places["cos", arg]) for arg, i in both]


def _two_angles(poly: Poly, a: tuple[Expr, int, int], b: tuple[Expr, int, int], tol: float) -> Poly:
    """cos a cos b ± sin a sin b and sin a cos b ± cos a sin b, each with any common factor, as one term."""
    (u, sin_u, cos_u), (v, sin_v, cos_v) = a, b
    table = dict(poly.terms)
    used: set[Powers] = set()
    rows: list[Row] = []
    for one, two, name in (((cos_u, cos_v), (sin_u, sin_v), "cos"), ((sin_u, cos_v), (cos_u, sin_v), "sin")):
        for powers, c in poly.terms:
            if any(powers[i] != 1.0 for i in one) or any(powers[i] for i in two):
                continue
            rest = _set(powers, *((i, 0.0) for i in one))
            other = _set(rest, *((i, 1.0) for i in two))
            d = table.get(other, 0.0)
            if other in used or not _same_size(c, d, tol):
                continue
            # cos(u − v) = cos cos + sin sin;  sin(u + v) = sin cos + cos sin
            difference = (c * d > 0) == (name == "cos")
            argument = Call("sub", (u, v)) if difference else Call("add", (u, v))
            if difference and name == "sin" and c < 0:
                argument, c = Call("sub", (v, u)), -c
            used |= {powers, other}
            rows.append((rest, c, Call(name, (argument,))))
    return _with_new(poly, used, rows) if rows else poly


def _phase(poly: Poly, wave: tuple[Expr, int, int], tol: float) -> Poly | None:
    """m·(p·sin u + q·cos u) with one ratio p : q for all m becomes m·r·sin(u + φ)."""
    u, sin_u, cos_u = wave
    if any((p[sin_u], p[cos_u]) not in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)) for p, _ in poly.terms):
        return None
    sines = {_set(p, (sin_u, 0.0)): c for p, c in poly.terms if p[sin_u]}
    cosines = {_set(p, (cos_u, 0.0)): c for p, c in poly.terms if p[cos_u]}
    if not sines or set(sines) != set(cosines):
        return None
    lead = max(sines, key=lambda p: abs(sines[p]) + abs(cosines[p]))
    ratio = cosines[lead] / sines[lead]
    if any(abs(cosines[p] - ratio * sines[p]) > 4 * tol * abs(cosines[p]) for p in sines):
        return None
    phase, size = math.atan(ratio), math.hypot(1.0, ratio)
    argument = Call("add", (u, Const(phase))) if phase > 0 else Call("sub", (u, Const(-phase)))
    used = {p for p, _ in poly.terms if p[sin_u] or p[cos_u]}
    return _with_new(poly, used, [(p, size * c, Call("sin", (argument,))) for p, c in sines.items()])


def _hyperbolic(poly: Poly, tol: float, problem: Problem) -> Poly:
    """c·(exp(u) ± exp(−u)) as 2c·cosh(u) or 2c·sinh(u)."""
    table = dict(poly.terms)
    used: set[Powers] = set()
    rows: list[Row] = []
    for i, atom in enumerate(poly.atoms):
        if not isinstance(atom, Call) or atom.op != "exp":
            continue
        for powers, c in poly.terms:
            other = _set(powers, (i, -powers[i]))
            d = table.get(other, 0.0)
            if powers[i] <= 0 or other in used or not _same_size(c, d, tol):
                continue
            name = "cosh" if c * d > 0 else "sinh"
            if not problem.allows(name):
                continue
            argument = atom.args[0] if powers[i] == 1.0 else Const(powers[i]) * atom.args[0]
            used |= {powers, other}
            rows.append((_set(powers, (i, 0.0)), 2.0 * c, Call(name, (argument,))))
    return _with_new(poly, used, rows) if rows else poly


def _logarithms(poly: Poly, tol: float) -> Poly:
    """c·(ln u − ln v) as c·ln(u/v), c·(ln u + ln v) as c·ln(u·v)."""
    places = [i for i, atom in enumerate(poly.atoms) if isinstance(atom, Call) and atom.op == "ln"]
    table = dict(poly.terms)
    used: set[Powers] = set()
    rows: list[Row] = []
    for i in places:
        for j in places:
            for powers, c in poly.terms:
                if j <= i or powers[i] != 1.0 or powers[j] or powers in used:
                    continue
                other = _set(powers, (i, 0.0), (j, 1.0))
                d = table.get(other, 0.0)
                if other in used or not _same_size(c, d, tol):
                    continue
                u, v = _argument(poly.atoms[i]), _argument(poly.atoms[j])
                inner = Call("mul", (u, v)) if c * d > 0 else Call("div", (u, v))
                if c < 0 and c * d < 0:
                    inner, c = Call("div", (v, u)), -c
                used |= {powers, other}
                rows.append((_set(powers, (i, 0.0)), c, Call("ln", (inner,))))
    return _with_new(poly, used, rows) if rows else poly


def _argument(atom: Expr) -> Expr:
    assert isinstance(atom, Call)
    return atom.args[0]
