"""Searches for smaller problems, as what is known about a law asks for them."""

from __future__ import annotations

from collections.abc import Callable

from ...fit.kernels.robust import Loss
from ...judge.scales import assumed_nats
from ...knowledge.known import Solvers, solver
from ...knowledge.units.nats import no_units
from ...protocols import Fitter
from ..judged import with_judge
from ..kinds import Options


def make_solvers(options: Options, loss: Loss, fitter: Callable[[], Fitter], stop: Callable[[], bool]) -> Solvers:
    """By the same proposers as the whole search, or by the quick ones among them."""
    told, plain = (with_judge(options.settings, loss, units) for units in (assumed_nats, no_units))
    return Solvers(
        solver(options.proposers, fitter, told, stop),
        solver(options.proposers, fitter, plain, stop),
        solver(options.brief, fitter, plain, stop),
    )
