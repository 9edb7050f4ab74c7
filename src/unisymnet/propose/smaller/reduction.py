"""A reduction to a smaller problem: what it is, the regressions that all kinds share, and functions of one input.

y = u(κ·x_i)·y'(others) and view(y) = c·u(κ·x_i) + y'(others): the constant κ is the one for which the others predict
best what is left (a grid, then Brent's method).  It is known to a few digits only, unless it is a simple number; the
search polishes it with all others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from ...arrays import DIGITS_9, Floats
from ...problem import NOTHING_TOLD, Problem
from ...symbolic.expr import Call, Const, Expr, Var, evaluate, product, rebuild, total
from ..view.smooth import Frame
from ..write.polynomial import monomial

__all__ = ["Reduction", "factor_of", "factors", "one_less", "simplest", "smaller", "summands", "with_column", "without"]

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
        mean = float(np.mean(weights[good]))
        noise = None if problem.noise is None else problem.noise / np.sqrt(mean)
        return replace(smaller(problem, X[good], y[good], weights[good] / mean), noise=noise)

    def lift(self, expr: Expr) -> Expr:
        """A formula of the smaller problem in the old inputs."""
        lifted = rebuild(expr, lambda node: self.inputs[node.index] if isinstance(node, Var) else node)
        if self.factor != Const(1.0):
            lifted = product([self.factor, lifted])
        if self.offset != ZERO:
            lifted = total([self.offset, lifted])
        return lifted if self.power == 1.0 else monomial([lifted], [1.0 / self.power]).written()


def smaller(problem: Problem, X: Floats, y: Floats, weights: Floats) -> Problem:
    """Other inputs and another target on some rows, in units of their own."""
    return replace(
        problem,
        X=np.ascontiguousarray(X),
        y=np.ascontiguousarray(y),
        names=tuple(f"z{k}" for k in range(X.shape[1])),
        weights=weights,
        x_scales=np.ones(X.shape[1]),
        y_scale=1.0,
        told=NOTHING_TOLD,
    )


def factor_of(powers: Mapping[int, float]) -> Expr:
    """The product of powers of some inputs, those with an exponent of 0 left out."""
    some = {i: a for i, a in powers.items() if a}
    return monomial([Var(i) for i in some], list(some.values())).written() if some else Const(1.0)


def one_less(frame: Frame) -> Iterator[tuple[int, Floats, tuple[Expr, ...]]]:
    """Every input with the polynomial in the others, and with these."""
    for i in range(frame.n_features):
        design = frame.design(np.delete(frame.coordinates, i, axis=1))
        yield i, design, tuple(Var(k) for k in range(frame.n_features) if k != i)


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


@dataclass(frozen=True)
class _Shape:
    """A function of one input with one constant: how it is written, and where its constant is looked for."""

    needs: tuple[str, ...]
    build: Callable[[Expr, float], Expr]
    low: float
    high: float
    signs: tuple[float, ...] = (1.0,)
    relative: bool = False  # the constant multiplies |x| rather than the range of x
    linear: bool = False  # as a summand it would be a power of x


def _of(op: str) -> Callable[[Expr, float], Expr]:
    return lambda x, k: Call(op, (x if k == 1.0 else product([Const(k), x]),))


SHAPES = (
    _Shape(("cos",), _of("cos"), 0.7, 12.0),
    _Shape(("sin",), _of("sin"), 0.7, 12.0),
    _Shape(("exp",), _of("exp"), 0.3, 8.0, (1.0, -1.0)),
    _Shape(("add",), lambda x, k: total([Const(1.0), product([Const(k), x])]), 0.1, 10.0, (1.0, -1.0), True, True),
    _Shape(
        ("add", "div"),
        lambda x, k: Call("div", (Const(1.0), total([Const(1.0), product([Const(k), x])]))),
        0.1, 10.0, (1.0, -1.0), True,
    ),
)  # fmt: skip
POWERS = (1.0, 2.0, -1.0, 3.0, 0.5)
SIMPLE = (1.0, 2.0, 0.5, 3.0, math.pi, 2 * math.pi)


def factors(problem: Problem, frame: Frame) -> Iterator[Reduction]:
    """y = u(κ·x_i)·y'(others): every input and shape, κ by a grid and Brent's method."""
    for i, design, kept in one_less(frame):
        for shape in SHAPES:
            if not problem.allows(*shape.needs, "mul"):
                continue

            def ratio(k: float, shape: _Shape = shape, i: int = i, design: Floats = design) -> float:
                law = evaluate(shape.build(Var(i), k), frame.X)
                if np.any(law == 0.0) or not np.isfinite(law).all():
                    return math.inf
                return frame.ratio(*without(frame, design, law))

            constant, evidence = _best_constant(ratio, shape, frame, i)
            yield Reduction(kept, shape.build(Var(i), constant), evidence)


def summands(problem: Problem, frame: Frame) -> Iterator[Reduction]:
    """view(y) = c·u(κ·x_i) + y'(others), also with c·x_i^a."""
    if not problem.allows("add", "mul"):
        return
    for i, design, kept in one_less(frame):
        found: list[Expr] = []
        for shape in SHAPES:
            if shape.linear or not problem.allows(*shape.needs):
                continue

            def ratio(k: float, shape: _Shape = shape, i: int = i, design: Floats = design) -> float:
                return with_column(frame, design, evaluate(shape.build(Var(i), k), frame.X))[0]

            found.append(shape.build(Var(i), _best_constant(ratio, shape, frame, i)[0]))
        for expr in (*found, *(monomial([Var(i)], [power]).written() for power in POWERS)):
            evidence, c = with_column(frame, design, evaluate(expr, frame.X))
            if evidence < math.inf and c:
                yield Reduction(kept, Const(1.0), evidence, product([Const(simplest(c)), expr]), frame.power)


def _best_constant(ratio: Callable[[float], float], shape: _Shape, frame: Frame, i: int) -> tuple[float, float]:
    """The constant with the least ratio: simple numbers and a grid, then Brent's method around the best."""
    x = frame.X[:, i]
    size = float(np.median(np.abs(x))) if shape.relative else float(np.ptp(x))
    steps = np.geomspace(shape.low, shape.high, 9) if shape.relative or len(shape.signs) > 1 else None
    grid = np.linspace(shape.low, shape.high, 18) if steps is None else steps
    ks = np.sort(np.concatenate([sign * grid / size for sign in shape.signs]))
    values = np.array([ratio(float(k)) for k in ks])
    best = int(np.argmin(values))
    k, value = float(ks[best]), float(values[best])
    # Worth the steps only if the start already explains most of the variance.
    if math.isfinite(value) and value * frame.share < 0.2:
        low, high = ks[max(best - 1, 0)], ks[min(best + 1, len(ks) - 1)]
        found = minimize_scalar(ratio, bounds=(low, high), method="bounded", options={"xatol": DIGITS_9 * abs(k)})
        k, value = float(found.x), float(found.fun)
    for simple in (s * number for number in SIMPLE for s in (1.0, -1.0)):
        if abs(simple - k) < 0.05 * abs(k) and (exact := ratio(simple)) < 1.1 * value:
            return simple, exact
    return k, value
