"""From data to systems: rates proposed for every state, systems chosen among them, the best made sharp.

This is the order of the whole search; each part stands in its own file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..deadline import Deadline
from ..symbolic.expr import Const, Expr, Var
from .choose import SystemSearch
from .course import Course
from .known.rates import KnownSystem
from .propose import RateSearch
from .proposers.general import search_rates
from .rate import Candidate, Rate, terms_of
from .smoothing import noise_of
from .watch import Watch

KEPT = 6  # rates of an equation that are combined
TRIED = 3  # systems that are improved
LENT = 3  # rates of a state whose terms others may use
SEARCH_SECONDS = 4.0  # for a rate that no library explains
SHORTEST = 2  # systems found on the way that are improved, too
SECOND = 8  # systems that are looked at again with better noise


@dataclass(frozen=True)
class Found:
    """Systems, the best first, and the rates that were considered for each state."""

    search: SystemSearch
    systems: tuple[Candidate, ...]
    rates: tuple[tuple[Rate, ...], ...]


def find_systems(
    course: Course,
    deadline: Deadline,
    *,
    guesses: Sequence[Sequence[Expr]] = (),
    use_time: bool = False,
    general: bool = True,
    known: KnownSystem = KnownSystem(),
    watch: Watch | None = None,
) -> Found:
    """Search until the deadline, or until everything has been tried; `watch` hears of the best so far."""
    watch = watch or Watch()
    n = course.n_states
    fixed = {k: rate for k, rate in _fixed(course).items() if known.of(k).form is None}
    columns = [c for c in range(course.n_columns - (0 if use_time else 1)) if not _is_still(course, c)]
    searches: dict[int, RateSearch] = {}
    free = [k for k in range(n) if k not in fixed]
    for place, k in enumerate(free):
        watch.stage(f"rate of {course.names[k]}")
        share = 0.5 * deadline.remaining() / (len(free) - place)
        searches[k] = RateSearch(course, k, columns, deadline.sooner(share), known.of(k))
        for guess in guesses[k] if k < len(guesses) else ():
            searches[k].add(guess, "guess")
        watch.rate(course, k, searches[k].run()[0])
    search = SystemSearch(course, fixed, deadline, known)
    if free:  # the first of the combinations below, fitted early so that there is something to keep
        watch.system(course, search.combine([searches[k].ranked()[:1] for k in free])[0])
    _share_terms(course, searches, deadline, watch)
    if general:
        _search_more(course, searches, columns, deadline, watch)
    watch.stage("systems")
    ranked = [_kept(searches[k].ranked()) for k in free]
    systems = search.combine(ranked) if free else [search.fit(list(fixed.values()))]
    pools = [_pool(k, searches) if k in searches else [] for k in range(n)]
    watch.system(course, systems[0])
    top, best = _best(search, systems, pools)
    watch.system(course, top)
    if not course.clean and np.isfinite(top.shot.chi2) and not deadline.expired():
        watch.stage("noise from the residuals")
        search = SystemSearch(_denoised(course, top), fixed, deadline, known)
        again = [*best, *systems][:SECOND]
        systems = [search.fit(s.exprs) for i, s in enumerate(again) if i == 0 or not deadline.expired()]
        top, best = _best(search, systems, pools)
    others = {c.forms: c for c in [*systems, *best] if c.forms != top.forms}
    rest = sorted(others.values(), key=search.total)
    return Found(search, (top, *rest), tuple(tuple(searches[k].ranked()) if k in searches else () for k in range(n)))


def _share_terms(course: Course, searches: dict[int, RateSearch], deadline: Deadline, watch: Watch) -> None:
    """Terms of other states' best rates for every rate."""
    lent = {k: [t for rate in search.ranked()[:LENT] for _, t in terms_of(rate.expr)] for k, search in searches.items()}
    for place, (k, search) in enumerate(searches.items()):
        share = 0.3 * deadline.remaining() / (len(searches) - place)
        before = search.ranked()[0]
        search.borrow([term for other in lent if other != k for term in lent[other]], deadline.sooner(share))
        if search.ranked()[0] is not before:
            watch.rate(course, k, search.ranked()[0])


