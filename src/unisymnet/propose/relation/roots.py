"""Roots of quadratic equations: A(x)·t² + B(x)·t + C(x) = 0 with small polynomials and t a view of y.

Equilibria with mass balance, times of flight, sums of a quotient and a square root are of this kind.  The discriminant
is worked out term by term, so that what cancels is not written.  y and 1/y are one case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...candidate import Proposal
from ...problem import Problem
from ...symbolic.expr import Call, Expr
from ..linear.basis import Basis, polynomial
from ..pool import TOLERANCES, Stage, Task, tolerances
from ..view.views import views_of
from ..write.polynomial import Poly, multiply
from ..write.write import write_ratio, write_root
from .equation import Equation
from .fit import Law, fitted

__all__ = ["Roots"]

VIEWS = ("y", "ln(y)", "exp(y)")
# Of C, B and A.
DEGREES = (
    (1, 1, 0), (1, 1, 1), (2, 1, 0), (2, 1, 1), (2, 2, 0), (2, 2, 1), (2, 2, 2), (3, 2, 1), (4, 2, 0), (3, 3, 3),
    (4, 3, 2),
)  # fmt: skip
NOISY_DEGREES = ((1, 1, 0), (1, 1, 1), (2, 1, 0), (2, 1, 1), (2, 2, 1))


@dataclass(frozen=True)
class Roots(Stage):
    """The stage.  ``exact`` and ``noisy`` switch its two passes; at most so many coefficients and rows."""

    name: str = "roots"
    exact: bool = True
    noisy: bool = False
    max_columns: int = 160
    noisy_columns: int = 40
    max_rows: int = 500
    limit: int = 3
    seconds: float = 1.5

    def suits(self, problem: Problem) -> bool:
        return problem.allows("sqrt") or problem.allows("pow")

    def asked(self, task: Task) -> Iterator[Proposal]:
        if self.exact and self._found(task):
            yield from task.pool.proposals(1)
        elif self.noisy:
            distinct = {law.terms: law for law in sorted(self._laws(task), key=lambda law: -law.length)}
            for law in sorted(distinct.values(), key=lambda law: law.length)[: self.limit]:
                for tol in tolerances(law.tol):
                    for expr in _written(task.problem, law.parts, tol):
                        task.pool.add(expr)
            task.pool.settle(2 * self.limit, task.deadline)
            yield from task.pool.proposals(self.limit)

    def _found(self, task: Task) -> bool:
        problem, rows = task.problem, task.random_rows(self.max_rows)
        for bases in _triples(problem, DEGREES, min(self.max_columns, int(0.7 * problem.n_rows))):
            for view in views_of(problem, VIEWS):
                if task.deadline.expired():
                    return False
                equation = Equation(view, bases)
                if view.strict and equation.holds(problem, rows) and _solved(task, equation):
                    return True
        return False

    def _laws(self, task: Task) -> Iterator[Law]:
        rows = task.some_rows(self.max_rows)
        view = views_of(task.problem, ("y",))[0]
        for bases in _triples(task.problem, NOISY_DEGREES, min(self.noisy_columns, len(rows) // 4)):
            if task.deadline.expired():
                return
            yield from fitted(task, Equation(view, bases), rows, 2)


def _triples(problem: Problem, degrees: Sequence[tuple[int, ...]], most: int) -> Iterator[tuple[Basis, ...]]:
    """Bases of C, B and A that have not too many columns together."""
    for chosen in degrees:
        bases = tuple(polynomial(problem.n_features, degree) for degree in chosen)
        if sum(map(len, bases)) <= most:
            yield bases


def _solved(task: Task, equation: Equation) -> bool:
    """Add the root to the pool, if the null vector is a law."""
    law = equation.law(task)
    if law is None or not len(law[2]) or not len(law[1]):  # a quotient or a root of one: quotients.py
        return False
    for tol in TOLERANCES:
        for expr in _written(task.problem, law, tol):
            task.pool.add(equation.view.invert(expr) if equation.view.name != "y" else expr)
        if task.pool.exact():
            return True
    return False


def _written(problem: Problem, parts: Sequence[Poly], tol: float) -> Iterator[Expr]:
    """Both roots, as a sum of a quotient and a root and as one quotient."""
    # The plainest numbers are those in units of a coefficient of A.
    c, b, a = (part.scaled(1.0 / parts[2].terms[0][1]) for part in parts)
    discriminant = _difference(multiply(b, b), multiply(a, c).scaled(4), tol)
    if not len(discriminant):
        return
    plain = views_of(problem, ("y",))[0]
    one = b.with_terms([((0.0,) * len(b.atoms), 1.0)])
    middle = write_ratio(problem, plain, b.scaled(-1.0), a.scaled(2.0), tol)
    spread = write_root(problem, discriminant, multiply(a, a).scaled(4), tol)
    top = write_ratio(problem, plain, b.scaled(-1.0), one, tol)
    root, bottom = write_root(problem, discriminant, one, tol), write_ratio(problem, plain, a.scaled(2.0), one, tol)
    for sign in ("add", "sub"):
        if middle is not None and spread is not None:
            yield Call(sign, (middle, spread))
        if top is not None and root is not None and bottom is not None:
            yield Call("div", (Call(sign, (top, root)), bottom))


def _difference(p: Poly, q: Poly, tol: float) -> Poly:
    """p - q without what cancels up to rounding."""
    mine, other = dict(p.terms), dict(q.terms)
    terms = []
    for powers in {**mine, **other}:
        x, y = mine.get(powers, 0.0), other.get(powers, 0.0)
        if abs(x - y) > tol * (abs(x) + abs(y)):
            terms.append((powers, x - y))
    return p.with_terms(terms)
