"""Quotients of polynomials: view(y) = P(x)/Q(x), over the inputs or over functions that couple two of them.

Degrees grow slowly.  For clean data one null vector of [P, view(y)·Q] is the law (equation.py); if there are more, the
degrees are too high and columns are dropped until one is left.  For noisy data fit.py eliminates terms.  One unary
function of one input may join the inputs; in ``Coupled`` one or two of exp(-a·t), (1 + r)^n, a^n, which have no
constants of their own (decay chains, payments, heat exchangers with rates and times as columns).  y and 1/y are one
case.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from ...arrays import Ints
from ...candidate import Proposal
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, evaluate
from ..linear.basis import EXACT_SHARE, MAX_GROWTH, Basis, over_atoms
from ..pool import Stage, Task, tolerances
from ..view.views import Target, View, views_of
from .equation import Equation, Scan, exact_quotient, quotients
from .fit import Law, fitted
from .grown import grown

__all__ = ["Coupled", "Rational"]

DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (1, 3), (3, 2), (2, 3), (3, 3), (4, 2), (5, 2), (4, 4), (6, 4))
NOISY_DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (3, 2))
# Of quotients that are grown from below: the highest with so few terms; beside a function of an input, of which some
# are looked at longer.
GROWN_DEGREES, GROWN_TERMS = ((5, 4), (3, 2), (2, 2)), 32
WIDE_DEGREES, N_WIDE = ((2, 2),), 3


@dataclass(frozen=True)
class Rational(Stage):
    """The stage.  ``exact`` and ``noisy`` switch its two passes, ``few`` and ``wide`` those that grow quotients of a
    few terms, of the inputs and of these with a function of one of them."""

    name: str = "rational"
    exact: bool = True
    noisy: bool = True
    few: bool = False
    wide: bool = False
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
        laws = [
            *(self._laws(task, inputs) if self.noisy else ()),
            *(self._few(task, inputs) if self.few else ()),
            *(self._wide(task, inputs) if self.wide else ()),
        ]
        if laws:
            for law in sorted(laws, key=lambda law: law.length)[: self.limit]:
                for expr in quotients(task.problem, law.view, law.parts, tolerances(law.tol)):
                    pool.add(expr)
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

    def _few(self, task: Task, inputs: Sequence[Expr]) -> Iterator[Law]:
        rows = task.some_rows(self.max_rows)
        for view in views_of(task.problem, ("y", "y**2")):
            yield from _grown(task, _largest(view, inputs), rows)

    def _wide(self, task: Task, inputs: Sequence[Expr]) -> Iterator[Law]:
        """The functions that promise most by a brief look; those of a single input have other stages."""
        rows, ranked = task.some_rows(self.max_rows), []
        if len(inputs) == 1:
            return
        for view in views_of(task.problem, ("y",)):
            target = Target.see(task.problem, view, rows)
            for atom in _unary_atoms(task.problem):
                equation = _largest(view, (*inputs, atom), WIDE_DEGREES)
                if equation is not None and not task.deadline.expired():
                    found = grown(equation, target, task.problem.X[target.rows], task.deadline, brief=True)
                    ranked += [(length, equation) for length, _ in found[:1]]
        for _, equation in sorted(ranked, key=lambda one: one[0])[:N_WIDE]:
            yield from _grown(task, equation, rows)

    def _pairs(self, problem: Problem, inputs: Sequence[Expr]) -> Iterator[tuple[Basis, Basis]]:
        """Numerators and denominators by their number of columns, with and without a unary function."""
        cap = min(self.max_columns, int(EXACT_SHARE * problem.n_rows))
        tasks: list[tuple[int, int, tuple[Expr, ...], tuple[int, int]]] = []
        atom_sets = [tuple(inputs), *((*inputs, atom) for atom in _unary_atoms(problem))]
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


def _grown(task: Task, equation: Equation | None, rows: Ints) -> Iterator[Law]:
    """A few terms out of many."""
    if equation is None or task.deadline.expired():
        return
    target = Target.see(task.problem, equation.view, rows)
    for _, few in grown(equation, target, task.problem.X[target.rows], task.deadline):
        if not task.deadline.expired():
            yield from fitted(task, few, rows)


def _largest(view: View, atoms: Sequence[Expr], degrees: Sequence[tuple[int, int]] = GROWN_DEGREES) -> Equation | None:
    """The quotient of the highest degrees that has few enough terms."""
    every = (Equation(view, tuple(over_atoms(atoms, degree) for degree in both)) for both in degrees)
    return next((one for one in every if len(one) <= GROWN_TERMS), None)


def _unary_atoms(problem: Problem) -> list[Expr]:
    """sin, cos, exp, ln, sqrt of single inputs as far as they are defined, and abs where it says something."""
    found: list[Expr] = []
    for i in range(problem.n_features):
        column = problem.X[:, i]
        names = ["sin", "cos"]
        if np.max(np.abs(column)) < MAX_GROWTH:
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


COUPLED_DEGREES = ((1, 1), (2, 0), (2, 1), (1, 2), (2, 2), (3, 1))
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
        coupling, single = list(_coupling(problem)), [atom for x in inputs for atom in _growths(problem, x)]
        alone = [*_quotients(problem), *_rates(problem)]
        for degrees in COUPLED_DEGREES:
            for one in (*coupling, *alone):
                yield (*inputs, one), degrees
        if len(inputs) > self.most_paired:
            return
        pairs = [*combinations(coupling, 2), *((a, b) for a in coupling for b in single)]
        for degrees in COUPLED_DEGREES[:4]:
            for one, two in pairs:
                yield (*inputs, one, two), degrees


def _coupling(problem: Problem) -> Iterator[Expr]:
    """exp of a product of two columns and powers with a column as exponent, where they stay within bounds."""
    for i, j in combinations(range(problem.n_features), 2):
        yield from _growths(problem, Var(i) * Var(j))
    for i, j in permutations(range(problem.n_features), 2):
        for base in (Var(i), Const(1.0) + Var(i)):
            if np.min(evaluate(base, problem.X)) > 0.0:
                yield from _within(problem, Call("pow", (base, Var(j))))


def _quotients(problem: Problem) -> Iterator[Expr]:
    """exp of a column over one or two others."""
    for i, j in permutations(range(problem.n_features), 2):
        yield from _growths(problem, Var(i) / Var(j))
    for i, j, k in permutations(range(problem.n_features), 3):
        if j < k:
            yield from _within(problem, Call("exp", (Call("neg", (Var(i) / (Var(j) * Var(k)),)),)))


def _rates(problem: Problem) -> Iterator[Expr]:
    """Interest in steps, (1 + r/n)^n and (1 + r/n)^(n·t), and the rate of growth (b/a)^(1/n)."""
    if np.min(problem.X) <= 0.0:
        return
    for i, j in permutations(range(problem.n_features), 2):
        yield from _within(problem, Call("pow", (Const(1.0) + Var(i) / Var(j), Var(j))))
    for i, j, k in permutations(range(problem.n_features), 3):
        yield from _within(problem, Call("pow", (Const(1.0) + Var(i) / Var(j), Var(j) * Var(k))))
        yield from _within(problem, Call("pow", (Var(i) / Var(j), Const(1.0) / Var(k))))


def _growths(problem: Problem, inner: Expr) -> Iterator[Expr]:
    """Falling and rising exponentials."""
    for exponent in (Call("neg", (inner,)), inner):
        yield from _within(problem, Call("exp", (exponent,)))


def _within(problem: Problem, expr: Call) -> Iterator[Expr]:
    """The function, if it is allowed and stays within bounds."""
    if not problem.allows(expr.op):
        return
    with np.errstate(all="ignore"):
        logs = np.log(evaluate(expr, problem.X))
    if np.isfinite(logs).all() and np.max(np.abs(logs)) < LARGEST:
        yield expr
