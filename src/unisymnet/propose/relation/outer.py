"""An outer logarithm or power with a free constant: y = c·ln(P/Q) or y = (P/Q)^c, P and Q small polynomials.

Levels in decibels, magnitudes, potentials and channel capacities are of this kind.  With the right κ, exp(κ·y) (or
|y|^κ) is a quotient of polynomials, that is [P, exp(κ·y)·Q] has a null vector.  κ is scanned, and refined by Newton's
method on the smallest singular value; then the few terms that matter are found as in equation.py.  In place of
exp(κ·y) stands (exp(κ·y) - 1)/κ, which spans the same with P and does not degenerate where κ is small.  For noisy data
the best κ of the grid is taken, and fit.py eliminates terms; κ is refitted with all constants afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import DIGITS_9, DIGITS_12, DIGITS_15, Floats, Ints
from ...candidate import Proposal
from ...fit.projected import dips
from ...problem import Problem
from ...symbolic.expr import Call, Const, Var, product
from ..linear.basis import Basis, polynomial
from ..pool import Pool, Stage, Task, tolerances
from ..view.views import View, signed
from .equation import Equation, exact_quotient, quotients
from .fit import Law, fitted

__all__ = ["Outer"]

# Of P and Q; as κ has both signs, Q need not be the larger one.
DEGREES = ((1, 0), (2, 0), (1, 1), (3, 0), (2, 1), (2, 2))
BESIDE = ((1, 0), (1, 1), (2, 0))  # with a column beside the logarithm
MANY = 3  # with more columns only linear ones beside another
NOISY_DEGREES = ((1, 0), (2, 0), (1, 1))
GRID = np.geomspace(0.05, 10.0, 24)  # |κ| over the spread of what is scaled
N_REFINED = 3  # starts for each pair of degrees
ROUNDS = 25
HIT = 1e-11  # relative singular value that only a law reaches
NEAR = 0.1  # what is left on the grid of κ must at least be so small


@dataclass(frozen=True)
class Outer(Stage):
    """The stage.  ``exact`` and ``noisy`` switch its two passes, ``beside`` adds laws with a column beside the
    logarithm; at most so many rows and coefficients."""

    name: str = "outer"
    exact: bool = True
    noisy: bool = False
    max_rows: int = 160
    beside: bool = True
    max_columns: int = 24
    noisy_columns: int = 30
    limit: int = 3
    seconds: float = 0.4

    def asked(self, task: Task) -> Iterator[Proposal]:
        pool = task.pool
        if self.exact and (self._found(task, DEGREES) or (self.beside and self._found_beside(task))):
            yield from pool.proposals(1)
        elif self.noisy:
            for law in sorted(self._laws(task), key=lambda law: law.length)[: 3 * self.limit]:
                for expr in quotients(task.problem, law.view, law.parts, tolerances(law.tol)):
                    pool.add(expr)
            pool.settle(4 * self.limit, task.deadline)
            yield from pool.proposals(self.limit)

    def _found_beside(self, task: Task) -> bool:
        """The same with a column as factor or divisor of the whole, as in B·ln(1 + S/N)."""
        problem = task.problem
        for j in range(problem.n_features):
            column = problem.X[:, j]
            for factor, beside in ((column, "mul"), (1.0 / np.where(column == 0.0, np.nan, column), "div")):
                if np.ptp(column) == 0.0 or not np.all(np.abs(factor) > 0.0):
                    continue
                part = replace(problem, y=problem.y / factor)
                inner = replace(task, problem=part, pool=Pool(part, self.name))
                few = BESIDE if problem.n_features <= MANY else BESIDE[:2]
                if self._found(inner, few, powers=False):
                    for scored in inner.pool.exact()[:2]:
                        task.pool.add(Call(beside, (scored.expr, Var(j))))
                if task.pool.exact():
                    return True
        return False

    def _found(self, task: Task, degrees: Sequence[tuple[int, int]], powers: bool = True) -> bool:
        problem, rows = task.problem, task.some_rows(self.max_rows)
        targets = [target for target in _targets(problem) if powers or not target[0]]
        for num, den in _pairs(problem, degrees, min(self.max_columns, len(rows) // 2)):
            for power, scaled in targets:
                if task.deadline.expired():
                    return False
                for kappa in _Scan(problem.X[rows], scaled[rows], num, den).hits():
                    if exact_quotient(task, _view(problem, power, kappa), num, den):
                        return True
        return False

    def _laws(self, task: Task) -> Iterator[Law]:
        problem, rows = task.problem, task.some_rows(2 * self.max_rows)
        for bases in _pairs(problem, NOISY_DEGREES, min(self.noisy_columns, len(rows) // 4)):
            for power, scaled in _targets(problem):
                if task.deadline.expired():
                    return
                kappa = _likeliest(problem, power, bases[0], rows, GRID[::2] / (float(np.std(scaled)) or 1.0))
                if kappa is not None:
                    yield from fitted(task, Equation(_view(problem, power, kappa), bases), rows, 4)


def _pairs(problem: Problem, degrees: Sequence[tuple[int, int]], most: int) -> Iterator[tuple[Basis, Basis]]:
    """Bases of P and Q that have not too many columns together."""
    for top, bottom in degrees:
        num, den = polynomial(problem.n_features, top), polynomial(problem.n_features, bottom)
        if len(num) + len(den) <= most:
            yield num, den


def _likeliest(problem: Problem, power: bool, num: Basis, rows: Ints, grid: Floats) -> float | None:
    """The κ with which P alone comes nearest to y: the best of the grid, then by thirds between its neighbours."""
    y, columns = problem.y[rows], _unit(num.columns(problem.X[rows]))
    root = np.sqrt(problem.weights[rows])

    def left(kappa: float) -> float:
        view = _view(problem, power, kappa)
        t, weights = view.values(y), view.weights(y) * root
        if not (np.isfinite(t).all() and np.isfinite(weights).all() and np.isfinite(columns).all()):
            return math.inf
        found = np.linalg.lstsq(columns * weights[:, None], t * weights, rcond=DIGITS_12)[0]
        return float(np.sum(((columns @ found - t) * weights) ** 2))

    signed = np.concatenate([-grid, grid])
    values = [left(float(kappa)) for kappa in signed]
    best = float(signed[int(np.argmin(values))])
    if not math.isfinite(min(values)):
        return None
    low, high = best * float(grid[0] / grid[1]), best * float(grid[1] / grid[0])
    for _ in range(10):
        one, two = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, two) if left(one) < left(two) else (one, high)
    return 0.5 * (low + high)


def _targets(problem: Problem) -> Iterator[tuple[bool, Floats]]:
    """What is exponentiated: y for an outer ln, ln|y| for an outer power, if y has one sign."""
    y = problem.y
    if problem.allows("ln"):
        yield False, y
    if problem.allows("pow") and (np.all(y > 0.0) or np.all(y < 0.0)):
        yield True, np.log(np.abs(y))


def _view(problem: Problem, power: bool, kappa: float) -> View:
    """exp(κ·y), or |y|^κ."""
    sign = 1.0 if problem.y[0] > 0.0 else -1.0
    if power:
        return View(
            "|y|^c",
            lambda y: (sign * y) ** kappa,
            lambda y: kappa * (sign * y) ** (kappa - 1.0),
            lambda t: sign * t ** (1.0 / kappa),
            lambda form: signed(sign, Call("pow", (form, Const(1.0 / kappa)))),
        )
    return View(  # a·ln(v/u) reads better than -a·ln(u/v)
        "exp(c*y)",
        lambda y: np.exp(kappa * y),
        lambda y: kappa * np.exp(kappa * y),
        lambda t: np.log(t) / kappa,
        lambda form: product((Const(1.0 / abs(kappa)), Call("ln", (form if kappa > 0.0 else 1.0 / form,)))),
    )


def _unit(columns: Floats) -> Floats:
    """Columns of length 1; those of zeros stay."""
    lengths = np.linalg.norm(columns, axis=0)
    return np.asarray(columns / np.where(lengths > 0.0, lengths, 1.0), dtype=np.float64)


class _Scan:
    """The smallest singular value of [P, t·Q] with P projected out, as a function of κ."""

    def __init__(self, X: Floats, scaled: Floats, num: Basis, den: Basis) -> None:
        self.centre, self.spread = float(np.mean(scaled)), float(np.std(scaled)) or 1.0
        self.z = (scaled - self.centre) / self.spread
        self.span = np.linalg.qr(_unit(num.columns(X)))[0]
        self.bottom = _unit(den.columns(X))
        self.limit = 40.0 / max(float(np.max(np.abs(self.z))), DIGITS_9)

    def hits(self) -> list[float]:
        """κ in the units of the target, for which there is a null vector."""
        if not np.isfinite(self.span).all() or not np.isfinite(self.bottom).all():
            return []
        grid = np.concatenate([-GRID[::-1], GRID])
        grid = grid[np.abs(grid) < self.limit]
        left = np.array([abs(self.least(kappa)[0]) for kappa in grid])
        found: list[float] = []
        for at in dips(left, N_REFINED, NEAR):
            kappa = self.refined(float(grid[at]))
            if kappa is not None and not any(abs(kappa - other) < 1e-6 * abs(kappa) for other in found):
                found.append(kappa)
        return [kappa / self.spread for kappa in sorted(found, key=abs)]

    def least(self, kappa: float) -> tuple[float, float]:
        """The value, and how fast it changes with κ."""
        grown = np.exp(kappa * self.z)
        t = (grown - 1.0) / kappa
        rate = (self.z * grown - t) / kappa
        columns, slopes = t[:, None] * self.bottom, rate[:, None] * self.bottom
        lengths = np.linalg.norm(columns, axis=0)
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        columns, slopes = (part - self.span @ (self.span.T @ part) for part in (columns / lengths, slopes / lengths))
        u, values, v = np.linalg.svd(columns, full_matrices=False)
        return float(values[-1]), float(u[:, -1] @ slopes @ v[-1])

    def refined(self, kappa: float) -> float | None:
        """Newton steps to a zero; None if they lead to none."""
        value, rate = self.least(kappa)
        for _ in range(ROUNDS):
            if abs(value) < DIGITS_15 or rate == 0.0:
                break
            step = float(np.clip(-value / rate, -0.3 * abs(kappa), 0.3 * abs(kappa)))
            kappa += step
            if abs(kappa) > self.limit:
                return None
            value, rate = self.least(kappa)
            if abs(step) < DIGITS_15 * abs(kappa):
                break
        return kappa if abs(value) < HIT else None
