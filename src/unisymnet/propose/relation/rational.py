"""Quotients of polynomials: view(y) = P(x)/Q(x) as a null vector of [P, −view(y)·Q].

Degrees grow slowly.  For clean data one null vector is the law; if there are more, the degrees are too high and
columns are dropped until one is left.  For noisy data the null vector is only a start: the linearised problem is
solved again with weights 1/Q (Sanathanan–Koerner), the constants are refitted in the space of y, and terms are
eliminated by description length.  One unary function of one input may join the inputs.  y and 1/y are one case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...candidate import ParetoFront, Proposal
from ...deadline import Deadline
from ...problem import Problem
from ...symbolic.expr import Call, Expr, Var
from ..linear.basis import Basis, Grid, over_atoms
from ..pool import Pool, is_constant, sample_rows
from ..view.views import View, views_of
from ..write.write import write_ratio
from .null import NULL, single, triangle, unit_rows
from .ratiofit import RatioFit, RatioLaw

__all__ = ["Rational", "Scan", "exact_quotient"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

VIEWS = ("y", "y**2", "sqrt(y)", "ln(y)", "exp(y)", "sin(y)", "cos(y)", "logit(y)")
DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (1, 3), (3, 2), (2, 3), (3, 3), (4, 2), (5, 2), (4, 4), (6, 4))
NOISY_DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (3, 2))
MOST_TERMS = 24


@dataclass(frozen=True)
class Rational:
    """The stage.  ``exact`` and ``noisy`` switch its two passes; ``unary`` adds functions of one input."""

    name: str = "rational"
    exact: bool = True
    noisy: bool = True
    unary: bool = True
    max_columns: int = 300
    unary_columns: int = 100
    noisy_columns: int = 40
    max_rows: int = 500
    limit: int = 6
    seconds: float = 3.0

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        if is_constant(problem):
            return
        deadline = deadline.sooner(self.seconds)
        pool = Pool(problem, self.name)
        inputs = [Var(i) for i in range(problem.n_features)]
        if self.exact:
            scan = Scan(problem, int(1.25 * self.max_columns) + 20, rng)
            for num, den in self._pairs(problem, inputs):
                if deadline.expired():
                    break
                for view in scan.hits(num, den):
                    if exact_quotient(problem, view, num, den, pool, rng):
                        yield from pool.proposals(1)
                        return
        if self.noisy:
            rows = sample_rows(problem.n_rows, self.max_rows, rng)
            laws: list[RatioLaw] = []
            for view in views_of(problem, ("y", "y**2")):
                for degrees in NOISY_DEGREES:
                    num, den = (over_atoms(inputs, degree) for degree in degrees)
                    if deadline.expired() or len(num) + len(den) > min(self.noisy_columns, len(rows) // 3):
                        break
                    laws += RatioFit(problem, view, num, den, rows).selected()
            for law in sorted(laws, key=lambda law: law.length)[: self.limit]:
                for tol in law.tolerances():
                    pool.add(write_ratio(problem, law.view, law.num, law.den, tol))
            pool.settle(2 * self.limit, deadline)
            yield from pool.proposals(self.limit)

    def _pairs(self, problem: Problem, inputs: Sequence[Expr]) -> Iterator[tuple[Basis, Basis]]:
        """Numerators and denominators by their number of columns, with and without a unary function."""
        cap = min(self.max_columns, int(0.75 * problem.n_rows))
        tasks: list[tuple[int, int, tuple[Expr, ...], tuple[int, int]]] = []
        atom_sets: list[tuple[Expr, ...]] = [tuple(inputs)]
        if self.unary:
            atom_sets += [(*inputs, atom) for atom in _unary_atoms(problem)]
            atom_sets += _with_roots(problem, inputs)
        for order, atoms in enumerate(atom_sets):
            folded = isinstance(atoms[-1], Call) and atoms[-1].op == "abs"  # abs(x)**2 is x**2: no higher degrees
            instead = len(atoms) == len(inputs)  # nothing was added, so that degrees may be high
            for degrees in DEGREES if instead else DEGREES[:1] if folded else DEGREES[:5]:
                count = sum(_count(len(atoms), degree) for degree in degrees)
                if count <= (cap if order == 0 else min(cap, self.unary_columns)):
                    tasks.append((count, order, atoms, degrees))
        for _, _, atoms, (top, bottom) in sorted(tasks, key=lambda task: task[:2]):
            yield over_atoms(atoms, top), over_atoms(atoms, bottom)


def _count(d: int, degree: int) -> int:
    out = 1
    for k in range(1, degree + 1):
        out = out * (d + k) // k
    return out


def _unary_atoms(problem: Problem) -> list[Expr]:
    """sin, cos, exp, ln, sqrt of single inputs as far as they are defined, and abs where it says something."""
    found: list[Expr] = []
    for i in range(problem.n_features):
        column = problem.X[:, i]
        names = ["sin", "cos"]
        if np.max(np.abs(column)) < 50.0:
            names.append("exp")
        if np.min(column) > 0.0:
            names += ["ln", "sqrt"]
        elif np.max(column) > 0.0:
            names.append("abs")
        found += [Call(name, (Var(i),)) for name in names if problem.allows(name)]
    return found


def _with_roots(problem: Problem, inputs: Sequence[Expr]) -> list[tuple[Expr, ...]]:
    """One or two inputs with the square root in place of one, as in equations of state."""
    if len(inputs) > 2 or not problem.allows("sqrt"):
        return []
    positive = [i for i in range(len(inputs)) if np.min(problem.X[:, i]) > 0.0]
    return [(*inputs[:i], Call("sqrt", (inputs[i],)), *inputs[i + 1 :]) for i in positive]


class Scan:
    """The cheap test: which views have a null vector over a pair of bases, on as many rows as that needs."""

    def __init__(self, problem: Problem, n_rows: int, rng: np.random.Generator) -> None:
        views = [view for view in views_of(problem, VIEWS) if view.strict]
        rows = rng.permutation(problem.n_rows)[:n_rows]
        targets = np.array([view.values(problem.y[rows]) for view in views])
        usable = np.isfinite(targets).mean(axis=1) > 0.7
        good = np.isfinite(targets[usable]).all(axis=0)
        self.views = [view for view, ok in zip(views, usable.tolist(), strict=True) if ok]
        self.targets = targets[usable][:, good]
        self.grid = Grid(problem.X[rows[good]])

    def hits(self, num: Basis, den: Basis) -> list[View]:
        """Project P out of view(y)·Q for all views; what is left has a small singular value."""
        count = len(num) + len(den)
        n_rows = min(self.targets.shape[1], count + max(12, count // 4))
        if n_rows < count + 2 or not len(self.views):
            return []
        top, bottom = self.grid.columns(num, (), n_rows), self.grid.columns(den, (), n_rows)
        with np.errstate(all="ignore"):
            top = top / np.linalg.norm(top, axis=0)
            products = self.targets[:, :n_rows, None] * bottom
            products = products / np.linalg.norm(products, axis=1)[:, None, :]
        if not np.isfinite(top).all() or not np.isfinite(products).all():
            return []
        span = np.linalg.qr(top)[0]
        left = products - span @ (span.T @ products)
        least = np.linalg.svd(left, compute_uv=False)[:, -1]
        return [view for view, value in zip(self.views, least, strict=True) if value < 10 * NULL]


def exact_quotient(
    problem: Problem, view: View, num: Basis, den: Basis, pool: Pool, rng: np.random.Generator, fewest: int = 3
) -> bool:
    """Add the law over these bases to the pool, if there is one with at least ``fewest`` terms."""
    count = len(num) + len(den)
    wide = _matrix(problem, view, num, den, sample_rows(problem.n_rows, max(3 * count, 200), rng))
    if wide is None:
        return False
    reduced = triangle(wide / np.linalg.norm(wide, axis=0))
    keep = single(reduced, (*num.tokens(), *den.tokens()), fewest)
    if keep is None or len(keep) > min(MOST_TERMS, problem.n_rows // 2):
        return False
    return _add_law(problem, view, num, den, keep, pool)


def _matrix(problem: Problem, view: View, num: Basis, den: Basis, rows: Ints) -> Floats | None:
    """[P, −view(y)·Q] on the rows where all is finite; None if too few are."""
    t = view.values(problem.y[rows])
    matrix = np.column_stack([num.columns(problem.X[rows]), -t[:, None] * den.columns(problem.X[rows])])
    matrix = unit_rows(matrix)
    if len(matrix) <= matrix.shape[1] + 2 or not np.all(np.any(matrix != 0.0, axis=0)):
        return None
    return matrix


def _add_law(problem: Problem, view: View, num: Basis, den: Basis, keep: Ints, pool: Pool) -> bool:
    """Solve for the coefficients on all rows, write and judge."""
    top, bottom = keep[keep < len(num)], keep[keep >= len(num)] - len(num)
    if not len(top) or not len(bottom):
        return False
    t = view.values(problem.y)
    matrix = np.column_stack(
        [num.columns(problem.X)[:, top], -t[:, None] * den.columns(problem.X)[:, bottom]]
    )
    matrix = unit_rows(matrix)
    norms = np.linalg.norm(matrix, axis=0)
    vector = np.linalg.svd(triangle(matrix / norms))[2][-1] / norms
    a, b = num.poly(top, vector[: len(top)]), den.poly(bottom, vector[len(top) :])
    for tol in (1e-9, 1e-12):
        scored = pool.add(write_ratio(problem, view, a, b, tol))
        if scored is not None and scored.exact:
            return True
    return False
