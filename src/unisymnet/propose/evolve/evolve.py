"""Evolution by local moves on the best formulas so far, for the time that closed forms leave.

Hints, structures that another stage holds for likely, are among the first and lend their parts to moves.

Steady state: parents are drawn from a small population spread over complexities, children keep their parents'
constants as starts and get a few least-squares steps, and formulas seen before (same skeleton, or the same values
at a few rows) are not fitted again.  It does not know how the first formulas were found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from ...candidate import TOKEN_NATS, ParetoFront, Proposal, Status
from ...deadline import Deadline
from ...fit.kernels.fit import fit_tape
from ...fit.kernels.tape import compile_tape
from ...metrics import complexity
from ...problem import Floats, Problem
from ...protocols import Proposer
from ...symbolic.constants import free_constants, numbered
from ...symbolic.expr import Call, Expr, Var, bind, evaluate, evaluate_shared, size, walk
from ...symbolic.rewrite.simplify import simplify
from ..write.spell import spell
from .backward import Library
from .moves import LARGEST_HINT, UNARY, Moves, instance

MOST_FORMS = 100_000
SLACK = 1.0  # half the number of constants that merging may win


@dataclass(frozen=True, eq=False)
class Individual:
    """A fitted member of the population (scaled units); ``length`` is its description length, lower is better."""

    skeleton: Expr
    params: tuple[float, ...]
    loss: float
    complexity: int
    length: float
    merged: bool = False  # constants that say the same are one

    @cached_property
    def expr(self) -> Expr:
        return bind(self.skeleton, self.params)


@dataclass(frozen=True)
class Evolve:
    """Settings of the evolutionary stage."""

    name: str = "evolve"
    n_children: int = 64  # fitted between two proposals
    population: int = 60
    max_rows: int = 200
    max_size: int = 60
    max_constants: int = 12
    n_starts: int = 4  # for the constants of a child
    solved: float = 0.4  # of the children have a part that was solved for
    n_units: int = 1500  # random ones of those that may be the solution
    refreshed: int = 20  # after so many generations the parts of the population are among them anew
    tournament: int = 4
    capped: float = 0.7  # of the parents
    patience: int = 100  # generations without a shorter description before a population is given up
    populations: int = 8  # one for the front and, with hints, one for these; a new one for each that is given up
    hints: tuple[Proposer, ...] = ()  # who is asked for likely skeletons, after so many generations
    alone: int = 24
    n_instances: int = 4  # of each, at the beginning of their population

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        if problem.n_rows < 3 or problem.spread == 0.0:
            return
        # A turn is 64 generations, so evolution may go on, turn after turn, as long as the search does.
        deadline = deadline.whole()
        islands, hints = [_Evolution(self, problem, rng)], None
        n_begun, n_lived = 1, 0
        while n_begun <= self.populations:
            if hints is None and n_lived >= self.alone:
                asked = (stage.propose(problem, front, rng=rng, deadline=deadline) for stage in self.hints)
                hints = tuple(dict.fromkeys(proposal.expr for proposals in asked for proposal in proposals))
                if hints:
                    # The front would take over at once where hints grow, so these have a population of their own.
                    islands[0].learn(hints)
                    islands.append(_Evolution(self, problem, rng, hints, apart=True))
                    n_begun += 1
            for place, island in enumerate(islands):
                if deadline.expired():
                    return
                n_lived += 1
                best = island.generation(front, deadline)
                if best is not None:
                    yield Proposal(best.expr, self.name)
                # Noisy data never become exact: evolution ends when a while of trying has brought nothing.
                if island.waited >= self.patience:
                    islands[place] = _Evolution(self, problem, rng, hints or (), island.apart)
                    n_begun += 1


@dataclass
class _Evolution:
    settings: Evolve
    problem: Problem
    rng: np.random.Generator
    hints: tuple[Expr, ...] = ()
    apart: bool = False  # from the front
    people: list[Individual] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)  # hashes of skeletons: the skeletons of an hour would fill the memory
    prints: set[int] = field(default_factory=set)
    forms: dict[Expr, Expr] = field(default_factory=dict)  # what simplify has seen
    values: dict[Expr, Any] = field(default_factory=dict)  # of parts, at a few rows

    def __post_init__(self) -> None:
        rows = np.arange(self.problem.n_rows)
        if len(rows) > self.settings.max_rows:
            rows = np.sort(self.rng.choice(rows, self.settings.max_rows, replace=False))
        self.X: Floats = np.ascontiguousarray(self.problem.X[rows])
        self.few = self.X[:16]
        self.y: Floats = self.problem.y[rows]
        self.weights: Floats = self.problem.weights[rows]
        self.floor = (1e-13 * self.problem.spread) ** 2
        self.learn(self.hints)
        self.age = 0
        self.known_front: set[Expr] = set()
        self.worst = math.inf  # the longest description of those who might have to go
        self.shortest, self.waited = math.inf, 0
        if self.apart:
            self.settle()
            self.apart = bool(self.people)

    def learn(self, hints: tuple[Expr, ...]) -> None:
        """Parts of these structures are likelier than others."""
        unary = tuple(op for op in UNARY if self.problem.allows(op))
        self.moves = Moves(self.problem.n_features, unary, hints)
        units = self.moves.units(self.settings.n_units, rng=self.rng)
        self.units = self.library = Library.of(units, self.X, self.y, self.weights)

    def immigrate(self, front: ParetoFront) -> None:
        """Members of the front that are new here, and a few random units at the start."""
        for candidate in front:
            if candidate.expr not in self.known_front:
                self.known_front.add(candidate.expr)
                self.admit(self.fitted(self.problem.to_scaled(candidate.expr)))
        while len(self.people) < 8 and len(self.known_front) < 1000:
            self.known_front.add(unit := self.moves.unit(rng=self.rng))
            self.admit(self.fitted(unit * 1.0 + 1.0))

    def settle(self) -> None:
        """Instances of the hints."""
        for hint in self.hints:
            fits = [self.fitted(instance(hint, rng=self.rng)) for _ in range(self.settings.n_instances)]
            self.admit(min((fit for fit in fits if fit is not None), key=attrgetter("length"), default=None))

    def generation(self, front: ParetoFront, deadline: Deadline) -> Individual | None:
        """Fit ``n_children`` children; the one with the shortest description, if any was new."""
        best: Individual | None = None
        if not self.apart:
            self.immigrate(front)
        if self.age % self.settings.refreshed == 0:
            self.library = self.units.extended(self.parts())
        self.age += 1
        for _ in range(self.settings.n_children):
            if deadline.expired():
                break
            child = self.fitted(self.child())
            if child is None:
                continue
            self.admit(child)
            if best is None or child.length < best.length:
                best = child
        now = min((person.length for person in self.people), default=math.inf)
        self.waited = 0 if now < self.shortest - 0.5 else self.waited + 1
        self.shortest = min(self.shortest, now)
        return best

    def parts(self) -> Iterator[Expr]:
        """Of the people, each once."""
        every = dict.fromkeys(part for person in self.people for part in walk(person.expr))
        return (part for part in every if isinstance(part, Call) and size(part) <= LARGEST_HINT)

    def child(self) -> Expr:
        expr = self.parent().expr
        if self.rng.random() < self.settings.solved and (better := self.library.solved(expr, rng=self.rng)) is not None:
            return better
        for _ in range(1 + int(self.rng.random() < 0.35)):
            donor = self.people[int(self.rng.integers(len(self.people)))]
            expr = self.moves.mutate(expr, donor.expr, rng=self.rng)
        return expr

    def parent(self) -> Individual:
        """The best of a few, most often of a few that are no larger than another one.

        Without noise a longer formula always comes nearer to the data, so the largest would be the parents of all.
        """
        entrants = [self.people[int(i)] for i in self.rng.integers(len(self.people), size=self.settings.tournament)]
        if self.rng.random() < self.settings.capped:
            cap = self.people[int(self.rng.integers(len(self.people)))]
            entrants = [person for person in entrants if person.complexity <= cap.complexity] or [cap]
        return self.merge(min(entrants, key=attrgetter("length")))

    def individual(self, skeleton: Expr, params: Sequence[float], loss: float, nodes: int) -> Individual | None:
        if not math.isfinite(loss):
            return None
        n_rows = len(self.y)
        misfit = 0.5 * n_rows * math.log(max(loss, self.floor))
        length = misfit + 0.5 * len(params) * math.log(n_rows) + nodes * TOKEN_NATS
        return Individual(skeleton, tuple(params), loss, nodes, length)

    def fitted(self, expr: Expr) -> Individual | None:
        """Simplify, look up, fit; None for what is too large, known or undefined."""
        if size(expr) > 3 * self.settings.max_size:
            return None
        for memory in (self.forms, self.values):
            if len(memory) > MOST_FORMS:
                memory.clear()
        expr = simplify(expr, self.forms)
        if size(expr) > self.settings.max_size or not any(isinstance(node, Var) for node in walk(expr)):
            return None
        if spell(expr, self.problem) is None:  # moves know the unary operators that are allowed, not the others
            return None
        skeleton, start = numbered(expr)
        # A move adds a few constants that merging will take away again.
        if hash(skeleton) in self.seen or len(start) > min(self.settings.max_constants + 3, len(self.y) // 3):
            return None
        self.seen.add(hash(skeleton))
        if not self.is_new(expr):
            return None
        if not start:
            loss = float(np.average((evaluate(expr, self.X) - self.y) ** 2, weights=self.weights))
            return self.individual(expr, (), loss, complexity(expr))
        tape = compile_tape(skeleton, self.problem.n_features)
        fit = fit_tape(tape, self.X, self.y, self.starts(np.asarray(start)), weights=self.weights, max_steps=12)
        if fit.status is not Status.OK:
            return None
        return self.individual(skeleton, fit.params.tolist(), float(fit.loss), complexity(expr))

    def starts(self, start: Floats) -> Floats:
        """The parents' constants, and a few of other sizes and signs: fits are quick beside what leads to them."""
        others = np.tile(start, (self.settings.n_starts - 1, 1))
        others *= np.exp(self.rng.normal(0.0, 1.0, others.shape))
        others *= np.where(self.rng.random(others.shape) < 0.25, -1.0, 1.0)
        return np.vstack([start, others])

    def is_new(self, expr: Expr) -> bool:
        """Not the same values, up to scale, as something fitted before."""
        with np.errstate(all="ignore"):
            values = evaluate_shared(expr, self.few, self.values)
        if not np.isfinite(values).all():
            return False
        norm = float(np.abs(values).max())
        if norm == 0.0:
            return False
        mark = hash(np.round(values / norm, 9).tobytes())
        if mark in self.prints:
            return False
        self.prints.add(mark)
        return True

    def admit(self, individual: Individual | None) -> None:
        """Into the population, at the cost of the worst of a crowded complexity or of all."""
        if individual is None:
            return
        full = len(self.people) >= self.settings.population
        # Merging might still make it shorter.
        if full and individual.length - SLACK * math.log(len(self.y)) >= self.worst and not self.leads(individual):
            return
        self.people.append(individual)
        if not full:
            return
        keep = {id(p) for p in _best_by_complexity(self.people)}
        others = sorted([p for p in self.people if id(p) not in keep] or self.people, key=attrgetter("length"))
        self.people.remove(others[-1])
        self.worst = others[-2].length if len(others) > 1 else math.inf

    def leads(self, individual: Individual) -> bool:
        """Is nobody both as simple and as good?"""
        return not any(p.complexity <= individual.complexity and p.loss <= individual.loss for p in self.people)

    def merge(self, individual: Individual) -> Individual:
        """The same function without constants that say the same, in its place.  As dear as a fit: only for parents."""
        if individual.merged:
            return individual
        skeleton, params = free_constants(individual.expr)
        better = None
        if len(params) < len(individual.params):
            better = self.individual(skeleton, params, individual.loss, individual.complexity)
        better = replace(better or individual, merged=True)
        self.people[self.people.index(individual)] = better
        return better


def _best_by_complexity(people: list[Individual]) -> list[Individual]:
    """The Pareto members: they keep the population diverse in size."""
    best: list[Individual] = []
    lowest = math.inf
    for person in sorted(people, key=lambda p: (p.complexity, p.loss)):
        if person.loss < lowest:
            best.append(person)
            lowest = person.loss
    return best
