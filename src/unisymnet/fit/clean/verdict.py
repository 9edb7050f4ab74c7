"""The table of noisy data: every formula fitted under its noise model, judged in nats, shortened where that pays.

Takes what the search found (its front and the judge's shortlist), returns the rows that are worth a person's time: no
other row is shorter and explains as much, or they are nearly as short as the best.  Does not know the search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Floats
from ...candidate import Candidate
from ...deadline import Deadline
from ...judge.judge import Judge, Lengths
from ...judge.told import as_told
from ...symbolic.constants import free_constants
from ...symbolic.expr import Call, Const, Expr, evaluate, rebuild, variables
from ...symbolic.rewrite.simplify import present, simplify
from ..settle import settled, shortest
from .convention import conventional, levelled, phased
from .relatives import relatives
from .respell import respelled
from .shorten import Judged, shorten

REACH = 6.0  # nats: formulas this near to the best are all shown
N_SHORTENED = 8
N_RELATED, N_RELATIVES = 2, 3  # formulas of which others are made by hand, and how many of these are looked at closely
FARTHEST = 8.0  # nats behind the best before simple numbers are written: farther ones do not catch up
N_FITTED = 40
HOPELESS = 40.0  # nats behind the best before its own fit, and beaten in both parts: it will not be shown
OVERDONE = 12.0  # nats behind the best: a longer formula that is farther behind follows the noise
SAME_VALUES = 0.3  # of chi-square: two formulas that differ by less are one
SAME_FORM = 1.0  # nats of the data that another exponent must win to be worth a row of its own
NOTHING = 1e-9  # of the target's spread: parts of a sum that are smaller are rounding
MOST_ROWS = 16
SAME_LENGTH = 1e-6  # nats that rounding may cost
SPELLING = 4.0  # nats that another way to write a formula may seem to cost; more is another formula


@dataclass(frozen=True)
class Ruled:
    """One formula of the table with what it costs."""

    expr: Expr
    lengths: Lengths
    source: str


def verdict(
    candidates: Iterable[Candidate],
    judge: Judge,
    deadline: Deadline,
    watch: AbstractContextManager[None],
    allows: Callable[[Expr], bool] = lambda expr: True,
) -> list[Ruled]:
    """The rows of the table, the best first; empty if no formula can be judged.

    ``allows`` says of a changed formula whether it still agrees with what is known.
    """
    found: list[Ruled] = []
    spread = float(np.std(judge.y))
    for candidate in _distinct(candidates):
        if found and deadline.expired() and variables(candidate.expr):
            continue
        expr = levelled(tidied(candidate.expr, judge.X, spread))
        expr = expr if expr == candidate.expr or allows(expr) else candidate.expr
        # What a fit has moved away from 2*theta, or from kelvin, is told apart from it by nothing.
        for form in dict.fromkeys((expr, as_told(expr, judge.told))):
            lengths = judge.lengths(form)
            if lengths is not None and (form is expr or allows(form)):
                found.append(Ruled(form, lengths, candidate.source))
    found.sort(key=_total)
    raw = list(found)  # before its own fit each is compared with the others before theirs
    with suppress(KeyboardInterrupt), watch:
        for place, one in enumerate(found):
            if place >= N_FITTED and variables(one.expr):
                continue
            if place and deadline.expired() and variables(one.expr):
                continue  # but a constant, which all others are measured by, always gets its noise model
            if one.lengths.total > raw[0].lengths.total + HOPELESS and _is_beaten(one, raw[:place]):
                continue
            fitted = shortest(one.expr, judge)
            if fitted is not None and allows(fitted[0]):
                found[place] = replace(one, expr=fitted[0], lengths=fitted[1])
        found.sort(key=_total)
        for one in found[:N_RELATED]:  # as they were found: what is left out below may be what bends
            found += [new for new in _related(one, found, judge, deadline) if allows(new.expr)]
        found.sort(key=_total)
        for one in found[:N_SHORTENED]:
            if one.lengths.total > found[0].lengths.total + 4 * REACH:
                break
            shorter = _shortened(one, judge, deadline)
            if allows(shorter.expr):
                instead = shorter.lengths.total <= one.lengths.total + SAME_LENGTH
                found = [shorter if other is one and instead else other for other in found]
                found += [] if instead else [shorter]
    return _worth_showing(sorted(found, key=_total), judge)


def _related(one: Ruled, found: Sequence[Ruled], judge: Judge, deadline: Deadline) -> list[Ruled]:
    """Formulas that bend as this one does, fitted, that are nearly as short as the best: the first few of them."""
    best = min(other.lengths.total for other in found)
    near: list[Ruled] = []
    for expr in dict.fromkeys(relatives(simplify(one.expr), judge.X)):
        if deadline.expired() or judge.quick(expr)[0] + one.lengths.evidence > best + FARTHEST:
            continue
        start = judge.lengths(expr, one.lengths.model)
        moved = None if start is None else settled(expr, judge, start.free, one.lengths.model)
        lengths = None if moved is None else judge.lengths(moved)
        if moved is not None and lengths is not None and lengths.total <= best + FARTHEST:
            near.append(Ruled(moved, lengths, one.source))
    return sorted(near, key=_total)[:N_RELATIVES]


def _is_beaten(one: Ruled, others: Sequence[Ruled]) -> bool:
    return any(_beats(other.lengths, one.lengths) for other in others)


def _total(one: Ruled) -> tuple[float, str]:
    return one.lengths.total, str(one.expr)


def _distinct(candidates: Iterable[Candidate]) -> list[Candidate]:
    return list({candidate.expr: candidate for candidate in candidates}.values())


def _shortened(one: Ruled, judge: Judge, deadline: Deadline) -> Ruled:
    """Without what the data do not need, simple numbers in place, written as such laws are written.  That takes a few
    milliseconds, so it is done even when the time is over: no row shows a constant that another one makes idle."""
    if not variables(one.expr):
        return one
    found = (one.expr, one.lengths)
    if not deadline.expired():
        found = shorten(found, judge, deadline)
    return Ruled(*_written(found, judge), one.source)


def _written(found: Judged, judge: Judge) -> Judged:
    """The same function as a person writes it, if the judge does not object; how it is written costs nothing."""
    expr, lengths = found
    usual = levelled(present(simplify(respelled(phased(conventional(expr)), judge.X))))
    again = judge.lengths(usual, lengths.model)
    if again is None or again.total > lengths.total + SPELLING:
        return present(expr), lengths
    return usual, replace(again, structure=again.structure - max(again.total - lengths.total, 0.0))


def _worth_showing(found: Sequence[Ruled], judge: Judge) -> list[Ruled]:
    """Without formulas that another beats in both parts of its length, that are longer than the best and far behind it,
    or that repeat another's values or its form.

    What is longer than to say that nothing matters only follows the noise."""
    kept: list[tuple[Ruled, Floats]] = []
    forms: dict[Expr, Lengths] = {}
    exact: set[Expr] = set()
    nothing = min((one.lengths.total for one in found if not variables(one.expr)), default=math.inf)
    for one in found:
        if variables(one.expr) and one.lengths.total > max(nothing, found[0].lengths.total + REACH):
            continue
        # The same under another noise model, with another constant written down, or with an exponent that wins nothing.
        form, freed = (free_constants(simplify(one.expr), exponents=free)[0] for free in (False, True))
        if form in exact or (freed in forms and one.lengths.evidence > forms[freed].evidence - SAME_FORM):
            continue
        mine = evaluate(one.expr, judge.X)
        if any(_repeats(one, mine, *other, judge) for other in kept):
            continue
        near = one.lengths.total <= found[0].lengths.total + REACH
        overdone = (
            one.lengths.formula > found[0].lengths.formula and one.lengths.total > found[0].lengths.total + OVERDONE
        )
        if near or not (overdone or _is_beaten(one, [other for other, _ in kept])):
            kept.append((one, mine))
            exact.add(form)
            forms.setdefault(freed, one.lengths)
    return [one for one, _ in kept[:MOST_ROWS]]


def _repeats(one: Ruled, mine: Floats, other: Ruled, theirs: Floats, judge: Judge) -> bool:
    """Does a formula say what a better one says, but for constants that follow the noise?"""
    left = one.lengths.model.residuals(mine, judge.y)
    left = judge.y - mine if left is None else left
    roots = judge.root * one.lengths.model.roots(mine, judge.root * left)
    noise = float(np.mean((roots * left) ** 2)) + judge.floor
    apart = float(np.sum((roots * (mine - theirs)) ** 2)) / noise
    more = one.lengths.n_free - other.lengths.n_free
    # A superfluous constant moves chi-square by about one, and wins half a nat.
    idle = more > 0 and apart <= 2.0 * more and other.lengths.evidence - one.lengths.evidence < more
    return apart <= SAME_VALUES or idle


def tidied(expr: Expr, X: Floats, spread: float) -> Expr:
    """Without what only rounding has written: parts of a sum that add nothing, factors of 0.9999999999999998."""

    def clean(node: Expr) -> Expr:
        if isinstance(node, Const) and node.value and abs(node.value - round(node.value)) < NOTHING * abs(node.value):
            return Const(float(round(node.value)))
        return node

    def sums(node: Expr, scale: float) -> Expr:
        if not (isinstance(node, Call) and node.op == "add"):
            return node
        large = [part for part in node.args if float(np.max(np.abs(evaluate(part, X)), initial=0.0)) > NOTHING * scale]
        return Call("add", large) if len(large) > 1 else large[0] if large else node

    with np.errstate(all="ignore"):
        return simplify(sums(simplify(rebuild(expr, clean)), spread))


def _beats(a: Lengths, b: Lengths) -> bool:
    return a.formula <= b.formula and a.evidence <= b.evidence
