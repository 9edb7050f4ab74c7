"""Finishers: what is wanted in a hole of a good formula is a smaller problem, and the closed families may know it.

Evolution comes near to a law by imitating the one part that it does not find.  Of the formulas on the front, those that
gain most for their size are opened (holes.py).  A polynomial tells whether the wanted values are a function of the
part's inputs, and how much better than the part it follows them; the holes where it does so best are put to the stages
given and to a short evolution of their own.  Everything is counted, nothing is timed, and chance is keyed by the seed
and the number of the epoch: the same front gives the same formulas on every machine.  Which stages are asked is not
known here.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Floats
from ...candidate import ParetoFront, Proposal
from ...deadline import Deadline
from ...fit.clean.spell import spell
from ...problem import NOTHING_TOLD, Problem
from ...protocols import Proposer
from ...symbolic.expr import Call, Const, Expr, product, rebuild, renumbered, total, variables
from ...symbolic.rewrite.simplify import simplify
from ..pool import misfit
from ..view.smooth import polynomial, standardised
from .holes import Hole, holes
from .islands import Found, best_of, live, make_world
from .niches import EXACT, new_state

MAX_ROWS = 256  # that a smaller problem has
LEAST_ROWS = 0.8  # of them, on which the part can be what is wanted
MOST_WEIGHT = 30.0  # of a row, over the median
LOOKED_AT = 150  # of them, by the polynomial
MAX_COLUMNS = 35, 56  # of the polynomial, with up to three inputs and with more
MOST_INPUTS = 6
CLEARLY, SURELY = 10.0, 1e4  # times nearer than the part is a polynomial that tells of something better
BETTER = 0.5  # of the misfit: what is worth a place on the front
NEXT = 2e-3  # to a half: so near a number may be one that is only off
MOST_WAITING = 200  # holes
EPOCHS, EPOCH_WORK = 4, 10_000_000  # of the short evolution


@dataclass(order=True)
class _Question:
    """A hole with how much better a polynomial does; the most promising one is the smallest."""

    promise: float
    number: int
    hole: Hole = field(compare=False)
    smaller: Problem = field(compare=False)
    inputs: list[int] = field(compare=False)
    before: float = field(compare=False)  # misfit of the whole formula


@dataclass
class Finisher:
    """Opens ``n_opened`` formulas after an epoch and asks about ``n_asked`` holes, more where the answer is near."""

    problem: Problem
    stages: tuple[Proposer, ...]
    seed: int
    n_opened: int = 2
    n_asked: int = 1
    n_sure: int = 3
    _opened: set[Expr] = field(default_factory=set)
    _known: set[bytes] = field(default_factory=set)
    _waiting: list[_Question] = field(default_factory=list)

    def __post_init__(self) -> None:
        order = np.random.default_rng([self.seed, 1]).permutation(self.problem.n_rows)
        self._rows = order[:MAX_ROWS]

    def propose(self, front: ParetoFront, found: Sequence[Found], epoch: int, deadline: Deadline) -> Iterator[Proposal]:
        """Whole formulas with a hole filled, where that helps much; ``found`` are the best of the islands."""
        with np.errstate(all="ignore"):
            for _, _, expr in self._steepest(front, found)[: self.n_opened]:
                self._open(expr)
            for k in range(self.n_asked + self.n_sure):
                if not self._waiting or deadline.expired():
                    return
                if k < self.n_asked or -self._waiting[0].promise > SURELY:
                    yield from self._ask(heapq.heappop(self._waiting), epoch, deadline)

    def _steepest(self, front: ParetoFront, found: Sequence[Found]) -> list[tuple[float, int, Expr]]:
        """Formulas that were not opened yet; first those that gain most over smaller ones for each node more."""
        problem = self.problem
        many = [(c.complexity, c.loss / problem.y_scale**2, problem.to_scaled(c.expr)) for c in front]
        # Those of the islands as well: what Polish has fitted to the last digit has lost its simple numbers.
        many += [(one.size, one.loss, one.expr) for one in found]
        ranked, size, lowest = [], 0, problem.spread**2
        for complexity, loss, expr in sorted(many, key=lambda one: one[:2]):
            if loss < lowest:
                gain = math.log(lowest / max(loss, 1e-300)) / max(complexity - size, 1)
                ranked.append((-gain, complexity, simplify(expr)))
                size, lowest = complexity, loss
        ranked.sort(key=lambda one: one[:2])
        return [one for one in ranked if one[2] not in self._opened]

    def _open(self, expr: Expr) -> None:
        """Put down the holes of a formula, as it is and with plain numbers in the place of those next to them."""
        self._opened.add(expr)
        before = misfit(self.problem, expr)
        if not 0.0 < before < 1.0:
            return
        for form in dict.fromkeys((expr, rebuild(expr, _plain))):
            for hole in holes(form, self.problem.X[self._rows], self.problem.y[self._rows]):
                question = self._question(hole, before)
                if question is not None:
                    heapq.heappush(self._waiting, question)
        self._waiting = heapq.nsmallest(MOST_WAITING, self._waiting)  # sorted, so a heap still

    def _question(self, hole: Hole, before: float) -> _Question | None:
        """The smaller problem of a hole, None if it is known, or a polynomial sees nothing better in it."""
        weights = self.problem.weights[self._rows] / hole.slope**2
        good = np.isfinite(hole.wanted) & np.isfinite(weights) & (weights > 0.0) & np.isfinite(hole.now)
        if good.sum() < max(LEAST_ROWS * len(self._rows), 12) or not 0 < len(hole.inputs) <= MOST_INPUTS:
            return None
        inputs = sorted(hole.inputs)
        t, mark = hole.wanted[good], (hole.wanted[good] - np.mean(hole.wanted[good])) / np.std(hole.wanted[good])
        key = np.round(mark[:16], 4).tobytes() + bytes(str(inputs), "ascii")
        if key in self._known or not np.isfinite(mark).all():
            return None
        self._known.add(key)
        weights = np.minimum(weights[good], MOST_WEIGHT**2 * np.median(weights[good]))
        X = np.ascontiguousarray(self.problem.X[self._rows][good][:, inputs])
        promise = _promise(X, t, hole.now[good], np.sqrt(weights))
        if not promise > CLEARLY:
            return None
        smaller = replace(
            self.problem,
            X=X,
            y=np.ascontiguousarray(t),
            names=tuple(f"z{k}" for k in range(len(inputs))),
            weights=weights / np.mean(weights),
            x_scales=np.ones(len(inputs)),
            y_scale=1.0,
            told=NOTHING_TOLD,
            noise=None,
            rounding=0.0,
        )
        return _Question(-promise, len(self._known), hole, smaller, inputs, before)

    def _ask(self, question: _Question, epoch: int, deadline: Deadline) -> Iterator[Proposal]:
        """Put the smaller problem to all; those answers that make the whole formula much better."""
        rng = np.random.default_rng([self.seed, epoch, question.number])
        inputs = question.inputs
        for source, answer in self._answers(question.smaller, rng, deadline):
            lifted = renumbered(answer, inputs)
            whole = spell(question.hole.fill(lifted), self.problem)
            if whole is not None and misfit(self.problem, whole) < BETTER * question.before:
                yield Proposal(whole, f"evolve/{source}")

    def _answers(self, smaller: Problem, rng: np.random.Generator, deadline: Deadline) -> Iterator[tuple[str, Expr]]:
        for stage in self.stages:
            for proposal in stage.propose(smaller, ParetoFront(), rng=rng, deadline=deadline):
                yield stage.name, proposal.expr
                if misfit(smaller, proposal.expr) < 1e-11:
                    return
            if deadline.expired():
                return
        yield from (("parts", expr) for expr in evolved(smaller, int(rng.integers(2**62))))


def _plain(node: Expr) -> Expr:
    """The same with plain numbers in the place of those next to them, sums with a first coefficient of 1.

    Where a part is only imitated the numbers beside it are a little off, and what is wanted there with them.
    """
    if isinstance(node, Const):
        return Const(_near(node.value))
    if not isinstance(node, Call) or node.op != "add":
        return node
    terms = [_apart(term) for term in node.args]
    lead = next((c for c, rest in terms if variables(rest)), 0.0)
    if lead in (0.0, 1.0):
        return node
    near = [(_near(c / lead), rest) for c, rest in terms]
    return product([Const(lead), total([_scaled(c, rest) for c, rest in near if c != 0.0])])


def _near(value: float) -> float:
    """The half next to a number, if it is very near."""
    near = 0.5 * round(2.0 * value)
    return near if abs(near - value) < NEXT else value


def _scaled(c: float, rest: Expr) -> Expr:
    if isinstance(rest, Const):
        return Const(c * rest.value)
    return rest if c == 1.0 else product([Const(c), rest])


def _apart(term: Expr) -> tuple[float, Expr]:
    """Coefficient and the rest of a term."""
    if isinstance(term, Const):
        return term.value, Const(1.0)
    if isinstance(term, Call) and term.op == "mul" and isinstance(term.args[0], Const):
        return term.args[0].value, product(list(term.args[1:]))
    return 1.0, term


def evolved(problem: Problem, seed: int, n_epochs: int = EPOCHS) -> list[Expr]:
    """What a short evolution on one island finds: the shortest descriptions."""
    if problem.spread == 0.0:
        return []
    world = make_world(problem, 0, seed=seed, work=EPOCH_WORK, solved=0.2, max_size=31)
    state = new_state()
    for number in range(n_epochs):
        state = live(world, state, [], (seed, 0, number)) or state
        if state.counts[EXACT] > 0:
            break
    return [found.expr for found in sorted(best_of(state), key=lambda one: one.score)[:2]]


def _promise(X: Floats, t: Floats, now: Floats, root: Floats) -> float:
    """How many times nearer than what is there now a polynomial comes to what is wanted, on rows kept back."""
    X, t, now, root = X[:LOOKED_AT], t[:LOOKED_AT], now[:LOOKED_AT], root[:LOOKED_AT]
    n = len(t)
    kept = n // 3
    n_columns = min(MAX_COLUMNS[X.shape[1] > 3], (n - kept) // 2)
    off = _rms((now - t)[:kept] * root[:kept])
    coordinates = [X]
    if np.all((X > 0.0).all(axis=0) | (X < 0.0).all(axis=0)):
        coordinates.append(np.log(np.abs(X)))
    sides = [(t, np.ones(n))]
    if np.all(t > 0.0) or np.all(t < 0.0):
        sides.append((np.log(np.abs(t)), np.abs(t)))  # an error of ln t is one of t over t
    best = math.inf
    for z in coordinates:
        design = polynomial(standardised(z), n_columns)
        for target, factor in sides:
            weight = root * factor
            solution = np.linalg.lstsq(design[kept:] * weight[kept:, None], target[kept:] * weight[kept:], rcond=1e-12)
            left = (design[:kept] @ solution[0] - target[:kept]) * weight[:kept]
            best = min(best, _rms(left))
    return off / best if best > 0.0 else math.inf


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))
