"""Small polynomials times one inner function: view(y) = P(x) + Q(x)·exp(κ·x_i), x_i^κ, or sine and cosine of κ·x_i.

The constant κ is scanned with everything else eliminated, and refined by Gauss-Newton; then the few terms that matter
are found as in bases.py.  Cooling towards a surrounding temperature, charging from any start, growing seasons are of
this kind.  Under noise every view has rows that count as they would in y, and the best few terms of those choices that
leave least are put forward.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import TINY, Floats, Ints
from ...candidate import Proposal
from ...fit.projected import refined, taken_out
from ...fit.subset import best_subsets, subset_codelength
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, evaluate, product, total
from ..linear.bases import exact_formula
from ..linear.basis import Basis, Unary, extended, polynomial
from ..pool import FAR_WORSE, Stage, Task
from ..view.views import Target, View, views_of

__all__ = ["Modulated"]


ONE: Expr = Const(1.0)
VIEWS = ("y", "1/y", "ln(y)", "y**2", "logit(y)")
GROWTHS = np.concatenate([np.geomspace(0.2, 25.0, 14), -np.geomspace(0.2, 25.0, 14)])  # over half the span of the input
EXPONENTS = np.concatenate([np.geomspace(0.08, 5.0, 14), -np.geomspace(0.08, 5.0, 14)])
STEPS_A_PERIOD = 4
MAX_PERIODS = 20.0
N_REFINED = 4  # starts for each view, input and function
STEPS = 12
HIT = 1e-10  # share left, in norm, that only a law reaches
# Under noise: views, choices of view, input, function and κ that are followed, terms of a formula, formulas of each.
NOISY_VIEWS = ("y", "1/y", "ln(y)")
N_FOLLOWED, MAX_TERMS, N_EACH, N_PROPOSALS = 4, 5, 2, 4


@dataclass(frozen=True)
class Modulated(Stage):
    """Settings: whether there is noise, rows, inputs at most, seconds."""

    name: str = "modulated"
    noisy: bool = False
    max_rows: int = 160
    most_inputs: int = 5
    seconds: float = 0.5

    def suits(self, problem: Problem) -> bool:
        return problem.n_features <= self.most_inputs

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, d = task.problem, task.problem.n_features
        rows = task.some_rows(self.max_rows)
        if self.noisy:
            for _, inner, target, kappa in sorted(_ranked(task, rows), key=lambda one: one[0])[:N_FOLLOWED]:
                for expr in inner.sums(problem, target, kappa):
                    task.pool.add(expr)
            task.pool.settle(N_FOLLOWED * N_EACH, task.deadline)
            yield from task.pool.proposals(N_PROPOSALS, FAR_WORSE)
            return
        for basis in (polynomial(d, 1), polynomial(d, 2)) if d <= 2 else (polynomial(d, 1),):
            for inner in _inner_functions(problem, rows, basis):
                if task.deadline.expired():
                    return
                for view, kappa in inner.laws(problem, rows):
                    if exact_formula(task, extended(basis, (inner.unary(kappa),)), view):
                        yield from task.pool.proposals(1)
                        return


def _ranked(task: Task, rows: Ints) -> Iterator[tuple[float, _Inner, Target, float]]:
    """What is left of y by the best κ for every view, input and function."""
    problem = task.problem
    for view in views_of(problem, NOISY_VIEWS):
        target = Target.see(problem, view, rows)
        if len(target) < len(rows):
            continue
        for inner in _inner_functions(problem, rows, polynomial(problem.n_features, 1)):
            if task.deadline.expired():
                return
            kappa, left = inner.weighed(target.weights).best(target.weighted)
            yield left, inner, target, kappa


def _inner_functions(problem: Problem, rows: Ints, basis: Basis) -> Iterator[_Inner]:
    for i in range(problem.n_features):
        x = problem.X[rows, i]
        half = float(np.ptp(x)) / 2.0
        periods = min(MAX_PERIODS, len(rows) / 8.0)
        waves = np.arange(1, int(STEPS_A_PERIOD * periods) + 1) * math.pi / STEPS_A_PERIOD
        kinds = [("exp", x, GROWTHS / (half or 1.0)), ("sin", x, waves / (half or 1.0))]
        if np.min(problem.X[:, i]) > 0.0:
            kinds.append(("pow", np.log(x), EXPONENTS))
        for kind, t, grid in kinds:
            n_columns = len(basis) * (3 if kind == "sin" else 2)
            if half == 0.0 or not problem.allows(kind) or len(rows) <= 1.5 * n_columns + 4:
                continue
            columns = basis.columns(problem.X[rows])
            # With x·exp(κx) beside exp(κx) a small change of κ changes nothing: first without.
            others = columns[:, [k for k, row in enumerate(basis.powers) if row[i] == 0.0]]
            for factors in (others, columns):
                yield _Inner(kind, i, t - float(np.mean(t)), columns, factors, grid)


@dataclass(frozen=True)
class _Inner:
    """exp(κt), or its sine and cosine, times some factors, beside columns; t is an input (its ln for powers) less its
    mean."""

    kind: str
    of: int
    t: Floats
    columns: Floats
    factors: Floats
    grid: Floats

    def laws(self, problem: Problem, rows: Ints) -> Iterator[tuple[View, float]]:
        """Views that some κ explains entirely."""
        views = [view for view in views_of(problem, VIEWS) if view.strict]
        targets = [view.values(problem.y[rows]) for view in views]
        fine = [k for k, target in enumerate(targets) if np.isfinite(target).all()]
        if not fine:
            return
        basis = np.linalg.qr(self.columns / np.linalg.norm(self.columns, axis=0).clip(TINY))[0]
        table = taken_out(np.column_stack([targets[k] / np.linalg.norm(targets[k]) for k in fine]), basis)
        left = self._left(basis, table)
        for place, k in enumerate(fine):
            for start in np.argsort(left[:, place])[:N_REFINED]:
                kappa, _, off = refined(self._products, basis, table[:, place], float(self.grid[start]), STEPS)
                if off < HIT:
                    yield views[k], kappa
                    break

    def weighed(self, weights: Floats) -> _Inner:
        return replace(self, columns=self.columns * weights[:, None], factors=self.factors * weights[:, None])

    def best(self, target: Floats) -> tuple[float, float]:
        """The κ that leaves least of a target, and the norm of that."""
        basis = np.linalg.qr(self.columns / np.linalg.norm(self.columns, axis=0).clip(TINY))[0]
        free = taken_out(target[:, None], basis)
        start = float(self.grid[np.argmin(self._left(basis, free)[:, 0])])
        kappa, _, left = refined(self._products, basis, free[:, 0], start, STEPS)
        return kappa, left

    def sums(self, problem: Problem, target: Target, kappa: float) -> list[Expr]:
        """The best sums of a few terms with this κ."""
        plain: list[Expr] = [Const(1.0), *(Var(k) for k in range(problem.n_features))]
        waves = [Call("pow", (Var(self.of), Const(kappa)))] if self.kind == "pow" else [*self.unary(kappa).atoms]
        terms = [(term, ONE) for term in plain]
        terms += [(term, wave) for wave in waves for term in plain if term != Var(self.of)]
        with np.errstate(all="ignore"):
            X = problem.X[target.rows]
            table = np.column_stack([evaluate(term, X) * evaluate(wave, X) * np.ones(len(X)) for term, wave in terms])
        if not np.isfinite(table).all():
            return []
        subsets = best_subsets(table * target.weights[:, None], target.weighted, max_size=MAX_TERMS, beam=12, keep=2)
        subsets.sort(key=lambda one: subset_codelength(one.loss, len(target), one.size, len(terms)))
        return [target.view.invert(_written([terms[i] for i in s.columns], s.coefficients)) for s in subsets[:N_EACH]]

    def unary(self, kappa: float) -> Unary:
        """The function with its constant, as a factor of a basis."""
        if self.kind == "pow":
            return Unary(f"x{self.of}**{kappa:.17g}", self.of, (Var(self.of),), ((kappa,),))
        inside = product([Const(kappa), Var(self.of)])
        names = ("exp",) if self.kind == "exp" else ("sin", "cos")
        atoms = tuple(Call(name, (inside,)) for name in names)
        powers = tuple(tuple(float(i == j) for j in range(len(names))) for i in range(len(names)))
        return Unary(f"{self.kind} of {kappa:.17g}*x{self.of}", self.of, atoms, powers)

    def _products(self, kappas: Floats) -> Floats:
        """The inner functions times the factors (G, n, columns)."""
        s = kappas[:, None] * self.t
        if self.kind == "sin":
            values = np.stack([np.sin(s), np.cos(s)], axis=2)
        else:
            values = np.exp(np.clip(s, -60.0, 60.0))[:, :, None]
        return (values[:, :, :, None] * self.factors[None, :, None, :]).reshape(len(values), len(self.t), -1)

    def _left(self, basis: Floats, targets: Floats) -> Floats:
        """Norm (G, targets) of what each κ of the grid leaves of the targets."""
        products = taken_out(self._products(self.grid), basis)
        span = np.linalg.qr(products / np.linalg.norm(products, axis=1, keepdims=True).clip(TINY))[0]
        return np.linalg.norm(taken_out(np.broadcast_to(targets, (len(span), *targets.shape)), span), axis=1)


def _written(terms: Sequence[tuple[Expr, Expr]], coefficients: Floats) -> Expr:
    """P + Q·u: what has the same function is one factor of it, so that κ is written once."""
    factors: dict[Expr, list[Expr]] = {}
    for (term, wave), c in zip(terms, coefficients.tolist(), strict=True):
        factors.setdefault(wave, []).append(Const(c) if term == ONE else product([Const(c), term]))
    parts = [total(some) if wave == ONE else product([total(some), wave]) for wave, some in factors.items()]
    return total(parts)
