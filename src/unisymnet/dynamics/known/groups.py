"""Runs of several groups: one form for all of them, and constants of their own where the data ask for it.

Forms are searched in the largest groups and in all runs together; each is fitted to every group alone.  Which constants
all groups share is decided by the shortest description, near the optimum of every group, where χ² is a parabola whose
shape the fit knows; the others are then fitted again with the shared ones held.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arrays import Floats
from ...deadline import Deadline
from ...errors import DataError
from ...knowledge.group.joint import scaled_inverse
from ...symbolic.expr import Const, Expr, Param, bind, rebuild
from ..choose import SystemSearch
from ..course import Course
from ..equations.system import System
from ..find import Found
from ..finish import as_system
from ..program import free_system
from ..rate import LEAST_LEFT, Candidate, form_price
from ..shooting import shoot
from ..trajectory import Runs

SEARCHED = 2  # groups that are searched alone
FORMS = 4  # forms that are fitted to all groups
SHARE = 0.7  # of the time, for the searches


@dataclass(frozen=True)
class Grouped:
    """One form on all groups: systems by group, which constants are shared, and the search that found the form."""

    systems: dict[str, System]
    courses: dict[str, Course]
    shared: tuple[float, ...]
    own: dict[str, tuple[float, ...]]
    found: Found

    def notes(self, runs: Runs) -> list[str]:
        """Which constants are whose."""
        shared = ", ".join(f"{value:.4g}" for value in self.shared) or "none"
        lines = [f"{len(self.systems)} groups with one form; constants shared by all: {shared}"]
        for mark, values in self.own.items():
            lines.append(f"constants of {mark} alone: {', '.join(f'{value:.4g}' for value in values) or 'none'}")
        return [*runs.notes, *lines]


def group_labels(runs: Runs, groups: Any, data: Any, trajectory: Any) -> dict[str, str]:
    """The group of every run, by the run's name."""
    if isinstance(groups, str):
        columns = {str(name): name for name in data} if hasattr(data, "keys") else {}
        if groups not in columns:
            raise DataError(f"groups: there is no column {groups!r}")
        marks = np.asarray(data[columns[groups]])
        names = marks if trajectory is None else np.asarray(data[columns[str(trajectory)]])
        found: dict[str, str] = {}
        for name, mark in zip(names.tolist(), marks.tolist()):
            if found.setdefault(str(name), str(mark)) != str(mark):
                raise DataError(f"groups: the run {name!r} belongs to two groups, {found[str(name)]} and {mark}")
    else:
        found = {str(number): str(mark) for number, mark in enumerate(groups)}
    missing = [run.name for run in runs.trajectories if run.name not in found]
    if missing:
        raise DataError(f"groups: one label for each run is needed; run {missing[0] or 1} has none")
    return found


def fit_groups(
    runs: Runs,
    labels: Mapping[str, str],
    make: Callable[[Runs], Course],
    search: Callable[[Course, Deadline], Found],
    deadline: Deadline,
) -> Grouped:
    """The form that describes all groups best, with its constants."""
    parts: dict[str, Runs] = {}
    for mark in dict.fromkeys(labels[run.name] for run in runs.trajectories):
        own = tuple(run for run in runs.trajectories if labels[run.name] == mark)
        parts[mark] = replace(runs, trajectories=own, notes=())
    courses = {mark: make(part) for mark, part in parts.items()}
    largest = sorted(courses, key=lambda mark: -parts[mark].n_points)[:SEARCHED]
    sources = [courses[mark] for mark in largest] + ([make(runs)] if len(courses) > 1 else [])
    every: list[Found] = []
    for place, course in enumerate(sources):
        seconds = SHARE * deadline.remaining() / (len(sources) - place)
        every.append(search(course, deadline.sooner(seconds)))
    forms: dict[tuple[Expr, ...], tuple[Candidate, Found]] = {}
    for rank in range(FORMS):
        for found in every:
            if rank < len(found.systems):
                candidate = found.systems[rank]
                forms.setdefault(candidate.forms, (candidate, found))
    best: tuple[float, _Shared, Found] | None = None
    for candidate, found in list(forms.values())[: FORMS + 1]:
        if best is not None and deadline.expired():
            break
        shared = _fitted(candidate, courses, found, deadline)
        if shared is not None and (best is None or shared.length < best[0]):
            best = shared.length, shared, found
    if best is None:
        raise DataError("no form could be integrated along the runs of every group; look at the groups one by one")
    return _finished(best[1], courses, best[2], deadline)


