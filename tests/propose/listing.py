"""All that a stage proposes for some rows, in its order."""

import numpy as np

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem


def proposals(stage, X, y, operators=frozenset()):
    problem = make_problem(X, y, operators=operators)
    found = stage.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never())
    return [proposal.expr for proposal in found]
