"""Candidates for one rate: best subsets of term libraries, first in weak form, then in the trajectory itself.

The weak form needs no start and finds the terms; the second pass linearises the trajectories of the best candidate in
the coefficients of a whole library and chooses again there, where the errors are those of the measurements and
independent.  Each candidate is then fitted by shooting, alone, with the other states from the curves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from ..arrays import Floats
from ..deadline import Deadline
from ..fit.subset import Subset, best_subsets, by_codelength, subset_codelength
from ..symbolic.expr import Expr, Param, Var, bind, evaluate, product, total, variables
from .course import Course, effective_rows
from .known.rates import KnownRate
from .library import MAX_TERMS, Library, finite_terms, libraries
from .program import free_system
from .proposers.driven import DrivenSearch, frequencies_of, merged, pair, split, wave_of
from .proposers.slaved import slaved_rates
from .rate import FORM_PRICE, Rate, description_length, sum_of, terms_of
from .shooting import shoot, tangent
from .weak import WeakRows, weak_rows

MAX_SIZE = 9  # terms of one rate
SHORT = 4
LEAST_SHARE = 0.01  # of a rate: a term below it may be the last one of a series
BY_SIZE, BY_LENGTH = 7, 4  # candidates kept from one library: the best of small sizes, the shortest descriptions
SMALL, SMALL_CLEAN = 2, 4  # terms of rates with an inner constant that are tried in any case
SETS, SETS_CLEAN = 1, 4  # of each size: clean data tell a wrong inner constant more sharply than a wrong set of terms
POOR, MANY = 1.6, 5  # χ² per value and number of terms from which on a rate is not explained
QUICK_TRIALS = 12
REFINED = 3  # libraries, those of the best rates
DRIVEN = "driven:"  # in front of the name of a library that has got waves
ENOUGH = 1e-4  # χ² per value of clean data below which a fit is done


class RateSearch:
    """The candidates for the rate of one state, fitted as they come, the shortest description first."""

    def __init__(
        self,
        course: Course,
        state: int,
        columns: Sequence[int],
        deadline: Deadline,
        known: KnownRate | None = None,
    ) -> None:
        self.course, self.state, self.columns, self.deadline = course, state, tuple(columns), deadline
        self.known = known or KnownRate()
        self.time = course.n_columns - 1
        # Of a velocity nothing is measured: its position must move with it, or every rate would fit.
        n_measured = len(course.runs.states)
        self.active = [state] if state < n_measured else [state - n_measured, state]
        self.cut = course.cut(int(np.clip(2.0 * course.wiggles(), 8.0, 40.0)), least=8)
        self.rates: dict[Expr, Rate] = {}
        self.refused: dict[Expr, Rate] = {}  # by what is known
        tables = np.concatenate(course.tables)
        ranges = {c: (float(tables[:, c].min()), float(tables[:, c].max())) for c in columns}
        form = self.known.form
        places = range(len(course.runs.states)) if course.order == 2 else ()
        grown = state if course.order == 1 else None
        if form is None:
            every = libraries(self.columns, ranges, course.clean, places, grown)
        else:
            every = form.libraries(ranges)
        self.libraries = [self._usable(library) for library in every]

    def _usable(self, library: Library) -> Library:
        """Without terms that have no value somewhere, or that are known not to stand in the rate."""
        always, others = library.terms[: library.n_always], library.terms[library.n_always :]
        terms = (*always, *filter(self.known.takes, finite_terms(others, self.course.tables)))
        groups = (tuple(filter(self.known.takes, group)) for group in library.groups)
        return Library(library.name, terms, tuple(group for group in groups if group), library.n_always)

    def ranked(self) -> list[Rate]:
        """The shortest description first; those that contradict what is known only if there are no others."""
        return sorted((self.rates or self.refused).values(), key=lambda rate: rate.length)

    def run(self) -> list[Rate]:
        """All libraries in weak form, then those that did best in the trajectory."""
        for place, library in enumerate(self.libraries[:]):
            if place == 1 and self.time in self.columns:
                self.drive()  # before long libraries with the time among their columns take what is left of it
                if self.is_exact():
                    return self.ranked()
            if self.rates and self.deadline.expired():
                break
            choose = self._grouped if library.groups else self._subsets
            self.try_all(choose(library), library.name)
            if self.is_exact():
                return self.ranked()
        if not self.course.clean and self.known.form is None:
            self.try_all(slaved_rates(self.course, self.state, self.libraries[0].terms), self.libraries[0].name)
        for _ in range(2):
            before = self.ranked()[:1]
            best = list(dict.fromkeys(rate.source for rate in self.ranked()))[:REFINED]
            for library in (library for name in best for library in self.libraries if library.name == name):
                if not self.deadline.expired():
                    self.refine(library)
            if self.ranked()[:1] == before:
                break
        return self.ranked()

    def drive(self) -> None:
        """Waves of the time beside the terms of every library that asks for no inner constant."""
        form = self.known.form
        factors = None if form is None else form.factors(self.time)
        if factors is not None and not factors:
            return  # no unknown function of the time
        search = DrivenSearch(self.course, self.rows, self.n_rows)
        for library in self.libraries[:]:
            if library.groups or (self.rates and self.deadline.expired()):
                continue
            held = library.terms[: library.n_always]
            plain = [*held, *(t for t in library.terms[library.n_always :] if self.time not in variables(t))]
            found = search.run(plain, factors, len(held))
            if found is None:
                continue
            waves = [w for tone in found.frequencies for f in found.factors for w in pair(tone, f, self.time)]
            driven = self._usable(Library(f"{DRIVEN} {library.name}", (*plain, *waves), (), len(held)))
            self.libraries.append(driven)
            self.try_all(filter(self.known.takes, found.rates), driven.name)

    @cached_property
    def rows(self) -> WeakRows:
        return weak_rows(self.course, self.state)

    @cached_property
    def n_rows(self) -> float:
        """Independent ones."""
        return min(float(len(self.rows.target)), effective_rows(self.course, self.state))

    def borrow(self, others: Iterable[Expr], deadline: Deadline) -> None:
        """Candidates with terms that stand in other states' rates, their inner constants as fitted there.

        What one state loses another gains: two saturating flows in one rate are seldom told by that rate alone.
        """
        own = [term for rate in self.ranked()[:2] for _, term in terms_of(rate.expr)]
        plain = {term for library in self.libraries for term in library.terms}
        borrowed = [term for term in dict.fromkeys(others) if term not in plain and term not in own]
        if not borrowed or self.known.form is not None or not self.is_poor():
            return
        terms = dict.fromkeys([*own, *borrowed, *self.libraries[0].terms])
        library = self._usable(Library("shared", tuple(terms)[:MAX_TERMS]))
        self.deadline = deadline
        self.libraries.append(library)
        self.try_all(self._subsets(library), library.name)
        if not deadline.expired():
            self.refine(library)

    def is_poor(self) -> bool:
        """Does no rate so far explain the data, or only one of many terms?"""
        best = self.ranked()[0]
        return best.reduced > (1.0 if self.course.clean else POOR) or len(terms_of(best.expr)) > MANY

    def is_exact(self) -> bool:
        """Do clean data have a short rate that leaves nothing?"""
        best = self.ranked()[:1]
        if not (self.course.clean and best and best[0].reduced <= 1.0 and len(terms_of(best[0].expr)) <= SHORT):
            return False
        return self._least_share(best[0].expr) > LEAST_SHARE

    def _least_share(self, expr: Expr) -> float:
        """What the smallest term is of the whole rate.

        The terms of a series get smaller and smaller: a few of them follow any smooth rate to more digits than clean
        data have, and are no reason to stop looking for a shorter one.
        """
        tables = np.concatenate(self.course.tables)
        sizes = [abs(c) * float(np.sqrt(np.mean(evaluate(term, tables) ** 2))) for c, term in terms_of(expr)]
        whole = float(np.sqrt(np.mean(evaluate(expr, tables) ** 2)))
        return min(sizes) / whole if whole > 0.0 else 1.0

    def try_all(self, exprs: Iterable[Expr], source: str) -> None:
        for expr in exprs:
            if not self.rates or not self.deadline.expired():
                self.add(expr, source)

    def add(self, expr: Expr, source: str) -> Rate | None:
        """Fit one candidate by shooting and keep it."""
        form = free_system([expr])
        key = form[0][0]
        if key in self.rates or key in self.refused:
            return None
        shot = shoot(
            self.course,
            self._equations(form[0][0]),
            form[1],
            states=self.active,
            cut=self.cut,
            max_trials=QUICK_TRIALS,
            enough=ENOUGH if self.course.clean else 0.0,
            deadline=self.deadline,
        )
        fitted = bind(form[0][0], tuple(shot.params)) if np.isfinite(shot.params).all() else expr
        length = description_length(shot, [fitted], clean=self.course.clean)
        length += FORM_PRICE * self.known.tokens(fitted, self.course.runs.time)
        rate = Rate(fitted, source, length, shot.reduced)
        (self.rates if self.known.allows(fitted) else self.refused)[key] = rate
        return rate

    def _equations(self, form: Expr) -> list[Expr]:
        """The rates that are integrated: this one, and that of the position if it is the rate of a velocity."""
        return [form] if len(self.active) == 1 else [Var(self.state), form]

    def refine(self, library: Library) -> None:
        """Best subsets of a library in the trajectories of its best candidate."""
        known = [rate for rate in self.ranked() if rate.source == library.name and np.isfinite(rate.length)]
        if not known:
            return
        best = min(known[:6], key=lambda rate: rate.reduced * (1.0 + 0.02 * len(terms_of(rate.expr))))
        current = dict((term, factor) for factor, term in terms_of(best.expr))
        if library.name.startswith(DRIVEN):
            self._refine_driven(best.expr, library)
            return
        always = [term for term in current if self.known.form and self.known.form.holds(term)]
        terms = list(dict.fromkeys([*always, *current, *library.terms, *self.libraries[0].terms]))
        if len(terms) > library.n_always:
            self.try_all(self.tangent_subsets(terms, current, len(always)), library.name)

    def _refine_driven(self, expr: Expr, library: Library) -> None:
        """The same with waves of the frequencies as they are fitted now, cosine and sine as terms of their own."""
        current = dict((term, factor) for factor, term in split(terms_of(expr), self.time))
        plain = [term for term in library.terms if self.time not in variables(term)]
        factors = dict.fromkeys(wave_of(term, self.time) for term in library.terms)
        tones = frequencies_of(expr, self.time)
        waves = [w for tone in tones for f in factors if f is not None for w in pair(tone, f, self.time)]
        always = [term for term in current if self.known.form and self.known.form.holds(term)]
        terms = list(dict.fromkeys([*always, *current, *plain, *waves]))
        found = self.tangent_subsets(terms, current, len(always))
        self.try_all((sum_of(merged(terms_of(rate), self.time)) for rate in found), library.name)

    def tangent_subsets(self, terms: Sequence[Expr], current: dict[Expr, float], n_always: int = 0) -> list[Expr]:
        form = total([product([Param(i), term]) for i, term in enumerate(terms)])
        params = np.array([current.get(term, 0.0) for term in terms])
        linear = tangent(self.course, self._equations(form), params, states=self.active, cut=self.cut)
        if linear is None:
            return []
        columns, target = linear
        subsets = _chosen(columns, target, n_always)
        ranked = by_codelength(subsets, len(target), len(terms), floor=self._floor(len(target)))[:6]
        return [_written(subset, terms) for subset in ranked]

    def _floor(self, n: int) -> float:
        return float(n) if self.course.clean else 0.0

    def _subsets(self, library: Library) -> list[Expr]:
        rows, n_rows = self.rows, self.n_rows
        columns = rows.columns(library.terms, self.course.tables)
        subsets = _chosen(columns, rows.target, library.n_always)
        chosen = by_codelength(subsets, n_rows, len(library.terms), floor=self._floor(len(rows.target)))[:BY_LENGTH]
        best = {s.size: s for s in reversed(subsets)}
        chosen += [best[size] for size in sorted(best)[:BY_SIZE]]
        return [_written(subset, library.terms) for subset in chosen]

    def _grouped(self, library: Library) -> list[Expr]:
        """The best few values of the inner constant with their subsets; the constant is fitted later."""
        rows, n_rows = self.rows, self.n_rows
        common = rows.columns(library.terms, self.course.tables)
        found: list[tuple[float, Expr]] = []
        small: dict[tuple[int, ...], tuple[float, Expr]] = {}
        for group in library.groups:
            if self.deadline.expired():
                break
            own = finite_terms(group, self.course.tables)
            if not own:
                continue
            columns = np.column_stack([common, rows.columns(own, self.course.tables)])
            terms = (*library.terms, *own)
            subsets = _chosen(columns, rows.target, library.n_always, size=4, beam=8, keep=1)
            subsets = [s for s in subsets if s.columns[-1] >= len(library.terms)]
            for subset in subsets:
                short = subset.size <= (SMALL_CLEAN if self.course.clean else SMALL)
                if short and subset.loss < small.get(subset.columns, (math.inf, None))[0]:
                    small[subset.columns] = subset.loss, _written(subset, terms)
            for subset in by_codelength(subsets, n_rows, len(terms), floor=self._floor(len(rows.target)))[:2]:
                price = subset_codelength(subset.loss, n_rows, subset.size, len(terms))
                found.append((price, _written(subset, terms)))
        # The grid is coarse: a short rate shows how good it is once its inner constant is fitted.
        ranked = [expr for _, expr in sorted(found, key=lambda pair: pair[0])[:BY_LENGTH]]
        return [*ranked, *(self._shortest(small) if self._is_open() else ())]

    def _is_open(self) -> bool:
        """May a short rate with an inner constant still be the better description?"""
        if not self.rates or self.is_poor():
            return True
        return not self.is_exact() if self.course.clean else len(terms_of(self.ranked()[0].expr)) > SMALL

    def _shortest(self, small: dict[tuple[int, ...], tuple[float, Expr]]) -> list[Expr]:
        """Of every size the best sets of terms, each with its best value of the inner constant."""
        found: list[Expr] = []
        for size in sorted({len(columns) for columns in small}):
            alike = sorted((pair for columns, pair in small.items() if len(columns) == size), key=lambda pair: pair[0])
            found += [expr for _, expr in alike[: SETS_CLEAN if self.course.clean else SETS]]
        return found


def _chosen(
    columns: Floats, y: Floats, n_always: int, size: int = MAX_SIZE, beam: int = 25, keep: int = 2
) -> list[Subset]:
    """Best subsets that hold the first few columns."""
    if n_always == columns.shape[1]:
        coefficients = np.asarray(np.linalg.lstsq(columns, y, rcond=None)[0], dtype=np.float64)
        return [Subset(tuple(range(n_always)), coefficients, float(np.sum((y - columns @ coefficients) ** 2)))]
    try:
        return best_subsets(columns, y, max_size=n_always + size, beam=beam, keep=keep, always=range(n_always))
    except ValueError:  # known terms that these data cannot tell apart
        return []


def _written(subset: Subset, terms: Sequence[Expr]) -> Expr:
    return sum_of([(float(c), terms[i]) for i, c in zip(subset.columns, subset.coefficients)])
