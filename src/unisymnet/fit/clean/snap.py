"""Clean constants: drop what the data do not need, replace fitted numbers by simple ones where they agree.

Every step is judged by the data: the remaining constants are refitted, and the step stays only if the loss does
not rise significantly (description length against the residual; for exact data, machine precision).  Tolerances
are relative throughout, and nothing is rounded to zero.  It does not know where a formula came from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats
from ...candidate import EXACT, TOKEN_NATS, Status
from ...deadline import Deadline
from ...symbolic.constants import free_constants
from ...symbolic.expr import Call, Const, Expr, Param, bind, children, evaluate, n_params, rebuild, size, walk
from ...symbolic.rewrite.simplify import simplify
from ..kernels.fit import covariance, fit_tape, jacobian
from ..kernels.tape import compile_tape
from .numbers import PLAIN_COST, SimpleNumber, is_plain, plain, simple_numbers

MAX_TRIES_A_CONSTANT = 6
WINDOW_ERRORS = 3.0  # look for simple numbers within this many standard errors
FLAT_POWER = 0.1  # a factor with a smaller exponent may be no factor at all
FLAT_RATE = 1e-9  # the same for an exponential
SURPRISE = 0.2  # an unusual number must be matched this much closer than such numbers lie apart


@dataclass(frozen=True)
class ConstantReport:
    """One constant of the final formula: its value, what the fit said, and what it was snapped to."""

    value: float
    fitted: float
    stderr: float
    snapped_to: str | None


@dataclass(frozen=True)
class Snapped:
    """The cleaned formula, its constants in reading order, and its mean squared error."""

    expr: Expr
    constants: tuple[ConstantReport, ...]
    loss: float


@dataclass(frozen=True)
class _State:
    """A skeleton whose constants are partly fixed: values, errors and names by parameter index."""

    skeleton: Expr
    values: Floats
    errors: Floats
    fitted: Floats
    names: tuple[str | None, ...]
    loss: float

    def free(self) -> list[int]:
        return [i for i, name in enumerate(self.names) if name is None]


class _Data:
    """The rows and what counts as 'no worse'."""

    def __init__(self, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None, noise: float | None) -> None:
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        self.weights = np.ones(len(self.y)) if weights is None else np.asarray(weights, dtype=np.float64)
        mean = np.average(self.y, weights=self.weights)
        self.spread = float(np.sqrt(np.average((self.y - mean) ** 2, weights=self.weights))) or 1.0
        self.noise = noise

    def no_worse(self, new: float, old: float, saved_nats: float) -> bool:
        """Is the rise from ``old`` to ``new`` (mean squares) paid for by what the formula saves?"""
        if not math.isfinite(new):
            return False
        floor = (0.1 * EXACT * self.spread) ** 2
        if old <= 100 * floor:  # exact data stay exact
            return new <= max(4.0 * old, floor)
        rise = 0.5 * len(self.y) * math.log(max(new, floor) / max(old, floor))
        if self.noise:
            rise = 0.5 * len(self.y) * (new - old) / self.noise**2
        return rise <= saved_nats

    def is_exact(self, loss: float) -> bool:
        return loss <= (EXACT * self.spread) ** 2


def snap(
    expr: Expr,
    X: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    noise: float | None = None,
    deadline: Deadline | None = None,
    drop: bool = True,
    hold_units: bool = False,
) -> Snapped:
    """Clean the constants of a fitted formula (all its constants are ``Const``).

    ``drop`` removes terms, too; ``hold_units`` takes constants of 1 and -1 as clean already instead of fitting them.
    """
    data = _Data(X, y, weights, noise)
    deadline = deadline or Deadline.never()
    start = _start(expr)
    if hold_units:
        units = tuple(f"{v:g}" if abs(v) == 1.0 else None for v in start.values)
        start = replace(start, names=units)
    state = _refit(start, data)
    if state is None:
        return Snapped(expr, (), _loss(expr, data))
    if drop:
        state = _drop_terms(state, data, deadline)
    if not deadline.expired():
        state = _snap_together(_without_slack(state, data, deadline), data)
    refused: set[tuple[int, float]] = set()
    while not deadline.expired():
        better = _snap_next(state, data, refused)
        if better is None:
            break
        state = better
    return Snapped(bind(state.skeleton, state.values.tolist()), _reports(state), state.loss)


def exponent_params(expr: Expr) -> frozenset[int]:
    """Indices of the parameters that stand directly as an exponent."""
    return frozenset(
        node.args[1].index
        for node in walk(expr)
        if isinstance(node, Call) and node.op == "pow" and isinstance(node.args[1], Param)
    )


def _start(expr: Expr) -> _State:
    """All constants free; of the exponents only those that are not plain numbers."""
    skeleton, start = free_constants(simplify(expr))
    values = list(start)

    def free_exponent(node: Expr) -> Expr:
        if not (isinstance(node, Call) and node.op == "pow" and isinstance(node.args[1], Const)):
            return node
        exponent = node.args[1].value
        if is_plain(exponent):
            return Call("pow", (node.args[0], Const(plain(exponent))))
        values.append(exponent)
        return Call("pow", (node.args[0], Param(len(values) - 1)))

    skeleton = rebuild(skeleton, free_exponent)
    numbers = np.asarray(values, dtype=np.float64)
    return _State(skeleton, numbers, np.zeros(len(numbers)), numbers.copy(), (None,) * len(numbers), math.inf)


def _refit(state: _State, data: _Data, *, keep_fitted: bool = False) -> _State | None:
    """Fit the free constants from their values; None when the formula is undefined or has too little data."""
    free = state.free()
    values = state.values.copy()
    if not free:
        loss = _loss(bind(state.skeleton, values.tolist()), data)
        return replace(state, loss=loss) if math.isfinite(loss) else None
    if len(free) >= len(data.y):
        return None
    tape = compile_tape(_partly_bound(state), data.X.shape[1])
    fit = fit_tape(tape, data.X, data.y, values[free][None, :], weights=data.weights)
    if fit.status is not Status.OK:
        return None
    values[free] = fit.params
    fitted = state.fitted.copy()
    if not keep_fitted:
        fitted[free] = fit.params
    errors = state.errors.copy()
    errors[free] = _standard_errors(tape, data, np.asarray(fit.params), fit.loss)
    return replace(state, values=values, errors=errors, fitted=fitted, loss=float(fit.loss))


def _partly_bound(state: _State) -> Expr:
    """The skeleton with fixed constants as numbers and the free ones renumbered 0, 1, …"""
    renumbered = {old: new for new, old in enumerate(state.free())}

    def change(node: Expr) -> Expr:
        if not isinstance(node, Param):
            return node
        new = renumbered.get(node.index)
        return Const(float(state.values[node.index])) if new is None else Param(new)

    return rebuild(state.skeleton, change)


def _standard_errors(tape: object, data: _Data, params: Floats, loss: float) -> Floats:
    _, J = jacobian(tape, data.X, params)  # type: ignore[arg-type]
    n, k = J.shape
    if not np.isfinite(J).all():
        return np.full(k, np.inf)
    # Unit columns first: parameters of very different size would drown in one pseudo-inverse.
    largest = np.abs(J).max(axis=0)  # whose square may be too large for a number
    largest[largest == 0.0] = 1.0
    unit = J / largest * np.sqrt(data.weights)[:, None]
    norms = np.sqrt((unit * unit).sum(axis=0))
    norms[norms == 0.0] = 1.0
    unit, norms = unit / norms, norms * largest
    inverse = np.linalg.pinv(unit.T @ unit, rcond=1e-14, hermitian=True)
    variance = loss * n / max(n - k, 1)
    return np.asarray(np.sqrt(np.maximum(np.diag(inverse), 0.0) * variance) / norms)


def _loss(expr: Expr, data: _Data) -> float:
    residuals = evaluate(expr, data.X) - data.y
    with np.errstate(all="ignore"):
        return float(np.average(residuals**2, weights=data.weights))


def _drop_terms(state: _State, data: _Data, deadline: Deadline) -> _State:
    """Remove terms of sums, and factors that hardly vary, whose loss is not felt, the least felt first."""
    while not deadline.expired():
        best: _State | None = None
        for smaller in _without_one_part(bind(state.skeleton, state.values.tolist())):
            trial = _refit(_start(smaller), data)
            saved = (size(bind(state.skeleton, state.values.tolist())) - size(smaller)) * 0.5 * TOKEN_NATS
            saved += 0.5 * math.log(len(data.y))
            if trial and data.no_worse(trial.loss, state.loss, saved) and (best is None or trial.loss < best.loss):
                best = trial
        if best is None:
            return state
        state = best
    return state


def _without_one_part(expr: Expr) -> list[Expr]:
    """Every formula that arises by deleting one argument of one sum, or one factor such as x**0.0002."""
    out: list[Expr] = []
    if isinstance(expr, Call) and expr.op in ("add", "sub"):
        for i in range(len(expr.args)):
            rest = expr.args[:i] + expr.args[i + 1 :]
            if len(rest) > 1:
                out.append(Call("add", rest))
            else:
                out.append(Call("neg", rest) if expr.op == "sub" and i == 0 else rest[0])
    if isinstance(expr, Call) and expr.op == "pow" and isinstance(expr.args[1], Const):
        if abs(expr.args[1].value) < FLAT_POWER:
            out.append(Const(1.0))
    if isinstance(expr, Call) and expr.op == "exp":
        rates = [abs(node.value) for node in walk(expr) if isinstance(node, Const)]
        if rates and min(rates) < FLAT_RATE:
            out.append(Const(1.0))
    for i, child in enumerate(children(expr)):
        assert isinstance(expr, Call)
        out += [Call(expr.op, (*expr.args[:i], c, *expr.args[i + 1 :])) for c in _without_one_part(child)]
    return out


def _without_slack(state: _State, data: _Data, deadline: Deadline) -> _State:
    """Constants that the others can stand in for, such as a of a*sqrt(b*x + c), are set to 1 or -1.

    As long as they are free, no constant of their group has a value of its own that could be simple.
    """
    while not deadline.expired():
        free = state.free()
        tape = compile_tape(_partly_bound(state), data.X.shape[1])
        slack = np.flatnonzero(np.isinf(np.diag(covariance(tape, data.X, state.values[free], data.weights, 1.0))))
        for index in (free[k] for k in slack):
            value = math.copysign(1.0, state.values[index])
            trial = _refit(_fixed(state, index, SimpleNumber(value, f"{value:g}", 0.0, 1.0)), data)
            if trial is not None and data.no_worse(trial.loss, state.loss, 0.01):
                state = trial
                break
        else:
            break
    return state


def _snap_together(state: _State, data: _Data) -> _State:
    """All constants with a whole number (then: a plain number) within their errors at once.

    One at a time, the error of the first that is rounded is handed on to its neighbours, and the last no longer fits.
    """
    for most in (0.0, 1.0, PLAIN_COST):
        trial, n_fixed = state, 0
        for index in state.free():
            near = [n for n in _offers(state, index, data) if n.cost <= most]
            if near:
                nearest = min(near, key=lambda n: abs(n.value - state.values[index]))
                trial, n_fixed = _fixed(trial, index, nearest), n_fixed + 1
        if n_fixed < 2:
            continue
        fitted = _refit(trial, data, keep_fitted=True)
        if fitted is not None and data.no_worse(fitted.loss, state.loss, n_fixed * (0.5 * math.log(len(data.y)) + 1.0)):
            state = fitted
    return state


def _snap_next(state: _State, data: _Data, refused: set[tuple[int, float]]) -> _State | None:
    """Fix one more constant: of all the simple numbers near free constants, the simplest that the data accept.

    Simplest first, because every constant that is fixed rightly sharpens the errors of the others.
    """
    exponents = exponent_params(state.skeleton)
    offers = [
        (index not in exponents, number.cost, index, number)
        for index in state.free()
        for number in _offers(state, index, data)
        if (index, number.value) not in refused
    ]
    for _, _, index, number in sorted(offers, key=lambda offer: offer[:3]):
        trial = _refit(_fixed(state, index, number), data, keep_fitted=True)
        saved = 0.5 * math.log(len(data.y)) + 1.0
        if trial is not None and data.no_worse(trial.loss, state.loss, saved):
            return trial
        refused.add((index, number.value))
    return None


def _offers(state: _State, index: int, data: _Data) -> list[SimpleNumber]:
    """Simple numbers within the error of one constant; unusual ones only where the match is no accident."""
    value, error = float(state.values[index]), float(state.errors[index])
    if not math.isfinite(error):
        return []
    if data.is_exact(state.loss):
        return simple_numbers(value, max(1e-9 * abs(value), 10.0 * error))[:MAX_TRIES_A_CONSTANT]
    numbers = simple_numbers(value, WINDOW_ERRORS * error)[:MAX_TRIES_A_CONSTANT]
    return [n for n in numbers if n.cost <= PLAIN_COST or 2 * WINDOW_ERRORS * error <= SURPRISE * n.spacing]


def _fixed(state: _State, index: int, number: SimpleNumber) -> _State:
    values, names = state.values.copy(), list(state.names)
    values[index], names[index] = number.value, number.text
    return replace(state, values=values, names=tuple(names))


def _reports(state: _State) -> tuple[ConstantReport, ...]:
    assert n_params(state.skeleton) <= len(state.values)
    return tuple(
        ConstantReport(float(v), float(f), float(e), name)
        for v, f, e, name in zip(state.values, state.fitted, state.errors, state.names, strict=True)
    )
