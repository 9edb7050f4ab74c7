"""The search for y' with y = offset + factor·y'(inputs): formulas found there have a form that is known beforehand.

Residuals are weighted so that they count as those of y.  What is found is written back in the columns.  Which stages
search is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..candidate import Candidate, ParetoFront, Proposal
from ..deadline import Deadline
from ..fit.clean.respell import respelled
from ..problem import Problem, make_problem
from ..propose.view.noise import looks_noisy
from ..symbolic.expr import Const, Expr, Var, evaluate, product, rebuild

# What a whole search has found, from short to long; under noise also what the judge would not give up yet.
Solve = Callable[[Problem, np.random.Generator, Deadline], Sequence[Candidate]]

ZERO, ONE = Const(0.0), Const(1.0)


@dataclass(frozen=True)
class Reduced:
    """A proposer: the search `solve` for y' in other inputs; formulas of the problem's columns, in the user's units."""

    factor: Expr
    inputs: tuple[Expr, ...]
    solve: Solve
    name: str = "units"
    offset: Expr = ZERO
    share: float = 1.0  # of the time that is left for everybody, at most
    seconds: float = math.inf

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        if not self.inputs:  # one law is left, up to a number
            yield self.only_law(problem)
            return
        smaller = self.apply(problem)
        if smaller is None:
            return
        X = problem.X * problem.x_scales
        limit = deadline.sooner(min(self.share * deadline.whole().remaining(), self.seconds))
        for candidate in self.solve(smaller, rng, limit):
            expr = respelled(self.lift(candidate.expr), X)
            yield Proposal(problem.to_scaled(expr), f"{self.name}/{candidate.source}")

    def lift(self, expr: Expr) -> Expr:
        """A formula of the smaller problem in the columns."""
        lifted = rebuild(expr, lambda node: self.inputs[node.index] if isinstance(node, Var) else node)
        lifted = lifted if self.factor == ONE else product([self.factor, lifted])
        return lifted if self.offset == ZERO else self.offset + lifted

    def only_law(self, problem: Problem) -> Proposal:
        X = problem.X * problem.x_scales
        factor = evaluate(self.factor, X)
        y = problem.y * problem.y_scale - evaluate(self.offset, X)
        number = float(np.sum(problem.weights * factor * y) / np.sum(problem.weights * factor**2))
        return Proposal(problem.to_scaled(self.lift(Const(number))), self.name)

    def apply(self, problem: Problem) -> Problem | None:
        """The smaller problem, or None where an input is not finite on some rows."""
        X = problem.X * problem.x_scales
        with np.errstate(all="ignore"):
            factor = evaluate(self.factor, X)
            y = (problem.y * problem.y_scale - evaluate(self.offset, X)) / factor
            table = np.column_stack([evaluate(one, X) for one in self.inputs])
            weights = problem.weights * (factor / np.mean(np.abs(factor))) ** 2
        good = np.isfinite(table).all(axis=1) & np.isfinite(y) & np.isfinite(weights)
        if np.sum(good) < 0.8 * problem.n_rows or not weights[good].sum() > 0.0:
            return None
        noise = problem.noise
        if noise is not None:
            noise = noise * problem.y_scale / float(np.sqrt(np.mean(factor[good] ** 2)))
        smaller = make_problem(
            table[good],
            y[good],
            weights=weights[good],
            noise=noise,
            operators=problem.operators,
            told=problem.told.moved({one.index: k for k, one in enumerate(self.inputs) if isinstance(one, Var)}),
        )
        # Divided by a factor, noise is large on some rows and small on others, and no longer seen as such.
        return replace(smaller, noisy=looks_noisy(problem))
