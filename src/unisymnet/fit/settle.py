"""Constants of a formula under a noise model, and the noise model that makes formula and data shortest.

Weights that depend on the fitted values are found by turns: fit, weigh, fit again.  Knows the judge, not the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ..arrays import Floats
from ..candidate import Status
from ..formula.derivative import value_and_jacobian
from ..judge.judge import Judge, Lengths
from ..judge.noise import EQUAL, NoiseModel
from ..judge.tree import read
from ..symbolic.expr import Const, Expr, Param, bind, evaluate, rebuild
from .kernels.fit import fit_tape
from .kernels.tape import compile_tape

ROUNDS = 6
SETTLED = 1e-6  # relative change of the weights
HALVINGS = 8
WIDE = 100.0  # times the smallest
UNLIKELY = 5.0  # nats behind: a noise model that nobody would speak for
NEAR = 12.0  # nats: a noise model further behind before its own fit will not win by it


def settled(
    expr: Expr, judge: Judge, free: Iterable[int], model: NoiseModel = EQUAL, start: tuple[float, ...] | None = None
) -> Expr | None:
    """The formula with its numbers at the ``free`` places (reading order, see judge.tree) fitted under a noise model;
    None where it is undefined or has no fit.  ``start`` are other values for all its numbers."""
    reading = read(expr)
    values = reading.values if start is None else start
    places = {place: number for number, place in enumerate(sorted(free))}
    skeleton = rebuild(reading.form, lambda node: _renumbered(node, places, values))
    if not places or len(places) >= judge.n_rows:
        return skeleton if not places else None
    tape = compile_tape(skeleton, judge.X.shape[1])
    params, weights, target = np.array([values[place] for place in places]), judge.root**2, judge.y
    for number in range(1 if model.kind == "equal" else ROUNDS):
        if model.kind != "equal":
            with np.errstate(all="ignore"):
                fitted = evaluate(bind(skeleton, params.tolist()), judge.X)
            if not np.isfinite(fitted).all():
                return None
            left = model.residuals(fitted, judge.y)
            if left is None:
                return None
            with np.errstate(all="ignore"):
                new = (judge.root * model.roots(fitted, judge.root * left)) ** 2
            if not np.isfinite(new).all() or not np.isfinite(left).all():
                return None
            # A constant has the same weights from the first round on; under noise by a factor it moves all the same.
            if number and np.allclose(new, weights, rtol=SETTLED, atol=0.0) and np.allclose(fitted + left, target):
                break
            weights, target = new, fitted + left
        fit = fit_tape(tape, judge.X, target, params[None, :], weights=weights / weights.mean())
        if fit.status is not Status.OK or not np.isfinite(fit.params).all():
            return None
        params = _kept_positive(params, np.asarray(fit.params), skeleton, judge, model)
    return bind(skeleton, params.tolist())


def _kept_positive(before: Floats, after: Floats, skeleton: Expr, judge: Judge, model: NoiseModel) -> Floats:
    """Under noise by a factor: as far towards the fit as all values stay positive, since the step is that of a
    logarithm and can go too far."""
    for _ in range(HALVINGS if model.kind == "factor" else 0):
        with np.errstate(all="ignore"):
            if (evaluate(bind(skeleton, after.tolist()), judge.X) > 0.0).all():
                break
        after = 0.5 * (before + after)
    return after


def stepped(expr: Expr, judge: Judge, free: Iterable[int], model: NoiseModel = EQUAL) -> Expr | None:
    """As `settled`, but one step of Gauss and Newton, which costs no more than a value and its slopes."""
    reading, places = read(expr), sorted(free)
    if not places or len(places) >= judge.n_rows:
        return None
    with np.errstate(all="ignore"):
        values, slopes = value_and_jacobian(reading.form, judge.X, reading.values)
        left = model.residuals(values, judge.y)
        if left is None:
            return None
        roots = judge.root * model.roots(values, judge.root * left)
        A, b = slopes[:, places] * roots[:, None], left * roots
    if not np.isfinite(A).all() or not np.isfinite(b).all():
        return None
    step, *_ = np.linalg.lstsq(A, b, rcond=None)
    moved = list(reading.values)
    for place, change in zip(places, step.tolist()):
        moved[place] += change
    return bind(reading.form, moved)


def _renumbered(node: Expr, places: dict[int, int], values: tuple[float, ...]) -> Expr:
    if not isinstance(node, Param):
        return node
    number = places.get(node.index)
    return Const(values[node.index]) if number is None else Param(number)


def _is_wide(judge: Judge) -> bool:
    """Does the target go over powers of ten?  Then a fit to its large values says little about noise by a factor."""
    low, high = float(judge.y.min()), float(judge.y.max())
    return low > 0.0 and high > WIDE * low


def shortest(expr: Expr, judge: Judge) -> tuple[Expr, Lengths] | None:
    """The formula with its constants fitted under the noise model that makes the whole shortest."""
    lengths = judge.lengths(expr)
    if lengths is None:
        return None
    best = expr, lengths
    equal = settled(expr, judge, lengths.free)
    if equal is not None:
        found = judge.lengths(equal)
        if found is not None and found.total < best[1].total:
            best = equal, found
    ranked = sorted((one.total, index) for index, one in enumerate(judge.each(best[0], judge.models)))
    start = best[0]
    for total, index in ranked:
        model = judge.models[index]
        if model.kind == "equal" or (total > ranked[0][0] + NEAR and not (model.kind == "factor" and _is_wide(judge))):
            continue
        moved = settled(start, judge, lengths.free, model)
        found = None if moved is None else judge.lengths(moved, model)
        if moved is not None and found is not None and found.total < best[1].total - 1e-9:
            best = moved, found
    return best if math.isfinite(best[1].total) else None


def under_other_noise(expr: Expr, lengths: Lengths, judge: Judge) -> list[tuple[float, Expr, NoiseModel]]:
    """The formula fitted under the noise models that the data hardly refuse, and how likely each is beside the one that
    was chosen, which has 1."""
    found = []
    for other in judge.each(expr, [model for model in judge.models if model != lengths.model]):
        if other.total > lengths.total + NEAR:
            continue
        moved = settled(expr, judge, lengths.free, other.model)
        again = None if moved is None else judge.lengths(moved, other.model)
        if moved is not None and again is not None and again.total < lengths.total + UNLIKELY:
            found.append((min(math.exp(lengths.total - again.total), 1.0), moved, other.model))
    return found
