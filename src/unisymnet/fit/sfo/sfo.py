"""Symbolic Function Optimization: exponents chosen by a risk-seeking policy, constants by least squares.

The paper's inner strategy for a skeleton f_s.  Every rollout replaces the exponents by members of V (or leaves them
continuous, ``*``), fits the other constants from several starts, and is rewarded with 1/(1 + error); the policy
learns from the best rollouts only.  Repeated choices are looked up, not refitted.  Beyond the paper, each with its
switch: ``warm`` (the first rollout leaves all exponents continuous, the next round what it found), ``climb`` (exponents
of the best rollouts changed one at a time), ``sweep`` (the simplest choices of all), ``deepen`` (more starts for the
best) and ``parsimony`` (of choices that noise does not tell apart, the simplest).  A policy alone settles early on
good approximations; these look where the exact law would be.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats
from ...candidate import EXACT, TOKEN_NATS, Status
from ...deadline import Deadline
from ...problem import Problem
from ...symbolic.constants import merge_params
from ...symbolic.expr import Const, Expr, Param, bind, n_params, rebuild
from ...symbolic.rewrite.simplify import simplify
from ..clean.snap import exponent_params
from ..constants import ConstantFit, fit_constants
from ..kernels.fit import fit_tape
from ..kernels.tape import compile_tape
from .exponents import EXPONENTS, ExponentPolicy, Temperature, simplest_choices, unusualness
from .roles import costs_of, facing_up, smooth_variants

Choice = tuple[float | None, ...]  # one value of V per exponent position, None for "*"


MAX_SIGNS = 8  # inner constants whose signs are all tried
N_FIRST = 30  # of the sweep, before the policy learns: mostly that is enough
MIN_SHARES = 6  # of the points looked at for the frequencies of waves
MAX_SIGN_CHOICES = 8  # odd or even powers of what changes its sign


@dataclass(frozen=True)
class SFO:
    """Settings of the paper's table; ``reward`` "normalised" divides the error by the variance of y (ADR 6)."""

    exponents: Choice = EXPONENTS
    n_restarts: int = 10
    n_points: int = 200
    n_steps: int = 60
    n_rollouts: int = 12
    risk: float = 0.1
    entropy: float = 0.005
    rate: float = 1.0
    temperature: Temperature = field(default_factory=Temperature)
    init: str = "lhs"
    loss: str = "mse"
    optimiser: str = "lm"
    reward: str = "normalised"
    warm: bool = True
    climb: bool = True
    sweep: int = 250  # how many of the simplest choices; 0 switches it off
    deepen: int = 8  # times as many starts; 0 switches it off
    most_screened: int = 24_000  # points looked at for the frequencies of waves, shared by the choices of the sweep
    parsimony: bool = True  # under noise, the choice of the shortest description instead of the lowest loss
    keep_history: bool = False
    n_threads: int = 1  # the result is the same for any number
    share: float = 0.0  # of the time left, for one skeleton of a search, where that is more than the usual seconds

    def fit_expr(self, expr: Expr, problem: Problem, *, rng: np.random.Generator, deadline: Deadline) -> SFOResult:
        """Fit a formula whose unknown constants are ``Param`` leaves; exponents among them get the policy."""
        return _Rollouts(self, merge_params(expr), problem, rng, deadline).run()


@dataclass(frozen=True)
class SFOResult:
    """The best formula found with numbers in place, its loss on all rows, and the convergence history."""

    expr: Expr
    loss: float
    status: Status
    choice: Choice = ()
    n_fits: int = 0
    others: tuple[Expr, ...] = ()  # formulas of other choices with short descriptions, shortest first
    rewards: tuple[float, ...] = ()  # best reward up to each step
    losses: tuple[float, ...] = ()  # best loss up to each fit


