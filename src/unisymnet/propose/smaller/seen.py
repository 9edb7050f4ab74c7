"""The target through a view: what its inverse, logarithm, square or root is a plain function of.  Stage `seen`.

1/(c·exp(k·x) − 1) is an exponential with an offset seen through 1/y.  The stages given are asked about each view, whose
residuals are weighted as those of y; what they say is turned back into formulas of y, and only the best of all
views are proposed.  A curve that touches zero may be the square of one that passes through it, as the energy of a
bond is: there its root is seen with another sign on either side.  Which stages are asked is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Floats
from ...candidate import ParetoFront, Proposal
from ...problem import Problem
from ...protocols import Proposer
from ...symbolic.expr import Call, Const, Expr
from ..pool import FAR_WORSE, Stage, Task
from ..view.views import Target, View, views_of

__all__ = ["Seen"]

LEAST_SEEN = 0.9  # of the rows must have a value of the view
N_PROPOSALS, N_SETTLED = 6, 12
MIDDLE = 5  # rows at least, whose median shows where a curve touches zero
TOUCHES = 0.2  # of the curve's height on its lower side


@dataclass(frozen=True)
class Seen(Stage):
    """Settings: who is asked, which views, seconds for all of them."""

    name: str = "seen"
    stages: tuple[Proposer, ...] = ()
    views: tuple[str, ...] = ("1/y", "ln(y)", "y**2", "sqrt(y)")
    seconds: float = 2.0

    def asked(self, task: Task) -> Iterator[Proposal]:
        views = [(view.invert, seen_through(task.problem, view)) for view in views_of(task.problem, self.views)]
        views += [(_square, _unfolded(task.problem))]
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


def _square(expr: Expr) -> Expr:
    return Call("pow", (expr, Const(2.0)))
