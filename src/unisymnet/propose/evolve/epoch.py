"""One epoch of one island, from its state to the next, without Python, without the clock.

Newcomers are fitted and given places; then children are born, fitted and given places until the work of an epoch is
done, counted in instructions times rows, so that an epoch is as long on every machine.  The same state, data and key
give the same state again, bit for bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import boolean, int64, njit, uint64

from ...fit.kernels.projection import Data
from ...fit.kernels.refer import refer
from .bank import LONGEST_UNIT, Bank, solved, store
from .births import Rules, mutate, unit
from .desk import Desk, lay, release, run
from .fitting import Scale, estimate, improve, misfit_of, prune, resolve, score_of, words_of
from .genome import (
    ONCE,
    PART,
    STRICT,
    Genome,
    Ints,
    arity,
    begin_of,
    below,
    copy,
    fits,
    hash_of,
    mixed,
    size_of,
    uniform,
)
from .niches import (
    EXACT,
    N_CHILDREN,
    N_DISTINCT,
    N_ENTERED,
    N_FITS,
    N_SCANS,
    PLACES,
    SIZES,
    WORK,
    State,
    admit,
    anybody,
    may_enter,
    member,
    might_enter,
    parent,
    worst,
)
from .program import build
from .terms import N_CODE, N_TERMS, N_UNKNOWNS, Plan, bake, cut

CHILD_WORK = 2500  # what a child costs beside its instructions
TRIAL_WORK = 5  # times the instructions, for one step of a fit
SCAN_WORK = 6  # units whose values are read in the time of one instruction on all rows
TIMES = 4  # a formula with constants is fitted at most, from other numbers
FIRST_PEOPLE = 8  # are random units
GLANCE, HOPELESS = 64, 3.0  # rows; times the loss of the worst formula of the size
DIGITS = 1e9  # losses that agree so far are those of the same formula


class Tables(NamedTuple):
    """What was seen in this epoch: structures with how often, losses with the smallest size."""

    structures: Any
    times: Ints
    losses: Ints
    sizes: Ints


class Settings(NamedTuple):
    """How an island lives: the work of an epoch, parts solved for, second moves, and when and how far to fit."""

    work: int
    solved: float
    twice: float
    promising: float  # times the parent's loss
    steps: int


def new_tables(bits: int = 15) -> Tables:
    n = 1 << bits
    return Tables(
        np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, np.int64)
    )


@njit(**PART)
def _clear(tables: Tables) -> None:
    for i in range(tables.times.shape[0]):
        tables.structures[i], tables.times[i], tables.losses[i], tables.sizes[i] = uint64(0), 0, 0, 0


@njit(**PART)
def _is_new(tables: Tables, mark: Any, has_numbers: bool) -> bool:
    """Was this structure fitted less often than it may be?"""
    n = tables.times.shape[0]
    place = int64(mark % uint64(n))
    for _ in range(8):
        if tables.times[place] == 0 or tables.structures[place] == mark:
            break
        place = (place + 1) % n
    if tables.structures[place] != mark or tables.times[place] == 0:
        tables.structures[place], tables.times[place] = mark, 0
    tables.times[place] += 1
    return tables.times[place] <= (TIMES if has_numbers else 1)


@njit(**PART)
def _spot(tables: Tables, key: int) -> int:
    """Where a loss is written down, or would be."""
    n = tables.losses.shape[0]
    place = int64(mixed(key) % uint64(n))
    for _ in range(8):
        if tables.sizes[place] == 0 or tables.losses[place] == key:
            break
        place = (place + 1) % n
    return place


@njit(**PART)
def _is_other(tables: Tables, loss: float, size: int) -> bool:
    """Is no formula known that is no larger and leaves the same?  It would be the same one, written otherwise."""
    key = int64(math.log(loss) * DIGITS)
    place = _spot(tables, key)
    if tables.losses[place] == key and 0 < tables.sizes[place] <= size:
        return False
    tables.losses[place], tables.sizes[place] = key, size
    return True


@njit(**PART)
def _is_idle(people: State, tables: Tables, size: int, loss: float, plan: Plan, scale: Scale) -> bool:
    """Will a formula of this loss get no place, nor what pruning makes of it?  Then it is only written down."""
    size += 3 * plan.counts[N_TERMS] + 1  # coefficients, the sums, the summand
    key = int64(math.log(loss) * DIGITS)
    place = _spot(tables, key)
    if tables.losses[place] == key and 0 < tables.sizes[place] <= size:
        return True
    score = misfit_of(loss, scale) + words_of(size, plan.counts[N_UNKNOWNS] + plan.counts[N_TERMS] + 1, scale)
    if size <= scale.max_size and may_enter(people, size, score):
        return False
    if size - 2 * (plan.counts[N_TERMS] + 1) <= scale.max_size and might_enter(people, size, score):
        return False
    tables.losses[place], tables.sizes[place] = key, size
    return True


@njit(**PART)
def _mark(desk: Desk) -> tuple[Any, int]:
    """The same for sums of the same terms in any order; and how many numbers they have inside."""
    plan = desk.plan
    total, numbers, begin = uint64(0), int64(0), int64(0)
    for k in range(plan.counts[N_TERMS]):
        end = plan.ends[k] + 1
        mark, more = hash_of(plan.bare, begin, end, plan.hashes)
        total += mixed(mark)
        numbers += more
        begin = end
    return mixed(total), numbers


@njit(**ONCE)
def _glance(desk: Desk, data: Data, counts: Ints, address: int) -> float:
    """What is left of a few rows, with coefficients of their own: what is hopeless there is hopeless."""
    plan, rows = desk.plan, int64(GLANCE)
    run(desk, data, int64(0), rows, address)
    counts[WORK] += GLANCE * (plan.counts[N_CODE] + plan.counts[N_TERMS] ** 2)
    left = estimate(desk, data, int64(0), rows)
    return left if left == left else resolve(desk, data, rows)


@njit(**ONCE)
def _live(
    genome: Genome,
    limit: float,
    people: State,
    desk: Desk,
    data: Data,
    scale: Scale,
    tables: Tables,
    settings: Settings,
    addresses: Any,
    state: Any,
) -> None:
    """Fit a child, with steps if it leaves less than ``limit``, and give it and what pruning makes of it a place."""
    plan, counts, n = desk.plan, people.counts, data.y.shape[0]
    counts[WORK] += CHILD_WORK
    if not fits(genome) or not cut(genome, plan, scale.free):
        return
    mark, numbers = _mark(desk)
    if numbers + plan.counts[N_TERMS] > n // 3 or not _is_new(tables, mark, numbers > 0):
        return
    build(plan, data.X.shape[0], scale.free)
    counts[N_DISTINCT] += 1
    size = size_of(plan.bare.tokens, plan.bare.values, int64(0), plan.bare.length[0])
    seen = int64(0)  # rows
    if n >= 2 * GLANCE:
        seen = int64(GLANCE)
        left = _glance(desk, data, counts, addresses[0]) * (n / (scale.mass * GLANCE))
        if not left < HOPELESS * max(worst(people, min(size, SIZES - 1)), limit):
            return
    counts[WORK] += n * (plan.counts[N_CODE] + plan.counts[N_TERMS] ** 2)
    run(desk, data, seen, n, addresses[0])
    loss = estimate(desk, data, seen, n) / scale.mass
    if not (numbers > 0 and loss < limit):
        if loss == np.inf or (loss == loss and _is_idle(people, tables, size, loss, plan, scale)):
            return
        loss = resolve(desk, data, n) / scale.mass
    fitted = numbers > 0 and loss < limit
    if fitted:
        found, trials = improve(desk, data, scale, addresses, settings.steps)
        counts[N_FITS] += 1
        counts[WORK] += TRIAL_WORK * n * plan.counts[N_CODE] * trials
        loss = found / scale.mass
    if not loss < np.inf:
        return
    bake(plan, desk.coefficients, scale.free, desk.baked)
    size = size_of(desk.baked.tokens, desk.baked.values, int64(0), desk.baked.length[0])
    if not fits(desk.baked) or size > scale.max_size + 8 or (loss > scale.floor and not _is_other(tables, loss, size)):
        return
    score = score_of(desk.baked, size, loss, scale, desk)
    entered = size <= scale.max_size and admit(people, desk.baked, size, loss, score, state)
    if not entered and size - 2 * (plan.counts[N_TERMS] + 1) > scale.max_size:
        return
    if entered or might_enter(people, size, score):
        pruned, better = prune(desk, data, scale, addresses[0], loss, score, fitted)
        if better < score:
            bake(plan, desk.coefficients, scale.free, desk.baked)
            size = size_of(desk.baked.tokens, desk.baked.values, int64(0), desk.baked.length[0])
            if size <= scale.max_size and admit(people, desk.baked, size, pruned, better, state):
                loss = pruned
    if loss <= scale.floor:
        counts[EXACT] += 1


@njit(**PART)
def _whole(genome: Genome, desk: Desk, data: Data, address: int) -> None:
    """The values of every part of a formula as it stands."""
    cut(genome, desk.plan, boolean(False))
    build(desk.plan, data.X.shape[0], boolean(False))
    run(desk, data, int64(0), data.y.shape[0], address)


@njit(**ONCE)
def _fill(bank: Bank, people: State, desk: Desk, data: Data, rules: Rules, address: int, state: Any) -> None:
    """Given units, parts of the people, and random units."""
    n, most = data.y.shape[0], bank.lengths.shape[0]
    stride = ((n + 7) // 8 | 1) * 8
    for k in range(2 * most):
        desk.spare.length[0] = 0
        if k < rules.lengths.shape[0] and 4 * k < most:
            for i in range(rules.lengths[k]):
                desk.spare.tokens[i], desk.spare.values[i] = rules.tokens[k, i], rules.values[k, i]
            desk.spare.length[0] = rules.lengths[k]
        elif uniform(state) < 0.5:
            person = refer(member(people, anybody(people, state)))
            last = below(state, person.length[0])
            first = begin_of(person.tokens, last)
            if arity(person.tokens[last]) > 0 and last + 1 - first <= LONGEST_UNIT:
                copy(desk.spare, person, first, last + 1)
        else:
            unit(desk.spare, rules, state)
        if 0 < desk.spare.length[0] <= LONGEST_UNIT and bank.filled[0] < most:
            _whole(desk.spare, desk, data, address)
            store(bank, desk.spare, desk.work, desk.plan.phi[1] * stride, n)


@njit(**ONCE)
def _birth(
    people: State, desk: Desk, data: Data, bank: Bank, rules: Rules, settings: Settings, address: int, state: Any
) -> int:
    """A child into ``desk.child``; the place of its parent."""
    place = parent(people, state)
    if uniform(state) < settings.solved:
        person = refer(member(people, place))
        _whole(person, desk, data, address)
        people.counts[N_SCANS] += 1
        people.counts[WORK] += data.y.shape[0] * (desk.plan.counts[N_CODE] + bank.filled[0] // SCAN_WORK)
        if solved(desk.child, person, desk.plan.stack, desk.work, data, bank, rules, state):
            return place
    source = refer(member(people, place))
    moves = 2 if uniform(state) < settings.twice else 1
    for k in range(moves):
        mutate(desk.child, source, refer(member(people, anybody(people, state))), rules, state)
        if k + 1 < moves and fits(desk.child):
            desk.spare.length[0] = 0
            copy(desk.spare, desk.child, int64(0), desk.child.length[0])
            source = desk.spare
    return place


@njit(**STRICT)
def epoch(
    people: State,
    newcomers: tuple[Any, Any, Any],
    data: Data,
    scale: Scale,
    rules: Rules,
    settings: Settings,
    desk: Desk,
    bank: Bank,
    tables: Tables,
    addresses: Any,
    state: Any,
) -> None:
    """Change ``people`` by one epoch; ``desk``, ``bank`` and ``tables`` are scratch, ``state`` holds random bits."""
    people, data, rules = refer(people), refer(data), refer(rules)
    desk, bank, tables = refer(desk), refer(bank), refer(tables)
    counts, n = people.counts, data.y.shape[0]
    lay(desk, data)
    _clear(tables)
    release(desk)
    counts[WORK], bank.filled[0] = 0, 0
    taken = 0
    for place in range(people.lengths.shape[0]):
        taken += 1 if people.lengths[place] > 0 else 0
        if people.lengths[place] > 0 and people.losses[place] > scale.floor:
            _is_other(tables, people.losses[place], place // PLACES)
    n_new, attempt = newcomers[2].shape[0], 0
    while counts[WORK] < settings.work and counts[EXACT] == 0:
        limit = np.inf
        if attempt < n_new:
            desk.child.length[0] = 0
            given = Genome(newcomers[0][attempt], newcomers[1][attempt], newcomers[2])
            copy(desk.child, refer(given), int64(0), newcomers[2][attempt])
        elif taken + counts[N_ENTERED] < FIRST_PEOPLE and attempt < n_new + 100 * FIRST_PEOPLE:
            desk.child.length[0] = 0
            unit(desk.child, rules, state)
        else:
            if taken + counts[N_ENTERED] == 0:
                return
            if bank.filled[0] == 0 and settings.solved > 0.0:
                _fill(bank, people, desk, data, rules, addresses[0], state)
                counts[WORK] += bank.filled[0] * (CHILD_WORK + 8 * n)
            place = _birth(people, desk, data, bank, rules, settings, addresses[0], state)
            limit = settings.promising * people.losses[place]
            counts[N_CHILDREN] += 1
        attempt += 1
        _live(desk.child, limit, people, desk, data, scale, tables, settings, addresses, state)