def _search_more(
    course: Course, searches: dict[int, RateSearch], columns: list[int], deadline: Deadline, watch: Watch
) -> None:
    """The ordinary search for rates that no library explains."""
    poor = [k for k, search in searches.items() if search.is_poor() and search.known.form is None]
    for place, k in enumerate(poor):
        seconds = min(SEARCH_SECONDS, 0.4 * deadline.remaining() / (len(poor) - place))
        if seconds < 1.0:
            return
        watch.stage(f"formulas for the rate of {course.names[k]}")
        # Ranges of the search by time: what is found depends on the machine here, and only here.
        searches[k].deadline = deadline
        searches[k].try_all(search_rates(course, k, columns, seconds), "search")
        watch.rate(course, k, searches[k].ranked()[0])


def _best(
    search: SystemSearch, systems: Sequence[Candidate], pools: Sequence[Sequence[Expr]]
) -> tuple[Candidate, list[Candidate]]:
    """The best system and its rivals, the first few improved and fitted over segments as long as can be.

    Then whatever was fitted on the way and is shorter than they are.
    """
    best: list[Candidate] = []
    waiting, begun = search.screened(systems)[:TRIED], set()
    for _ in range(TRIED + SHORTEST):
        if best and (not waiting or search.deadline.expired()):
            break
        system = waiting.pop(0)
        begun.add(system.forms)
        joined = search.join(search.improve(system, pools))
        again = search.improve(joined, pools)
        best.append(search.join(again) if again is not joined else joined)
        begun.add(best[-1].forms)
        if not waiting and search.shortest().forms not in begun:
            waiting.append(search.shortest())
    return min(best, key=search.total), best


def _denoised(course: Course, top: Candidate) -> Course:
    """The data with the noise that a good system leaves: the smoother's own errors are no longer part of it."""
    noises = list(course.noises)
    for k, noise in enumerate(noises):
        seen = np.isfinite(course.data[:, k])
        left = top.shot.left[seen, k] * course.deviation[seen, k]
        if not noise.clean and seen.sum() > 20:
            share = max(1.0 - len(top.shot.params) / top.shot.n, 0.5)
            fresh = noise_of(left, np.abs(course.curves[seen, k]), 1.0 / float(np.sqrt(share)))
            noises[k] = replace(fresh, least=noise.least)
    return replace(course, noises=tuple(noises))


def _kept(rates: list[Rate]) -> list[Rate]:
    """The best rates, and the best polynomial in any case."""
    kept = rates[:KEPT]
    plain = [rate for rate in rates if rate.source == "monomials"][:1]
    return kept + [rate for rate in plain if rate not in kept]


def _fixed(course: Course) -> dict[int, Expr]:
    """Equations that are known: the velocity is the rate of the position, and what never changes has rate 0."""
    found: dict[int, Expr] = {}
    n_measured = len(course.runs.states)
    for k in range(course.n_states):
        if course.order == 2 and k < n_measured:
            found[k] = Var(k + n_measured)
        elif _is_still(course, k):
            found[k] = Const(0.0)
    return found


def _is_still(course: Course, column: int) -> bool:
    if column < len(course.runs.states):
        return bool(all(np.nanmax(s.run.x[:, column]) == np.nanmin(s.run.x[:, column]) for s in course.smooths))
    # Curves through equal values differ by rounding.
    return bool(all(np.ptp(t[:, column]) <= 1e-13 * np.abs(t[:, column]).max() for t in course.tables))


def _pool(k: int, searches: dict[int, RateSearch]) -> list[Expr]:
    """Terms that may replace others: those of the best rates, of other states' best, then the common ones."""
    rates = searches[k].ranked()[:8]
    rates += [rate for other, search in searches.items() if other != k for rate in search.ranked()[:2]]
    terms = {term: None for rate in rates for _, term in terms_of(rate.expr)}
    for library in searches[k].libraries:
        terms.update(dict.fromkeys(library.terms))
    return list(terms)
