"""Formulas with the user's own operators: small forms with open constants first, then whole searches in which the
values of an operator on a column stand beside the columns.

For such a search the constants of an operator must have values; those that a small form fits best are taken, and the
fitter refines them in what is found.  Does not know which stages search.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...candidate import ParetoFront, Proposal, Status
from ...deadline import Deadline
from ...fit.constants import fit_constants
from ...problem import Problem
from ...symbolic.constants import moved_params
from ...symbolic.expr import Const, Expr, Param, Var, evaluate, n_params, product, total
from ...symbolic.own import Operator
from ..reduced import ONE, Reduced, Solve

BRIEF = 8  # choices of exponents that are tried for a small form
N_STARTS = 8
MAX_USES = 12  # columns, or tuples of columns, that an operator is tried on
MAX_INPUTS = 4  # values of operators beside the columns of one search
MAX_OTHERS = 4  # columns that may change what an operator is multiplied with and added to
ALONE, TOGETHER = 0.3, 0.4  # of the time left, for a search with one use of an operator and with several
MAX_ROWS = 400  # for the first values of an operator's constants


@dataclass(frozen=True)
class Use:
    """An operator on some columns, its open constants at the best values of a small form, and what that form leaves."""

    operator: Operator
    columns: tuple[int, ...]
    constants: tuple[float, ...]
    scale: float
    loss: float

    @property
    def expr(self) -> Expr:
        args = [Var(i) if self.scale == 1.0 else product([Const(self.scale), Var(i)]) for i in self.columns]
        return self.operator.applied(args, [Const(value) for value in self.constants])


@dataclass(frozen=True)
class OwnOperators:
    """A proposer of formulas that hold own operators."""

    operators: tuple[Operator, ...]
    solve: Solve
    name: str = "own operators"

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        uses: list[Use] = []
        for operator in self.operators:
            for columns in _places(operator, problem.n_features):
                form = _with_outside([Var(i) for i in columns], operator)
                yield Proposal(problem.to_scaled(form), f"{self.name}/{operator.name}", BRIEF)
                use = fitted_use(operator, columns, problem, rng)
                uses += [] if use is None else [use]
                if deadline.expired():
                    break
        uses.sort(key=lambda use: (use.loss, use.operator.name, use.columns))
        # The best use alone first: every further input makes the search wider.
        yield from self._searched(uses[:1], problem, front, rng, deadline, ALONE)
        for form, name in small_forms(self.operators, problem.n_features):
            yield Proposal(problem.to_scaled(form), f"{self.name}/{name}", BRIEF)
        if len(uses) > 1:
            yield from self._searched(uses[:MAX_INPUTS], problem, front, rng, deadline, TOGETHER)

    def _searched(
        self,
        uses: Sequence[Use],
        problem: Problem,
        front: ParetoFront,
        rng: np.random.Generator,
        deadline: Deadline,
        share: float,
    ) -> Iterator[Proposal]:
        """A whole search in the columns and the values of operators on some of them, for a share of the time left."""
        whole = deadline.whole()
        if not uses or whole.expired():
            return
        limit = whole.sooner(share * whole.remaining())
        inputs: list[Expr] = [Var(i) for i in range(problem.n_features)]
        stage = Reduced(ONE, (*inputs, *(use.expr for use in uses)), self.solve, self.name)
        yield from stage.propose(problem, front, rng=rng, deadline=limit)


def fitted_use(operator: Operator, columns: tuple[int, ...], problem: Problem, rng: np.random.Generator) -> Use | None:
    """The operator with those constants, and that scale of its arguments, that explain most of y as a + b·operator,
    a and b being any smooth functions of the other columns; None where it is undefined."""
    few = np.unique(np.linspace(0, problem.n_rows - 1, MAX_ROWS).astype(int))
    X, y = (problem.X * problem.x_scales)[few], (problem.y * problem.y_scale)[few]
    weights = problem.weights[few]
    n_open = len(operator.open)
    best: Use | None = None
    for scaled in (False, True):
        scale: Expr = Param(n_open) if scaled else ONE
        args = [scale * Var(i) if scaled else Var(i) for i in columns]
        inner = operator.applied(args, [Param(i) for i in range(n_open)])
        beside = _smooth([Var(i) for i in range(X.shape[1]) if i not in columns], X)
        terms = [*beside, *(inner if term == ONE else product([inner, term]) for term in beside)]
        form = total([product([Param(n_open + scaled + k), term]) for k, term in enumerate(terms)])
        fit = fit_constants(form, X, y, rng=rng, weights=weights, n_starts=N_STARTS)
        if fit.status is not Status.OK:
            continue
        values = tuple(map(float, fit.params))
        found = Use(operator, columns, values[:n_open], values[n_open] if scaled else 1.0, float(fit.loss))
        if not np.isfinite(evaluate(found.expr, X)).all() or found.scale == 0.0:
            continue
        if best is None or found.loss < 0.9 * best.loss:  # a scale must earn its constant
            best = found
    return best


def _smooth(others: Sequence[Var], X: Floats) -> list[Expr]:
    """1 and, for each of a few other columns, terms whose sums come near to smooth functions of it."""
    found: list[Expr] = [ONE]
    for column in others[:MAX_OTHERS]:
        found += [column, column**2.0]
        found += [column**-1.0] if (np.abs(X[:, column.index]) > 1e-3).all() else [column**3.0]
    return found


def small_forms(operators: Sequence[Operator], n_columns: int) -> Iterator[tuple[Expr, str]]:
    """Short formulas that hold an operator, their constants open: scaled arguments, sums and products with a column,
    two operators, arguments of two columns."""
    for operator in operators:
        places = _places(operator, n_columns)
        for columns in places:
            if len(columns) == 1:
                yield _with_outside([Param(0) * Var(columns[0])], operator), operator.name
        for columns in places:
            inner = operator.applied([Var(i) for i in columns])
            n = n_params(inner)
            scaled = Param(n) * inner
            for other in range(n_columns):
                if other not in columns:
                    yield scaled * Var(other), operator.name
                    yield scaled / Var(other), operator.name
                    yield scaled + Param(n + 1) * Var(other) + Param(n + 2), operator.name
        if len(operator.arguments) == 1:
            for a, b in itertools.permutations(range(n_columns), 2):
                pairs: list[Expr] = [Var(a) / Var(b), Param(0) * Var(a) + Param(1) * Var(b)]
                for arg in (pairs if a > b else pairs[:1]) + ([Var(a) * Var(b)] if a > b else []):
                    yield _with_outside([arg if n_params(arg) else Param(0) * arg], operator), operator.name
    both = [(operator, columns) for operator in operators for columns in _places(operator, n_columns)[:4]]
    for (first, one), (second, two) in itertools.combinations(both, 2):
        left = first.applied([Var(i) for i in one])
        right = moved_params(second.applied([Var(i) for i in two]), n_params(left))
        n = max(n_params(left), n_params(right))
        yield product([Param(n), left, right]), first.name
        yield Param(n) * left + Param(n + 1) * right + Param(n + 2), first.name


def _places(operator: Operator, n_columns: int) -> list[tuple[int, ...]]:
    return list(itertools.islice(itertools.permutations(range(n_columns), len(operator.arguments)), MAX_USES))


def _with_outside(args: list[Expr], operator: Operator) -> Expr:
    """a + b·operator(args)."""
    inner = operator.applied(args)
    return Param(n_params(inner)) * inner + Param(n_params(inner) + 1)
