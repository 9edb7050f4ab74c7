"""The system is chosen, not its equations: combinations of rates fitted together, by description length.

Then terms are exchanged (best subsets in the linearised trajectories of all states at once), dropped while that
shortens the description, segments joined until one start carries a whole run, and constants tied and made simple.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..deadline import Deadline, now
from ..symbolic.expr import Expr, bind
from .course import Course
from .known.rates import KnownSystem
from .program import free_system
from .proposers.exchange import exchanged
from .rate import FORM_PRICE, LEAST_LEFT, Candidate, Rate, description_length, sum_of, terms_of
from .shooting import MIN_TRIALS, shoot
from .ties import find_ties

N_COMBINATIONS = 8
WEAK_TERM = 8.0  # coefficients below so many standard errors are tried without
JOINED = 1.5  # χ² may grow by this factor when segments are joined
EXCHANGES = 4  # rounds
REFUSED = 1e6  # nats: a system that contradicts what is known is chosen only if there is no other
ENOUGH = 1e-4  # χ² per value of clean data below which a fit is done


class SystemSearch:
    """Candidates for the whole system; ``best`` is the shortest description so far."""

    def __init__(
        self, course: Course, fixed: dict[int, Expr], deadline: Deadline, known: KnownSystem = KnownSystem()
    ) -> None:
        self.course, self.fixed, self.deadline, self.known = course, fixed, deadline, known
        self.n_segments = int(np.clip(course.wiggles(), 4.0, 24.0))
        self.seen: dict[tuple[int, tuple[Expr, ...]], Candidate] = {}
        self.exhausted: set[tuple[int, tuple[Expr, ...]]] = set()  # whose exchanges have been tried

    @property
    def late(self) -> bool:
        """Has the time run out?  An interrupt is told elsewhere."""
        return now() >= self.deadline.moment

    def fit(
        self, exprs: Sequence[Expr], n_segments: int | None = None, starts: Floats | None = None, trials: int = 25
    ) -> Candidate:
        """All equations together."""
        count = n_segments or self.n_segments
        forms, params = free_system(exprs)
        key = count, tuple(forms)
        if key in self.seen:
            return self.seen[key]
        clean = self.course.clean
        shot = shoot(
            self.course,
            forms,
            params,
            cut=self.course.cut(count, least=6),
            starts=starts,
            max_trials=trials,
            enough=ENOUGH if clean else 0.0,
            deadline=self.deadline,
            least_trials=0 if self.seen else MIN_TRIALS,  # one step of a long system may take a second
        )
        values = tuple(shot.params) if np.isfinite(shot.params).all() else tuple(params)
        fitted = tuple(bind(form, values) for form in forms)
        length = description_length(shot, fitted, clean=clean, n_constants=len(params))
        length -= find_ties(shot, 1.0 if clean else LEAST_LEFT, self.known.units_of(fitted)).saved
        length += FORM_PRICE * self.known.tokens(fitted) + (0.0 if self.known.allows(fitted) else REFUSED)
        length = math.inf if shot.cut_short else length
        found = self.seen[key] = Candidate(fitted, shot, length, count, tuple(forms))
        return found

    def combine(self, ranked: Sequence[Sequence[Rate]]) -> list[Candidate]:
        """The most promising combinations of rates, the shortest description first."""
        found: list[Candidate] = []
        every = _combinations(ranked, N_COMBINATIONS)
        for source in sorted({rate.source for rates in ranked for rate in rates[:1]} | {"monomials"}):
            alike = [next((rate for rate in rates if rate.source == source), rates[0]) for rates in ranked]
            every += [tuple(alike)] if tuple(alike) not in every else []
        for chosen in every:
            if found and self.deadline.expired():
                break
            found.append(self.fit(self._whole([rate.expr for rate in chosen])))
        return sorted(found, key=lambda candidate: candidate.length)

    def total(self, candidate: Candidate) -> float:
        """The length with the starts of the segments, which are constants, too: comparable for any segments.

        The shortest over all segments that the form was fitted with.
        """
        fits = [found for (_, forms), found in self.seen.items() if forms == candidate.forms] or [candidate]
        return min(map(self.own_total, fits))

    def own_total(self, found: Candidate) -> float:
        """The same for these segments."""
        return found.length + 0.5 * found.shot.starts.size * math.log(max(found.shot.n, 2))

    def shortest(self) -> Candidate:
        """Of all systems fitted so far."""
        return min(self.seen.values(), key=self.own_total)

    def screened(self, systems: Sequence[Candidate]) -> list[Candidate]:
        """The shortest first, once longer segments, which tell more, have been tried."""
        for system in systems:
            if not self.deadline.expired() and math.isfinite(system.length):
                self.fit(system.exprs, max(self.n_segments // 4, 1))
        return sorted(systems, key=self.total)

    def _whole(self, free: Sequence[Expr]) -> list[Expr]:
        exprs = iter(free)
        return [self.fixed[k] if k in self.fixed else next(exprs) for k in range(self.course.n_states)]

    def improve(self, candidate: Candidate, pools: Sequence[Sequence[Expr]]) -> Candidate:
        """Exchange and drop terms until the description gets no shorter."""
        best = self.drop(candidate)
        for _ in range(EXCHANGES):
            key = best.n_segments, best.forms
            if self.deadline.expired() or key in self.exhausted:
                break
            self.exhausted.add(key)
            rivals = [
                self.fit(exprs, best.n_segments)
                for exprs in exchanged(self.course, self.fixed, best, pools)
                if not self.deadline.expired()
            ]
            rival = min(rivals, key=lambda found: found.length, default=best)
            if not rival.length < best.length - 0.1:
                break
            best = self.drop(rival)
        return best

    def drop(self, candidate: Candidate) -> Candidate:
        """Without the terms that the data do not need, weakest first."""
        best = candidate
        while not self.deadline.expired() and math.isfinite(best.length):
            for k, place in self._weak_terms(best):
                terms = terms_of(best.exprs[k])
                fewer = [term for i, term in enumerate(terms) if i != place]
                exprs = [sum_of(fewer) if j == k else expr for j, expr in enumerate(best.exprs)]
                rival = self.fit(exprs, best.n_segments)
                if rival.length < best.length:
                    best = rival
                    break
            else:
                break
        return best

    def _weak_terms(self, candidate: Candidate) -> list[tuple[int, int]]:
        """(equation, term) with the least significant coefficients first, never the last term of an equation."""
        # What clean data leave is rounding, far below the noise that they are granted: terms of 1e-9 are none.
        shot = candidate.shot
        least = 1.0 if self.course.clean else 0.0
        errors = shot.errors() * math.sqrt(max(shot.reduced, least) / max(shot.reduced, 1e-300))
        found = []
        start = 0
        for k, expr in enumerate(candidate.exprs):
            values = free_system([expr])[1]
            own = errors[start : start + len(values)]
            terms = terms_of(expr)
            if k not in self.fixed and len(terms) > 1 and len(own) == len(values):
                for place, (factor, _) in enumerate(terms):
                    at = [i for i, value in enumerate(values) if abs(value) == abs(factor)]
                    error = own[at[0]] if at else math.inf
                    score = abs(factor) / error if error > 0.0 else math.inf
                    if score < WEAK_TERM or not math.isfinite(error):
                        found.append((score if math.isfinite(score) else 0.0, k, place))
            start += len(values)
        return [(k, place) for _, k, place in sorted(found)[:8]]

    def join(self, candidate: Candidate, drop: bool = True) -> Candidate:
        """Fewer and longer segments as long as χ² allows it; terms may go afterwards."""
        best = candidate
        counts = [c for c in (8, 4, 2, 1) if c < best.n_segments]
        for count in counts:
            if self.deadline.expired():
                break
            longer = self.fit(best.exprs, count, trials=40)
            if not math.isfinite(longer.shot.chi2) or longer.shot.reduced > JOINED * max(
                best.shot.reduced, self._least()
            ):
                break
            best = longer
        return self.drop(best) if drop else best

    def _least(self) -> float:
        return 1.0 if self.course.clean else 0.3


def _combinations(ranked: Sequence[Sequence[Rate]], count: int) -> list[tuple[Rate, ...]]:
    """The ``count`` combinations with the smallest sums of lengths."""
    start = (0,) * len(ranked)
    heap = [(sum(rates[0].length for rates in ranked), start)]
    seen = {start}
    found: list[tuple[Rate, ...]] = []
    while heap and len(found) < count:
        _, places = heapq.heappop(heap)
        found.append(tuple(rates[i] for rates, i in zip(ranked, places)))
        for k in range(len(places)):
            following = (*places[:k], places[k] + 1, *places[k + 1 :])
            if following[k] < len(ranked[k]) and following not in seen:
                seen.add(following)
                price = sum(rates[i].length for rates, i in zip(ranked, following))
                if math.isfinite(price):
                    heapq.heappush(heap, (price, following))
    return found
