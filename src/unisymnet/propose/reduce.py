"""Smaller problems: inputs left out, power laws stripped, two inputs merged into one; then the stages search there.

y = x_i^a·y', y = f(x_i − x_j, …), y = x_i^a·f(x_i·x_j, …) and the like are recognised by regressions: if a polynomial
in the fewer coordinates predicts y as well as one in all of them, the reduction is believed.  Reductions are chained
as far as they go, and the stages given are asked about the smallest problem first.  Formulas found there are written
back in the inputs of the whole problem.  Which stages these are is not known here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..candidate import ParetoFront, Proposal
from ..deadline import Deadline
from ..problem import Problem
from ..protocols import Proposer
from ..symbolic.expr import Call, Const, Expr, Var, evaluate, product, rebuild
from .dictionary import monomial
from .score import EXACT, misfit
from .smooth import Frame, best_frame
from .spaces import weightings

__all__ = ["Reduce", "Reduction", "chain"]

Floats = NDArray[np.float64]

ROUGH = 0.02  # a share of the variance beyond polynomials above which evidence is weak
EXPONENTS = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5, -1.5, 4.0, -4.0, 5.0, -5.0)


@dataclass(frozen=True)
class Reduction:
    """y = factor·y'(inputs): ``inputs`` and ``factor`` are formulas of the old inputs; ``ratio`` is the evidence."""

    inputs: tuple[Expr, ...]
    factor: Expr
    ratio: float

    def apply(self, problem: Problem) -> Problem | None:
        """The smaller problem, or None if too few rows are left."""
        X = np.column_stack([evaluate(e, problem.X) for e in self.inputs])
        factor = evaluate(self.factor, problem.X)
        with np.errstate(all="ignore"):
            y = problem.y / factor
        good = np.isfinite(y) & np.isfinite(X).all(axis=1)
        if np.sum(good) < 0.8 * problem.n_rows:
            return None
        weights = (problem.weights * factor**2)[good]
        mean = float(np.mean(weights))
        return replace(
            problem,
            X=np.ascontiguousarray(X[good]),
            y=np.ascontiguousarray(y[good]),
            names=tuple(f"z{k}" for k in range(len(self.inputs))),
            weights=weights / mean,
            x_scales=np.ones(len(self.inputs)),
            y_scale=1.0,
            noise=None if problem.noise is None else problem.noise / np.sqrt(mean),
        )

    def lift(self, expr: Expr) -> Expr:
        """A formula of the smaller problem in the old inputs."""
        lifted = rebuild(expr, lambda node: self.inputs[node.index] if isinstance(node, Var) else node)
        return lifted if self.factor == Const(1.0) else product([self.factor, lifted])


@dataclass(frozen=True)
class Reduce:
    """Settings: the stages asked about smaller problems, seconds for one problem, how sure a reduction must be."""

    stages: tuple[Proposer, ...] = ()
    name: str = "reduce"
    max_ratio: float = 1.3
    max_time: float = 20.0
    max_steps: int = 8

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        noisy = weightings(problem) == (True,)
        steps = list(chain(problem, noisy=noisy, max_ratio=self.max_ratio, max_steps=self.max_steps, deadline=deadline))
        problems = [problem]
        for step in steps:
            smaller = step.apply(problems[-1])
            if smaller is None:
                break
            problems.append(smaller)
        # The smallest problem first: it is the easiest to solve.
        for depth in range(len(problems) - 1, 0, -1):
            limit = deadline.sooner(self.max_time)
            for proposal in self._solve(problems[depth], rng, limit):
                expr = proposal.expr
                for step in reversed(steps[:depth]):
                    expr = step.lift(expr)
                yield Proposal(expr, f"{self.name}/{proposal.source}")
                if misfit(problem, expr) < EXACT:
                    return
            if deadline.expired():
                return

    def _solve(self, problem: Problem, rng: np.random.Generator, deadline: Deadline) -> Iterator[Proposal]:
        for stage in self.stages:
            if deadline.expired():
                return
            for proposal in stage.propose(problem, ParetoFront(), rng=rng, deadline=deadline):
                yield proposal
                if deadline.expired():
                    return


def chain(
    problem: Problem, *, noisy: bool, max_ratio: float, max_steps: int, deadline: Deadline
) -> Iterator[Reduction]:
    """Reductions, each of the problem that the ones before leave."""
    for _ in range(max_steps):
        if problem.n_features < 2 or deadline.expired():
            return
        step = best_reduction(problem, noisy=noisy, max_ratio=max_ratio)
        smaller = None if step is None else step.apply(problem)
        if step is None or smaller is None:
            return
        yield step
        problem = smaller


