"""Quotients of polynomials over the columns and one or two functions that couple columns: exp(-a·t), (1 + r)^n, a^n.

Decay chains, payments, heat exchangers with rates and times as columns.  The functions have no constants of their own
(the data bring them), so each choice is one null vector, as in equation.py.  For clean data and few columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from ...candidate import Proposal
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, evaluate
from ..linear.basis import over_atoms
from ..stage import Stage, Task
from .equation import Scan, exact_quotient

__all__ = ["Coupled"]

DEGREES = ((1, 1), (2, 0), (2, 1), (1, 2), (2, 2), (3, 1))
LARGEST = 40.0  # |exponent|: beyond it single rows decide


@dataclass(frozen=True)
class Coupled(Stage):
    """The stage, for two columns or more: at most so many, so many coefficients."""

    name: str = "coupled"
    most_inputs: int = 4
    most_paired: int = 3  # with more columns one function only
    max_columns: int = 50
    seconds: float = 1.5

    def suits(self, problem: Problem) -> bool:
        return 2 <= problem.n_features <= self.most_inputs

    def asked(self, task: Task) -> Iterator[Proposal]:
        scan = Scan(task, self.max_columns)
        most = min(self.max_columns, int(0.6 * task.problem.n_rows))
        for atoms, degrees in self._choices(task.problem):
            if task.deadline.expired():
                return
            num, den = (over_atoms(atoms, degree) for degree in degrees)
            if len(num) + len(den) > most:
                continue
            if any(exact_quotient(task, view, num, den, fewest=2) for view in scan.hits(num, den)):
                yield from task.pool.proposals(1)
                return

    def _choices(self, problem: Problem) -> Iterator[tuple[tuple[Expr, ...], tuple[int, int]]]:
        """Columns with one function, then with two, small degrees first."""
        inputs = tuple(Var(i) for i in range(problem.n_features))
        coupling, single = list(_coupling(problem)), list(_growths(problem))
        alone = [*_quotients(problem), *_rates(problem)]
        for degrees in DEGREES:
            for one in (*coupling, *alone):
                yield (*inputs, one), degrees
        if len(inputs) > self.most_paired:
            return
        pairs = [*combinations(coupling, 2), *((a, b) for a in coupling for b in single)]
        for degrees in DEGREES[:4]:
            for one, two in pairs:
                yield (*inputs, one, two), degrees


def _coupling(problem: Problem) -> Iterator[Expr]:
    """exp of a product of two columns and powers with a column as exponent, where they stay within bounds."""
    for i, j in combinations(range(problem.n_features), 2):
        for sign in (-1.0, 1.0):
            yield from _within(problem, _exp(sign, Var(i) * Var(j)))
    for i, j in permutations(range(problem.n_features), 2):
        for base in (Var(i), Const(1.0) + Var(i)):
            if problem.allows("pow") and np.min(evaluate(base, problem.X)) > 0.0:
                yield from _within(problem, Call("pow", (base, Var(j))))


def _quotients(problem: Problem) -> Iterator[Expr]:
    """exp of a column over one or two others."""
    for i, j in permutations(range(problem.n_features), 2):
        for sign in (-1.0, 1.0):
            yield from _within(problem, _exp(sign, Var(i) / Var(j)))
    for i, j, k in permutations(range(problem.n_features), 3):
        if j < k:
            yield from _within(problem, _exp(-1.0, Var(i) / (Var(j) * Var(k))))


def _rates(problem: Problem) -> Iterator[Expr]:
    """Interest in steps, (1 + r/n)^n and (1 + r/n)^(n·t), and the rate of growth (b/a)^(1/n)."""
    if not problem.allows("pow") or np.min(problem.X) <= 0.0:
        return
    for i, j in permutations(range(problem.n_features), 2):
        yield from _within(problem, Call("pow", (Const(1.0) + Var(i) / Var(j), Var(j))))
    for i, j, k in permutations(range(problem.n_features), 3):
        yield from _within(problem, Call("pow", (Const(1.0) + Var(i) / Var(j), Var(j) * Var(k))))
        yield from _within(problem, Call("pow", (Var(i) / Var(j), Const(1.0) / Var(k))))


def _growths(problem: Problem) -> Iterator[Expr]:
    for i in range(problem.n_features):
        for sign in (-1.0, 1.0):
            yield from _within(problem, _exp(sign, Var(i)))


def _exp(sign: float, inner: Expr) -> Call:
    return Call("exp", (inner if sign > 0.0 else Call("neg", (inner,)),))


def _within(problem: Problem, expr: Call) -> Iterator[Expr]:
    if not problem.allows(expr.op):
        return
    with np.errstate(all="ignore"):
        logs = np.log(evaluate(expr, problem.X))
    if np.isfinite(logs).all() and np.max(np.abs(logs)) < LARGEST:
        yield expr