@dataclass(frozen=True)
class _Shared:
    fits: dict[str, Candidate]
    shared: tuple[int, ...]
    values: Floats
    errors: Floats
    length: float


def _fitted(candidate: Candidate, courses: Mapping[str, Course], found: Found, deadline: Deadline) -> _Shared | None:
    """Every group alone, then as many constants shared as shortens the description."""
    fits: dict[str, Candidate] = {}
    for mark, course in courses.items():
        search = SystemSearch(course, found.search.fixed, deadline, found.search.known)
        fit = search.join(search.fit(candidate.exprs), drop=False)
        if not math.isfinite(fit.shot.chi2):
            return None
        fits[mark] = fit
    groups = list(fits.values())
    count = len(candidate.shot.params)
    whole = math.log(max(sum(fit.shot.n for fit in groups), 2))
    apart = sum(_data_length(fit) for fit in groups) + form_price(candidate.exprs)

    def length(shared: Sequence[int]) -> float:
        own = sum(0.5 * math.log(max(fit.shot.n, 2)) for fit in groups) * (count - len(shared))
        return apart + 0.5 * _together(groups, shared)[2] + own + 0.5 * whole * len(shared)

    shared: list[int] = []
    least = length(shared)
    while len(shared) < count:
        trials = {i: length([*shared, i]) for i in range(count) if i not in shared}
        i = min(trials, key=trials.__getitem__)
        if not trials[i] < least:
            break
        least, shared = trials[i], [*shared, i]
    values, errors, _ = _together(groups, shared)
    return _Shared(fits, tuple(shared), values, errors, least)


def _data_length(fit: Candidate) -> float:
    """Nats of the values alone, and of the starts."""
    n = max(fit.shot.n, 2)
    return 0.5 * n * math.log(max(fit.shot.reduced, LEAST_LEFT)) + 0.5 * fit.shot.starts.size * math.log(n)


def _together(groups: Sequence[Candidate], shared: Sequence[int]) -> tuple[Floats, Floats, float]:
    """Best values of the shared constants, their errors, and by how much χ² (in units of the noise) grows."""
    if not shared:
        return np.empty(0), np.empty(0), 0.0
    chosen = list(shared)
    matrices, means = [], []
    for fit in groups:
        spread = max(fit.shot.reduced, LEAST_LEFT)
        rest = [i for i in range(len(fit.shot.params)) if i not in chosen]
        information = fit.shot.information / spread
        cross = information[np.ix_(rest, chosen)]
        inner = scaled_inverse(information[np.ix_(rest, rest)])
        matrices.append(information[np.ix_(chosen, chosen)] - cross.T @ inner @ cross)
        means.append(fit.shot.params[chosen])
    total = scaled_inverse(np.sum(matrices, axis=0))
    values = total @ np.sum([matrix @ mean for matrix, mean in zip(matrices, means)], axis=0)
    grown = sum(float((mean - values) @ matrix @ (mean - values)) for matrix, mean in zip(matrices, means))
    return values, np.sqrt(np.maximum(np.diag(total), 0.0)), grown


def _held(form: Expr, values: Mapping[int, Expr]) -> Expr:
    return rebuild(form, lambda node: values[node.index] if isinstance(node, Param) else node)


def _finished(best: _Shared, courses: Mapping[str, Course], found: Found, deadline: Deadline) -> Grouped:
    """Own constants fitted again with the shared ones held."""
    systems: dict[str, System] = {}
    own: dict[str, tuple[float, ...]] = {}
    errors = {abs(float(value)): float(error) for value, error in zip(best.values, best.errors)}
    for mark, fit in best.fits.items():
        course = courses[mark]
        forms, values = free_system(fit.exprs)
        left = [i for i in range(len(values)) if i not in best.shared]
        held: dict[int, Expr] = {i: Const(float(value)) for i, value in zip(best.shared, best.values)}
        held |= {i: Param(place) for place, i in enumerate(left)}
        fewer = [_held(form, held) for form in forms]
        cut = course.cut(fit.n_segments, least=6)
        shot = shoot(course, fewer, values[left], cut=cut, starts=fit.shot.starts, deadline=deadline)
        exprs = tuple(bind(form, tuple(shot.params)) for form in fewer)
        system = as_system(course, fit, exprs, shot, errors)
        dressed = [found.search.known.dressed(formula, k) for k, formula in enumerate(system.formulas)]
        systems[mark] = replace(system, constants=tuple(formula.constants for formula in dressed))
        own[mark] = tuple(float(value) for value in shot.params)
    return Grouped(systems, dict(courses), tuple(float(v) for v in best.values), own, found)
