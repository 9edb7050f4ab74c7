"""How well a system follows whole runs: R² of simulations from one start for each run, fitted to that run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from .course import Course
from .equations.system import System
from .shooting import shoot
from .smoothing import smooth_all
from .trajectory import Runs

SECONDS = 10.0  # for the simulation of one run


def score_runs(parts: Sequence[tuple[System, Runs]]) -> float:
    """R² over all measured values: every state counts by its own variance, whatever its unit."""
    shares = [_shares(system, runs) for system, runs in parts]
    left, total = (np.sum([pair[i] for pair in shares], axis=0) for i in range(2))
    if not np.isfinite(left).all() or not (total > 0.0).any():
        return float("-inf")
    moved = total > 0.0  # what never changes tells nothing
    return float(1.0 - np.mean(left[moved] / total[moved]))


def _shares(system: System, runs: Runs) -> tuple[Floats, Floats]:
    """What the simulations leave of every state, and its spread: sums of squares."""
    left, total = np.zeros(len(runs.states)), np.zeros(len(runs.states))
    for run in runs.trajectories:
        good = np.isfinite(run.x)
        found = followed(system, Runs((run,), runs.time, runs.states, runs.inputs))
        gap = np.where(good, np.where(np.isfinite(found), found - run.x, np.inf), 0.0)
        left += np.sum(gap**2, axis=0)
        total += np.nansum((run.x - np.nanmean(run.x, axis=0)) ** 2, axis=0)
    return left, total


def followed(system: System, runs: Runs) -> Floats:
    """The one run of ``runs`` as the system sees it, from the start that suits it best: (n, d) measured states."""
    run = runs.trajectories[0]
    d = len(runs.states)
    drive = run.u if run.u.shape[1] else None
    best, least = np.full_like(run.x, np.nan), np.inf
    for start in _starts(system, runs):
        found = system.simulate(start, run.t, drive, max_seconds=SECONDS)[:, :d]
        gap = (found - run.x) / np.nanstd(run.x, axis=0).clip(min=1e-300)
        chi2 = float(np.nansum(gap**2)) if np.isfinite(found).all() else np.inf
        if chi2 < least:
            best, least = found, chi2
    return best


def _starts(system: System, runs: Runs) -> list[Floats]:
    """The smoothed start, and the same fitted to the whole run."""
    smooths, noises = smooth_all(list(runs.trajectories))
    course = Course(runs, tuple(smooths), tuple(noises), len(system.states) // len(runs.states))
    shot = shoot(course, system.exprs, np.empty(0), cut=course.cut(1))  # constants as they are
    return [course.curves[0], *(shot.starts if np.isfinite(shot.starts).all() else [])]
