"""A power law times a power of one inner function: view(y) = c·∏ x_i^a_i·u(κt)^n.

Saturation by tanh, Bose and Fermi factors, hyperbolic functions, waves behind a slit.  ln|view(y)| is linear in all
constants but κ: for every argument t and function u, κ is scanned with the linear part projected out, the best are
refined by Gauss–Newton, and what is left after dividing by u^n is a power law.  The arguments are few, because
reductions (smaller/) make most problems ones of a single argument first.  Under noise rows count by |y|, as if y itself
were fitted, n is a simple number, and the functions that leave least are put forward.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import DIGITS_9, DIGITS_12, TINY, Floats
from ...candidate import Proposal
from ...fit.projected import refined, taken_out
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, call, evaluate, product
from ..linear.monomial import LogInputs, Monomial, log_inputs, nearest_simple
from ..pool import FAR_WORSE, Pool, Stage, Task
from ..view.views import View, views_of
from ..write.polynomial import power

__all__ = ["Features"]

VIEWS = ("y", "exp(y)")
STEP = 0.5  # radians over the range of t
RATIOS, SPANS, WAVES = np.geomspace(0.05, 100.0, 14), np.geomspace(0.2, 20.0, 14), np.arange(STEP, 60.0, STEP)
N_NARROWED, TENTHS = 6, np.linspace(-1.0, 1.0, 10)
HIT = 1e-8  # share of the target left, in norm, that only a law reaches
MIN_SPAN = 0.02  # of κt: below it a function is its own Taylor polynomial
MAX_POWER = 6.0
STEPS = 25
NEAR_ZERO = 1e-2  # of the median |y|: there ln|y| has spikes, and rows are weighted
# Under noise: functions that are refined and put forward, and simple powers of them.
N_LIKELY, N_PROPOSALS = 24, 4
POWERS = (-1.0, 1.0, -2.0, 2.0, -0.5, 0.5)


@dataclass(frozen=True)
class Inner:
    """u(s) with s = offset + κt: operators that it needs, ln|u|, its formula, starts of κ (over the size of t)."""

    needs: tuple[str, ...]
    logs: Callable[[Floats], Floats]
    build: Callable[[Expr], Expr]
    grid: Floats
    even: bool = False  # u(κt) and u(-κt) are one function up to its sign
    offset: float = 0.0


def _of(op: str) -> Callable[[Expr], Expr]:
    return lambda s: Call(op, (s,))


INNER = (
    Inner(("add",), lambda s: np.log(np.abs(s)), lambda s: s, RATIOS, offset=1.0),
    Inner(("sin",), lambda s: np.log(np.abs(np.sin(s))), _of("sin"), WAVES, True),
    Inner(("cos",), lambda s: np.log(np.abs(np.cos(s))), _of("cos"), WAVES, True),
    Inner(("exp", "add"), lambda s: np.log(np.abs(np.expm1(s))), lambda s: call("exp", s) - 1.0, SPANS),
    Inner(("exp", "add"), lambda s: np.logaddexp(0.0, s), lambda s: 1.0 + call("exp", s), SPANS),
    Inner(("ln", "add"), lambda s: np.log(np.abs(np.log(s))), _of("ln"), RATIOS, offset=1.0),
    Inner(("cosh",), lambda s: np.logaddexp(s, -s), _of("cosh"), SPANS, True),
    Inner(("sinh",), lambda s: np.abs(s) + np.log(-np.expm1(-2.0 * np.abs(s))), _of("sinh"), SPANS, True),
    Inner(("tanh",), lambda s: np.log(np.abs(np.tanh(s))), _of("tanh"), SPANS, True),
    Inner(("atan",), lambda s: np.log(np.abs(np.arctan(s))), _of("atan"), SPANS, True),
)


@dataclass(frozen=True)
class Features(Stage):
    """Settings: whether there is noise, rows and arguments that are looked at, starts that are refined, seconds."""

    name: str = "features"
    noisy: bool = False
    max_rows: int = 160
    n_arguments: int = 60
    n_refined: int = 60
    seconds: float = 1.5

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem = task.problem
        inputs = log_inputs(problem, task.some_rows(self.max_rows))
        for view in views_of(problem, VIEWS[:1] if self.noisy else VIEWS):
            logs = _Logs.see(problem, inputs, view, self.noisy)
            if logs is None:
                continue
            starts: list[_Start] = []
            for argument in itertools.islice(_arguments(problem), self.n_arguments):
                if task.deadline.expired():
                    break
                starts += logs.starts(problem, argument)
            starts = [start for start in sorted(starts, key=lambda start: start.left) if start.left < 1.0]
            if self.noisy:
                yield from self._likeliest(task, view, logs, starts[:N_LIKELY])
                continue
            for start in starts[: self.n_refined]:
                if task.deadline.expired():
                    break
                hit = logs.refined(start)
                if hit.left < HIT:
                    task.pool.add(_written(task, view, hit, nearest_simple(hit.power, 1e-5, thirds=True)))
                    task.pool.settle(1, task.deadline)
                if task.pool.exact():
                    yield from task.pool.proposals(1)
                    return

    def _likeliest(self, task: Task, view: View, logs: _Logs, starts: Sequence[_Start]) -> Iterator[Proposal]:
        hits = [logs.refined(start) for start in starts if not task.deadline.expired()]
        for hit in sorted(hits, key=lambda hit: hit.left):
            if not task.deadline.expired():
                task.pool.add(_written(task, view, hit, hit.simple))
        task.pool.settle(N_LIKELY, task.deadline)
        yield from task.pool.proposals(N_PROPOSALS, FAR_WORSE)


@dataclass(frozen=True)
class _Start:
    """A function of an argument (t its values), κ, the power n, and the norm of what they leave of the target."""

    inner: Inner
    argument: Expr
    t: Floats
    kappa: float = 0.0
    power: float = 0.0
    left: float = 1.0
    simple: float = 0.0  # the power under noise


@dataclass(frozen=True)
class _Logs:
    """ln|view(y)| beside a power law on some rows: unit target, orthonormal columns of the power law, row weights."""

    rows: Floats  # X on them
    target: Floats
    scale: float  # of the target
    basis: Floats
    weights: Floats
    noisy: bool  # then n is one of POWERS: noise would choose it together with the exponents

    @staticmethod
    def see(problem: Problem, inputs: LogInputs, view: View, noisy: bool) -> _Logs | None:
        """None where the view does not hold for all rows, or they are a power law already."""
        y = problem.y[inputs.rows]
        values = view.values(y)
        good = np.isfinite(values) & (values != 0.0)
        if not view.strict or good.sum() < max(8, 2 * len(inputs.columns) + 6):
            return None
        sizes = np.abs(values[good])
        spiky = np.min(sizes) < NEAR_ZERO * np.median(sizes)
        weights = sizes * view.weights(y[good]) if spiky or noisy else np.ones(len(sizes))
        if noisy:
            weights = weights * np.sqrt(problem.weights[inputs.rows][good])
        weights = weights / np.max(weights)
        table = np.column_stack([np.ones(len(sizes)), inputs.logs[good]]) * weights[:, None]
        basis, triangle = np.linalg.qr(table)
        basis = basis[:, np.abs(np.diag(triangle)) > DIGITS_12 * np.abs(triangle).max()]
        target = np.log(sizes) * weights
        free = target - basis @ (basis.T @ target)
        scale = float(np.linalg.norm(free))
        if not scale > DIGITS_9 * np.linalg.norm(target):
            return None
        return _Logs(problem.X[inputs.rows][good], free / scale, scale, basis, weights, noisy)

    def starts(self, problem: Problem, argument: Expr) -> Iterator[_Start]:
        """For each function the κ that leaves least."""
        t = evaluate(argument, self.rows)
        size = float(np.max(np.abs(t)))
        span = float(np.ptp(t)) if TINY < size < 1.0 / TINY else 0.0
        if not span > DIGITS_9 * size:
            return
        for inner in INNER:
            if not problem.allows(*inner.needs):
                continue
            unit = max(float(np.median(np.abs(t))), 1e-3 * size) if inner.offset else span
            between = np.sqrt(inner.grid[1:] * inner.grid[:-1])
            kappas = (np.sort([*inner.grid, *between]) if self.noisy else inner.grid) / unit
            if inner.grid is WAVES:
                kappas = kappas[: max(8, 2 * len(t))]
            kappas = np.concatenate([kappas, [1.0]] if inner.even else [kappas, -kappas, [1.0, -1.0]])
            for simple in POWERS if self.noisy else (0.0,):
                yield self._best(_Start(inner, argument, t, simple=float(simple)), kappas)

    def _best(self, start: _Start, kappas: Floats) -> _Start:
        """The start with the κ that leaves least, if that is less than before."""
        free = taken_out(self._columns(start.inner, kappas, start.t).T, self.basis).T
        energy = np.sum(free**2, axis=1)
        shared = free @ self.target
        powers = np.divide(shared, energy, out=np.zeros(len(kappas)), where=energy > DIGITS_12)
        if self.noisy:
            powers = np.where(energy > DIGITS_12, start.simple / self.scale, 0.0)
        explained = powers * (2.0 * shared - powers * energy)
        best = int(np.argmax(explained))
        left = math.sqrt(max(0.0, 1.0 - float(explained[best])))
        if left >= start.left:
            return start
        return replace(start, kappa=float(kappas[best]), power=float(powers[best]), left=left)

    def refined(self, start: _Start) -> _Start:
        """κ between its neighbours on the grid, then by Gauss–Newton with everything else projected out."""
        width = STEP / float(np.ptp(start.t)) if start.inner.grid is WAVES else 0.6 * abs(start.kappa)
        for _ in range(N_NARROWED):
            start = self._best(start, start.kappa + width * TENTHS)
            width /= 4.0
        if self.noisy:
            return start
        kappa, powers, left = refined(
            lambda kappas: self._columns(start.inner, kappas, start.t)[:, :, None],
            self.basis, self.target, start.kappa, STEPS,
        )  # fmt: skip
        return replace(start, kappa=kappa, power=float(powers[0]) * self.scale if len(powers) else 0.0, left=left)

    def _columns(self, inner: Inner, kappas: Floats, t: Floats) -> Floats:
        """ln|u(κt)| (κ, rows), weighted; 0 for a κ with which it is undefined somewhere."""
        with np.errstate(all="ignore"):
            columns = inner.logs(inner.offset + kappas[:, None] * t) * self.weights
        columns[~np.isfinite(columns).all(axis=1)] = 0.0
        return np.asarray(columns)


def _written(task: Task, view: View, hit: _Start, exponent: float) -> Expr | None:
    """The formula of y with u^exponent: what that leaves is asked for its power law."""
    if not 0.0 < abs(exponent) < MAX_POWER or abs(hit.kappa) * np.ptp(hit.t) < MIN_SPAN:
        return None
    inside = hit.argument if hit.kappa == 1.0 else product([Const(hit.kappa), hit.argument])
    inner = hit.inner.build(Const(hit.inner.offset) + inside if hit.inner.offset else inside)
    values = evaluate(inner, task.problem.X)
    if exponent != round(exponent) and np.any(values < 0.0):
        inner, values = (call("neg", inner), -values) if np.all(values <= 0.0) else (call("abs", inner), np.abs(values))
    factor = power(inner, exponent)
    with np.errstate(all="ignore"):
        rest = view.values(task.problem.y) / values**exponent
    if not np.isfinite(rest).all():
        return None
    part = replace(task.problem, y=rest)
    if np.ptp(rest) <= DIGITS_9 * np.max(np.abs(rest)):
        return view.invert(product([Const(float(np.median(rest))), factor]))
    for proposal in Monomial().asked(replace(task, problem=part, pool=Pool(part, ""))):
        return view.invert(product([proposal.expr, factor]))
    return None


def _arguments(problem: Problem) -> Iterator[Expr]:
    """Inputs, their products, quotients and differences, and simple powers of all these."""
    inputs = [Var(i) for i in range(problem.n_features)]
    pairs = list(itertools.combinations(inputs, 2))
    plain: list[Expr] = [*inputs]
    if problem.allows("mul"):
        plain += [product([a, b]) for a, b in pairs]
    if problem.allows("div"):
        plain += [call("div", a, b) for a, b in itertools.permutations(inputs, 2)]
    if problem.allows("sub"):
        plain += [a - b for a, b in pairs]
    yield from plain
    for exponent in (2.0, -1.0, 0.5):
        if problem.allows("pow"):
            yield from (power(expr, exponent) for expr in plain)
