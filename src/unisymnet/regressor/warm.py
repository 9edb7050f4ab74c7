"""Kernels compiled before the first search of an installation instead of during it.

Otherwise the first fits after an installation would spend their time on compiling and find less than later ones. While
this process compiles the kernels of fits, another one compiles those of the stages: it runs a tiny problem through the
stages that bring kernels of their own, throws away what they propose, and leaves the kernels in the cache on disk.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from ..candidate import ParetoFront
from ..deadline import Deadline, now, on_processor
from ..fit.kernels.compiling import is_marked, mark
from ..fit.kernels.fit import cache_folder, warm_up
from ..problem import make_problem
from ..search.order import default_proposers

# Who compiles what: about as much work each, with the kernels of fits on this side.
HERE, THERE = ("signomial",), ("evolve",)
_HOME = Path(__file__).parents[2]  # where the package lies, for a process that does not know
_HELPER = "import sys; sys.path.insert(0, sys.argv[1]); from unisymnet.regressor.warm import *; warm_stages(THERE)"
SECONDS = 20.0  # for each stage; compiling itself does not look at the clock


def warm_all() -> float:
    """Every kernel ready, once a process: loaded in a moment, or compiled by two processes, which is announced.

    Returns when the compiling was over, as `deadline.now` counts, or 0 if there was none: whether there is any is
    read off numba's cache and not off a clock, which a busy machine deceives.
    """
    moment, by_processor = _warmed()
    return moment if by_processor == on_processor() else 0.0  # a moment of another clock says nothing


@cache
def _warmed() -> tuple[float, bool]:
    """When the compiling was over, and by which clock."""
    helpers: list[subprocess.Popen[bytes]] = []
    folder = cache_folder()

    def announced(text: str) -> None:
        logging.getLogger("unisymnet").warning(text)
        with suppress(OSError):  # no second process to be had here
            helpers.append(subprocess.Popen([sys.executable, "-c", _HELPER, str(_HOME)], stderr=subprocess.DEVNULL))

    try:
        if not warm_up(announced) and is_marked(folder):
            return 0.0, on_processor()
        warm_stages(HERE)  # a new installation, or one whose first fit was stopped
        if not helpers or any([helper.wait() != 0 for helper in helpers]):
            warm_stages(THERE)
    except KeyboardInterrupt:
        for helper in helpers:
            helper.kill()
        raise
    mark(folder)
    return now(), on_processor()


def warm_stages(names: Sequence[str] = (*HERE, *THERE)) -> None:
    """The stages' own kernels, in this process."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (60, 2))
    # The noise keeps the stages from ending at the first exact formula, before they have used everything.
    y = np.sin(1.3 * X[:, 0]) + 2.0 * np.exp(-0.4 * X[:, 1]) + rng.normal(0.0, 0.05, 60)
    problem = make_problem(X, y)
    with np.errstate(all="ignore"):
        for stage in default_proposers(names):
            for _ in islice(stage.propose(problem, ParetoFront(), rng=rng, deadline=Deadline.after(SECONDS)), 3):
                pass
