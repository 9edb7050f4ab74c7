"""Runs a stage on rows of a known law and tells the smallest misfit it reached."""

import math
from dataclasses import replace

import numpy as np

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.pool import misfit
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse


def draw(law, ranges, n=200, seed=0, noise=0.0):
    """Rows of a law written in x0, x1, …; a range with a third entry is drawn log-uniformly."""
    rng = np.random.default_rng(seed)
    columns = [np.exp(rng.uniform(*np.log(r[:2]), n)) if len(r) == 3 else rng.uniform(*r, n) for r in ranges]
    X = np.column_stack(columns)
    y = evaluate(parse(law), X)
    return X, y + noise * np.std(y) * rng.normal(size=n)


def solve(stage, X, y, *, seconds=120.0, noise=0.0, operators=frozenset()):
    """Best misfit and its formula; stops at an exact one."""
    problem = make_problem(X, y, noise=noise, operators=operators)
    best, formula = math.inf, None
    # A stage's own budget of a fraction of a second says nothing on a busy machine, and the first one compiles.
    deadline = replace(Deadline.after(seconds), sliced=False)
    for proposal in stage.propose(problem, ParetoFront(), rng=np.random.default_rng(1), deadline=deadline):
        error = misfit(problem, proposal.expr)
        if error < best:
            best, formula = error, proposal.expr
        if error < 1e-11:
            break
    return best, formula
