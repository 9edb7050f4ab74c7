"""The people of one island: a few formulas for every size, so that the small ones live beside the accurate ones.

A newcomer competes with two others of its own size only.  The first place of a size belongs to its best; the others are
given up in the end, whoever holds them, so that an island does not stand still.  Knows no fits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int64, njit

from ...arrays import Floats
from .genome import LONGEST, PART, Genome, Ints, below, uniform

SIZES = 52  # the largest formula has one node less
PLACES = 12  # for each size
TOURNAMENT = 4
CAPPED = 0.7  # of the parents are no larger than another one
OLD = 30_000  # children later a place may go to a worse one

N_CHILDREN, N_DISTINCT, N_FITS, N_SCANS, N_ENTERED, WORK, EXACT = range(7)


class State(NamedTuple):
    """An island between two epochs: arrays only.  Place p holds a formula of size p // PLACES, if it has tokens."""

    tokens: Ints
    values: Floats
    lengths: Ints
    losses: Floats  # mean squares
    scores: Floats  # description lengths
    births: Ints
    counts: Ints  # see N_CHILDREN and so on


def new_state() -> State:
    n = SIZES * PLACES
    return State(
        tokens=np.zeros((n, LONGEST), dtype=np.int64),
        values=np.zeros((n, LONGEST)),
        lengths=np.zeros(n, dtype=np.int64),
        losses=np.full(n, np.inf),
        scores=np.full(n, np.inf),
        births=np.zeros(n, dtype=np.int64),
        counts=np.zeros(8, dtype=np.int64),
    )


@njit(**PART)
def member(people: State, place: int) -> Genome:
    return Genome(people.tokens[place], people.values[place], people.lengths[place : place + 1])


@njit(**PART)
def _settle(people: State, place: int, genome: Genome, loss: float, score: float, birth: int) -> None:
    n = genome.length[0]
    for i in range(n):
        people.tokens[place, i], people.values[place, i] = genome.tokens[i], genome.values[i]
    people.lengths[place] = n
    people.losses[place], people.scores[place], people.births[place] = loss, score, birth


@njit(**PART)
def _move(people: State, source: int, place: int) -> None:
    for i in range(people.lengths[source]):
        people.tokens[place, i], people.values[place, i] = people.tokens[source, i], people.values[source, i]
    people.lengths[place] = people.lengths[source]
    people.losses[place], people.scores[place] = people.losses[source], people.scores[source]
    people.births[place] = people.births[source]


@njit(**PART)
def admit(people: State, genome: Genome, size: int, loss: float, score: float, state: Any) -> bool:
    """Give the formula a place among those of its size, if it deserves one."""
    if size >= SIZES:
        return False
    now, first = people.counts[N_CHILDREN], size * PLACES
    if people.lengths[first] == 0 or score < people.scores[first]:
        if people.lengths[first] > 0:
            _move(people, first, first + 1 + below(state, int64(PLACES - 1)))
        _settle(people, first, genome, loss, score, now)
        people.counts[N_ENTERED] += 1
        return True
    a, b = first + 1 + below(state, int64(PLACES - 1)), first + 1 + below(state, int64(PLACES - 1))
    place = b if people.scores[b] > people.scores[a] else a
    if score < people.scores[place] or now - people.births[place] > OLD:
        _settle(people, place, genome, loss, score, now)
        people.counts[N_ENTERED] += 1
        return True
    return False


@njit(**PART)
def may_enter(people: State, size: int, score: float) -> bool:
    """Could ``admit`` give it a place?"""
    oldest, first = people.counts[N_CHILDREN] - OLD, size * PLACES
    if size >= SIZES:
        return False
    for place in range(first, first + PLACES):
        if score < people.scores[place] or (place > first and people.births[place] < oldest):
            return True
    return False


@njit(**PART)
def might_enter(people: State, size: int, score: float) -> bool:
    """Would it be the best of its size with two nodes less, and eight nats shorter?"""
    first = max(size - 2, 0) * PLACES
    return size - 2 < SIZES and score - 8.0 < people.scores[first]


@njit(**PART)
def worst(people: State, size: int) -> float:
    """The largest loss among those of a size; inf where there is a free place."""
    found = 0.0
    for place in range(size * PLACES, (size + 1) * PLACES):
        found = max(found, people.losses[place])
    return found


@njit(**PART)
def anybody(people: State, state: Any) -> int:
    """A random place that is taken."""
    n = people.lengths.shape[0]
    place = below(state, n)
    for _ in range(50):
        if people.lengths[place] > 0:
            return place
        place = below(state, n)
    while people.lengths[place] == 0:
        place = (place + 1) % n
    return place


@njit(**PART)
def parent(people: State, state: Any) -> int:
    """The best of a few, most often of a few that are no larger than another one.

    Without noise a longer formula always comes nearer to the data, so the largest would be the parents of all.
    """
    best = anybody(people, state)
    cap = SIZES
    if uniform(state) < CAPPED:
        cap = best // PLACES
    for _ in range(TOURNAMENT - 1):
        other = anybody(people, state)
        if other // PLACES <= cap and people.scores[other] < people.scores[best]:
            best = other
    return best
