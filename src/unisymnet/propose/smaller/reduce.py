"""Smaller problems: inputs left out, power laws stripped, two inputs merged into one; then the stages search there.

Reductions (see reductions.py) are chained as far as they go, and the stages given are asked about the smallest problem
first.  Formulas found there are written back in the inputs of the whole problem.  ``Relevant`` only leaves out columns
that do not matter, one by one, as long as a polynomial in the others predicts some view of y as well (an F test): few
rows and many columns leave no room for full bases.  A column wrongly left out costs time, not the law: the whole
problem is searched all the same.  Which stages search is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, Ints, evenly
from ...candidate import ParetoFront, Proposal
from ...deadline import Deadline
from ...problem import Problem, rows_that_count
from ...protocols import Proposer
from ...symbolic.expr import Const, Var
from ..pool import EXACT, Stage, Task, misfit
from ..view.noise import looks_noisy, noise_beyond_doubt
from ..view.smooth import best_frame, polynomial, standardised
from ..view.views import Target, views_of
from .reduction import Reduction
from .reductions import best_reduction

__all__ = ["Reduce", "Relevant", "chain", "relevant_inputs"]


@dataclass(frozen=True)
class Reduce(Stage):
    """Settings: the stages asked about smaller problems, others for those that look noisy (noise is easier to see in
    fewer inputs), seconds for one problem, how sure a reduction must be: under noise at most so much above 1 that the
    ratio of two residual variances scatters, ``scatter`` over the root of the rows; whether it is known that there is
    noise."""

    name: str = "reduce"
    stages: tuple[Proposer, ...] = ()
    noisy_stages: tuple[Proposer, ...] = ()
    max_ratio: float = 1.3
    scatter: float = math.inf
    noisy: bool = False
    max_time: float = 20.0
    max_steps: int = 8

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, deadline = task.problem, task.deadline
        # Rows that are too few for what clean data allow show no noise, either.
        noisy = self.noisy or noise_beyond_doubt(problem) or best_frame(problem, noisy=False) is None
        sure = min(self.max_ratio, 1.0 + self.scatter / math.sqrt(problem.n_rows)) if noisy else self.max_ratio
        steps = list(chain(problem, noisy=noisy, max_ratio=sure, max_steps=self.max_steps, deadline=deadline))
        problems = [problem]
        for step in steps:
            smaller = step.apply(problems[-1])
            if smaller is None:
                break
            problems.append(rows_that_count(smaller) if noisy else smaller)
        # The smallest problem first: it is the easiest to solve.
        for depth in range(len(problems) - 1, 0, -1):
            for proposal in self.solve(problems[depth], task.rng, deadline.sooner(self.max_time)):
                expr = proposal.expr
                for step in reversed(steps[:depth]):
                    expr = step.lift(expr)
                yield Proposal(expr, f"{self.name}/{proposal.source}")
                if misfit(problem, expr) < EXACT:
                    return
            if deadline.expired():
                return

    def solve(self, problem: Problem, rng: np.random.Generator, deadline: Deadline) -> Iterator[Proposal]:
        """What the stages propose for a smaller problem."""
        noisy = bool(self.noisy_stages) and looks_noisy(problem)
        # On few rows noise does not show: who looks for the best description is asked after who looks for exact laws.
        also = self.noisy_stages if problem.n_rows < FEW_ROWS else ()
        for stage in self.noisy_stages if noisy else (*self.stages, *also):
            if deadline.expired():
                return
            for proposal in stage.propose(problem, ParetoFront(), rng=rng, deadline=deadline):
                yield proposal
                if deadline.expired():
                    return


def chain(
    problem: Problem, *, noisy: bool, max_ratio: float, max_steps: int, deadline: Deadline
) -> Iterator[Reduction]:
    """Reductions, each of the problem that the ones before leave."""
    for _ in range(max_steps):
        if problem.n_features < 2 or deadline.expired():
            return
        step = best_reduction(problem, noisy=noisy, max_ratio=max_ratio)
        smaller = None if step is None else step.apply(problem)
        if step is None or smaller is None:
            return
        yield step
        problem = rows_that_count(smaller) if noisy else smaller


FEW_ROWS = 150
VIEWS = ("y", "ln(y)", "1/y", "y**2", "sqrt(y)")
CHANCE = 1e-5  # what polynomials cannot follow is not normal, so the test must be strict
MAX_ROWS, MAX_COLUMNS = 400, 120
ROWS_A_COLUMN = 2.5
PLENTY = 50  # rows for each input: then the stages that search the whole have room enough


@dataclass(frozen=True)
class Relevant(Stage):
    """Settings: the stages asked about the smaller problem, others for one that looks noisy, seconds for it.

    At most a ``share`` of the time left is spent: an input that matters little may have been left out.
    """

    name: str = "relevant"
    stages: tuple[Proposer, ...] = ()
    noisy_stages: tuple[Proposer, ...] = ()
    max_time: float = 12.0
    share: float = 0.4

    def suits(self, problem: Problem) -> bool:
        return problem.n_features >= 2 and 12 <= problem.n_rows < PLENTY * problem.n_features

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, deadline = task.problem, task.deadline
        kept = relevant_inputs(problem)
        smaller = Reduction(tuple(Var(i) for i in kept), Const(1.0), 1.0)
        if len(kept) < problem.n_features and (part := smaller.apply(problem)) is not None:
            inside = Reduce(stages=self.stages, noisy_stages=self.noisy_stages)
            limit = deadline.sooner(min(self.max_time, self.share * deadline.remaining()))
            for proposal in inside.solve(part, task.rng, limit):
                yield Proposal(smaller.lift(proposal.expr), f"{self.name}/{proposal.source}")


def relevant_inputs(problem: Problem, chance: float = CHANCE) -> list[int]:
    """The inputs without which no polynomial predicts y as well, at least one."""
    rows = evenly(problem.n_rows, MAX_ROWS)
    frames = list(_frames(problem, rows))
    kept = list(range(problem.n_features))
    while len(kept) > 1 and frames:
        degree = _degree(len(kept), len(rows))
        best = min(frames, key=lambda frame: frame.left(kept, degree)[0])
        if best.left(kept, degree)[1] >= len(rows):
            break  # every polynomial goes through all rows: they cannot tell which input matters
        chances = [best.chance(kept, i, degree) for i in kept]
        if max(chances) < chance:
            break
        kept.pop(int(np.argmax(chances)))
    return kept


@dataclass(frozen=True)
class _Frame:
    """A view of the target and coordinates (inputs or logarithms), both with the weights of the view."""

    coordinates: Floats
    target: Floats
    weight: Floats

    def left(self, kept: Sequence[int], degree: int) -> tuple[float, int]:
        """Residual sum of squares in units of y and the number of columns of a polynomial in some inputs."""
        design = _design(self.coordinates[:, list(kept)], degree) * self.weight[:, None]
        target = self.target * self.weight
        basis = np.linalg.qr(design)[0]
        residual = target - basis @ (basis.T @ target)
        # Below rounding all fits are equally good.
        return max(float(residual @ residual), 1e-18 * float(target @ target)), design.shape[1]

    def chance(self, kept: Sequence[int], without: int, degree: int) -> float:
        """How often a column of noise would seem to matter as much as this input does."""
        from scipy.stats import f as f_distribution  # scipy.stats takes half a second to load

        full, p = self.left(kept, degree)
        smaller, q = self.left([i for i in kept if i != without], degree)
        ratio = (smaller - full) / (p - q) / (full / (len(self.target) - p))
        return float(f_distribution.sf(ratio, p - q, len(self.target) - p))


def _frames(problem: Problem, rows: Ints) -> Iterator[_Frame]:
    X = problem.X[rows]
    coordinates = [X]
    if np.all((X > 0.0).all(axis=0) | (X < 0.0).all(axis=0)):
        coordinates.append(np.log(np.abs(X)))
    for view in views_of(problem, VIEWS):
        target = Target.see(problem, view, rows)
        if len(target) == len(rows):
            yield from (_Frame(z, target.values, target.weights) for z in coordinates)


def _degree(n_inputs: int, n_rows: int) -> int:
    """Of the full polynomial that the rows bear; 1 stands for a sum of functions of one input each."""
    most = min(MAX_COLUMNS, n_rows / ROWS_A_COLUMN)
    degree = 1
    while degree < 8 and math.comb(n_inputs + degree + 1, n_inputs) <= most:
        degree += 1
    return degree


def _design(z: Floats, degree: int) -> Floats:
    z = standardised(z)
    if degree > 1:
        return polynomial(z, MAX_COLUMNS, max_degree=degree)
    return np.column_stack([np.ones(len(z)), *(z**k for k in (1, 2, 3))])
