"""From the best candidate to a `System`: its constants with ±, and what the data leave open in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..formula.constants import Constant, simple_name
from ..symbolic.expr import Expr, bind
from ..symbolic.rewrite.simplify import present
from .choose import SystemSearch
from .course import Course
from .program import free_system
from .rate import Candidate
from .system import System

Floats = NDArray[np.float64]

NEAR = 2.0  # standard errors within which a simple number is as good
FAR = 3.0  # χ² per value beyond which the system does not explain the data
FLAT = 1.0  # a relative error of a constant beyond which the data do not tell it


def finished(course: Course, search: SystemSearch, best: Candidate) -> System:
    """The system in the form that a person likes, with the errors of its constants."""
    exprs = tuple(_shown(expr) for expr in best.exprs)
    forms = free_system(exprs)[0]
    refit = search.fit(exprs, best.n_segments)
    same = np.isfinite(refit.shot.chi2) and refit.shot.chi2 <= best.shot.chi2 * 1.01 + 1e-9
    if not same:
        exprs, refit = best.exprs, best
        forms = free_system(exprs)[0]
    fitted, errors = refit.shot.params, refit.shot.errors()
    exprs = tuple(bind(form, tuple(fitted)) for form in forms)
    counts = [len(free_system([expr])[1]) for expr in exprs]
    constants: list[tuple[Constant, ...]] = []
    start = 0
    for count in counts:
        own = range(start, start + count)
        constants.append(tuple(_constant(float(fitted[i]), float(errors[i])) for i in own))
        start += count
    runs = course.runs
    states = course.names[: course.n_states]
    values_ = np.concatenate([table[:, : course.n_states] for table in course.tables])
    return System(
        exprs,
        states,
        runs.inputs,
        runs.time,
        tuple(constants),
        tuple((float(low), float(high)) for low, high in zip(values_.min(axis=0), values_.max(axis=0))),
        tuple(float(value) for value in course.curves[0]),
        notes(course, refit, errors),
    )


def _constant(value: float, error: float) -> Constant:
    known = math.isfinite(error)
    return Constant(value, value if known else None, error if known else None, simple_name(value))


def _shown(expr: Expr) -> Expr:
    try:
        return present(expr)
    except (ValueError, RecursionError):
        return expr


def notes(course: Course, best: Candidate, errors: Sequence[float] | Floats) -> tuple[str, ...]:
    """What a reader should know before trusting the system."""
    found = list(course.runs.notes)
    shot = best.shot
    if not math.isfinite(shot.chi2):
        found.append("no candidate could be integrated along the data; the equations are those that fit the rates best")
    elif not course.clean and shot.reduced > FAR:
        found.append(
            f"the system leaves {shot.reduced:.3g} times the variance of the noise: a term or a state is missing"
        )
    n_runs = len(course.smooths)
    if best.n_segments > 1:
        found.append(
            f"no single start follows a whole run: the fit uses {best.n_segments} pieces of each of {n_runs} runs "
            "(chaos, a missing term, or noise)"
        )
    values = np.abs(shot.params)
    flat = int(np.sum(~(np.asarray(errors) < FLAT * np.maximum(values, 1e-300))))
    if flat:
        found.append(
            f"{flat} of {len(values)} constants have errors as large as themselves; a run from another start would tell"
        )
    return tuple(found)
