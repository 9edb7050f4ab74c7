"""Constants of a formula from data: losses and the two optimisers; where they start is in starts.py.

``fit_constants`` is what SFO calls for every rollout.  The default is Levenberg-Marquardt on the kernels; "bfgs" is
scipy's BFGS over all constants, the paper's own optimiser, kept for the ablations.  Knows no exponents' policy.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from ..candidate import Status
from ..symbolic.expr import Expr, Param, Var, evaluate, walk
from .kernels.fit import TapeFit, evaluate_tape, fit_tape, jacobian
from .kernels.robust import Loss
from .kernels.tape import Tape, compile_tape
from .peel import peel, unscaled
from .starts import drawn, screened


@dataclass(frozen=True)
class ConstantFit:
    """Fitted constants; ``loss`` is the (weighted) mean loss, finite exactly when the status is OK."""

    params: Floats
    loss: float
    status: Status
    n_steps: int = 0


def fit_constants(
    expr: Expr,
    X: ArrayLike,
    y: ArrayLike,
    *,
    rng: np.random.Generator,
    weights: ArrayLike | None = None,
    start: ArrayLike | None = None,
    n_starts: int = 10,
    init: str = "lhs",
    spread: float = 3.0,
    loss: str = "mse",
    delta: float = 10.0,
    tau: float = 0.5,
    optimiser: str = "lm",
    max_steps: int = 60,
    n_threads: int = 1,
    peeling: bool = True,
    n_screened: int = 100,
    most_screened: int = 1000,
) -> ConstantFit:
    """Best constants for the ``Param`` leaves of ``expr``.

    ``start`` is tried first, then ``n_starts`` more: ``init`` says how they are drawn ("lhs", "grid" and
    "evolutionary" from the box [-spread, spread], "random" from a normal distribution of that width).
    ``peeling`` adds the solutions of easier forms of the same equation (peel.py) as starts if the others do not
    lead to an exact fit, and then the best of ``n_screened`` points; more for waves, ``most_screened`` at most.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    tape = compile_tape(expr, X.shape[1], project=optimiser == "lm")
    starts = drawn(tape, X, y, n_starts, init, spread, rng)
    if start is not None:
        starts = np.vstack([np.asarray(start, dtype=np.float64)[None, : tape.n_params], starts])
    if optimiser == "lm":
        settings = {"weights": weights, "max_steps": max_steps, "n_threads": n_threads}
        robust = {"loss": loss, "delta": delta, "tau": tau}
        fit = fit_tape(tape, X, y, starts, **settings, **robust)  # type: ignore[arg-type]
        if peeling and len(tape.nonlinear) and not fit.exact:
            more = _peeled_starts(expr, X, y, starts, settings, n_screened, most_screened, rng)
            if len(more):
                fit = _better(fit, fit_tape(tape, X, y, more, **settings, **robust))  # type: ignore[arg-type]
        if n_screened and len(tape.nonlinear) and not fit.exact:
            more = screened(expr, tape, X, y, weights, n_starts, n_screened, most_screened, rng=rng)
            fit = _better(fit, fit_tape(tape, X, y, more, **settings, **robust))  # type: ignore[arg-type]
    elif optimiser == "bfgs":
        fit = _fit_bfgs(tape, X, y, starts, weights, Loss(loss, delta if loss == "huber" else tau))
    else:
        raise ValueError(f"unknown optimiser {optimiser!r}; known are lm, bfgs")
    return ConstantFit(fit.params, fit.loss, fit.status, fit.n_steps)


def _better(a: TapeFit, b: TapeFit) -> TapeFit:
    return dataclasses.replace(b if b.loss < a.loss else a, n_steps=a.n_steps + b.n_steps)


def _peeled_starts(
    expr: Expr, X: Floats, y: Floats, starts: Floats, settings: dict[str, Any], n_screened: int, most: int,
    rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """Constants that solve easier forms of y = expr."""
    peeled = peel(unscaled(expr), Var(X.shape[1]))
    if peeled is None:
        return starts[:0]
    table = np.column_stack([X, y])
    table[:, -1] *= 1.0 + 1e-6
    moved = evaluate(peeled.known, table)
    table[:, -1] = y
    known = evaluate(peeled.known, table)
    with np.errstate(all="ignore"):
        slope = np.abs((moved - known) / (1e-6 * y))
        usable = np.isfinite(known) & (np.abs(known) < 1e150) & (slope > 0.0) & (slope < 1e150)
    if usable.sum() <= starts.shape[1]:
        return starts[:0]
    tape = compile_tape(peeled.equation, table.shape[1])
    if tape.phi_0 < 0:  # every term has an unknown: all zeros would be a solution
        return starts[:0]
    table, slope, zeros = table[usable], slope[usable], np.zeros(int(usable.sum()))
    given = 1.0 if settings["weights"] is None else np.asarray(settings["weights"])[usable]
    found = []
    error = np.clip(slope / np.median(slope), 1e-6, 1e6)  # what an error of y becomes in the easier form
    left = {node.index for node in walk(peeled.equation) if isinstance(node, Param)}
    scales = [k for k in range(starts.shape[1]) if k not in left]
    more = starts[:0]
    for weights in (given * np.ones_like(error), given / error**2):
        fit = fit_tape(tape, table, zeros, starts, **(settings | {"weights": weights}))
        if n_screened and len(tape.nonlinear) and not fit.exact:
            if not len(more):
                more = screened(peeled.equation, tape, table, zeros, weights, len(starts), n_screened, most, rng=rng)
            fit = _better(fit, fit_tape(tape, table, zeros, more, **(settings | {"weights": weights})))
        if fit.status is Status.OK:
            found.append(np.append(fit.params, np.ones(starts.shape[1]))[: starts.shape[1]])
            found[-1][scales] = 1.0
    return np.array(found).reshape(-1, starts.shape[1])


def _fit_bfgs(tape: Tape, X: Floats, y: Floats, starts: Floats, weights: ArrayLike | None, loss: Loss) -> TapeFit:
    """scipy's BFGS over all constants from every start, with exact gradients."""
    from scipy.optimize import minimize

    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    share = np.full(len(y), 1.0 / len(y)) if w is None else w / w.sum()

    def objective(params: Floats) -> tuple[float, Floats]:
        values, J = jacobian(tape, X, params)
        value = loss.mean(y - values, w)
        slope = -J.T @ (share * loss.slope(y - values))
        if not np.isfinite(value) or not np.isfinite(slope).all():
            return 1e300, np.zeros(len(params))
        return value, slope

    best = TapeFit(np.nan_to_num(starts[0]), float("inf"), Status.NON_FINITE, 0)
    n_steps = 0
    with np.errstate(all="ignore"):
        for start in starts:
            found = minimize(objective, start, jac=True, method="BFGS")
            n_steps += int(found.nit)
            value = loss.mean(y - evaluate_tape(tape, X, found.x), w)
            if np.isfinite(found.x).all() and value < best.loss:
                best = TapeFit(found.x, value, Status.OK, 0, bool(found.success))
    return dataclasses.replace(best, n_steps=n_steps)