class _Rollouts:
    """One SFO run on one skeleton."""

    def __init__(
        self, settings: SFO, skeleton: Expr, problem: Problem, rng: np.random.Generator, deadline: Deadline
    ) -> None:
        self.settings = settings
        self.skeleton = skeleton = facing_up(skeleton, problem.X)
        self.problem = problem
        self.rng = rng
        self.deadline = deadline
        self.positions = sorted(exponent_params(skeleton))
        rows = np.arange(problem.n_rows)
        if len(rows) > settings.n_points:
            rows = np.sort(rng.choice(rows, settings.n_points, replace=False))
        self.X, self.y, self.weights = problem.X[rows], problem.y[rows], problem.weights[rows]
        self.costs = costs_of(skeleton, self.positions, settings.exponents, problem.X)
        n_choices = math.prod(len(costs) for costs in self.costs)
        self.most_screened = settings.most_screened // max(min(settings.sweep, n_choices), MIN_SHARES)
        variance = float(np.average((self.y - np.average(self.y, weights=self.weights)) ** 2, weights=self.weights))
        self.variance = variance or 1.0
        self.known: dict[Choice, tuple[float, Floats | None]] = {}
        self.plain: list[tuple[Choice, float, Floats, int]] = []  # choice, loss, constants, how many of them free
        self.best: tuple[float, Choice, Floats | None] = (math.inf, (), None)
        self.rewards: list[float] = []
        self.losses: list[float] = []

    def run(self) -> SFOResult:
        if not self.positions:
            self.fitted(())
        else:
            if self.settings.warm:
                self.warm_start()
            if self.settings.parsimony and not self.done():
                self.try_plain_constants()
            self.sweep(min(self.settings.sweep, N_FIRST))
            self.learn()
        if self.settings.climb:
            self.climb_exponents()
        self.sweep(self.settings.sweep)
        if self.settings.deepen:
            self.deepen_best()
        return self.result()

    def sweep(self, most: int) -> None:
        """Fit the likeliest choices of all."""
        for choice in simplest_choices(self.costs, most):
            if self.done() or self.deadline.expired():
                return
            self.fitted(choice)

    def warm_start(self) -> None:
        """All exponents continuous, then each rounded to its neighbour in V."""
        _, params = self.fitted((None,) * len(self.positions))
        if params is not None:
            exponents = params[np.array(self.positions)]
            near = self._nearest(exponents)
            self.fitted(near)
            self.fitted(tuple(v if abs(v - e) < 0.05 else None for v, e in zip(near, exponents, strict=True)))
        found = []
        for expr, shifts in smooth_variants(self.skeleton, self.X, MAX_SIGN_CHOICES):
            if self.done() or self.deadline.expired():
                return
            fit = self._constants(expr, self.settings.n_restarts)
            if fit.status is Status.OK:
                found.append((fit.loss, [float(fit.params[k]) + shifts.get(k, 0.0) for k in self.positions]))
        for _, exponents in sorted(found)[:2]:
            self.fitted(self._nearest(exponents))

    def _nearest(self, exponents: ArrayLike) -> Choice:
        """Members of V."""
        discrete = np.array([v for v in self.settings.exponents if v is not None])
        return tuple(float(discrete[np.argmin(np.abs(discrete - e))]) for e in np.asarray(exponents))

    def learn(self) -> None:
        s = self.settings
        policy = ExponentPolicy(len(self.positions), s.exponents)
        for step in range(s.n_steps):
            if self.done() or self.deadline.expired():
                return
            choices = policy.sample(s.n_rollouts, s.temperature.at(step, s.n_steps), rng=self.rng)
            rewards = np.array([self.rewarded(tuple(s.exponents[v] for v in row)) for row in choices])
            policy.learn(choices, rewards, risk=s.risk, entropy=s.entropy, rate=s.rate)
            self.rewards.append(self.reward_of(self.best[0]))

    def climb_exponents(self, n_summits: int = 3) -> None:
        """From the best choices, change one exponent at a time for as long as that helps."""
        summits = sorted((c for c in self.known if math.isfinite(self.known[c][0])), key=lambda c: self.known[c][0])
        for choice in summits[:n_summits]:
            better: Choice | None = choice
            while better is not None and not self.done():
                choice, better = better, self._best_neighbour(better)

    def _best_neighbour(self, choice: Choice) -> Choice | None:
        """The neighbour with the lowest loss, if it is below that of ``choice``."""
        best, lowest = None, self.known[choice][0]
        for i, value in ((i, v) for i in range(len(choice)) for v in self.settings.exponents if v != choice[i]):
            if self.deadline.expired() or self.done():
                break
            neighbour = (*choice[:i], value, *choice[i + 1 :])
            if self.fitted(neighbour)[0] < lowest:
                best, lowest = neighbour, self.known[neighbour][0]
        return best

    def deepen_best(self, n_best: int = 12) -> None:
        """Refit the best choices from many more starts: a right choice may have met bad ones only."""
        for choice, _, _ in self.ranked()[:n_best]:
            if self.done() or self.deadline.expired():
                return
            self._note(choice, self._fit(choice, self.settings.n_restarts * self.settings.deepen))

    def ranked(self) -> list[tuple[Choice, float, Floats]]:
        """Choices with loss and constants, by loss or, under noise, by the length of a description."""
        found = [(c, loss, params) for c, (loss, params) in self.known.items() if params is not None]
        if self.done() or not self.settings.parsimony:
            return sorted(found, key=lambda row: row[1])
        n = len(self.y)
        free = n_params(self.skeleton) - len(self.positions)
        lengths = [(self._length(c, loss) + 0.5 * free * math.log(n), k) for k, (c, loss, _) in enumerate(found)]
        for choice, loss, params, n_free in self.plain:
            lengths.append((self._length(choice, loss) + 0.5 * n_free * math.log(n), len(found)))
            found.append((choice, loss, params))
        return [found[k] for _, k in sorted(lengths)]

    def _length(self, choice: Choice, loss: float) -> float:
        """Nats for the residuals and the exponents."""
        exponents = TOKEN_NATS * sum(map(unusualness, choice)) + 0.5 * choice.count(None) * math.log(len(self.y))
        return 0.5 * len(self.y) * math.log(max(loss, EXACT**2 * self.variance)) + exponents

    def try_plain_constants(self) -> None:
        """Inner constants of 1 and -1 held, the linear ones solved for: under noise a fit drifts away from them."""
        simple = simplest_choices(self.costs, self.settings.sweep)
        for choice in dict.fromkeys(c for c in (*simple, *self.known) if None not in c):
            if self.done() or self.deadline.expired():
                return
            expr, free = self._with_exponents(choice)
            tape = compile_tape(expr, self.X.shape[1])
            if not 0 < len(tape.nonlinear) <= MAX_SIGNS:
                continue
            starts = np.ones((2 ** len(tape.nonlinear), tape.n_params))
            starts[:, tape.nonlinear] = list(itertools.product((1.0, -1.0), repeat=len(tape.nonlinear)))
            fit = fit_tape(tape, self.X, self.y, starts, weights=self.weights, max_steps=0)
            if fit.status is Status.OK:
                params = self._whole(choice, free, fit.params)
                self.plain.append((choice, float(fit.loss), params, len(tape.linear)))
                if self.is_exact(float(fit.loss)):
                    self._note(choice, (float(fit.loss), params))

    def done(self) -> bool:
        return self.is_exact(self.best[0])

    def is_exact(self, loss: float) -> bool:
        return loss <= EXACT**2 * self.variance

    def rewarded(self, choice: Choice) -> float:
        return 0.0 if self.deadline.expired() else self.reward_of(self.fitted(choice)[0])

    def reward_of(self, loss: float) -> float:
        """R = 1/(1 + L): L the sum of squares of the paper, or the unit-free error."""
        if not math.isfinite(loss):
            return 0.0
        error = loss * len(self.y) if self.settings.reward == "sum" else loss / self.variance
        return 1.0 / (1.0 + error)

    def fitted(self, choice: Choice) -> tuple[float, Floats | None]:
        """Loss and all constants (exponents in place) for one choice of exponents."""
        known = self.known.get(choice)
        if known is not None:
            return known
        result = self._fit(choice, self.settings.n_restarts)
        self._note(choice, result)
        return result

    def _note(self, choice: Choice, result: tuple[float, Floats | None]) -> None:
        known = self.known.get(choice)
        if known is None or result[0] < known[0]:
            self.known[choice] = result
        if result[0] < self.best[0]:
            self.best = (result[0], choice, result[1])
        self.losses.append(self.best[0])

    def _with_exponents(self, choice: Choice) -> tuple[Expr, list[int]]:
        """The skeleton with the chosen exponents as numbers, and which parameters its new ones 0, 1, … were."""
        fixed = {p: v for p, v in zip(self.positions, choice, strict=True) if v is not None}
        free = [i for i in range(n_params(self.skeleton)) if i not in fixed]
        renumbered = {old: new for new, old in enumerate(free)}

        def change(node: Expr) -> Expr:
            if not isinstance(node, Param):
                return node
            return Const(fixed[node.index]) if node.index in fixed else Param(renumbered[node.index])

        return rebuild(self.skeleton, change), free

    def _whole(self, choice: Choice, free: list[int], fitted: Floats) -> Floats:
        """All parameters of the skeleton from the chosen and the fitted ones."""
        params = np.empty(n_params(self.skeleton))
        params[free] = fitted
        for position, value in zip(self.positions, choice, strict=True):
            if value is not None:
                params[position] = value
        return params

    def _fit(self, choice: Choice, n_starts: int) -> tuple[float, Floats | None]:
        expr, free = self._with_exponents(choice)
        fit = self._constants(expr, n_starts)
        if fit.status is not Status.OK:
            return math.inf, None
        return float(fit.loss), self._whole(choice, free, fit.params)

    def _constants(self, expr: Expr, n_starts: int) -> ConstantFit:
        return fit_constants(
            expr,
            self.X,
            self.y,
            weights=self.weights,
            n_starts=n_starts,
            init=self.settings.init,
            loss=self.settings.loss,
            optimiser=self.settings.optimiser,
            most_screened=self.most_screened * n_starts // max(self.settings.n_restarts, 1),
            rng=self.rng,
            n_threads=self.settings.n_threads,
        )

    def result(self, n_others: int = 16) -> SFOResult:
        ranked = self.ranked()
        history = (tuple(self.rewards), tuple(self.losses)) if self.settings.keep_history else ((), ())
        if not ranked:
            status = Status.TIMED_OUT if self.deadline.expired() else Status.NON_FINITE
            return SFOResult(self.skeleton, math.inf, status, (), len(self.known), (), *history)
        choice, loss, _ = ranked[0]
        rows = ranked[:1] if self.done() else ranked[: n_others + 1]
        expr, *others = (simplify(bind(self.skeleton, params.tolist())) for _, _, params in rows)
        return SFOResult(expr, loss, Status.OK, choice, len(self.known), tuple(others), *history)
