"""Kernels compiled before the first search of an installation instead of during it.

Otherwise the first fits after an installation would spend their time on compiling and find less than later ones. While
this process compiles the kernels of fits and of the small stages, another one compiles evolution: each runs a tiny
problem through its stages, throws away what they propose, and leaves the kernels in the cache on disk.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from ..candidate import ParetoFront
from ..deadline import Deadline, now, on_processor
from ..fit.kernels.compiling import drop_older, is_marked, mark
from ..fit.kernels.fit import cache_folder, warm_up
from ..problem import make_problem
from ..propose.evolve.islands import compile_epoch, make_world
from ..search.order import default_proposers

# Who compiles what: about as much work each, with the kernels of fits on this side.
HERE, THERE = ("signomial",), ("evolve",)
_HOME = Path(__file__).parents[2]  # where the package lies, for a process that does not know
_HELPER = "import sys; sys.path.insert(0, sys.argv[1]); from unisymnet.regressor.warm import *; warm_stages(THERE)"
SECONDS = 20.0  # for each stage; compiling itself does not look at the clock
EVERY = 10.0  # seconds, while somebody waits, a line says that it goes on


def warm_all() -> float:
    """Every kernel ready, once a process: loaded in a moment, or compiled by two processes, which is announced.

    Returns when the compiling was over, as `deadline.now` counts, or 0 if there was none: whether there is any is
    read off numba's cache and not off a clock, which a busy machine deceives.
    """
    moment, by_processor = _warmed()
    return moment if by_processor == on_processor() else 0.0  # a moment of another clock says nothing


def is_warm() -> bool:
    """Whether the kernels are ready in this process."""
    return _warmed.cache_info().currsize > 0


@cache
def _warmed() -> tuple[float, bool]:
    """When the compiling was over, and by which clock."""
    helpers: list[subprocess.Popen[bytes]] = []
    folder, over = cache_folder(), threading.Event()

    def announced(text: str) -> None:
        logging.getLogger("unisymnet").warning(text)
        threading.Thread(target=_keep_telling, args=(over,), daemon=True).start()
        with suppress(OSError):  # no second process to be had here
            helpers.append(subprocess.Popen([sys.executable, "-c", _HELPER, str(_HOME)], stderr=subprocess.DEVNULL))

    drop_older(folder)
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
    finally:
        over.set()
    mark(folder)
    return now(), on_processor()


def _keep_telling(over: threading.Event) -> None:
    """A line every few seconds until it is over."""
    began = time.monotonic()
    while not over.wait(EVERY):
        logging.getLogger("unisymnet").warning("still compiling, %.0f s so far …", time.monotonic() - began)


def warm_stages(names: Sequence[str] = (*HERE, *THERE)) -> None:
    """The stages' own kernels, in this process."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (60, 2))
    # The noise keeps the stages from ending at the first exact formula, before they have used everything.
    y = np.sin(1.3 * X[:, 0]) + 2.0 * np.exp(-0.4 * X[:, 1]) + rng.normal(0.0, 0.05, 60)
    problem = make_problem(X, y)
    if "evolve" in names:
        # First what nobody else compiles: by then the kernels that it calls may lie in the cache.
        compile_epoch(make_world(problem, 0, seed=0, work=1, solved=0.0, max_size=1))
    with np.errstate(all="ignore"):
        for stage in default_proposers(names):
            for _ in islice(stage.propose(problem, ParetoFront(), rng=rng, deadline=Deadline.after(SECONDS)), 3):
                pass
