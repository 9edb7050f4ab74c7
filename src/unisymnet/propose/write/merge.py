"""Sums of functions put together: cos(a − b), sin(a + φ), sinh, cosh, ln(a/b).

Rewrites a Poly over atoms such as sin(x0), cos(x0) into Polys with fewer terms over new atoms.  Algebra only; a
rewriting is offered, compact.py's price decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr
from .polynomial import Poly, Powers, make_poly

__all__ = ["merged"]

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
