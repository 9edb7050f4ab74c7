"""Columns to regress on: monomials (whole, negative, half powers) over inputs and unary functions of inputs.

A ``Basis`` is a table of powers over atoms; its columns are computed on demand and scaled to unit length.  It
knows no target and no view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, product

import numpy as np

from ...arrays import Floats, Ints
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, evaluate
from ..pool import Task
from ..view.views import views_of
from ..write.polynomial import Poly, make_poly

__all__ = [
    "Basis",
    "Grid",
    "Unary",
    "boxes",
    "extended",
    "halves",
    "laurent",
    "multilinear",
    "over_atoms",
    "polynomial",
    "thirds",
    "unaries",
]

Table = tuple[tuple[float, ...], ...]
LEAST_SHARE = 0.3  # a column that nowhere exceeds it is hardly a share of a whole
MAX_GROWTH = 50.0  # |x|, of which the exponential is a column
ROWS_A_COLUMN = 1.25  # looked at in a cheap test
USABLE = 0.7  # share of the rows on which a view must be defined
# Columns of a basis by rows of clean data (a noisy fit takes at most half); the law itself has far fewer terms.
EXACT_SHARE = 0.75


@dataclass(frozen=True)
class Basis:
    """Monomials over atoms; ``name`` is for the trace."""

    name: str
    atoms: tuple[Expr, ...]
    powers: Table

    def __len__(self) -> int:
        return len(self.powers)

    def columns(self, X: Floats) -> Floats:
        """Values (rows, columns), not scaled; non-finite where a power is undefined."""
        out = np.empty((len(X), len(self.powers)), order="F")
        known: dict[tuple[int, float], Floats] = {}
        with np.errstate(all="ignore"):
            values = [evaluate(atom, X) for atom in self.atoms]
            for k, row in enumerate(self.powers):
                factors = [(i, p) for i, p in enumerate(row) if p]
                for key in factors:
                    if key not in known:
                        known[key] = values[key[0]] ** key[1]
                if not factors:
                    out[:, k] = 1.0
                    continue
                out[:, k] = known[factors[0]]
                for key in factors[1:]:
                    out[:, k] *= known[key]
        return out

    def only(self, chosen: Sequence[int]) -> Basis:
        """Some of the columns."""
        return replace(self, powers=tuple(self.powers[k] for k in chosen))

    def poly(self, support: Ints, coefficients: Floats) -> Poly:
        return make_poly(self.atoms, [self.powers[k] for k in support], coefficients.tolist())

    def tokens(self) -> Floats:
        """Tokens that each term adds to a written sum: its sign, its coefficient and its factors."""
        prices = [2 + sum(_price(p) for p in row if p) for row in self.powers]
        return np.array(prices, dtype=np.float64)


def _price(p: float) -> int:
    """x, 1/x: an operator and a leaf; other powers one operator and one number more."""
    return 2 if abs(p) == 1.0 else (3 if abs(p) == 0.5 else 4)


@lru_cache(maxsize=64)
def _simplex(d: int, degree: int, signed: bool) -> Table:
    """Whole powers with Σ|p| <= degree, the simplest first."""
    rows: list[tuple[float, ...]] = [(0.0,) * d]
    for count in range(1, min(d, degree) + 1):
        for places in combinations(range(d), count):
            for sizes in _compositions(count, degree):
                for signs in product((1.0, -1.0) if signed else (1.0,), repeat=count):
                    row = [0.0] * d
                    for i, size, sign in zip(places, sizes, signs, strict=True):
                        row[i] = sign * size
                    rows.append(tuple(row))
    return tuple(sorted(rows, key=lambda row: (sum(map(abs, row)), sum(p < 0 for p in row))))


def _compositions(count: int, most: int) -> Iterator[tuple[int, ...]]:
    """All tuples of ``count`` whole numbers >= 1 with a sum of at most ``most``."""
    if count == 0:
        yield ()
        return
    for first in range(1, most - count + 2):
        for rest in _compositions(count - 1, most - first):
            yield (first, *rest)


def _inputs(d: int) -> tuple[Expr, ...]:
    return tuple(Var(i) for i in range(d))


def polynomial(d: int, degree: int) -> Basis:
    return over_atoms(_inputs(d), degree)


def over_atoms(atoms: Sequence[Expr], degree: int) -> Basis:
    """The full polynomial basis over any atoms."""
    return Basis(f"degree {degree}", tuple(atoms), _simplex(len(atoms), degree, False))


def multilinear(d: int, factors: int) -> Basis:
    """Products of up to ``factors`` different inputs."""
    places = [set(chosen) for count in range(min(factors, d) + 1) for chosen in combinations(range(d), count)]
    rows = tuple(tuple(float(i in chosen) for i in range(d)) for chosen in places)
    return Basis(f"multilinear {factors}", _inputs(d), rows)


def halves(d: int, degree: int) -> Basis:
    """Powers 0, 1/2, 1, … with Σp <= degree (positive inputs only)."""
    rows = tuple(tuple(p / 2 for p in row) for row in _simplex(d, 2 * degree, False))
    return Basis(f"halves {degree}", _inputs(d), rows)


def laurent(d: int, degree: int, divisors: Sequence[bool]) -> Basis:
    """Negative powers too, of the inputs that ``divisors`` permits (those without zeros)."""
    rows = _simplex(d, degree, True)
    allowed = tuple(row for row in rows if all(ok or p >= 0 for p, ok in zip(row, divisors, strict=True)))
    return Basis(f"laurent {degree}", _inputs(d), allowed)


def boxes(d: int, highest: float, step: float, divisors: Sequence[bool], without: int | None = None) -> Basis:
    """Every combination of powers from -highest to highest in steps (few inputs only), of all inputs or all but one."""
    count = round(highest / step)
    ranges = [[k * step for k in range(-count if ok else 0, count + 1)] for ok in divisors]
    name = f"box {highest:g} by {step:g}"
    if without is not None:
        ranges[without] = [0.0]
        name += f" without x{without}"
    rows = sorted(product(*ranges), key=lambda row: (sum(map(abs, row)), sum(p < 0 for p in row)))
    return Basis(name, _inputs(d), tuple(rows))


def thirds(d: int, of: int) -> Basis:
    """Powers -1, -2/3, …, 2 of one input (positive only) times a quadratic in the others."""
    others = _simplex(d - 1, 2, False)
    rows = [(*row[:of], k / 3, *row[of:]) for k in range(-3, 7) for row in others]
    rows.sort(key=lambda row: sum(map(abs, row)))
    return Basis(f"thirds of x{of}", _inputs(d), tuple(rows))


@dataclass(frozen=True)
class Unary:
    """Functions of one input (its number is ``of``) that multiply a basis: atoms and the powers in which they enter."""

    name: str
    of: int
    atoms: tuple[Expr, ...]
    powers: Table


def unaries(problem: Problem, high: bool) -> list[Unary]:
    """sin with cos, exp, ln (for shares also of 1 - x), roots and abs of each input, as values and operators permit.

    sin² + cos² = 1 would make columns dependent: with ``high`` powers, cos enters only to the first.
    """
    found = []
    for i in range(problem.n_features):
        x, column = Var(i), problem.X[:, i]
        if problem.allows("sin", "cos"):
            waves = (Call("sin", (x,)), Call("cos", (x,)))
            powers = [(1.0, 0.0), (0.0, 1.0), (2.0, 0.0), (1.0, 1.0)]
            found.append(Unary(f"sin cos x{i}", i, waves, tuple(powers if high else powers[:2])))
        if problem.allows("exp") and np.max(np.abs(column)) < MAX_GROWTH:
            whole = [1.0, -1.0, 2.0, -2.0] if high else [1.0, -1.0]
            found.append(Unary(f"exp x{i}", i, (Call("exp", (x,)),), tuple((p,) for p in whole)))
        if np.min(column) > 0.0:
            if problem.allows("ln"):
                whole = [1.0, 2.0] if high else [1.0]
                found.append(Unary(f"ln x{i}", i, (Call("ln", (x,)),), tuple((p,) for p in whole)))
                rest = _rest(problem, i)
                if rest is not None and not high:
                    found.append(Unary(f"ln(1 - x{i})", i, (Call("ln", (rest,)),), ((1.0,),)))
            if problem.allows("sqrt") or problem.allows("pow"):
                whole = [0.5, -0.5, 1.5, -1.5] if high else [0.5, -0.5]
                found.append(Unary(f"sqrt x{i}", i, (x,), tuple((p,) for p in whole)))
        elif np.max(column) > 0.0 and problem.allows("abs") and not high:
            found.append(Unary(f"abs x{i}", i, (Call("abs", (x,)),), ((1.0,),)))
    return found


def _rest(problem: Problem, i: int) -> Expr | None:
    """1 - x of an input that can be a share or a probability."""
    plausible = problem.x_scales[i] == 1.0 and LEAST_SHARE < np.max(problem.X[:, i]) < 1.0
    return Const(1.0) - Var(i) if plausible else None


class Grid:
    """Columns of bases times unary functions on a fixed sample of rows, each part computed once.

    Powers that coincide (x·x^-0.5 and x^0.5) give equal columns, which a residual does not mind; ``extended``
    makes the proper basis.
    """

    def __init__(self, X: Floats) -> None:
        self.X = X
        self._known: dict[str, Floats] = {}

    def columns(self, base: Basis, factors: Sequence[Unary], n_rows: int) -> Floats:
        out = self._part(f"{base.name} {base.atoms}", base)[:n_rows]
        for unary in factors:
            name = f"{unary.name} {len(unary.powers)}"
            part = self._part(name, Basis(name, unary.atoms, unary.powers))[:n_rows]
            times = np.column_stack([np.ones(n_rows), part])
            out = (out[:, :, None] * times[:, None, :]).reshape(n_rows, -1)
        return out

    def _part(self, name: str, basis: Basis) -> Floats:
        if name not in self._known:
            self._known[name] = np.ascontiguousarray(basis.columns(self.X))
        return self._known[name]


class Sample:
    """All strict views of y on random rows where they are defined: ``targets`` (views, rows), and columns there."""

    def __init__(self, task: Task, max_columns: int, names: Sequence[str] | None = None) -> None:
        problem, rows = task.problem, task.random_rows(int(ROWS_A_COLUMN * max_columns) + 20)
        views = [view for view in views_of(problem, names) if view.strict]
        targets = np.array([view.values(problem.y[rows]) for view in views])
        # A zero of y makes single rows useless for 1/y and ln y, not the views.
        usable = np.isfinite(targets).mean(axis=1) > USABLE
        good = np.isfinite(targets[usable]).all(axis=0)
        self.views = [view for view, ok in zip(views, usable.tolist(), strict=True) if ok]
        self.targets = targets[usable][:, good]
        self.grid = Grid(problem.X[rows[good]])


def extended(base: Basis, factors: Sequence[Unary]) -> Basis:
    """Every column of ``base`` times 1 or a column of each factor."""
    atoms = list(base.atoms)
    choices: list[list[dict[int, float]]] = []
    for unary in factors:
        places = []
        for atom in unary.atoms:
            if atom not in atoms:
                atoms.append(atom)
            places.append(atoms.index(atom))
        rows = [{i: p for i, p in zip(places, row, strict=True) if p} for row in unary.powers]
        choices.append([{}, *rows])
    table: dict[tuple[float, ...], None] = {}
    for row in base.powers:
        for extra in product(*choices):
            full = [*row, *[0.0] * (len(atoms) - len(row))]
            for part in extra:
                for i, p in part.items():
                    full[i] += p
            table[tuple(full)] = None
    name = " * ".join([base.name, *(unary.name for unary in factors)])
    return Basis(name, tuple(atoms), tuple(table))
