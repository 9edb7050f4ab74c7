"""One skeleton, one law: exponents by SFO, constants snapped, and of what noise cannot tell apart the shortest.

Under noise the lowest loss is reached by odd exponents and odd constants.  Which choice of exponents is the law shows
only when the constants of each are clean: the right one is then much shorter.  Does not search for structures.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unisymnet.candidate import Candidate, Status, description_length
from unisymnet.deadline import Deadline
from unisymnet.fit.clean.snap import Snapped, snap
from unisymnet.fit.sfo.sfo import SFO
from unisymnet.metrics import complexity
from unisymnet.problem import Problem
from unisymnet.symbolic.expr import Expr
from unisymnet.symbolic.rewrite.simplify import present, simplify


@dataclass(frozen=True)
class Law:
    """A formula in the caller's units, with clean constants; ``loss`` is its mean square there."""

    expr: Expr
    loss: float
    status: Status = Status.OK


def fit_law(skeleton: Expr, problem: Problem, *, rng: np.random.Generator, deadline: Deadline, sfo: SFO = SFO()) -> Law:
    """Fit the ``Param`` leaves of a skeleton (scaled units); of SFO's best choices the one that is shortest clean."""
    result = sfo.fit_expr(skeleton, problem, rng=rng, deadline=deadline)
    if result.status is not Status.OK:
        return Law(skeleton, math.inf, result.status)
    X, y = problem.X * problem.x_scales, problem.y * problem.y_scale
    spread = problem.spread * problem.y_scale
    noise = None if problem.noise is None else problem.noise * problem.y_scale
    best: tuple[float, Law] | None = None
    ways: tuple[dict[str, bool], ...] = ({"drop": False, "hold_units": True}, {"drop": True})
    for expr, way in itertools.product((result.expr, *result.others), ways):
        if best is not None and deadline.expired():
            break
        original = problem.to_original(expr)
        cleaned = snap(original, X, y, weights=problem.weights, noise=noise, deadline=deadline, **way)
        law = Law(present(simplify(cleaned.expr)), cleaned.loss)
        free = sum(1 for constant in cleaned.constants if constant.snapped_to is None)
        candidate = Candidate(law.expr, law.loss, complexity(law.expr), free)
        length = description_length(candidate, len(y), spread, noise) + _digits(cleaned, len(y))
        if best is None or length < best[0]:
            best = length, law
    assert best is not None
    return best[1]


def _digits(cleaned: Snapped, n_rows: int) -> float:
    """Nats for the digits of snapped constants, at most what a free constant costs; 1 and -1 are free."""
    most = 0.5 * math.log(n_rows)
    total = 0.0
    for constant in cleaned.constants:
        if constant.snapped_to is not None and abs(constant.value) != 1.0:
            ratio = Fraction(constant.value).limit_denominator(100)
            known = abs(float(ratio) - constant.value) <= 1e-12 * abs(constant.value)
            total += min(math.log(2 * abs(ratio.numerator) * ratio.denominator), most) if known else most
    return total
