"""The kernels of the stages, compiled before the first search of an installation instead of during it.

Otherwise the first fits after an installation would spend their time on compiling and find less than later ones. Runs
tiny problems through the stages that bring kernels of their own; what they propose is thrown away.
"""

from __future__ import annotations

from itertools import islice

import numpy as np

from ..candidate import ParetoFront
from ..deadline import Deadline
from ..problem import make_problem
from ..stages import default_proposers

STAGES = ("signomial", "features", "pairs", "products")
SECONDS = 20.0  # for each stage; compiling itself does not look at the clock


def warm_stages() -> None:
    """Call once after kernels had to be compiled."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (60, 2))
    # The noise keeps the stages from ending at the first exact formula, before they have used everything.
    y = np.sin(1.3 * X[:, 0]) + 2.0 * np.exp(-0.4 * X[:, 1]) + rng.normal(0.0, 0.05, 60)
    problem = make_problem(X, y)
    with np.errstate(all="ignore"):
        for stage in default_proposers(STAGES):
            for _ in islice(stage.propose(problem, ParetoFront(), rng=rng, deadline=Deadline.after(SECONDS)), 3):
                pass
