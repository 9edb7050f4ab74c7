"""A formula for noisy data made shorter, step by step, as long as its length in nats falls (judge).

Four kinds of steps: leave a part out; make one constant of two; put the line or the logarithm that a function is on
these rows in its place (a sine of a tiny argument, a power with a tiny exponent, an exponential that is a line); write
a constant as a simple number.  After each step the other constants are fitted again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...deadline import Deadline
from ...judge.judge import Judge, Lengths
from ...judge.tree import EXPONENT, NUMBER, read
from ...symbolic.expr import Call, Const, Expr, children, evaluate, variables
from ...symbolic.rewrite.simplify import simplify
from ..settle import settled, shortest
from .numbers import simple_numbers
from .snap import _without_one_part as without_one_part

LEAST = 1e-6  # nats; a step that gains less is rounding
# Nats that a simple number must gain, since among many numbers one is always near.  Exponents are whole or halves for
# reasons; a factor has a unit, and that it is simple in just this unit would be a coincidence.
LEAST_NUMBER, LEAST_FACTOR = 1.0, 4.0
WINDOW_ERRORS, TRIES, TRIES_OF_TWO = 2.0, 6, 2  # a number that is meant lies within two standard errors, 19 times in 20
MAX_STEPS = 12

Judged = tuple[Expr, Lengths]


def shorten(found: Judged, judge: Judge, deadline: Deadline) -> Judged:
    """The shortest formula that the steps lead to; ``found`` itself where none helps."""
    for _ in range(MAX_STEPS):
        better = _best_step(found, judge, deadline)
        if better is None:
            break
        found = better
    for _ in range(MAX_STEPS):
        better = _best_number(found, judge, deadline) or _best_two(found, judge, deadline)
        if better is None:
            break
        found = better
    return found


def _best_step(found: Judged, judge: Judge, deadline: Deadline) -> Judged | None:
    """The one part left out or replaced that makes the whole shortest."""
    expr, lengths = found
    best: Judged | None = None
    seen = set()
    for smaller in (*without_one_part(expr), *limits(expr, judge), *tied(expr)):
        smaller = simplify(smaller)
        if deadline.expired() or smaller in seen or not variables(smaller):
            continue
        seen.add(smaller)
        trial = _fitted(smaller, judge, lengths)
        if trial is not None and trial[1].total < (lengths if best is None else best[1]).total - LEAST:
            best = trial
    if best is None:
        return None
    again = shortest(best[0], judge)  # the noise may look different now
    return again if again is not None and again[1].total < best[1].total else best


def _fitted(expr: Expr, judge: Judge, before: Lengths) -> Judged | None:
    """A part of a formula fitted under the whole formula's noise model: the other models are asked about the best."""
    start = judge.lengths(expr, before.model)
    moved = None if start is None else settled(expr, judge, start.free, before.model)
    lengths = None if moved is None else judge.lengths(moved, before.model)
    return None if moved is None or lengths is None else (moved, lengths)


def limits(expr: Expr, judge: Judge) -> Iterator[Expr]:
    """The formula with one function or power as what it nearly is on these rows: a line in its argument, a parabola,
    or for a power a logarithm."""
    if not isinstance(expr, Call):
        return
    if expr.op not in ("add", "mul") and variables(expr):
        inner = expr.args[0]
        whole = evaluate(expr, judge.X)
        shapes = [(inner,), (inner, Call("pow", (inner, Const(2.0))))] if variables(inner) else []
        if expr.op == "pow" and isinstance(expr.args[1], Const):
            shapes = [*shapes[:1], (Call("ln", (inner,)),)] if expr.args[1].value not in (1.0, 2.0) else []
        for shape in shapes:
            yield from _replaced(whole, shape, judge)
    for i, child in enumerate(children(expr)):
        for new in limits(child, judge):
            yield Call(expr.op, (*expr.args[:i], new, *expr.args[i + 1 :]))


