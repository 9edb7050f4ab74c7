"""Laws that are linear in a known function of one input: view(y) = A(others) + B(others)·u(x_i).  Stage `affine`.

Interference, x0 + x1 + 2·√(x0·x1)·cos(x2), an orbit seen through 1/y, a moving clock: A and B are laws of fewer inputs,
but neither is a factor or a summand of the whole.  Two polynomials of the other inputs tell for which view, input and u
the rows show such a law; they also tell about what B, or B/A, is.  Stages are asked for formulas of it, and then
for A, which has the noise of y and nothing else once B is known.  Which stages these are is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import DIGITS_12, Floats, evenly
from ...candidate import ParetoFront, Proposal
from ...problem import Problem
from ...protocols import Proposer
from ...symbolic.expr import Call, Const, Expr, Var, evaluate, product, renumbered, total
from ..pool import FAR_WORSE, Pool, Stage, Task
from ..view.noise import looks_noisy
from ..view.smooth import Frame, frames_of, polynomial, residual_variance, share_in_y, standardised
from ..write.polynomial import cost, monomial
from .reduction import smaller

__all__ = ["Affine"]

ONE: Expr = Const(1.0)
LEAST_ROWS = 60
MAX_ROWS, PART_ROWS = 400, 200
MAX_COLUMNS, ROWS_A_COLUMN = 80, 3
# To the variance that the best polynomial in all inputs leaves; without noise two good ones leave less.
MAX_RATIO, CLEAN_RATIO = 1.3, 1.0
MAX_SHARE = 0.3  # of the variance of y: more left says nothing
N_EACH = 4  # choices of a view that are compared with those of others
NEAR = 1.25  # variances of the best choice, of those that are followed, too
N_FACTORS, N_LEVELS = 3, 3  # formulas of B, and of A for each of them
ENOUGH = 1.2  # variances that must be left: a formula that leaves no more needs no other
N_SETTLED, N_PROPOSALS = 16, 6


@dataclass(frozen=True)
class _Function:
    """A function u of one input without constants, and what may be taken off it: 1 − cos(x) is as plain as cos(x)."""

    needs: tuple[str, ...]
    build: Callable[[Expr], Expr]
    shifts: tuple[float, ...] = (0.0,)


def _of(op: str, *power: float) -> Callable[[Expr], Expr]:
    return lambda x: Call("pow", (Call(op, (x,)), Const(power[0]))) if power else Call(op, (x,))


def _power(exponent: float) -> Callable[[Expr], Expr]:
    return lambda x: monomial([x], [exponent]).written()


FUNCTIONS = (
    _Function((), lambda x: x, (0.0, 1.0)),
    _Function(("pow",), _power(2.0)),
    _Function(("div",), _power(-1.0)),
    _Function(("cos",), _of("cos"), (0.0, 1.0, -1.0)),
    _Function(("sin",), _of("sin"), (0.0, 1.0)),
    _Function(("exp",), _of("exp"), (0.0, 1.0)),
    _Function(("exp",), lambda x: Call("exp", (Call("neg", (x,)),)), (0.0, 1.0)),
    _Function(("ln",), _of("ln")),
    _Function(("pow",), _power(0.5)),
    _Function(("pow",), _power(3.0)),
    _Function(("pow",), _power(-2.0)),
    _Function(("sin", "pow"), _of("sin", 2.0)),
    _Function(("cos", "pow"), _of("cos", 2.0)),
)


@dataclass(frozen=True)
class _Choice:
    """A view, an input and a function of it, the weighted variance that two polynomials of the others leave of the
    view, and the share of the variance of y."""

    frame: Frame
    column: int
    function: _Function
    variance: float = math.inf
    share: float = math.inf

    @property
    def others(self) -> tuple[int, ...]:
        return tuple(k for k in range(self.frame.n_features) if k != self.column)

    @property
    def term(self) -> Expr:
        return self.function.build(Var(self.column))

    def values(self) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(evaluate(self.term, self.frame.X))

    def design(self, base: Floats | None = None) -> Floats:
        """Polynomials of the others, and the same times u."""
        base = _base(self.frame, self.column) if base is None else base
        return np.column_stack([base, base * self.values()[:, None]])


@dataclass(frozen=True)
class Affine(Stage):
    """Settings: who is asked about A and B, seconds for all, choices of view, input and function that are followed."""

    name: str = "affine"
    stages: tuple[Proposer, ...] = ()
    seconds: float = 2.0
    max_inputs: int = 6
    most: int = 3

    def suits(self, problem: Problem) -> bool:
        return (
            2 <= problem.n_features <= self.max_inputs and problem.n_rows >= LEAST_ROWS and problem.allows("add", "mul")
        )

    def asked(self, task: Task) -> Iterator[Proposal]:
        for choice in _believed(task)[: self.most]:
            left = math.inf
            for expr in self._formulas(task, choice):
                scored = task.pool.add(expr)
                left = left if scored is None else min(left, scored.misfit**2)
            if left < ENOUGH * choice.share or task.deadline.expired():
                break
        task.pool.settle(N_SETTLED, task.deadline)
        yield from task.pool.proposals(N_PROPOSALS, FAR_WORSE)

    def _formulas(self, task: Task, choice: _Choice) -> Iterator[Expr]:
        """The whole, for the likeliest formulas of B and of B/A, the plainest first."""
        frame, term, values = choice.frame, choice.term, choice.values()
        slope, quotient = _estimates(choice)
        # A polynomial tells no more than it has coefficients: more rows of it would be taken for more evidence.
        n_told = max(LEAST_ROWS, 2 * (frame.max_columns // 2))
        slopes = [(factor, False) for factor in self._laws(task, choice, *slope, N_FACTORS, n_told)]
        quotients = [(factor, True) for factor in self._laws(task, choice, *quotient, N_FACTORS, n_told)]
        for factor, is_quotient in sorted([*quotients, *slopes], key=lambda one: cost(one[0])):
            factors = evaluate(factor, frame.X)
            with np.errstate(all="ignore"):
                divisor = 1.0 + factors * values
            for shift in (0.0,) if is_quotient else choice.function.shifts:
                second = product([factor, total([term, Const(-shift)]) if shift else term])
                with np.errstate(all="ignore"):
                    if is_quotient:
                        left, variances = frame.target / divisor, 1.0 / (frame.weight * divisor) ** 2
                    else:
                        left, variances = frame.target - factors * (values - shift), 1.0 / frame.weight**2
                for level in self._laws(task, choice, left, variances, N_LEVELS):
                    whole = product([level, total([ONE, second])]) if is_quotient else total([level, second])
                    yield frame.view.invert(whole)

    def _laws(
        self, task: Task, choice: _Choice, values: Floats, variances: Floats, most: int, n_rows: int = PART_ROWS
    ) -> list[Expr]:
        """What the stages say these values are, as functions of the other inputs; the best first."""
        good = np.isfinite(values) & np.isfinite(variances) & (variances > 0.0)
        rows = np.flatnonzero(good)
        rows = rows[evenly(len(rows), n_rows)]
        if len(rows) < LEAST_ROWS or task.deadline.expired():
            return []
        others = choice.others
        weights = len(rows) / variances[rows] / np.sum(1.0 / variances[rows])
        part = smaller(task.problem, choice.frame.X[rows][:, others], values[rows], weights)
        part = replace(part, noise=None, rounding=0.0, noisy=True)
        pool = Pool(part, self.name)
        pool.add(Const(float(np.average(part.y, weights=part.weights))))
        expected = choice.variance * len(rows) / float(np.sum(1.0 / variances[rows]))
        enough = math.sqrt(ENOUGH * expected) / part.spread if part.spread > 0.0 else math.inf
        for stage in self.stages:
            found = [
                pool.add(one.expr) for one in stage.propose(part, ParetoFront(), rng=task.rng, deadline=task.deadline)
            ]
            if any(one is not None and one.misfit < enough for one in found):
                break
        pool.settle(most, task.deadline)
        return [renumbered(one.expr, others) for one in pool.proposals(most, FAR_WORSE)]


def _believed(task: Task) -> list[_Choice]:
    """The choices that leave no more of y than a polynomial in all inputs does, the best first."""
    problem, found = task.problem, list[_Choice]()
    frames = [*frames_of(problem, noisy=True, max_rows=MAX_ROWS, max_columns=MAX_COLUMNS, each=ROWS_A_COLUMN)]
    for frame in frames:
        choices: list[_Choice] = []
        for column in range(frame.n_features):
            if task.deadline.expired():
                return []
            choices += _of_column(problem, frame, column)
        # Weights made of noisy values flatter steep views: between views, what is left of y decides.
        view = frame.view
        for choice in sorted(choices, key=lambda choice: choice.variance)[:N_EACH]:
            share = share_in_y(view, choice.design(), frame.target, frame.weight, view.back(frame.target))
            found.append(replace(choice, share=share))
    ratio = MAX_RATIO if looks_noisy(problem) else CLEAN_RATIO
    limits = [ratio * frame.share for frame in frames] + [NEAR * choice.share for choice in found]
    most = min([MAX_SHARE, *limits])
    return sorted((one for one in found if one.share <= most), key=lambda choice: choice.share)


def _of_column(problem: Problem, frame: Frame, column: int) -> Iterator[_Choice]:
    base = _base(frame, column)
    for function in FUNCTIONS:
        choice = _Choice(frame, column, function)
        values = choice.values()
        if problem.allows(*function.needs) and np.isfinite(values).all() and np.ptp(values) > 0.0:
            variance = residual_variance(choice.design(base), frame.target, frame.weight)
            yield replace(choice, variance=variance)


def _base(frame: Frame, column: int) -> Floats:
    return polynomial(standardised(np.delete(frame.coordinates, column, axis=1)), frame.max_columns // 2)


def _estimates(choice: _Choice) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """B and B/A on the rows, each with the variance of its error there."""
    frame = choice.frame
    base = _base(frame, choice.column)
    p = base.shape[1]
    design = choice.design(base) * frame.weight[:, None]
    scale = np.linalg.norm(design, axis=0)
    u, s, vt = np.linalg.svd(design / scale, full_matrices=False)
    kept = s > DIGITS_12 * s[0]
    inverse = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
    coefficients = (vt.T * inverse) @ (u.T @ (frame.target * frame.weight)) / scale
    root = (vt.T * inverse) / scale[:, None]  # covariance = root @ root.T, times the variance of a row
    level, slope = base @ coefficients[:p], base @ coefficients[p:]
    errors, both = base @ root[p:], base @ root[:p]
    with np.errstate(all="ignore"):
        quotient = slope / level
        doubt = np.sum((errors - quotient[:, None] * both) ** 2, axis=1) / level**2
    return (slope, np.sum(errors**2, axis=1)), (quotient, doubt)
