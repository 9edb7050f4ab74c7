"""Recognising smaller problems from rows alone.

y = x_i^a·y', y = f(x_i − x_j, …), y = x_i^a·f(x_i·x_j, …), y = u(x_i)·y', view(y) = c + x_i^a·y' or c·u(x_i) + y'.

If a polynomial in the fewer coordinates predicts y as well as one in all of them (see smooth.py), the reduction is
believed: nested regressions, sound under noise too.  Cheap and frequent kinds are tested first.  Solving the smaller
problem is the business of reduce.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...arrays import DIGITS_12, Floats
from ...problem import Problem
from ...symbolic.expr import Call, Const, Var, evaluate
from ..view.noise import looks_noisy
from ..view.smooth import Frame, best_frame, frames_of
from .index import evidence, indices
from .powers import stripped_powers
from .reduction import Reduction, factor_of, factors, one_less, simplest, summands, with_column, without

__all__ = ["best_reduction"]


ROUGH = 0.02  # a share of the variance beyond polynomials above which evidence is weak
OPAQUE, UNFOLDED = 0.6, 0.3  # above the first polynomials see nothing; then one in fewer inputs must see far more
FOUR_DIGITS = 1e-8  # a share of the variance above which a constant known to four digits does no harm
INDEX_ROWS, INDEX_COLUMNS = 300, 45
EXPONENTS = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5, -1.5, 4.0, -4.0, 5.0, -5.0)


def best_reduction(problem: Problem, *, noisy: bool, max_ratio: float) -> Reduction | None:
    """The surest reduction of the cheapest kind: strips (all at once), merged pairs, factors, offsets, summands."""
    if noisy and (found := stripped_powers(problem)) is not None:
        return found
    frame = best_frame(problem, noisy=noisy)
    if frame is not None and frame.share > ROUGH and not noisy:
        frame = best_frame(problem, noisy=noisy, max_rows=1200, max_columns=340)
    if frame is None:
        return None
    if frame.share > OPAQUE:
        brief = best_frame(problem, noisy=noisy, max_rows=INDEX_ROWS, max_columns=INDEX_COLUMNS) or frame
        folded = itertools.chain(_merges(problem, brief), indices(problem, brief, UNFOLDED, free=True))
        return min((r for r in folded if r.ratio < UNFOLDED), key=lambda r: r.ratio, default=None)
    if frame.share > ROUGH:
        # What polynomials cannot follow hides what a reduction loses; noise hides less, but ratios scatter.
        max_ratio = 1.0 + (max_ratio - 1.0) / (2 if noisy else 3)
    strips = [_best_strip(problem, frame, i, design) for i, design, _ in one_less(frame)]
    strips = [strip for strip in strips if strip[1] < max_ratio]
    if strips:
        return _stripped(frame, strips, max_ratio)
    small = list(frames_of(problem, noisy=noisy, max_rows=400, max_columns=110))
    powers = [f for f in small if f.power and f.share < ROUGH and not noisy]
    kinds: list[tuple[float, Iterator[Reduction]]] = [
        (max_ratio, _merges(problem, frame)),
        (max_ratio, _merges(problem, frame, powers=True)),
        (max_ratio, _indices(problem, frame, max_ratio)),
        (max_ratio, _confirmed(frame, (r for f in _least(small, 1, 0.15) for r in factors(problem, f)))),
        # Constants are fitted here, so the evidence must be better.
        (0.7, (r for f in powers for r in _offsets(problem, f))),
        (0.7, (r for f in _least(powers, 2, ROUGH) for r in summands(problem, f))),
    ]
    for limit, kind in kinds:
        best = min(kind, key=lambda r: r.ratio, default=None)
        if best is not None and best.ratio < limit:
            return best
    return None


def _indices(problem: Problem, frame: Frame, limit: float) -> Iterator[Reduction]:
    """Pairs merged with a constant, in a small frame: many are tried.  Without noise a larger one confirms them."""
    noisy = looks_noisy(problem)
    small = best_frame(problem, noisy=noisy, max_rows=INDEX_ROWS, max_columns=INDEX_COLUMNS)
    for found in indices(problem, small, limit, free=small.share > FOUR_DIGITS) if small is not None else ():
        yield found if noisy else replace(found, ratio=evidence(frame, found))


def _least(frames: list[Frame], n: int, max_share: float) -> list[Frame]:
    """The n frames with the smallest shares below a limit."""
    return sorted((f for f in frames if f.share < max_share), key=lambda f: f.share)[:n]


def _confirmed(frame: Frame, candidates: Iterator[Reduction]) -> Iterator[Reduction]:
    """Factors that look promising in a small frame, with their evidence in a larger one."""
    for candidate in candidates:
        if candidate.ratio < 2.0:
            kept = [v.index for v in candidate.inputs if isinstance(v, Var)]
            law = evaluate(candidate.factor, frame.X)
            ratio = frame.ratio(*without(frame, frame.design(frame.coordinates[:, kept]), law))
            yield replace(candidate, ratio=ratio)


Strip = tuple[int, float, float]  # input, ratio, exponent (0: the input does not matter)


def _best_strip(problem: Problem, frame: Frame, i: int, design: Floats) -> Strip:
    """The exponent a for which y/x_i^a is best predicted without x_i, by the polynomial in the others."""
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
        a = float(np.linalg.lstsq(table, frame.target * frame.weight, rcond=DIGITS_12)[0][-1])
        near = sorted({0.0, float(round(a)), round(2 * a) / 2, round(3 * a) / 3})
        if np.any(x < 0):
            near = [e for e in near if e.is_integer()]
        return near
    whole = np.any(x < 0)
    return [0.0, *(a for a in EXPONENTS if not (whole and a % 1))]


def _divided(frame: Frame, design: Floats, exponents: dict[int, float]) -> tuple[Floats, Floats]:
    """Design and target with a power law of some inputs taken out of y."""
    law = np.ones(len(frame.target))
    for i, a in exponents.items():
        law = law * (frame.X[:, i] ** a if a % 1 == 0 else np.abs(frame.X[:, i]) ** a)
    return without(frame, design, law)


def _offsets(problem: Problem, frame: Frame) -> Iterator[Reduction]:
    """view(y) = c + x_i^a·y'(others), for every input and exponent."""
    if not problem.allows("add", "mul"):
        return
    ones = np.ones(len(frame.target))
    for i, design, kept in one_less(frame):
        x = frame.X[:, i]
        for a in EXPONENTS[:8]:
            if np.any(x == 0) or (a % 1 and np.any(x < 0)):
                continue
            law = x**a
            evidence, c = with_column(frame, design * law[:, None], ones)
            if c and evidence < math.inf:
                yield Reduction(kept, factor_of({i: a}), evidence, Const(simplest(c)), frame.power)


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
    return Reduction(kept, factor_of(dict(sorted(gone.items()))), ratio)


def _merges(problem: Problem, frame: Frame, *, powers: bool = False) -> Iterator[Reduction]:
    """Every pair of inputs replaced by one; with ``powers`` also y divided by a power of one of the two."""
    crosses = [bool(np.any(x < 0) and np.any(x > 0)) for x in frame.X.T]
    for i, j in itertools.combinations(range(frame.n_features), 2):
        # Either would do; but near the zero of an input a power of it leaves nothing but noise.
        base = j if crosses[i] and not crosses[j] else i
        rest = [k for k in range(frame.n_features) if k not in (i, j)]
        for op in ("sub", "add", "mul", "div"):
            if not problem.allows(op) or (op == "div" and np.any(frame.X[:, j] == 0)):
                continue
            if powers and (op in ("sub", "add") or np.any(frame.X[:, base] == 0)):
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
            for a in _exponents(problem, frame, base, design):
                if a:
                    ratio = frame.ratio(*_divided(frame, design, {base: a}))
                    yield Reduction(inputs, factor_of({base: a}), ratio)
