"""Islands: several populations that live epoch by epoch, side by side, and send each other their best.

An epoch is a pure function of the island's state, its newcomers and the key (seed, island, epoch), so islands may run
in any order, in threads, in processes or on other machines (joblib decides), and the states after so many epochs are
the same, bit for bit.  Between two epochs everything is here, in the parent: whoever dies outside costs its epoch only.
"""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numba import typeof

from ...deadline import Deadline, now
from ...fit.kernels.interpreter import addresses
from ...fit.kernels.levenberg import fitter
from ...fit.kernels.projection import Data
from ...problem import Problem
from ...symbolic.expr import Expr, evaluate
from .bank import LONGEST_UNIT, new_bank
from .births import Rules
from .desk import new_desk
from .epoch import Settings, epoch, new_tables
from .fitting import Scale
from .genome import EXP, LONGEST, POW
from .niches import EXACT, N_DISTINCT, PLACES, SIZES, State, new_state
from .translate import Tokens, packed, rules_of, to_expr, to_tokens

N_UNITS = 1024  # of a bank
MAX_ROWS = 256  # that one island looks at
ROUNDING = 4e-31  # (3 eps)^2: a mean square this small beside that of y is rounding
EXCHANGED = 4  # after so many epochs
FIRST_WORK = 10_000_000  # of an epoch; each is twice as long as the one before, up to the full length
DOUBLED = 8  # lives, after which an island is given twice the patience: a long search must keep paying
SENT = 6  # formulas that an island sends to the next one
TRIES = 3  # for an epoch whose worker died

LEAST_SEEN = 1e-3  # of the largest |y|, for 1/y and ln(y)
NEEDED = {"1/y": "div", "ln(y)": "exp"}

Until = tuple[int, float]  # a process and a moment of its clock

# How the islands differ: share of the children that have a part solved for, and what they see of y from life to life.
# Whoever sees 1/y or ln(y) finds the numbers of a sum below a fraction line, or in an exponent, by projection.
SOLVED = (0.1, 0.3, 0.0, 0.2)
SEEN: tuple[tuple[str, ...], ...] = (("y",), ("y", "1/y"), ("y", "ln(y)"), ("y", "1/y", "ln(y)"))
UNDONE = {"1/y": (POW, -1.0), "ln(y)": (EXP, 0.0)}  # the last token of a formula that is seen so


@dataclass(frozen=True)
class World:
    """What does not change while an island lives: its rows, and what may be written.  Arrays and numbers only."""

    data: Data
    scale: Scale
    rules: Rules
    settings: Settings
    view: str = "y"  # what of y the data are


@dataclass
class Island:
    """One population and how long it has brought nothing new."""

    world: World
    state: State = field(default_factory=new_state)
    newcomers: list[Tokens] = field(default_factory=list)
    shortest: float = math.inf
    waited: int = 0  # epochs
    lives: int = 1
    finished: int = 0  # lives that left nothing to find
    apart: bool = False  # takes in nobody from other islands


@dataclass(frozen=True)
class Found:
    """The best formula of its size on an island."""

    tokens: tuple[int, ...]
    values: tuple[float, ...]
    size: int
    loss: float
    score: float

    @property
    def expr(self) -> Expr:
        return to_expr(self.tokens, self.values, len(self.tokens))

    @property
    def genome(self) -> Tokens:
        return list(zip(self.tokens, self.values, strict=True))


_OWN = threading.local()  # scratch memory of this thread, by shape


def live(
    world: World, state: State, newcomers: Sequence[Tokens], key: tuple[int, ...], until: Until = (0, math.inf)
) -> State | None:
    """The state after one epoch; None if it is too late to begin, which only the process that asks can know."""
    if until[0] == os.getpid() and now() >= until[1]:
        return None
    d, n = world.data.X.shape
    memory = _OWN.__dict__.setdefault("scratch", {})
    if (d, n) not in memory:
        memory.clear()
        memory[d, n] = new_desk(d, n), new_bank(N_UNITS, n), new_tables()
    desk, bank, tables = memory[d, n]
    people = State(*map(_own, state))
    bits = np.random.SeedSequence(key).generate_state(1, np.uint64) | np.uint64(1)
    # Copies: arrays that joblib maps from a file are read-only, which would be another type and compiled again.
    data = Data(*map(_own, world.data))
    rules = Rules(*map(_own, world.rules))
    where = (*addresses(), fitter())
    epoch(people, packed(newcomers), data, world.scale, rules, world.settings, desk, bank, tables, where, bits)
    return people


