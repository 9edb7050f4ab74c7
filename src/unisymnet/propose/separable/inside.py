"""A power law inside a function, in two ways: y = c·∏ x_i^a_i·exp(κ·∏ x_i^p_i) and y = c0 + c·u(κ·∏ x_i^m_i).

The first (Boltzmann factors, Arrhenius' law with a prefactor, normal densities) is linear in ln|y| and the ln x_i but
for one term: the linear part is projected out, and the term's exponents are found like those of a signomial, from many
starts.  In the second u is one of exp, ln(1 + t), (1 + t)^q, tanh, atan (stretched exponentials, saturation,
shear-thinning): the constants are few, so the compiled fit is simply started from many places.  Inputs must be
positive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...arrays import DIGITS_9, Floats, Ints
from ...candidate import Proposal, Status
from ...fit.kernels.signomials import fit_exponents
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Param, Var, bind, call
from ..linear.monomial import nearest_simple
from ..pool import FAR_WORSE, Stage, Task
from ..view.views import Target, View, views_of
from .signomial import EXACT_REACH, HIT

__all__ = ["Boltzmann", "Stretched"]

EXPONENTS = (0.0, 0.0, 1.0, 1.0, -1.0, -1.0, 2.0, -2.0, 0.5)
LARGEST_LOG = 60.0  # of ln c
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
            if off < HIT and pool.found(data.written(exponents, EXACT_REACH)):
                yield from pool.proposals(1)
                return
            found.append((off, exponents))
        for _, exponents in sorted(found, key=lambda item: item[0])[: self.limit]:
            for reach in (EXACT_REACH, *NOISY_REACH):
                pool.add(data.written(exponents, reach))
        pool.settle(2 * self.limit, deadline)
        yield from pool.proposals(self.limit, worse=FAR_WORSE)


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
        return bool(np.linalg.norm(self.left) <= DIGITS_9 * np.linalg.norm(self.target))

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
        if not abs(constant) < LARGEST_LOG:
            return None
        growth = Call("exp", (_power_law(rate, inner, self.inputs),))
        return _power_law(float(self.view.backward(np.array(constant))), outer, self.inputs) * growth


def _power_law(factor: float, exponents: Floats, inputs: list[int]) -> Expr:
    powers = [Call("pow", (Var(i), Const(p))) if p != 1.0 else Var(i) for p, i in zip(exponents.tolist(), inputs) if p]
    product: Expr = Const(factor)
    for power in powers:
        product = product * power
    return product


# Name of the function, operators that it needs, signs of κ that make sense.
SHAPES = (("exp", ("exp",), (1.0, -1.0)), ("power", ("pow",), (1.0,)), ("ln", ("ln",), (1.0,)),
          ("tanh", ("tanh",), (1.0,)), ("atan", ("atan",), (1.0,)))  # fmt: skip
STARTS = np.array([1.0, 2.0, 0.5, 1.5, -1.0, 3.0, -2.0, -0.5])
SIZES = (0.3, 1.0, 3.0)  # of κ·∏ x^m on the middle row
MOST_INPUTS = 4
LARGEST_EXPONENT = 12.0  # exponents beyond this are a fit gone astray: (1 + t/n)^n for large n is exp(t)


@dataclass(frozen=True)
class Stretched(Stage):
    """The stage: ``n_starts`` for every function and every choice of inputs (each alone, pairs, all)."""

    name: str = "stretched"
    max_rows: int = 300
    n_starts: int = 24
    limit: int = 4

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, pool = task.problem, task.pool
        positive = [i for i in range(problem.n_features) if np.min(problem.X[:, i]) > 0.0]
        if not positive or not problem.allows("pow") or problem.n_rows < 8:
            return
        rows = task.some_rows(self.max_rows)
        for inputs in _choices(positive):
            for shape, operators, signs in SHAPES:
                if task.deadline.expired():
                    break
                if problem.allows(*operators) and pool.found(
                    self._fitted(problem, inputs, shape, signs, rows, task.rng)
                ):
                    yield from pool.proposals(1)
                    return
        yield from pool.proposals(self.limit, worse=FAR_WORSE)

    def _fitted(
        self,
        problem: Problem,
        inputs: tuple[int, ...],
        shape: str,
        signs: tuple[float, ...],
        rows: Ints,
        rng: np.random.Generator,
    ) -> Expr | None:
        """The best fit of one shape, from all starts on some rows, then on all rows."""
        # Loaded late: the compiled kernels take a second to load, and exact laws of earlier stages do without.
        from ...fit.kernels.fit import fit_tape
        from ...fit.kernels.tape import compile_tape

        skeleton, n_params = _skeleton(inputs, shape)
        tape = compile_tape(skeleton, problem.n_features)
        starts = self._starts(problem.X[:, inputs], signs, n_params, rng)
        first = fit_tape(tape, problem.X[rows], problem.y[rows], starts, weights=problem.weights[rows], max_steps=40)
        if first.status is not Status.OK:
            return None
        fit = fit_tape(tape, problem.X, problem.y, first.params[None, :], weights=problem.weights)
        if fit.status is not Status.OK or not np.isfinite(fit.params).all():
            return None
        exponents = fit.params[1 : n_params - 2]
        return None if np.max(np.abs(exponents)) > LARGEST_EXPONENT else bind(skeleton, fit.params.tolist())

    def _starts(self, X: Floats, signs: tuple[float, ...], n_params: int, rng: np.random.Generator) -> Floats:
        """Rows of start values: κ, the exponents, what the shape adds; the linear constants need none."""
        starts = np.ones((self.n_starts, n_params))
        middle = np.median(np.log(X), axis=0)
        for k, start in enumerate(starts):
            exponents = rng.choice(STARTS, size=X.shape[1])
            if X.shape[1] == 1:
                exponents[:] = STARTS[k % len(STARTS)]
            start[0] = signs[k % len(signs)] * SIZES[k % len(SIZES)] * np.exp(-(exponents @ middle))
            start[1 : 1 + X.shape[1]] = exponents
            start[1 + X.shape[1] :] = rng.choice([-1.0, -0.5, 0.5, 2.0])
        return starts


def _choices(positive: list[int]) -> list[tuple[int, ...]]:
    """Each input alone, pairs, all of them: few enough to be cheap."""
    alone = [(i,) for i in positive[:MOST_INPUTS]]
    pairs = list(combinations(positive[:MOST_INPUTS], 2))
    every = [tuple(positive)] if 2 < len(positive) <= MOST_INPUTS else []
    return [*alone, *pairs, *every]


def _skeleton(inputs: tuple[int, ...], shape: str) -> tuple[Expr, int]:
    """c0 + c·u(κ·∏ x^m) and the number of its constants: κ first, then the exponents, then the others."""
    powers = [Call("pow", (Var(i), Param(1 + k))) for k, i in enumerate(inputs)]
    inner: Expr = Call("mul", (Param(0), *powers))
    n = 1 + len(inputs)
    if shape == "power":
        outer: Expr = Call("pow", (Call("add", (Const(1.0), inner)), Param(n)))
        n += 1
    elif shape == "ln":
        outer = call("ln", Call("add", (Const(1.0), inner)))
    else:
        outer = call(shape, inner)
    return Call("add", (Param(n), Call("mul", (Param(n + 1), outer)))), n + 2
