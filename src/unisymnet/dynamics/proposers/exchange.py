"""Systems near a fitted one: best subsets of all terms of all equations in its linearised trajectories.

A term that leaves one equation and enters another with the same coefficient (a reaction, a meal, a flow from tank to
tank) is one column here: two equations then change at once, for the price of one constant.  One by one neither
change pays where the rest has settled around the missing term.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...arrays import Floats
from ...fit.subset import Subset, best_subsets, by_codelength
from ...symbolic.expr import Expr, Param, product, total
from ..course import Course
from ..rate import Candidate, sum_of, terms_of
from ..shooting import tangent

MAX_TANGENT = 110  # columns in the linearised trajectories
MAX_FLOWS = 60  # terms that pass from one equation into another
LARGEST = 24  # terms of a system
ADDED = 2  # columns added to a system as it is

Place = tuple[int, Expr]  # an equation and a term


@dataclass(frozen=True)
class _Columns:
    """What a subset is chosen from: column i is ``places[i]``, terms that enter with ``signs[i]``."""

    places: tuple[tuple[Place, ...], ...]
    table: Floats
    target: Floats

    def __len__(self) -> int:
        return len(self.places)

    def part(self, chosen: Sequence[int]) -> _Columns:
        return _Columns(tuple(self.places[i] for i in chosen), self.table[:, list(chosen)], self.target)

    def terms(self, subset: Subset) -> dict[int, dict[Expr, float]]:
        """Coefficients by equation and term; the second place of a flow has the opposite sign."""
        found: dict[int, dict[Expr, float]] = {}
        for i, coefficient in zip(subset.columns, subset.coefficients):
            for sign, (k, term) in zip((1.0, -1.0), self.places[i]):
                own = found.setdefault(k, {})
                own[term] = own.get(term, 0.0) + sign * float(coefficient)
        return found


def exchanged(
    course: Course, fixed: Mapping[int, Expr], best: Candidate, pools: Sequence[Sequence[Expr]]
) -> list[list[Expr]]:
    """Systems made of the candidate's terms and those of the pools, one pool for each equation."""
    free = [k for k in range(course.n_states) if k not in fixed]
    current = {k: {term: factor for factor, term in terms_of(best.exprs[k])} for k in free}
    every = _linearised(course, fixed, best, current, pools) if free else None
    if every is None:
        return []
    floor = float(len(every.target)) if course.clean else 0.0
    n_single = sum(len(places) == 1 for places in every.places)
    used = [i for i in range(n_single) if every.places[i][0][1] in current[every.places[i][0][0]]]
    size = min(len(used) + 3, LARGEST)
    singles = every.part(range(n_single))
    found = _chosen(singles, size, 4, floor, beam=20)
    if len(every) > n_single:
        found += _chosen(every, size, 2, floor, beam=20)
    # The system as it is and a little more: its own terms first, so that they can be held.
    rest = [i for i in range(len(every)) if i not in used]
    found += _chosen(every.part([*used, *rest]), len(used) + ADDED, 3, floor, held=len(used))
    for k in free:  # one equation anew, the others as they are
        held = [i for i in used if every.places[i][0][0] != k]
        own = [i for i in range(n_single) if every.places[i][0][0] == k]
        found += _chosen(every.part([*held, *own]), len(held) + 6, 3, floor, held=len(held))
    systems = []
    for terms in found:
        rates = [sum_of([(c, term) for term, c in terms.get(k, {}).items() if c]) for k in free]
        if all(any(terms.get(k, {}).values()) for k in free):  # no equation may be empty
            systems.append([fixed[k] if k in fixed else rates[free.index(k)] for k in range(course.n_states)])
    return systems


def _linearised(
    course: Course,
    fixed: Mapping[int, Expr],
    best: Candidate,
    current: Mapping[int, Mapping[Expr, float]],
    pools: Sequence[Sequence[Expr]],
) -> _Columns | None:
    """Columns of all terms, then of those that can pass from one equation into another."""
    room = max(MAX_TANGENT // len(current), 8)
    terms = {k: list(dict.fromkeys([*own, *pools[k]]))[: max(room, len(own))] for k, own in current.items()}
    places = [(k, term) for k in current for term in terms[k]]
    params = np.array([current[k].get(term, 0.0) for k, term in places])
    forms = [
        fixed[k] if k in fixed else total([product([Param(i), t]) for i, (own, t) in enumerate(places) if own == k])
        for k in range(course.n_states)
    ]
    cut = course.cut(best.n_segments, least=6)
    linear = tangent(course, forms, params, cut=cut, starts=best.shot.starts)
    if linear is None:
        return None
    columns, target = linear
    number = {place: i for i, place in enumerate(places)}
    flows = [
        (number[a, term], number[b, term])
        for term in dict.fromkeys(term for _, term in places)
        for a, b in combinations(current, 2)
        if (a, term) in number and (b, term) in number
    ][:MAX_FLOWS]
    both = [columns[:, i] - columns[:, j] for i, j in flows]
    named = [*((place,) for place in places), *((places[i], places[j]) for i, j in flows)]
    return _Columns(tuple(named), np.column_stack([columns, *both]), target)


def _chosen(
    columns: _Columns, size: int, count: int, floor: float, *, held: int = 0, beam: int = 15
) -> list[dict[int, dict[Expr, float]]]:
    """The shortest descriptions by subsets that hold the first few columns."""
    table, target = columns.table, columns.target
    try:
        subsets = best_subsets(table, target, max_size=size, beam=beam, keep=2, always=range(held))
    except ValueError:  # terms that the trajectories cannot tell apart
        return []
    return [columns.terms(s) for s in by_codelength(subsets, len(target), len(columns), floor=floor)[:count]]
