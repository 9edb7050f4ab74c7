"""The target through a view: what its inverse, logarithm, square or root is a plain function of.  Stage `seen`.

1/(c·exp(k·x) − 1) is an exponential with an offset seen through 1/y.  The stages given are asked about each view, whose
residuals are weighted as those of y; what they say is turned back into formulas of y, and only the best of all
views are proposed.  Which stages these are is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...candidate import ParetoFront, Proposal
from ...problem import Problem
from ...protocols import Proposer
from ..pool import FAR_WORSE, Stage, Task
from ..view.views import Target, View, views_of

__all__ = ["Seen"]

LEAST_SEEN = 0.9  # of the rows must have a value of the view
N_PROPOSALS, N_SETTLED = 6, 12


@dataclass(frozen=True)
class Seen(Stage):
    """Settings: who is asked, which views, seconds for all of them."""

    name: str = "seen"
    stages: tuple[Proposer, ...] = ()
    views: tuple[str, ...] = ("1/y", "ln(y)", "y**2", "sqrt(y)")
    seconds: float = 2.0

    def asked(self, task: Task) -> Iterator[Proposal]:
        views = [(view, seen_through(task.problem, view)) for view in views_of(task.problem, self.views)]
        for stage in self.stages:
            for view, seen in views:
                if seen is None or task.deadline.expired():
                    continue
                for proposal in stage.propose(seen, ParetoFront(), rng=task.rng, deadline=task.deadline):
                    task.pool.add(view.invert(proposal.expr))
        # Weights made of noisy values are rough: constants are fitted to y before formulas are compared.
        task.pool.settle(N_SETTLED, task.deadline)
        yield from task.pool.proposals(N_PROPOSALS, FAR_WORSE)


def seen_through(problem: Problem, view: View) -> Problem | None:
    """The problem whose target is the view of y; None where too few rows have one."""
    target = Target.see(problem, view, np.arange(problem.n_rows))
    if len(target) < LEAST_SEEN * problem.n_rows:
        return None
    return replace(
        problem,
        X=np.ascontiguousarray(problem.X[target.rows]),
        y=target.values,
        weights=target.weights**2 / np.mean(target.weights**2),
        y_scale=1.0,
        noise=None,
        rounding=0.0,
    )