def best_reduction(problem: Problem, *, noisy: bool, max_ratio: float) -> Reduction | None:
    """The surest reduction: stripped inputs first (all at once), then a merged pair, then a pair with a power."""
    frame = best_frame(problem, noisy=noisy)
    if frame is not None and frame.share > ROUGH and not noisy:
        frame = best_frame(problem, noisy=noisy, max_rows=1200, max_columns=340)
    if frame is None or frame.share > 0.6:
        return None
    if frame.share > ROUGH:
        max_ratio = 1.0 + (max_ratio - 1.0) / 3  # what polynomials cannot follow hides what a reduction loses
    strips = [s for i in range(frame.n_features) for s in [_best_strip(problem, frame, i)] if s[1] < max_ratio]
    if strips:
        return _stripped(frame, strips, max_ratio)
    for powers in (False, True):
        merged = min(_merges(problem, frame, powers=powers), key=lambda r: r.ratio, default=None)
        if merged is not None and merged.ratio < max_ratio:
            return merged
    return None


Strip = tuple[int, float, float]  # input, ratio, exponent (0: the input does not matter)


def _best_strip(problem: Problem, frame: Frame, i: int) -> Strip:
    """The exponent a for which y/x_i^a is best predicted without x_i."""
    design = frame.design(np.delete(frame.coordinates, i, axis=1))
    return min(((i, frame.ratio(*_divided(frame, design, {i: a})), a) for a in _exponents(problem, frame, i, design)),
               key=lambda s: s[1])  # fmt: skip


def _exponents(problem: Problem, frame: Frame, i: int, design: Floats) -> list[float]:
    x = frame.X[:, i]
    if not problem.allows("mul") or np.any(x == 0):
        return [0.0]
    if frame.power == 0.0:
        # ln y = a·ln x_i + f(others): the exponent is a coefficient.
        weight = frame.weight[:, None]
        table = np.column_stack([design, np.log(np.abs(x))]) * weight
        a = float(np.linalg.lstsq(table, frame.target * frame.weight, rcond=1e-12)[0][-1])
        near = sorted({0.0, round(a), round(2 * a) / 2, round(3 * a) / 3})
        if np.any(x < 0):
            near = [e for e in near if e.is_integer()]
        return near
    whole = np.any(x < 0)
    return [0.0, *(a for a in EXPONENTS if not (whole and a % 1))]


def _divided(frame: Frame, design: Floats, exponents: dict[int, float]) -> tuple[Floats, Floats]:
    """Design and target for view(y)/(x^a)^power: in the view of y the power law multiplies the design."""
    if frame.power == 0.0:
        law = sum(a * np.log(np.abs(frame.X[:, i])) for i, a in exponents.items() if a)
        return design, frame.target - law
    law = np.ones(len(frame.target))
    for i, a in exponents.items():
        power = a * frame.power
        law = law * (frame.X[:, i] ** power if power % 1 == 0 else np.abs(frame.X[:, i]) ** power)
    return design * law[:, None], frame.target


def _stripped(frame: Frame, strips: list[Strip], max_ratio: float) -> Reduction:
    """Strips taken up one by one, the surest first, as long as none spoils what the others have reached."""
    strips = sorted(strips, key=lambda s: s[1])
    gone = {strips[0][0]: strips[0][2]}
    ratio = strips[0][1]
    for i, _, a in strips[1 : frame.n_features - 1]:
        trial = gone | {i: a}
        design = frame.design(np.delete(frame.coordinates, list(trial), axis=1))
        new = frame.ratio(*_divided(frame, design, trial))
        if new < max_ratio * ratio:
            gone, ratio = trial, new
    kept = tuple(Var(i) for i in range(frame.n_features) if i not in gone)
    powers = {i: a for i, a in sorted(gone.items()) if a}
    factor = monomial([Var(i) for i in powers], list(powers.values())) if powers else Const(1.0)
    return Reduction(kept, factor, ratio)


def _merges(problem: Problem, frame: Frame, *, powers: bool = False) -> Iterator[Reduction]:
    """Every pair of inputs replaced by one; with ``powers`` also y divided by a power of the first input."""
    for i, j in itertools.combinations(range(frame.n_features), 2):
        rest = [k for k in range(frame.n_features) if k not in (i, j)]
        for op in ("sub", "add", "mul", "div"):
            if not problem.allows(op) or (op == "div" and np.any(frame.X[:, j] == 0)):
                continue
            if powers and (op in ("sub", "add") or np.any(frame.X[:, i] == 0)):
                continue
            expr = Call(op, (Var(i), Var(j)))
            values = evaluate(expr, frame.X)
            if frame.logs and np.any(values == 0):
                continue
            if frame.logs and op in ("sub", "add") and np.any(values < 0) and np.any(values > 0):
                merged = values  # a difference that changes its sign has no logarithm
            else:
                merged = frame.coordinate(values)
            design = frame.design(np.column_stack([merged, frame.coordinates[:, rest]]))
            inputs = (expr, *(Var(k) for k in rest))
            if not powers:
                yield Reduction(inputs, Const(1.0), frame.ratio(design))
                continue
            for a in _exponents(problem, frame, i, design):
                if a:
                    ratio = frame.ratio(*_divided(frame, design, {i: a}))
                    yield Reduction(inputs, monomial([Var(i)], [a]), ratio)
