"""Constants of a formula under a noise model, and the noise model that makes formula and data shortest.

Weights that depend on the fitted values are found by turns: fit, weigh, fit again.  Knows the judge, not the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ..candidate import Status
from ..judge.judge import Judge, Lengths
from ..judge.noise import EQUAL, NoiseModel
from ..judge.tree import read
from ..symbolic.expr import Const, Expr, Param, bind, evaluate, rebuild
from .kernels.fit import fit_tape
from .kernels.tape import compile_tape

ROUNDS = 6
SETTLED = 1e-6  # relative change of the weights
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
    params, weights = np.array([values[place] for place in places]), judge.root**2
    for _ in range(1 if model.kind == "equal" else ROUNDS):
        if model.kind != "equal":
            with np.errstate(all="ignore"):
                fitted = evaluate(bind(skeleton, params.tolist()), judge.X)
            if not np.isfinite(fitted).all():
                return None
            new = (judge.root * model.roots(fitted, judge.root * (judge.y - fitted))) ** 2
            if np.allclose(new, weights, rtol=SETTLED, atol=0.0):
                break
            weights = new
        fit = fit_tape(tape, judge.X, judge.y, params[None, :], weights=weights / weights.mean())
        if fit.status is not Status.OK or not np.isfinite(fit.params).all():
            return None
        params = np.asarray(fit.params)
    return bind(skeleton, params.tolist())


def _renumbered(node: Expr, places: dict[int, int], values: tuple[float, ...]) -> Expr:
    if not isinstance(node, Param):
        return node
    number = places.get(node.index)
    return Const(values[node.index]) if number is None else Param(number)


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
        if model.kind == "equal" or total > ranked[0][0] + NEAR:
            continue
        moved = settled(start, judge, lengths.free, model)
        found = None if moved is None else judge.lengths(moved, model)
        if moved is not None and found is not None and found.total < best[1].total - 1e-9:
            best = moved, found
    return best if math.isfinite(best[1].total) else None
