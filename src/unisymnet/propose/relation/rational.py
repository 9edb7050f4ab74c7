"""Quotients of polynomials: view(y) = P(x)/Q(x).

Degrees grow slowly.  For clean data one null vector of [P, view(y)·Q] is the law (equation.py); if there are more, the
degrees are too high and columns are dropped until one is left.  For noisy data fit.py eliminates terms.  One unary
function of one input may join the inputs.  y and 1/y are one case.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...candidate import Proposal
from ...problem import Problem
from ...symbolic.expr import Call, Expr, Var
from ..linear.basis import Basis, over_atoms
from ..stage import Stage, Task
from ..view.views import views_of
from ..write.write import write_ratio
from .equation import Equation, Scan, exact_quotient
from .fit import Law, fitted

__all__ = ["Rational"]

DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (1, 3), (3, 2), (2, 3), (3, 3), (4, 2), (5, 2), (4, 4), (6, 4))
NOISY_DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (3, 2))


@dataclass(frozen=True)
class Rational(Stage):
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

    def asked(self, task: Task) -> Iterator[Proposal]:
        pool, inputs = task.pool, [Var(i) for i in range(task.problem.n_features)]
        if self.exact:
            scan = Scan(task, self.max_columns)
            for num, den in self._pairs(task.problem, inputs):
                if task.deadline.expired():
                    break
                if any(exact_quotient(task, view, num, den) for view in scan.hits(num, den)):
                    yield from pool.proposals(1)
                    return
        if self.noisy:
            for law in sorted(self._laws(task, inputs), key=lambda law: law.length)[: self.limit]:
                for tol in law.tolerances():
                    pool.add(write_ratio(task.problem, law.view, law.parts[0], law.parts[1].scaled(-1.0), tol))
            pool.settle(2 * self.limit, task.deadline)
            yield from pool.proposals(self.limit)

    def _laws(self, task: Task, inputs: Sequence[Expr]) -> Iterator[Law]:
        rows = task.some_rows(self.max_rows)
        for view in views_of(task.problem, ("y", "y**2")):
            for degrees in NOISY_DEGREES:
                equation = Equation(view, tuple(over_atoms(inputs, degree) for degree in degrees))
                if task.deadline.expired() or len(equation) > min(self.noisy_columns, len(rows) // 3):
                    break
                yield from fitted(task, equation, rows)

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
                count = sum(math.comb(len(atoms) + degree, degree) for degree in degrees)
                if count <= (cap if order == 0 else min(cap, self.unary_columns)):
                    tasks.append((count, order, atoms, degrees))
        for _, _, atoms, (top, bottom) in sorted(tasks, key=lambda task: task[:2]):
            yield over_atoms(atoms, top), over_atoms(atoms, bottom)


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
