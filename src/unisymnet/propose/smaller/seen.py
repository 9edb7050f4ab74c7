"""The target through a view, stage `seen`, and inputs in the units that laws have, stage `units`.

What is the inverse, logarithm, square or root of y a plain function of?
1/(c·exp(k·x) − 1) is an exponential with an offset seen through 1/y.  The stages given are asked about each view, whose
residuals are weighted as those of y; what they say is turned back into formulas of y, and only the best of all
views are proposed.  A curve that touches zero may be the square of one that passes through it, as the energy of a
bond is: there its root is seen with another sign on either side.

A diffraction angle is measured as 2θ, and scattering goes with sin(θ/2)^-4: a wave of an angle, its half or its double
stands in the place of a column that is known to be an angle, and kelvin in that of one in °C.  Which stages are asked
is not known here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Floats
from ...candidate import ParetoFront, Proposal
from ...problem import TARGET, Problem
from ...protocols import Proposer
from ...symbolic.expr import Call, Const, Expr, Var, call, variables
from ..pool import FAR_WORSE, Stage, Task
from ..view.views import Target, View, views_of
from .reduction import Reduction

__all__ = ["InOwnUnits", "Seen"]

LEAST_SEEN = 0.9  # of the rows must have a value of the view
N_PROPOSALS, N_SETTLED = 6, 12
MIDDLE = 5  # rows at least, whose median shows where a curve touches zero
TOUCHES = 0.2  # of the curve's height on its lower side

WAVES = tuple((op, k) for k in (1.0, 2.0, 0.5) for op in ("sin", "cos", "tan"))
MOST_ANGLES = 3
N_EACH, N_KELVIN = 2, 60  # formulas of one stage about one choice: known forms come in no order


@dataclass(frozen=True)
class Seen(Stage):
    """Settings: who is asked, which views, seconds for all of them; whether the target must be an angle in degrees."""

    name: str = "seen"
    stages: tuple[Proposer, ...] = ()
    views: tuple[str, ...] = ("1/y", "ln(y)", "y**2", "sqrt(y)")
    seconds: float = 2.0
    angles: bool = False

    def suits(self, problem: Problem) -> bool:
        return TARGET in problem.told.degrees or not self.angles

    def asked(self, task: Task) -> Iterator[Proposal]:
        views = [(view.invert, seen_through(task.problem, view)) for view in views_of(task.problem, self.views)]
        views += [(lambda expr: call("pow", expr, 2.0), _unfolded(task.problem))]
        for stage in self.stages:
            for invert, seen in views:
                if seen is None or task.deadline.expired():
                    continue
                for proposal in stage.propose(seen, ParetoFront(), rng=task.rng, deadline=task.deadline):
                    task.pool.add(invert(proposal.expr))
        # Weights made of noisy values are rough: constants are fitted to y before formulas are compared.
        task.pool.settle(N_SETTLED, task.deadline)
        yield from task.pool.proposals(N_PROPOSALS, FAR_WORSE)


def seen_through(problem: Problem, view: View) -> Problem | None:
    """The problem whose target is the view of y; None where too few rows have one."""
    target = Target.see(problem, view, np.arange(problem.n_rows))
    if len(target) < LEAST_SEEN * problem.n_rows:
        return None
    return _instead(problem, target, target.values)


def _instead(problem: Problem, target: Target, values: Floats) -> Problem:
    return replace(
        problem,
        X=np.ascontiguousarray(problem.X[target.rows]),
        y=values,
        weights=target.weights**2 / np.mean(target.weights**2),
        y_scale=1.0,
        told=replace(problem.told, degrees=problem.told.degrees - {TARGET}),
        noise=None,
        rounding=0.0,
    )


def _unfolded(problem: Problem) -> Problem | None:
    """The root of a curve of one input that falls to zero and rises again, negative on the left; None where it does
    not, or has no root."""
    root = next(iter(views_of(problem, ("sqrt(y)",))), None)
    if problem.n_features != 1 or root is None or not problem.allows("pow"):
        return None
    target = Target.see(problem, root, np.flatnonzero(problem.weights))
    x = problem.X[target.rows, 0]
    order = np.argsort(x, kind="stable")
    width = max(MIDDLE, len(order) // 20)
    if len(order) < LEAST_SEEN * problem.n_rows or len(order) < 4 * width:
        return None
    squares = target.values[order] * np.abs(target.values[order])
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(squares, width), axis=1)
    low = int(np.argmin(smooth))
    sides = float(np.max(smooth[: low + 1])), float(np.max(smooth[low:]))
    if float(smooth[low]) > TOUCHES * min(sides):
        return None
    turn = x[order[low + width // 2]]
    return _instead(problem, target, np.where(x < turn, -target.values, target.values))


@dataclass(frozen=True)
class InOwnUnits(Stage):
    """Settings: who is asked about waves of angles, who about kelvin, seconds for all choices."""

    name: str = "units"
    seconds: float = 1.5
    stages: tuple[Proposer, ...] = ()
    kelvin: tuple[Proposer, ...] = ()

    def suits(self, problem: Problem) -> bool:
        return bool(problem.told.celsius - {TARGET}) or 0 < len(problem.told.degrees - {TARGET}) <= MOST_ANGLES

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem = task.problem
        # All temperatures at once, so that their ratios and differences are right, too.
        kelvin: Mapping[int, Expr] = {variables(term)[0]: term for term in problem.kelvin}
        waves = ((self.stages, choice, N_EACH) for choice in _waves(problem))
        for stages, choice, most in ((self.kelvin, kelvin, N_KELVIN), *waves):
            seen = Reduction(tuple(choice.get(i, Var(i)) for i in range(problem.n_features)), Const(1.0), 1.0)
            smaller = seen.apply(problem) if choice else None
            if smaller is None:
                continue
            for stage in stages:
                if task.deadline.expired():
                    return
                # Noise is often a share of the value, of which least squares know nothing: the judge shall choose.
                found = stage.propose(smaller, ParetoFront(), rng=task.rng, deadline=task.deadline)
                for proposal in itertools.islice(found, most):
                    yield Proposal(seen.lift(proposal.expr), f"{self.name}/{proposal.source}")


def _waves(problem: Problem) -> Iterator[Mapping[int, Expr]]:
    """One angle seen through a function, then two through plain ones."""
    told = sorted(problem.told.degrees - {TARGET})
    allowed = [(op, k) for op, k in WAVES if problem.allows(op)]
    for column, (op, k) in itertools.product(told, allowed):
        yield {column: _of(op, k, column)}
    plain = [op for op, k in allowed if k == 1.0]
    for (one, two), first, second in itertools.product(itertools.combinations(told, 2), plain, plain):
        yield {one: _of(first, 1.0, one), two: _of(second, 1.0, two)}


def _of(op: str, k: float, column: int) -> Expr:
    return Call(op, (Var(column) if k == 1.0 else Call("mul", (Const(k), Var(column))),))
