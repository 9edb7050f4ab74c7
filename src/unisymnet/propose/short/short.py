"""Every formula up to a price, the cheapest first: stage `short`.

What no other stage is looking for may still be short.  Formulas without free constants only need a look, the others a
small fit; those that could win are put forward.  After each round the stage says up to which price nothing is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import evenly
from ...candidate import ParetoFront, Proposal, Status
from ...deadline import Deadline
from ...fit.kernels.fit import fit_tape
from ...fit.kernels.tape import compile_tape
from ...judge.data import data_nats, level_nats
from ...judge.judge import LARGEST, OFFSET
from ...judge.noise import EQUAL, MODELS
from ...problem import Problem
from ...symbolic.constants import merge_params
from ...symbolic.expr import Const, Expr, bind, evaluate, evaluate_shared, n_params, variables
from ...symbolic.rewrite.simplify import simplify
from .listing import Listing, TooMany

__all__ = ["Short"]


NEAR = 8.0  # nats behind the best: a last fit of all constants may make up for that
STEP = 1.0  # nats, one round
N_STARTS, SPREAD = 12, 3.0
CHECKED = 32  # formulas between two looks at the clock
HOPELESS = 40.0  # nats by equal noise; relative noise may make up for half a nat a row more
RELATIVE = MODELS[1]
MAX_PARTS = 50_000  # whose values are remembered: 50 MB


@dataclass(frozen=True)
class Short:
    """Settings: the highest price, rows, seconds at most."""

    name: str = "short"
    least: float = 5.0
    most: float = 12.0
    max_rows: int = 120
    seconds: float = math.inf

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        limit = deadline.sooner(self.seconds)
        trial = _Trial(problem, self.max_rows, rng)
        listing = Listing(problem.n_features, trial.constant(front), problem.operators)
        price, done = self.least, 0.0
        while price <= self.most:
            try:
                formulas = listing.formulas(price)
            except TooMany:
                return
            for number, (cost, tree) in enumerate(formulas):
                if number % CHECKED == 0 and limit.expired():
                    return
                if cost <= done:
                    continue
                found = trial.looked_at(tree, cost)
                if found is not None:
                    yield Proposal(problem.to_scaled(found), self.name)
            yield Proposal(Const(trial.mean), self.name, tried=price)
            price, done = price + STEP, price


class _Trial:
    """The rows in the caller's units, where a formula without constants means what it says."""

    def __init__(self, problem: Problem, max_rows: int, rng: np.random.Generator) -> None:
        rows = evenly(problem.n_rows, max_rows)
        self.X = problem.X[rows] * problem.x_scales
        self.y = problem.y[rows] * problem.y_scale
        self.root = np.sqrt(problem.weights[rows])
        self.n_all, self.spread = problem.n_rows, problem.spread * problem.y_scale
        self.mean = float(np.average(problem.y, weights=problem.weights))
        self.floor = (1e-11 * self.spread) ** 2
        self.best = level_nats(self.spread**2, len(self.y))
        self.rng = rng
        self.hopeless = HOPELESS + 0.5 * len(self.y)
        self._seen: set[Expr] = set()
        self._parts: dict[Expr, Any] = {}

    def constant(self, front: ParetoFront) -> float:
        """The least that a free constant costs: as many digits as the noise of the best formula so far leaves."""
        left = min((member.loss for member in front), default=self.spread**2)
        digits = 0.5 * math.log(self.n_all * self.spread**2 / (2.0 * math.pi * max(left, self.floor)))
        return max(1.0, digits + OFFSET)

    def looked_at(self, tree: Expr, cost: float) -> Expr | None:
        """The formula with its constants if it could be the shortest description, else None."""
        found: Expr | None = tree
        if n_params(tree):
            found = self._fitted(tree)
        if found is None:
            return None
        if len(self._parts) > MAX_PARTS:
            self._parts.clear()
        with np.errstate(all="ignore"):
            # Formulas without constants are many, and share their parts.
            values = evaluate(found, self.X) if n_params(tree) else evaluate_shared(found, self.X, self._parts)
        if np.ndim(values) == 0 or not np.isfinite(values).all() or np.abs(values).max() > LARGEST:
            return None
        left = self.y - values
        nats = level_nats(float(np.mean((self.root * left) ** 2)) + self.floor, len(left)) + EQUAL.nats
        if nats + cost > self.best + self.hopeless:
            return None
        nats = min(
            nats, data_nats(left, self.root * RELATIVE.roots(values, left), RELATIVE, self.floor) + RELATIVE.nats
        )
        # Rows that were not looked at say the same.
        length = cost + nats * self.n_all / len(self.y)
        if length > self.best + NEAR:
            return None
        self.best = min(self.best, length)
        return found

    def _fitted(self, tree: Expr) -> Expr | None:
        skeleton = merge_params(simplify(tree))
        n_constants = n_params(skeleton)
        if skeleton in self._seen or not variables(skeleton) or n_constants >= len(self.y):
            return None
        self._seen.add(skeleton)
        tape = compile_tape(skeleton, self.X.shape[1])
        n_starts = N_STARTS if len(tape.nonlinear) else 1
        starts = self.rng.uniform(-SPREAD, SPREAD, (n_starts, n_constants))
        fit = fit_tape(tape, self.X, self.y, starts, weights=self.root**2, max_steps=30)
        if fit.status is not Status.OK or not np.isfinite(fit.params).all():
            return None
        return bind(skeleton, fit.params.tolist())
