"""Roots of quadratic equations: A(x)·y² + B(x)·y + C(x) = 0 with small polynomials, as a null vector of [C, y·B, y²·A].

Equilibria with mass balance, times of flight, sums of a quotient and a square root are of this kind.  The discriminant
is worked out term by term, so that what cancels is not written.  For noisy data rootfit.py fits the root in the space
of y and eliminates terms.  y and 1/y are one case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...candidate import ParetoFront, Proposal
from ...deadline import Deadline
from ...problem import Problem
from ...symbolic.expr import Call, Expr
from ..linear.basis import Basis, polynomial
from ..pool import Pool, is_constant, sample_rows
from ..view.views import View, views_of
from ..write.polynomial import Poly, multiply
from ..write.write import write_ratio, write_root
from .null import NULL, single, triangle, unit_rows
from .rootfit import RootFit, RootLaw

__all__ = ["Roots"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

VIEWS = ("y", "ln(y)", "exp(y)")
# Of C, B and A.
DEGREES = (
    (1, 1, 0), (1, 1, 1), (2, 1, 0), (2, 1, 1), (2, 2, 0), (2, 2, 1), (2, 2, 2), (3, 2, 1), (4, 2, 0), (3, 3, 3),
    (4, 3, 2),
)  # fmt: skip
NOISY_DEGREES = ((1, 1, 0), (1, 1, 1), (2, 1, 0), (2, 1, 1), (2, 2, 1))
MOST_TERMS = 24
TOLERANCES = (1e-9, 1e-12)


@dataclass(frozen=True)
class Roots:
    """The stage.  ``exact`` and ``noisy`` switch its two passes; at most so many coefficients, rows and seconds."""

    name: str = "roots"
    exact: bool = True
    noisy: bool = False
    max_columns: int = 160
    noisy_columns: int = 40
    max_rows: int = 500
    limit: int = 3
    seconds: float = 1.5

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        if is_constant(problem) or not (problem.allows("sqrt") or problem.allows("pow")):
            return
        deadline = deadline.sooner(self.seconds)
        pool = Pool(problem, self.name)
        if self.exact and self._found(problem, pool, rng, deadline):
            yield from pool.proposals(1)
        elif self.noisy:
            self._fitted(problem, pool, rng, deadline)
            pool.settle(2 * self.limit, deadline)
            yield from pool.proposals(self.limit)

    def _found(self, problem: Problem, pool: Pool, rng: np.random.Generator, deadline: Deadline) -> bool:
        rows = rng.permutation(problem.n_rows)[: self.max_rows]
        for bases in _triples(problem, DEGREES, min(self.max_columns, int(0.7 * problem.n_rows))):
            for view in views_of(problem, VIEWS):
                if deadline.expired():
                    return False
                equation = _Equation(view, *bases)
                if view.strict and equation.holds(problem, rows) and equation.solve(problem, pool, rng):
                    return True
        return False

    def _fitted(self, problem: Problem, pool: Pool, rng: np.random.Generator, deadline: Deadline) -> None:
        rows = sample_rows(problem.n_rows, self.max_rows, rng)
        laws: list[RootLaw] = []
        for bases in _triples(problem, NOISY_DEGREES, min(self.noisy_columns, len(rows) // 4)):
            if deadline.expired():
                break
            laws += RootFit(problem, *bases, rows).selected()
        distinct = {law.terms: law for law in sorted(laws, key=lambda law: -law.length)}
        for law in sorted(distinct.values(), key=lambda law: law.length)[: self.limit]:
            for tol in law.tolerances():
                for expr in _written(problem, law.a, law.b, law.c, tol):
                    pool.add(expr)


def _triples(
    problem: Problem, degrees: Sequence[tuple[int, int, int]], most: int
) -> Iterator[tuple[Basis, Basis, Basis]]:
    """Bases of C, B and A that have not too many columns together."""
    for of_c, of_b, of_a in degrees:
        bases = tuple(polynomial(problem.n_features, degree) for degree in (of_c, of_b, of_a))
        if sum(map(len, bases)) <= most:
            yield bases[0], bases[1], bases[2]


@dataclass(frozen=True)
class _Equation:
    """A·t² + B·t + C = 0 with t = view(y) and polynomials over these bases."""

    view: View
    c: Basis
    b: Basis
    a: Basis

    def matrix(self, problem: Problem, rows: Ints) -> Floats:
        t = self.view.values(problem.y[rows])[:, None]
        parts = [basis.columns(problem.X[rows]) * t**k for k, basis in enumerate((self.c, self.b, self.a))]
        return np.concatenate(parts, axis=1)

    def holds(self, problem: Problem, rows: Ints) -> bool:
        """Is there a null vector, on as many rows as that needs?"""
        count = len(self.c) + len(self.b) + len(self.a)
        table = unit_rows(self.matrix(problem, rows[: count + max(12, count // 4)]))
        norms = np.linalg.norm(table, axis=0)
        if len(table) < count + 2 or not norms.all():
            return False
        values = np.linalg.svd(table / norms, compute_uv=False)
        return bool(values[-1] < 10 * NULL * values[0])

    def solve(self, problem: Problem, pool: Pool, rng: np.random.Generator) -> bool:
        """Add the root to the pool, if the null vector is a law."""
        n_rows = max(3 * (len(self.c) + len(self.b) + len(self.a)), 200)
        table = unit_rows(self.matrix(problem, sample_rows(problem.n_rows, n_rows, rng)))
        prices = np.concatenate([basis.tokens() + 2 * k for k, basis in enumerate((self.c, self.b, self.a))])
        keep = single(triangle(table / np.linalg.norm(table, axis=0)), prices.tolist())
        if keep is None or len(keep) > min(MOST_TERMS, problem.n_rows // 2):
            return False
        a, b, c = self._polynomials(problem, keep)
        if not len(a) or not len(b):  # a quotient or a root of one: rational.py
            return False
        for tol in TOLERANCES:
            for expr in _written(problem, a, b, c, tol):
                pool.add(self.view.invert(expr) if self.view.name != "y" else expr)
            if pool.exact():
                return True
        return False

    def _polynomials(self, problem: Problem, keep: Ints) -> list[Poly]:
        """The kept terms with their coefficients from all rows: A, B, C."""
        table = unit_rows(self.matrix(problem, np.arange(problem.n_rows))[:, keep])
        norms = np.linalg.norm(table, axis=0)
        vector = np.linalg.svd(triangle(table / norms))[2][-1] / norms
        polynomials, start = [], 0
        for basis in (self.c, self.b, self.a):
            mine = (keep >= start) & (keep < start + len(basis))
            polynomials.append(basis.poly(keep[mine] - start, vector[mine]))
            start += len(basis)
        return polynomials[::-1]


def _written(problem: Problem, a: Poly, b: Poly, c: Poly, tol: float) -> Iterator[Expr]:
    """Both roots, as a sum of a quotient and a root and as one quotient."""
    # The plainest numbers are those in units of a coefficient of A.
    a, b, c = (part.scaled(1.0 / a.terms[0][1]) for part in (a, b, c))
    discriminant = _difference(multiply(b, b), multiply(a, c).scaled(4.0), tol)
    if not len(discriminant):
        return
    plain = views_of(problem, ("y",))[0]
    one = b.with_terms([((0.0,) * len(b.atoms), 1.0)])
    middle = write_ratio(problem, plain, b.scaled(-1.0), a.scaled(2.0), tol)
    spread = write_root(problem, discriminant, multiply(a, a).scaled(4.0), tol)
    top = write_ratio(problem, plain, b.scaled(-1.0), one, tol)
    root, bottom = write_root(problem, discriminant, one, tol), write_ratio(problem, plain, a.scaled(2.0), one, tol)
    for sign in (1.0, -1.0):
        if middle is not None and spread is not None:
            yield Call("add", (middle, spread)) if sign > 0 else Call("sub", (middle, spread))
        if top is not None and root is not None and bottom is not None:
            above = Call("add", (top, root)) if sign > 0 else Call("sub", (top, root))
            yield Call("div", (above, bottom))


def _difference(p: Poly, q: Poly, tol: float) -> Poly:
    """p - q without what cancels up to rounding."""
    mine, other = dict(p.terms), dict(q.terms)
    terms = []
    for powers in {**mine, **other}:
        x, y = mine.get(powers, 0.0), other.get(powers, 0.0)
        if abs(x - y) > tol * (abs(x) + abs(y)):
            terms.append((powers, x - y))
    return p.with_terms(terms)
