"""Power laws times an exponential of a power law: y = c · ∏ x_i^a_i · exp(κ · ∏ x_i^p_i).

ln|y| is linear in the ln x_i but for one term.  The linear part is projected out, and the term's exponents are found
like those of a signomial, from many starts.  Boltzmann factors, Arrhenius' law with a prefactor and normal densities
are of this kind.  Inputs must be positive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, Ints
from ...candidate import Proposal
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var
from ..linear.monomial import nearest_simple
from ..stage import Stage, Task
from ..view.target import Target
from ..view.views import View, views_of
from .exponents import fit_exponents

__all__ = ["Boltzmann"]


EXPONENTS = (0.0, 0.0, 1.0, 1.0, -1.0, -1.0, 2.0, -2.0, 0.5)
LARGEST = 60.0  # of ln c
NOISY_REACH = (0.1, 0.25)  # how far noise may have moved an exponent; 0.25 leaves halves only


@dataclass(frozen=True)
class Boltzmann(Stage):
    """The stage; ``n_starts`` draws of the exponents inside the exponential."""

    name: str = "boltzmann"
    n_starts: int = 120
    max_rows: int = 200
    limit: int = 2
    seconds: float = 0.4

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, pool, rng, deadline = task.problem, task.pool, task.rng, task.deadline
        inputs = [i for i in range(problem.n_features) if problem.X[:, i].min() > 0.0 and np.ptp(problem.X[:, i]) > 0.0]
        views = views_of(problem, ("ln(y)",)) if problem.allows("exp") else []
        if not inputs or not views:
            return
        data = _Rows(problem, inputs, views[0], task.some_rows(self.max_rows))
        if len(data.target) < 4 * (len(inputs) + 1) or data.linear():
            return
        found: list[tuple[float, Floats]] = []
        for _ in range(self.n_starts):
            if deadline.expired():
                break
            start = rng.choice(EXPONENTS, (1, len(inputs))) + 0.02 * rng.normal(size=(1, len(inputs)))
            exponents, off = data.fitted(start)
            if off < 1e-8:
                scored = pool.add(data.written(exponents, 1e-4))
                if scored is not None and scored.exact:
                    yield from pool.proposals(1)
                    return
            found.append((off, exponents))
        for _, exponents in sorted(found, key=lambda item: item[0])[: self.limit]:
            for reach in (1e-4, *NOISY_REACH):
                pool.add(data.written(exponents, reach))
        pool.settle(2 * self.limit, deadline)
        yield from pool.proposals(self.limit, worse=30.0)


class _Rows:
    """ln|y| and the ln x on some rows, weighted so that a residual counts as it does in y."""

    def __init__(self, problem: Problem, inputs: list[int], view: View, rows: Ints) -> None:
        seen = Target.see(problem, view, rows)
        self.inputs, self.view, self.spread = inputs, view, problem.spread
        self.logs = np.log(problem.X[seen.rows][:, inputs])
        self.centre = self.logs.mean(axis=0)
        self.weights, self.target = seen.weights, seen.weighted
        self.plain = np.column_stack([np.ones(len(self.logs)), self.logs]) * self.weights[:, None]
        self.beside = np.linalg.qr(self.plain)[0].T
        self.left = self.target - self.beside.T @ (self.beside @ self.target)

    def linear(self) -> bool:
        """Is it a power law already?"""
        return bool(np.linalg.norm(self.left) <= 1e-9 * np.linalg.norm(self.target))

    def fitted(self, start: Floats) -> tuple[Floats, float]:
        """Exponents inside the exponential, and the residual over the spread of y."""
        unit = float(np.linalg.norm(self.left))
        signs = np.ones((1, len(self.left)))
        logs = self.logs - self.centre
        exponents, rss = fit_exponents(logs, signs, self.left / unit, self.weights, start, 40, self.beside)
        return exponents[0], unit * float(np.sqrt(rss / len(self.left))) / self.spread

    def written(self, exponents: Floats, reach: float) -> Expr | None:
        """The formula with exponents rounded within ``reach``, those of the factors as well."""
        thirds = reach not in NOISY_REACH
        inner = np.array([nearest_simple(float(p), reach, thirds) for p in exponents])
        with np.errstate(all="ignore"):
            term = np.exp(self.logs @ inner) * self.weights
        if not inner.any() or not np.isfinite(term).all():
            return None
        solution = np.linalg.lstsq(np.column_stack([self.plain, term]), self.target, rcond=None)[0]
        outer = np.array([nearest_simple(float(a), reach, thirds) for a in solution[1:-1]])
        rest = self.target - self.plain[:, 1:] @ outer
        constant, rate = np.linalg.lstsq(np.column_stack([self.plain[:, 0], term]), rest, rcond=None)[0].tolist()
        if not abs(constant) < LARGEST:
            return None
        growth = Call("exp", (_power_law(rate, inner, self.inputs),))
        return _power_law(float(self.view.backward(np.array(constant))), outer, self.inputs) * growth


def _power_law(factor: float, exponents: Floats, inputs: list[int]) -> Expr:
    powers = [Call("pow", (Var(i), Const(p))) if p != 1.0 else Var(i) for p, i in zip(exponents.tolist(), inputs) if p]
    product: Expr = Const(factor)
    for power in powers:
        product = product * power
    return product
