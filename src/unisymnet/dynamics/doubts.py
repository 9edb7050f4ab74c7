"""What the data do not tell, in words: rival systems and the start that would decide, flat directions, χ².

A rival has another form and a description hardly longer.  Both are simulated from starts in and around the data; the
start from which they part furthest is the run to make next.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..formula.constants import free
from ..symbolic.expr import Expr
from ..symbolic.text import to_text
from .choose import SystemSearch
from .course import Course
from .equations.system import rate_name
from .integrate import Accuracy, Cut, integrate
from .program import compile_system, free_system
from .rate import Candidate, shown, terms_of
from .shooting import Shot, spectrum
from .smoothing import EXACT

CLOSE = 3.0  # nats: odds of twenty to one
EVEN = 0.4  # nats: odds of three to two
MAX_RIVALS = 2
N_STARTS, ROOM = 12, 0.5  # starts tried, and how far around the data, in their width
N_TIMES = 60
TOLERANCE, MAX_STEPS = 1e-6, 4000  # of the integration from one start
SAME = 0.01  # of the range of a state: two systems that part nowhere by more are one
APART = 3.0  # times the noise from which on two runs differ
MOSTLY = 0.7  # noise over the spread of a state from which on hardly anything else is in it
FAR, NEAR = 3.0, 0.2  # χ² per value beyond which the system, or the noise, is wrong
COARSE, SHARE_OF_SPREAD = 100.0, EXACT
FLAT = 1.0  # relative error of a combination of constants that the data do not tell
PART = 0.3  # share of a direction from which on a constant is named


def rivals(search: SystemSearch, best: Candidate) -> list[tuple[Candidate, float]]:
    """Systems of another form whose description is hardly longer, and by how many nats."""
    least = search.total(best)
    if not math.isfinite(least):
        return []
    longest_first = sorted(search.seen.values(), key=search.own_total, reverse=True)
    every = {_form(found): found for found in longest_first}
    every.pop(_form(best), None)
    gaps = [(other, search.total(other) - least) for other in every.values()]
    return sorted([pair for pair in gaps if pair[1] < CLOSE], key=lambda pair: pair[1])[:MAX_RIVALS]


def _form(candidate: Candidate) -> tuple[frozenset[Expr], ...]:
    """The terms without numbers, however the search has written them; a factor of one is a number, too."""
    return tuple(frozenset(free(term)[0] for _, term in terms_of(expr)) for expr in candidate.exprs)


def rival_notes(course: Course, search: SystemSearch, best: Candidate) -> list[str]:
    """One sentence for every rival that goes another way somewhere, with the start that would tell."""
    found = []
    d = course.n_states
    for rival, gap in rivals(search, best):
        changed = [k for k in range(d) if _form(rival)[k] != _form(best)[k]]
        texts = [f"{rate_name(course.names[k])} = {to_text(shown(rival.exprs[k]), course.names, 4)}" for k in changed]
        by = f"about {math.exp(gap):.2g} times less likely" if gap >= EVEN else "just as likely"
        sentence = f"the data can hardly tell it from {'; '.join(texts)} ({by})"
        place = None if course.runs.inputs or search.deadline.whole().expired() else parting_start(course, best, rival)
        if place is not None and place.share < SAME:
            continue  # the same system in other words, or with a term too small to matter
        if place is None or not place.beyond_noise:
            found.append(sentence)
            continue
        at = ", ".join(f"{name} = {value:.3g}" for name, value in zip(course.names, place.start))
        apart = f"{100 * place.share:.0f} % of the range of {course.names[place.state]}"
        found.append(f"{sentence}; a run from {at} would decide: there they differ by {apart}")
    return found


@dataclass(frozen=True)
class Parting:
    """A start from which two systems part, in which state, by what share of its range, and whether one would see it."""

    start: Floats
    state: int
    share: float
    beyond_noise: bool


def parting_start(course: Course, one: Candidate, other: Candidate) -> Parting | None:
    """The start in and around the data from which two systems part furthest; None where they cannot be followed."""
    from scipy.stats import qmc

    d = course.n_states
    values = np.concatenate([table[:, :d] for table in course.tables])
    low, high = values.min(axis=0), values.max(axis=0)
    width = high - low
    # What is never negative is not started below zero.
    below = np.where(low >= 0.0, np.maximum(low - ROOM * width, 0.0), low - ROOM * width)
    starts = below + qmc.Halton(d, scramble=False).random(N_STARTS) * (high + ROOM * width - below)
    runs = [_followed(course, candidate, starts) for candidate in (one, other)]
    noise = np.median(course.deviation, axis=0)
    best: Parting | None = None
    for start, first, second in zip(starts, *runs):
        distance = np.sqrt(np.mean((first - second) ** 2, axis=0))
        if not np.isfinite(distance).all():
            continue  # nobody can measure a run that may blow up
        shares = distance / np.where(width > 0.0, width, np.inf)
        seen = distance > APART * noise
        state = int(np.argmax(np.where(seen, shares, 0.0) if seen.any() else shares))
        parting = Parting(start, state, float(shares[state]), bool(seen[state]))
        if best is None or (parting.beyond_noise, parting.share) > (best.beyond_noise, best.share):
            best = parting
    return best


def _followed(course: Course, candidate: Candidate, starts: Floats) -> Floats:
    """Runs (starts, times, d) over the time of the first piece; nan where they are lost."""
    forms, params = free_system(candidate.exprs)
    d = course.n_states
    grid = course.grids[0]
    count = len(starts)
    firsts = N_TIMES * np.arange(count)
    states, _, _ = integrate(
        compile_system(forms, course.n_columns, len(params)),
        params,
        np.arange(d),
        course.lanes,
        Cut(firsts, firsts + N_TIMES, np.zeros(count, dtype=np.int64)),
        np.tile(np.linspace(float(grid[0]), float(grid[-1]), N_TIMES), count),
        starts,
        Accuracy(course.scales, TOLERANCE, MAX_STEPS),
        sensitivities=False,
    )
    return states.reshape(count, N_TIMES, d)


def fit_notes(course: Course, shot: Shot) -> list[str]:
    """States that are mostly noise, and a χ² far from one."""
    return [*_mostly_noise(course), *_chi2_notes(course, shot)]


def _mostly_noise(course: Course) -> list[str]:
    shares = [
        float(np.median(course.deviation[:, k])) / max(float(np.nanstd(course.data[:, k])), 1e-300)
        for k in range(len(course.runs.states))
    ]
    return [
        f"{name} looks like noise: its scatter is {100 * share:.0f} % of its spread, so its equation says little"
        for name, share in zip(course.runs.states, shares)
        if share > MOSTLY and not course.clean
    ]


def _chi2_notes(course: Course, shot: Shot) -> list[str]:
    if not math.isfinite(shot.chi2):
        return ["no candidate could be integrated along the data; the equations are those that fit the rates best"]
    if course.clean:
        # Clean data are known to a millionth of their spread; a fit that is ten times worse is no law of theirs.
        if shot.reduced <= COARSE:
            return []
        return [
            "the data look free of noise, but the system follows them only to within "
            f"{100 * SHARE_OF_SPREAD * math.sqrt(shot.reduced):.2g} % of their spread: a term is missing, or something "
            "happens between two rows"
        ]
    if shot.reduced > FAR:
        return [f"the residuals have {shot.reduced:.3g} times the variance of the noise: a term or a state is missing"]
    if shot.reduced < NEAR:
        return [f"the residuals have only {shot.reduced:.2g} of the variance of the noise: the noise was overestimated"]
    return []


def flat_notes(shot: Shot) -> list[str]:
    """Combinations of constants that the data leave open, in relative changes of the constants."""
    values = shot.params
    used = np.flatnonzero(values != 0.0)
    if not len(used) or not np.isfinite(shot.information).all():
        return []
    relative = shot.information[np.ix_(used, used)] * np.outer(values[used], values[used])
    parts = spectrum(relative)
    if parts is None:
        return []
    sizes, directions = parts
    open_ = [k for k in range(len(used)) if sizes[k] <= max(shot.reduced, 1e-300) / FLAT**2]
    found = []
    for k in open_[:2]:
        moved = [i for i in range(len(used)) if abs(directions[i, k]) > PART]
        named = ", ".join(f"{values[used[i]]:.3g}" for i in moved)
        if len(moved) == 1:
            found.append(f"these data do not determine the constant {named}; a run from another start may")
        else:
            found.append(
                f"the constants {named} can change together without changing the fit: only combinations of them are "
                "known; a run from another start may separate them"
            )
    if len(open_) > 2:
        found.append(f"{len(open_)} of {len(values)} combinations of constants are undetermined")
    return list(dict.fromkeys(found))  # two directions may move the same constants
