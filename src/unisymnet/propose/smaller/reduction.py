"""A reduction to a smaller problem: what it is, and the regressions that all kinds of reductions share."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Floats
from ...problem import Problem
from ...symbolic.expr import Const, Expr, Var, evaluate, product, rebuild, total
from ..screen.dictionary import monomial
from ..view.smooth import Frame

__all__ = ["Reduction", "simplest", "with_column", "without"]


ZERO: Expr = Const(0.0)


@dataclass(frozen=True)
class Reduction:
    """y^power = offset + factor·y'(inputs), formulas of the old inputs; ``ratio`` is the evidence (small is good)."""

    inputs: tuple[Expr, ...]
    factor: Expr
    ratio: float
    offset: Expr = ZERO
    power: float = 1.0

    def apply(self, problem: Problem) -> Problem | None:
        """The smaller problem, or None if too few rows are left."""
        X = np.column_stack([evaluate(e, problem.X) for e in self.inputs])
        factor = evaluate(self.factor, problem.X)
        with np.errstate(all="ignore"):
            view = problem.y if self.power == 1.0 else np.sign(problem.y) * np.abs(problem.y) ** self.power
            # A residual of the view counts as one of y.
            slope = np.abs(self.power) * np.abs(problem.y) ** (self.power - 1.0)
            y = (view - evaluate(self.offset, problem.X)) / factor
            weights = problem.weights * (factor / slope) ** 2
        good = np.isfinite(y) & np.isfinite(X).all(axis=1) & np.isfinite(weights)
        if np.sum(good) < 0.8 * problem.n_rows:
            return None
        weights = weights[good]
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
        if self.factor != Const(1.0):
            lifted = product([self.factor, lifted])
        if self.offset != ZERO:
            lifted = total([self.offset, lifted])
        return lifted if self.power == 1.0 else monomial([lifted], [1.0 / self.power])


def without(frame: Frame, design: Floats, law: Floats) -> tuple[Floats, Floats]:
    """Design and target for y/law: ln y loses ln|law|; in a power of y the law multiplies the design."""
    with np.errstate(all="ignore"):
        if frame.power == 0.0:
            return design, frame.target - np.log(np.abs(law))
        factor = law**frame.power if frame.power % 1 == 0 else np.abs(law) ** frame.power
        return design * factor[:, None], frame.target


def with_column(frame: Frame, design: Floats, column: Floats) -> tuple[float, float]:
    """Evidence for one more column beside a design, and its coefficient (0 if the evidence is poor)."""
    if not np.isfinite(column).all():
        return math.inf, 0.0
    wider = np.column_stack([design, column])
    evidence = frame.ratio(wider)
    if evidence > 3.0:
        return evidence, 0.0
    solution = np.linalg.lstsq(wider * frame.weight[:, None], frame.target * frame.weight, rcond=1e-13)[0]
    return evidence, float(solution[-1])


def simplest(value: float) -> float:
    """A simple number close to a value that regression knows to a few digits only."""
    for denominator in (1, 2, 3, 4):
        near = round(value * denominator) / denominator
        if near and abs(near - value) < 2e-3 * abs(value):
            return near
    return value
