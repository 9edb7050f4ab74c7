"""From the best candidate to a `System`: its constants with ±, and what the data leave open in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..formula.constants import Constant, free, simple_name
from ..symbolic.expr import Call, Const, Expr, Param, bind, call, rebuild, total, variables
from .choose import SystemSearch
from .course import Course
from .doubts import fit_notes, flat_notes, rival_notes
from .equations.system import System
from .program import free_system
from .rate import LEAST_LEFT, Candidate, shown
from .shooting import Shot, shoot
from .ties import find_ties


def finished(course: Course, search: SystemSearch, best: Candidate) -> System:
    """The system in the form that a person likes, with the errors of its constants and all that is to be said."""
    found = as_system(course, best, *_tied(search, best))
    formulas = [search.known.dressed(formula, k) for k, formula in enumerate(found.formulas)]
    found = replace(found, constants=tuple(formula.constants for formula in formulas))
    late = (
        ["time ran out before everything was tried; a longer max_time may find a better system"] if search.late else []
    )
    return found.with_notes(*late, *rival_notes(course, search, best), *search.known.notes(found.exprs))


def as_system(
    course: Course,
    best: Candidate,
    equations: tuple[Expr, ...],
    shot: Shot,
    errors: Mapping[float, float] | None = None,
) -> System:
    """A candidate as a user holds it; ``errors`` are those of constants that this fit has not moved."""
    known = {abs(float(value)): float(error) for value, error in zip(shot.params, shot.errors())} | dict(errors or {})
    exprs = tuple(shown(_within_a_turn(expr, course.n_columns - 1, known)) for expr in equations)
    constants = tuple(tuple(_constant(value, known) for value in free(expr)[1]) for expr in exprs)
    values = np.concatenate([table[:, : course.n_states] for table in course.tables])
    start = shot.starts[0] if np.isfinite(shot.starts[0]).all() else course.curves[0]
    return System(
        exprs,
        course.names[: course.n_states],
        course.runs.inputs,
        course.runs.time,
        constants,
        tuple((float(low), float(high)) for low, high in zip(values.min(axis=0), values.max(axis=0))),
        tuple(float(value) for value in start),
        notes(course, best, shot),
    )


def _within_a_turn(expr: Expr, time: int, errors: dict[float, float]) -> Expr:
    """Phases of waves of the time between -π and π, where years as times leave them at hundreds; with their errors."""

    def turned(node: Expr) -> Expr:
        if not (isinstance(node, Call) and node.op in ("sin", "cos") and time in variables(node)):
            return node
        angle = node.args[0]
        if not (isinstance(angle, Call) and angle.op in ("add", "sub")):
            return node
        parts = list(angle.args)
        if angle.op == "sub":
            parts[1] = Const(-parts[1].value) if isinstance(parts[1], Const) else -parts[1]
        for i, part in enumerate(parts):
            if isinstance(part, Const) and abs(part.value) > math.pi:
                phase = math.remainder(part.value, 2.0 * math.pi)
                if abs(part.value) in errors:
                    errors[abs(phase)] = errors[abs(part.value)]
                parts[i] = Const(phase)
        return call(node.op, total(parts))

    return rebuild(expr, turned)


def _tied(search: SystemSearch, best: Candidate) -> tuple[tuple[Expr, ...], Shot]:
    """The equations with constants tied where that shortens the description, fitted again."""
    course, known = search.course, search.known
    forms, params = free_system(best.exprs)
    ties = find_ties(best.shot, 1.0 if course.clean else LEAST_LEFT, known.units_of(best.exprs))
    if not (ties.units or ties.pairs) or len(params) != len(best.shot.params):
        return best.exprs, best.shot
    stands: dict[int, Expr] = {i: Const(math.copysign(1.0, params[i])) for i in ties.units}
    for i, j in ties.pairs:
        stands[i] = Param(j) if params[i] * params[j] > 0.0 else -Param(j)
    left = [i for i in range(len(params)) if i not in stands]
    number = {i: place for place, i in enumerate(left)}

    def change(node: Expr) -> Expr:
        return Param(number[node.index]) if isinstance(node, Param) else node

    def replaced(node: Expr) -> Expr:
        return stands.get(node.index, node) if isinstance(node, Param) else node

    for _ in stands:  # a constant may be tied to one that is tied itself
        forms = [rebuild(form, replaced) for form in forms]
    fewer = [rebuild(form, change) for form in forms]
    cut = course.cut(best.n_segments, least=6)
    until = search.deadline.whole()
    shot = shoot(course, fewer, params[left], cut=cut, starts=best.shot.starts, deadline=until, least_trials=0)
    if not shot.chi2 < best.shot.chi2 + 2.0 * max(best.shot.reduced, LEAST_LEFT) * (
        len(stands) * math.log(best.shot.n)
    ):
        return best.exprs, best.shot
    return tuple(bind(form, tuple(shot.params)) for form in fewer), shot


def _constant(value: float, known: dict[float, float]) -> Constant:
    """A constant as it is shown, with the error of the fitted one that it is, or whose inverse it is."""
    for fitted, error in known.items():
        if math.isclose(abs(value), fitted, rel_tol=1e-12) and math.isfinite(error):
            return Constant(value, value, error, simple_name(value))
    for fitted, error in known.items():
        if fitted and math.isclose(abs(value), 1.0 / fitted, rel_tol=1e-9) and math.isfinite(error):
            return Constant(value, value, error / fitted**2, simple_name(value))
    return Constant(value, snapped_to=simple_name(value))


def notes(course: Course, best: Candidate, shot: Shot) -> tuple[str, ...]:
    """What a reader should know before trusting the system."""
    found = [*course.runs.notes, *fit_notes(course, shot)]
    if best.n_segments > 1:
        found.append(
            f"no single start follows a whole run, so the data were fitted in {len(best.shot.starts)} stretches, each "
            "with its own start (chaos, a missing term, or noise)"
        )
    return (*found, *flat_notes(shot))
