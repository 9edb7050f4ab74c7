"""Constants fitted in the trajectory: Levenberg-Marquardt over constants and the start of every segment.

Segments start where the data say, not where the last one ended, so that a poor first guess or a chaotic system does
not spoil the fit; fewer and longer segments then make the constants sharp.  The starts are eliminated segment by
segment (Schur's complement), so the cost is that of the constants alone.  Derivatives are exact (integrate.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..deadline import Deadline, now
from ..symbolic.expr import Expr
from .course import Course
from .integrate import Accuracy, Cut, integrate
from .program import compile_system

MAX_TRIALS, MIN_TRIALS = 40, 6


@dataclass(frozen=True)
class Shot:
    """A fitted system: constants, starts of the segments, χ² over ``n`` values, covariance of the constants.

    ``chi2`` is inf if a trajectory was lost from the beginning.
    """

    params: Floats
    starts: Floats
    chi2: float
    n: int
    information: Floats
    left: Floats  # (n, d): model minus data over the noise; 0 where nothing was measured
    cut_short: bool = False  # by the clock, before the constants had moved far enough to be compared with others

    @property
    def reduced(self) -> float:
        return self.chi2 / max(self.n, 1)

    def errors(self) -> Floats:
        """Standard errors of the constants, scaled by what the fit leaves; inf along flat directions."""
        if not len(self.params) or not self.information.any():
            return np.full(len(self.params), np.inf)
        scale = np.sqrt(np.maximum(np.diag(self.information), 1e-300))
        parts = spectrum(self.information / np.outer(scale, scale))
        if parts is None:
            return np.full(len(self.params), np.inf)
        values, vectors = parts
        with np.errstate(divide="ignore"):
            inverse = np.where(values > 1e-13, 1.0 / values, np.inf)
            spread = np.where(np.abs(vectors) > 1e-7, vectors**2, 0.0)
            variance = np.sum(np.where(spread > 0.0, spread * inverse, 0.0), axis=1)
        return np.sqrt(variance * max(self.reduced, 1e-300)) / scale


def spectrum(matrix: Floats) -> tuple[Floats, Floats] | None:
    """Eigenvalues and vectors; None where there are none, as after rounding has left a diagonal of nothing."""
    try:
        values, vectors = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        return None
    return (values, vectors) if np.isfinite(values).all() else None


@dataclass
class _Point:
    params: Floats
    starts: Floats
    chi2: float
    states: Floats
    wide: Floats


def shoot(
    course: Course,
    forms: Sequence[Expr],
    params: Floats,
    *,
    states: Sequence[int] | None = None,
    cut: Cut | None = None,
    starts: Floats | None = None,
    max_trials: int = MAX_TRIALS,
    deadline: Deadline | None = None,
    enough: float = 0.0,
    least_trials: int = MIN_TRIALS,
) -> Shot:
    """Fit ``params`` of the equations ``forms``, those of ``states`` (default: all); other states come from the curves.

    Ends early when χ² per value falls below ``enough``, and after ``least_trials`` when the time is up: constants that
    were not fitted at all would be compared with those that were. When the time of the whole search is up, it ends at
    once.
    """
    range_ = _Range(course, forms, len(params), states, cut, deadline)
    here = range_.point(params, starts)
    if not np.isfinite(here.chi2):
        return range_.shot(here)
    damping, rise = 1e-3, 2.0
    floor = enough * range_.n
    for trial_number in range(max_trials):
        if here.chi2 <= floor:
            break
        if range_.late(trial_number >= least_trials):
            return range_.shot(here, cut_short=trial_number < MIN_TRIALS)
        system = range_.system(here)
        settled = False
        while True:
            step, starts_step, hoped = range_.step(system, damping)
            if step is None:
                settled = True
                break
            trial = range_.point(here.params + step, here.starts + starts_step)
            gain = here.chi2 - trial.chi2
            if np.isfinite(trial.chi2) and gain > 0.0:
                damping = max(damping * (0.1 if gain > 0.5 * hoped else 0.5), 1e-12)
                rise = 2.0
                settled = gain < 1e-5 * here.chi2 or (gain < 1e-3 and trial.chi2 < 2.0 * range_.n)
                here = trial
                break
            damping, rise = damping * rise, 2.0 * rise
            if range_.late(trial_number >= least_trials):
                return range_.shot(here, cut_short=trial_number < MIN_TRIALS)
            if damping > 1e9 or hoped < 1e-7 * here.chi2:
                settled = True
                break
        if settled:
            break
    return range_.shot(here)


def tangent(
    course: Course,
    forms: Sequence[Expr],
    params: Floats,
    *,
    states: Sequence[int] | None = None,
    cut: Cut | None = None,
    starts: Floats | None = None,
) -> tuple[Floats, Floats] | None:
    """Columns J and a target y such that J p = y, in the least-squares sense, are the constants of a linearised fit.

    Rows are measured values over their noise, which is independent, with everything that a change of the segments'
    starts could do taken out.  None if a trajectory is lost.
    """
    range_ = _Range(course, forms, len(params), states, cut)
    point = range_.point(params, starts)
    if not np.isfinite(point.chi2):
        return None
    d = len(range_.active)
    jacobian = point.wide * range_.weights[:, :, None]
    columns, targets = [], []
    for a, b in zip(range_.cut.firsts, range_.cut.lasts):
        rows = jacobian[a:b].reshape(-1, jacobian.shape[2])
        target = rows[:, d:] @ params - point.states[a:b].ravel()
        both = np.column_stack([rows[:, d:], target])
        basis = np.linalg.qr(rows[:, :d])[0]
        both = both - basis @ (basis.T @ both)
        columns.append(both[:, :-1])
        targets.append(both[:, -1])
    found, target = np.concatenate(columns), np.concatenate(targets)
    return (found, target) if np.isfinite(found).all() and np.isfinite(target).all() else None


class _Range:
    """What stays the same during one fit."""

    def __init__(
        self,
        course: Course,
        forms: Sequence[Expr],
        n_params: int,
        states: Sequence[int] | None,
        cut: Cut | None,
        deadline: Deadline | None = None,
    ) -> None:
        self.course, self.cut, self.deadline = course, cut or course.cut(1), deadline
        self.program = compile_system(forms, course.n_columns, n_params)
        self.active = active = np.array(range(course.n_states) if states is None else states, dtype=np.int64)
        data = course.data[:, active]
        self.seen = np.isfinite(data)
        self.data = np.where(self.seen, data, 0.0)
        self.weights = np.where(self.seen, 1.0 / course.deviation[:, active], 0.0)
        self.n = int(self.seen.sum())
        self.scales = course.scales[active]
        # Starts are counted in powers of two near the sizes of the states: in one matrix, those of a state of 1e9 and
        # of one of 50 would drown in each other's rounding.
        self.units = np.exp2(np.round(np.log2(self.scales)))

    def point(self, params: Floats, starts: Floats | None = None) -> _Point:
        """At these constants and starts of the segments; without any, those of the curves."""
        course = self.course
        starts = course.curves[self.cut.firsts][:, self.active] if starts is None else starts
        accuracy = Accuracy(self.scales, course.tolerance)
        states, wide, lost = integrate(
            self.program, params, self.active, course.lanes, self.cut, course.times, starts, accuracy
        )
        with np.errstate(all="ignore"):
            left = (states - self.data) * self.weights
        left[~self.seen] = 0.0
        chi2 = float(np.sum(left**2)) if not lost else np.inf
        wide[:, :, : len(self.units)] *= self.units
        return _Point(params, starts, chi2 if np.isfinite(chi2) else np.inf, left, wide)

    def system(self, point: _Point) -> tuple[Floats, Floats]:
        """Normal equations of every segment: matrices (m, q, q) and right sides (m, q)."""
        jacobian = point.wide * self.weights[:, :, None]
        q = jacobian.shape[2]
        matrices, sides = np.empty((len(self.cut.firsts), q, q)), np.empty((len(self.cut.firsts), q))
        for m, (a, b) in enumerate(zip(self.cut.firsts, self.cut.lasts)):
            rows = jacobian[a:b].reshape(-1, q)
            matrices[m] = rows.T @ rows
            sides[m] = -rows.T @ point.states[a:b].ravel()
        return matrices, sides

    def step(self, system: tuple[Floats, Floats], damping: float) -> tuple[Floats | None, Floats, float]:
        """Changes of constants and starts, and by how much the linear model hopes to lower χ²."""
        matrices, sides = system
        d = len(self.active)
        if not np.isfinite(matrices).all():
            return None, np.empty(0), 0.0
        diagonal = np.einsum("mii->mi", matrices)
        ridge = damping * np.maximum(diagonal[:, :d], 1e-12 * diagonal[:, :d].max(axis=1, keepdims=True) + 1e-300)
        corner = matrices[:, :d, :d] + np.einsum("mi,ij->mij", ridge, np.eye(d))
        try:
            right = np.concatenate([matrices[:, :d, d:], sides[:, :d, None]], axis=2)
            solved = np.linalg.solve(corner, right)
            across, local = solved[:, :, :-1], solved[:, :, -1]
            whole = matrices[:, d:, d:].sum(axis=0) - np.einsum("mip,miq->pq", matrices[:, :d, d:], across)
            side = sides[:, d:].sum(axis=0) - np.einsum("mip,mi->p", matrices[:, :d, d:], local)
            scale = np.sqrt(np.maximum(np.diag(matrices[:, d:, d:].sum(axis=0)), 1e-300))
            scaled = whole / np.outer(scale, scale) + damping * np.eye(len(scale))
            step = np.linalg.lstsq(scaled, side / scale, rcond=1e-14)[0] / scale if len(scale) else np.empty(0)
        except np.linalg.LinAlgError:
            return None, np.empty(0), 0.0
        starts = local - across @ step  # in units
        both = np.concatenate([starts, np.broadcast_to(step, (len(starts), len(step)))], axis=1)
        hoped = float(2.0 * np.sum(both * sides) - np.einsum("mi,mij,mj->", both, matrices, both))
        return step, starts * self.units, hoped

    def late(self, tried: bool) -> bool:
        """Is the time up? A fit that has not ``tried`` enough yet goes on until the whole search must end."""
        if self.deadline is None:
            return False
        return self.deadline.expired() if tried else now() > self.deadline.whole().moment

    def shot(self, point: _Point, cut_short: bool = False) -> Shot:
        d = len(self.active)
        n_params = len(point.params)
        information = np.zeros((n_params, n_params))
        if np.isfinite(point.chi2):
            matrices, _ = self.system(point)
            if n_params and np.isfinite(matrices).all():
                information = matrices[:, d:, d:].sum(axis=0)
                for matrix in matrices:
                    across = _solved(matrix[:d, :d], matrix[:d, d:])
                    information = information - matrix[:d, d:].T @ across
        if not np.isfinite(information).all():
            information = np.zeros((n_params, n_params))
        return Shot(point.params, point.starts, point.chi2, self.n, information, point.states, cut_short)


def _solved(matrix: Floats, right: Floats) -> Floats:
    """Least squares; nan where the decomposition fails, which it does on numbers near overflow."""
    try:
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-13)[0])
    except np.linalg.LinAlgError:
        return np.full_like(right, np.nan)
