"""What the data do not tell, in words: rival systems and the start that would decide, flat directions, χ².

A rival has another form and a description hardly longer.  Both are simulated from starts in and around the data; the
start from which they part furthest is the run to make next.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..deadline import Deadline
from ..formula.constants import free
from ..symbolic.text import to_text
from .choose import SystemSearch
from .course import Course
from .equations.system import System, rate_name
from .rate import Candidate
from .shooting import Shot
from .smoothing import EXACT

Floats = NDArray[np.float64]

CLOSE = 3.0  # nats: odds of twenty to one
MAX_RIVALS = 2
N_STARTS, ROOM = 12, 0.5  # starts tried, and how far around the data, in their width
N_TIMES = 60
SECONDS = 2.0  # for all simulations of one rival
APART = 3.0  # times the noise from which on two runs differ
FAR, NEAR = 3.0, 0.2  # χ² per value beyond which the system, or the noise, is wrong
COARSE, SHARE_OF_SPREAD = 100.0, EXACT
FLAT = 1.0  # relative error of a combination of constants that the data do not tell
PART = 0.3  # share of a direction from which on a constant is named


def rivals(search: SystemSearch, best: Candidate) -> list[tuple[Candidate, float]]:
    """Systems of another form whose description is hardly longer, and by how many nats."""
    least = search.total(best)
    if not math.isfinite(least):
        return []
    every = {found.forms: found for found in search.seen.values() if found.forms != best.forms}
    gaps = [(other, search.total(other) - least) for other in every.values()]
    return sorted([pair for pair in gaps if pair[1] < CLOSE], key=lambda pair: pair[1])[:MAX_RIVALS]


def rival_notes(course: Course, search: SystemSearch, best: Candidate) -> list[str]:
    """One sentence for every rival, with the start that would tell."""
    found = []
    d = course.n_states
    for rival, gap in rivals(search, best):
        # Constants are numbered through, so forms of later equations may differ by numbers alone.
        changed = [k for k in range(d) if free(rival.exprs[k])[0] != free(best.exprs[k])[0]]
        texts = [f"{rate_name(course.names[k])} = {to_text(rival.exprs[k], course.names, 4)}" for k in changed]
        by = f"{max(gap, 0.0):.1f} nats longer" if gap >= 0.05 else "as short a description"
        sentence = f"these data hardly tell it from {'; '.join(texts)} ({by})"
        place = None if course.runs.inputs else deciding_start(course, best, rival)
        if place is None:
            found.append(sentence)
            continue
        start, state, share = place
        at = ", ".join(f"{name} = {value:.3g}" for name, value in zip(course.names, start))
        apart = f"{100 * share:.0f} % of the range of {course.names[state]}"
        found.append(f"{sentence}; a run from {at} would decide: there they part by {apart}")
    return found


def deciding_start(course: Course, one: Candidate, other: Candidate) -> tuple[Floats, int, float] | None:
    """The start from which two systems part furthest, in which state, and by what share of its range."""
    from scipy.stats import qmc

    d = course.n_states
    values = np.concatenate([table[:, :d] for table in course.tables])
    low, high = values.min(axis=0), values.max(axis=0)
    width = high - low
    # What is never negative is not started below zero.
    below = np.where(low >= 0.0, np.maximum(low - ROOM * width, 0.0), low - ROOM * width)
    starts = below + qmc.Halton(d, scramble=False).random(N_STARTS) * (high + ROOM * width - below)
    run = course.smooths[0].run
    times = np.linspace(float(run.t[0]), float(run.t[-1]), N_TIMES)
    noise = np.median(course.deviation, axis=0)
    best: tuple[Floats, int, float] | None = None
    deadline = Deadline.after(SECONDS)
    systems = [System(c.exprs, course.names[:d], course.runs.inputs, course.runs.time) for c in (one, other)]
    for start in starts:
        if deadline.expired():
            break
        runs = [system.simulate(start, times, rtol=1e-6, max_seconds=0.2 * SECONDS) for system in systems]
        if not all(np.isfinite(run).all() for run in runs):
            continue  # nobody can measure a run that may blow up
        distance = np.sqrt(np.mean((runs[0] - runs[1]) ** 2, axis=0))
        shares = np.where(distance > APART * noise, distance / np.where(width > 0.0, width, np.inf), 0.0)
        state = int(np.argmax(shares))
        if shares[state] > (0.0 if best is None else best[2]):
            best = start, state, float(shares[state])
    return best


def fit_notes(course: Course, shot: Shot) -> list[str]:
    """A χ² far from one."""
    if not math.isfinite(shot.chi2):
        return ["no candidate could be integrated along the data; the equations are those that fit the rates best"]
    if course.clean:
        # Clean data are known to a millionth of their spread; a fit that is ten times worse is no law of theirs.
        if shot.reduced <= COARSE:
            return []
        return [
            "the data look free of noise, but the system follows them no closer than "
            f"{100 * SHARE_OF_SPREAD * math.sqrt(shot.reduced):.2g} % of their spread: a term is missing, or something "
            "happens between two rows"
        ]
    if shot.reduced > FAR:
        return [f"the system leaves {shot.reduced:.3g} times the variance of the noise: a term or a state is missing"]
    if shot.reduced < NEAR:
        return [f"the system leaves only {shot.reduced:.2g} of the variance of the noise: the noise was overestimated"]
    return []


def flat_notes(shot: Shot) -> list[str]:
    """Combinations of constants that the data leave open, in relative changes of the constants."""
    values = shot.params
    used = np.flatnonzero(values != 0.0)
    if not len(used) or not np.isfinite(shot.information).all():
        return []
    relative = shot.information[np.ix_(used, used)] * np.outer(values[used], values[used])
    sizes, directions = np.linalg.eigh(relative)
    open_ = [k for k in range(len(used)) if sizes[k] <= max(shot.reduced, 1e-300) / FLAT**2]
    found = []
    for k in open_[:2]:
        parts = [i for i in range(len(used)) if abs(directions[i, k]) > PART]
        named = ", ".join(f"{values[used[i]]:.3g}" for i in parts)
        if len(parts) == 1:
            found.append(f"the constant {named} is not told by these data; a run from another start may tell it")
        else:
            found.append(
                f"the constants {named} can change together and leave the fit as it is: only combinations of them are "
                "known; a run from another start may tell them apart"
            )
    if len(open_) > 2:
        found.append(f"{len(open_)} of {len(values)} directions of the constants are open in all")
    return found
