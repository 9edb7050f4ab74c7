"""Which constants of a form are shared by all groups?  The shortest description of all rows decides.

Every constant starts with a value for each group; the one that differs least from group to group, in units of its
errors, is then shared, as long as that makes the description shorter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...candidate import RARE_NATS, TOKEN_NATS, n_rare
from ...deadline import Deadline
from ...fit.kernels.fit import fit_tape
from ...fit.kernels.tape import Tape, compile_tape
from ...judge.numbers import simple_fraction
from ...metrics import complexity
from ...symbolic.constants import free_constants
from ...symbolic.expr import Call, Const, Expr, bind, n_params, walk
from ...symbolic.rewrite.simplify import simplify
from .joint import JointFit, Rows, fit_jointly, standard_errors

MAX_CONSTANTS = 10
EXACT = 1e-8  # residuals over the spread below which all fits are equally good
N_STARTS = 10
POOR = 4.0  # times the residual variance of the best group that calls for other starts


@dataclass(frozen=True)
class Shared:
    """A form with its constants on all groups, and the length of the description in nats."""

    form: Expr
    fit: JointFit
    length: float
    size: int
    n_rows: int

    @property
    def loss(self) -> float:
        return self.fit.rss / self.n_rows


def forms_of(exprs: Sequence[Expr]) -> list[tuple[Expr, tuple[float, ...]]]:
    """The different forms of some formulas, constants open, with the values that they had."""
    found: dict[Expr, tuple[float, ...]] = {}
    for expr in exprs:
        for exponents in (False, True):
            form, values = free_constants(simplify(expr), exponents=exponents)
            if 0 < len(values) <= MAX_CONSTANTS:
                found.setdefault(form, values)
    return list(found.items())


def best_sharing(
    form: Expr,
    start: Sequence[float],
    groups: Sequence[Rows],
    deadline: Deadline,
    rng: np.random.Generator,
    shortest: float = math.inf,
) -> Shared | None:
    """The form fitted to all groups with as many constants shared as the rows allow.

    Nothing is shared if not even sharing all for nothing would make it as short as the `shortest` so far.
    """
    fit = _every_group(form, start, groups, rng, deadline)
    if fit is None:
        return None
    found = _described(form, fit, groups)
    saved = len(fit.own) * (_own_nats(groups) - 0.5 * math.log(max(found.n_rows, 2)))
    return found if found.length - saved > shortest else share_more(found, groups, deadline)


def all_shared(form: Expr, start: Sequence[float], groups: Sequence[Rows], deadline: Deadline) -> Shared:
    """The form with the same constants in every group: the quickest there is."""
    values = np.tile(np.array(start, dtype=np.float64), (len(groups), 1))
    return _described(form, fit_jointly(form, groups, values, tuple(range(len(start))), deadline), groups)


def share_more(best: Shared, groups: Sequence[Rows], deadline: Deadline) -> Shared:
    """Share one constant after the other, as long as the description gets shorter."""
    form, fit = best.form, best.fit
    while fit.own and not deadline.expired():
        scatter = _scatter(form, groups, fit)
        order = sorted(fit.own, key=scatter.__getitem__)
        for i in order[:2]:
            trial = fit_jointly(form, groups, fit.values, (*fit.shared, i), deadline)
            found = _described(form, trial, groups)
            if found.length < best.length:
                best, fit = found, trial
                break
        else:
            break
    return best


def _every_group(
    form: Expr, start: Sequence[float], groups: Sequence[Rows], rng: np.random.Generator, deadline: Deadline
) -> JointFit | None:
    """Each group for itself: from the values given, from those of other groups, then from random ones."""
    k, tape = n_params(form), compile_tape(form, groups[0][0].shape[1])
    found: list[tuple[Floats, float]] = []
    for rows in groups:
        if deadline.expired():
            return None  # thousands of groups take their time even once
        best = _alone(tape, rows, np.array([start, *(values for values, _ in found[-3:])]))
        level = min((rss for _, rss in found), default=math.inf)
        if best[1] > POOR * max(level, 1e-300) or not math.isfinite(best[1]):
            factors = np.exp(rng.normal(0.0, 0.6, (N_STARTS, k))) * np.where(
                rng.random((N_STARTS, k)) < 0.15, -1.0, 1.0
            )
            best = min(best, _alone(tape, rows, np.array(start) * factors), key=lambda pair: pair[1])
        if not math.isfinite(best[1]):
            return None
        found.append(best)
    values = np.array([values for values, _ in found])
    return JointFit(
        values, (), float(sum(rss * float(len(rows[1])) for (_, rss), rows in zip(found, groups, strict=True)))
    )


def _alone(tape: Tape, rows: Rows, starts: Floats) -> tuple[Floats, float]:
    """Constants of one group and its mean square, the best over the starts; by the compiled fitter, because a search
    puts dozens of forms forward and each is fitted to every group."""
    X, y, weights = rows
    fit = fit_tape(tape, X, y, starts, weights=weights)
    return fit.params, fit.loss * float(np.mean(weights))


def _described(form: Expr, fit: JointFit, groups: Sequence[Rows]) -> Shared:
    n = sum(len(y) for _, y, _ in groups)
    spread = float(np.std(np.concatenate([y for _, y, _ in groups]))) or 1.0
    mean = max(fit.rss / n, (EXACT * spread) ** 2)
    own = _own_nats(groups) * len(fit.own)
    size = complexity(bind(form, [1.2345] * n_params(form)))
    formula = size * TOKEN_NATS + RARE_NATS * n_rare(form)
    # An exponent that no simple fraction equals was fitted once, and is shared by all.
    n_shared = len(fit.shared) + sum(simple_fraction(abs(value)) is None for value in _exponents(form))
    length = 0.5 * n * math.log(mean) + 0.5 * math.log(max(n, 2)) * n_shared + own + formula
    return Shared(form, fit, length if math.isfinite(fit.rss) else math.inf, size, n)


def _exponents(form: Expr) -> list[float]:
    """Exponents that are numbers."""
    powers = [node.args[1] for node in walk(form) if isinstance(node, Call) and node.op == "pow"]
    return [power.value for power in powers if isinstance(power, Const)]


def _own_nats(groups: Sequence[Rows]) -> float:
    """What a constant costs that has a value for each group."""
    return sum(0.5 * math.log(max(len(y), 2)) for _, y, _ in groups)


def _scatter(form: Expr, groups: Sequence[Rows], fit: JointFit) -> Floats:
    """How much each constant differs from group to group, in units of its errors."""
    with np.errstate(all="ignore"):  # constants of a form that suits no group may be of any size
        errors = standard_errors(form, groups, fit)
        spread = np.std(fit.values, axis=0)
        told = [column[np.isfinite(column)] for column in errors.T]
        typical = np.array([np.median(some) if len(some) else np.nan for some in told])
        # Exact data have no errors: then differences in units of the constants themselves.
        scale = np.where(np.isfinite(typical) & (typical > 1e-9 * np.abs(fit.values).mean(axis=0)), typical, np.nan)
        relative = np.abs(fit.values).mean(axis=0) + 1e-300
        return np.where(np.isfinite(scale), spread / scale, spread / relative * 1e6)
