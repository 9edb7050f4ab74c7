"""Functions of a power law with everything free: y = c0 + c·u(κ·∏ x_i^m_i).

u is one of exp, ln(1 + t), (1 + t)^q, tanh, atan.  Stretched exponentials, saturation curves and shear-thinning
laws have this form: exponents inside a function, which no linear regression reaches.  The constants are few, so the
compiled fit is simply started from many places.  Inputs must be positive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...arrays import Floats, Ints
from ...candidate import Proposal, Status
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Param, Var, bind, call
from ..stage import Stage, Task

__all__ = ["Stretched"]


# Name of the function, operators that it needs, signs of κ that make sense.
SHAPES = (("exp", ("exp",), (1.0, -1.0)), ("power", ("pow",), (1.0,)), ("ln", ("ln",), (1.0,)),
          ("tanh", ("tanh",), (1.0,)), ("atan", ("atan",), (1.0,)))  # fmt: skip
EXPONENTS = np.array([1.0, 2.0, 0.5, 1.5, -1.0, 3.0, -2.0, -0.5])
SIZES = (0.3, 1.0, 3.0)  # of κ·∏ x^m on the middle row
MOST_INPUTS = 4
LARGEST = 12.0  # exponents beyond this are a fit gone astray: (1 + t/n)^n for large n is exp(t)


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
                if all(map(problem.allows, operators)):
                    scored = pool.add(self._fitted(problem, inputs, shape, signs, rows, task.rng))
                    if scored is not None and scored.exact:
                        yield from pool.proposals(1)
                        return
        yield from pool.proposals(self.limit, worse=30.0)

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
        return None if np.max(np.abs(exponents)) > LARGEST else bind(skeleton, fit.params.tolist())

    def _starts(self, X: Floats, signs: tuple[float, ...], n_params: int, rng: np.random.Generator) -> Floats:
        """Rows of start values: κ, the exponents, what the shape adds; the linear constants need none."""
        starts = np.ones((self.n_starts, n_params))
        middle = np.median(np.log(X), axis=0)
        for k, start in enumerate(starts):
            exponents = rng.choice(EXPONENTS, size=X.shape[1])
            if X.shape[1] == 1:
                exponents[:] = EXPONENTS[k % len(EXPONENTS)]
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