def tied(expr: Expr) -> Iterator[Expr]:
    """The formula with the constant of one sum as the factor of one of its terms, too: a*(1 - exp(-k*x)) for
    a - b*exp(-k*x).  Fits find the two apart; what starts from nothing has only one."""
    if not isinstance(expr, Call):
        return
    numbers = [part for part in expr.args if isinstance(part, Const)] if expr.op == "add" else []
    for number in numbers[:1]:
        others = [part for part in expr.args if part is not number]
        for i, part in enumerate(others):
            factors = part.args if isinstance(part, Call) and part.op == "mul" else ()
            scale = next((f for f in factors if isinstance(f, Const)), None)
            if scale is None or not variables(part):
                continue
            sign = Const(math.copysign(1.0, scale.value * number.value))
            inner = Call("mul", (sign, *(f for f in factors if f is not scale)))
            both = Call("mul", (number, Call("add", (Const(1.0), inner))))
            yield Call("add", (*others[:i], both, *others[i + 1 :])) if len(others) > 1 else both
    for i, child in enumerate(expr.args):
        for new in tied(child):
            yield Call(expr.op, (*expr.args[:i], new, *expr.args[i + 1 :]))


def _replaced(whole: NDArray[np.float64], shape: tuple[Expr, ...], judge: Judge) -> Iterator[Expr]:
    """Least squares of a part's values over what may stand for it, with and without a constant."""
    columns = [evaluate(part, judge.X) for part in shape]
    for constant in (True, False):
        table = np.column_stack([*columns, *([np.ones(judge.n_rows)] if constant else [])])
        if not np.isfinite(table).all() or not np.isfinite(whole).all():
            return
        scale = np.maximum(np.abs(table).max(axis=0), 1e-300)
        numbers = np.linalg.lstsq(table / scale, whole, rcond=None)[0] / scale
        if not np.isfinite(numbers).all() or not numbers.all():
            continue
        parts = [Call("mul", (Const(c), part)) for c, part in zip(numbers, shape, strict=False)]
        rest = [Const(float(numbers[-1]))] if constant else []
        yield Call("add", (*parts, *rest)) if len(parts) + len(rest) > 1 else parts[0]


def _best_number(found: Judged, judge: Judge, deadline: Deadline) -> Judged | None:
    """The one constant that, as a simple number, makes the whole shortest."""
    best: Judged | None = None
    for _, trial, least in _as_numbers(found, judge, deadline, TRIES):
        gains = found[1].total - trial[1].total > least
        if gains and (best is None or trial[1].total < best[1].total - LEAST):
            best = trial
    return best


def _best_two(found: Judged, judge: Judge, deadline: Deadline) -> Judged | None:
    """Two constants as simple numbers, which together gain what one has to: where one leans on the other, as in
    sqrt(x + 0.251) - 0.501, neither can become simple alone."""
    best: Judged | None = None
    for place, trial, least in _as_numbers(found, judge, deadline, TRIES_OF_TWO):
        if trial[1].total > found[1].total + LEAST_FACTOR:
            continue
        for other, both, too in _as_numbers(trial, judge, deadline, TRIES_OF_TWO):
            gains = other > place and found[1].total - both[1].total > max(least, too)
            if gains and (best is None or both[1].total < best[1].total - LEAST):
                best = both
    return best


def _as_numbers(found: Judged, judge: Judge, deadline: Deadline, tries: int) -> Iterator[tuple[int, Judged, float]]:
    """Each free constant as each simple number near it, the others fitted again: its place, and what that must gain."""
    expr, lengths = found
    reading = read(expr)
    exponents = {node.place for parent, node in reading.tree.walk() if node.symbol == NUMBER and parent == EXPONENT}
    for place, error in judge.errors(expr, lengths).items():
        if not math.isfinite(error):
            continue
        for number in simple_numbers(reading.values[place], WINDOW_ERRORS * error)[:tries]:
            if deadline.expired():
                return
            values = tuple(number.value if i == place else v for i, v in enumerate(reading.values))
            trial = settled(expr, judge, lengths.free - {place}, lengths.model, values)
            judged = None if trial is None else judge.lengths(trial, lengths.model)
            # Only a number that is shorter to write than to fit: else it is the free constant, moved.
            if trial is None or judged is None or judged.n_free >= lengths.n_free:
                continue
            usual = place in exponents and (2.0 * number.value).is_integer()
            yield place, (trial, judged), LEAST_NUMBER if usual else LEAST_FACTOR