def compile_epoch(world: World) -> None:
    """The epoch alone, compiled or loaded: another process can compile meanwhile what it calls through addresses."""
    d, n = world.data.X.shape
    memory = new_desk(d, n), new_bank(1, n), new_tables(1)
    given = new_state(), packed([]), world.data, world.scale, world.rules, world.settings, *memory, (0, 0, 0)
    epoch.compile((*map(typeof, given), typeof(np.zeros(1, dtype=np.uint64))))


def _own(part: Any) -> Any:
    return np.array(part) if isinstance(part, np.ndarray) else part


def best_of(state: State) -> list[Found]:
    """The best formula of every size that is better than all smaller ones."""
    found, lowest = [], math.inf
    for place in range(0, SIZES * PLACES, PLACES):
        n, loss = int(state.lengths[place]), float(state.losses[place])
        if n and loss < lowest:
            lowest = loss
            tokens, values = tuple(state.tokens[place, :n].tolist()), tuple(state.values[place, :n].tolist())
            found.append(Found(tokens, values, place // PLACES, loss, float(state.scores[place])))
    return found


def can_see(problem: Problem, view: str) -> bool:
    """Is the view defined on all rows, far from its pole, and may a formula undo it?"""
    if view == "y":
        return True
    size = np.abs(problem.y)
    one_sign = bool(np.all(problem.y > 0.0) or (view == "1/y" and np.all(problem.y < 0.0)))
    return one_sign and float(size.min()) > LEAST_SEEN * float(size.max()) and problem.allows(NEEDED[view])


def make_world(
    problem: Problem, number: int, *, seed: int, work: int, solved: float, max_size: int, view: str = "y"
) -> World:
    """The world of island ``number``: its own rows where there are many, in its own order, and its view of y."""
    # In random order, because the first few have to stand for all.
    rows = np.random.default_rng([seed, number]).permutation(problem.n_rows)[:MAX_ROWS]
    weights = problem.weights[rows]
    root = np.sqrt(weights) if np.any(weights != weights[0]) else np.empty(0)
    y = problem.y[rows].copy()
    mass = float(np.sum(weights)) if root.size else float(len(rows))
    mean_square = float(np.average(y**2, weights=weights))
    if view != "y":
        # An error of the view counts as the error of y that it is.
        root = np.sqrt(weights) * (y**2 if view == "1/y" else y)
        y = 1.0 / y if view == "1/y" else np.log(y)
    rules = rules_of(problem, longest=LONGEST_UNIT)
    scale = Scale(
        mass=mass,
        floor=max((1e-13 * problem.spread) ** 2, ROUNDING * mean_square),
        n_rows=len(rows),
        free=rules.can_add and rules.can_multiply,
        max_size=min(max_size, SIZES - 1),
    )
    return World(
        data=Data(np.array(problem.X[rows].T, order="C"), y, root),
        scale=scale,
        rules=rules,
        settings=Settings(work=work, solved=solved, twice=0.35, promising=1.05, steps=5),
        view=view,
    )


@dataclass
class Islands:
    """The archipelago.  ``step`` runs one epoch everywhere and exchanges the best."""

    problem: Problem
    seed: int
    n_islands: int = 4
    work: int = 100_000_000
    max_size: int = SIZES - 1
    patience: int = 24  # epochs without a shorter description before an island begins anew
    n_epochs: int = 0
    islands: list[Island] = field(default_factory=list)

    def __post_init__(self) -> None:
        for number in range(self.n_islands):
            self.islands.append(Island(self.world(number)))

    def world(self, number: int, units: Sequence[Tokens] = (), view: str = "y") -> World:
        """Of island ``number``, with these given units and this view."""
        solved = SOLVED[number % len(SOLVED)]
        world = make_world(
            self.problem, number, seed=self.seed, work=self.work, solved=solved, max_size=self.max_size, view=view
        )
        return replace(world, rules=rules_of(self.problem, units, LONGEST_UNIT)) if units else world

    @property
    def n_formulas(self) -> int:
        """That the present islands have tried in their lives."""
        return sum(int(island.state.counts[N_DISTINCT]) for island in self.islands)

    def step(self, parallel: Parallel, deadline: Deadline) -> list[Found] | None:
        """One epoch of every island, then the exchange: the best formulas of all, shortest description first; None if
        the time came first, and nothing has changed."""
        states = self._lived(parallel, (os.getpid(), deadline.moment))
        if states is None:
            return None
        for island, state in zip(self.islands, states, strict=True):
            island.state = state
            island.newcomers = []
            shortest = float(state.scores.min())
            island.waited = 0 if shortest < island.shortest - 0.5 else island.waited + 1
            island.shortest = min(island.shortest, shortest)
        self.n_epochs += 1
        found = self._fronts()
        self._exchange()
        return found

    def _lived(self, parallel: Parallel, until: Until) -> list[State] | None:
        work = min(self.work, FIRST_WORK << min(self.n_epochs, 30))
        for attempt in range(TRIES):
            jobs = [
                delayed(live)(
                    replace(island.world, settings=island.world.settings._replace(work=work)),
                    island.state,
                    island.newcomers,
                    (self.seed, number, self.n_epochs),
                    until,
                )
                for number, island in enumerate(self.islands)
            ]
            try:
                states = parallel(jobs)
            except (KeyboardInterrupt, TypeError, ValueError):
                raise
            except Exception as mistake:  # a worker that died; what it had is still here
                logging.getLogger("unisymnet").warning(f"an epoch is run again, because a worker was lost: {mistake}")
                if attempt == TRIES - 1:
                    raise
                continue
            return None if any(state is None for state in states) else list(states)
        return None

    def _exchange(self) -> None:
        """The best of each island to the next; who has waited too long, or has nothing left to find, begins anew."""
        sent = [self._best(island) for island in self.islands]
        for number, island in enumerate(self.islands):
            if island.waited >= self._patience(island) or island.state.counts[EXACT] > 0:
                self.islands[number] = self._reborn(number, island)
            elif self.n_islands > 1 and self.n_epochs % EXCHANGED == 0 and not island.apart:
                island.newcomers += sent[number - 1]

    def _reborn(self, number: int, island: Island) -> Island:
        """The next life of an island, which may see something else of y; then it has no use for what others send."""
        seen = SEEN[number % len(SEEN)]
        view = seen[island.lives % len(seen)]
        view = view if can_see(self.problem, view) else "y"
        world = replace(self.world(number, view=view), rules=island.world.rules)
        finished = island.finished + int(island.state.counts[EXACT] > 0)
        return Island(world, lives=island.lives + 1, finished=finished, apart=view != "y")

    def _patience(self, island: Island) -> int:
        return self.patience << min((island.lives - 1) // DOUBLED, 30)

    def _best(self, island: Island) -> list[Tokens]:
        found = sorted(self._told(island), key=lambda one: one.score)
        return [one.genome for one in found[:SENT]]

    def _told(self, island: Island) -> list[Found]:
        """The best formulas of an island for y itself, with what they leave of it."""
        found = best_of(island.state)
        if island.world.view == "y":
            return found
        token, value = UNDONE[island.world.view]
        told = [replace(one, tokens=(*one.tokens, token), values=(*one.values, value)) for one in found]
        return [known for one in told if (known := self._measured(one)) is not None]

    def _measured(self, found: Found) -> Found | None:
        problem = self.problem
        left = evaluate(found.expr, problem.X) - problem.y
        loss = float(np.average(left**2, weights=problem.weights))
        size = found.size + (2 if found.tokens[-1] == POW else 1)
        fits = len(found.tokens) <= LONGEST and size <= self.max_size
        return replace(found, loss=loss, size=size) if fits and math.isfinite(loss) else None

    def welcome(self, number: int, exprs: Sequence[Expr]) -> None:
        """Formulas (scaled units) that island ``number`` takes in at its next epoch."""
        genomes = (to_tokens(expr) for expr in exprs)
        self.islands[number].newcomers += [genome for genome in genomes if genome]

    def settle(self, number: int, exprs: Sequence[Expr]) -> None:
        """Begin island ``number`` anew with these formulas, which nobody from outside may displace."""
        self.islands[number] = Island(self.world(number), apart=True)
        self.welcome(number, exprs)

    def teach(self, units: Sequence[Expr]) -> None:
        """Parts that somebody holds for likely: all islands use them as units."""
        genomes = [genome for genome in (to_tokens(unit) for unit in units) if genome]
        for island in self.islands:
            island.world = replace(island.world, rules=rules_of(self.problem, genomes, LONGEST_UNIT))

    def _fronts(self) -> list[Found]:
        lowest: dict[int, Found] = {}
        for one in (one for island in self.islands for one in self._told(island)):
            if one.size not in lowest or one.loss < lowest[one.size].loss:
                lowest[one.size] = one
        return sorted(lowest.values(), key=lambda one: (one.score, one.size))

    def is_over(self, lives: int, timed: bool) -> bool:
        """Has every island lived so often?  Where time ends the search, only lives that left nothing to find count:
        others could bring more."""
        return min(island.finished if timed else island.lives - 1 for island in self.islands) >= lives
