"""Constants of a formula from data: start points, losses, and the two optimisers.

``fit_constants`` is what SFO calls for every rollout.  The default is Levenberg-Marquardt on the kernels; "bfgs" is
scipy's BFGS over all constants, the paper's own optimiser, kept for the ablations.  Knows no exponents' policy.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..candidate import Status
from ..symbolic.expr import Expr, Var, evaluate
from .kernels import TapeFit, evaluate_tape, fit_tape, jacobian, start_losses
from .peel import peel
from .robust import Loss
from .tape import Tape, compile_tape

Floats = NDArray[np.float64]

INITS = ("lhs", "random", "grid", "evolutionary")


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
) -> ConstantFit:
    """Best constants for the ``Param`` leaves of ``expr``.

    ``start`` is tried first, then ``n_starts`` more: ``init`` says how they are drawn ("lhs", "grid" and
    "evolutionary" from the box [-spread, spread], "random" from a normal distribution of that width).
    ``peeling`` adds the solutions of easier forms of the same equation (peel.py) as starts if the others do not
    lead to an exact fit.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    tape = compile_tape(expr, X.shape[1], project=optimiser == "lm")
    starts = _starts(tape, X, y, n_starts, init, spread, rng)
    if start is not None:
        starts = np.vstack([np.asarray(start, dtype=np.float64)[None, : tape.n_params], starts])
    if optimiser == "lm":
        settings = {"weights": weights, "max_steps": max_steps, "n_threads": n_threads}
        robust = {"loss": loss, "delta": delta, "tau": tau}
        fit = fit_tape(tape, X, y, starts, **settings, **robust)  # type: ignore[arg-type]
        if peeling and len(tape.nonlinear) and not fit.exact:
            more = _peeled_starts(expr, X, y, starts, settings)
            if len(more):
                fit = _better(fit, fit_tape(tape, X, y, more, **settings, **robust))  # type: ignore[arg-type]
        if n_screened and len(tape.nonlinear) and not fit.exact:
            more = _screened_starts(tape, X, y, weights, n_starts, n_screened, rng)
            fit = _better(fit, fit_tape(tape, X, y, more, **settings, **robust))  # type: ignore[arg-type]
    elif optimiser == "bfgs":
        fit = _fit_bfgs(tape, X, y, starts, weights, Loss(loss, delta if loss == "huber" else tau))
    else:
        raise ValueError(f"unknown optimiser {optimiser!r}; known are lm, bfgs")
    return ConstantFit(fit.params, fit.loss, fit.status, fit.n_steps)


def _better(a: TapeFit, b: TapeFit) -> TapeFit:
    return dataclasses.replace(b if b.loss < a.loss else a, n_steps=a.n_steps + b.n_steps)


def _peeled_starts(expr: Expr, X: Floats, y: Floats, starts: Floats, settings: dict[str, Any]) -> Floats:
    """Constants that solve easier forms of y = expr."""
    peeled = peel(expr, Var(X.shape[1]))
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
    for weights in (given * np.ones_like(error), given / error**2):
        fit = fit_tape(tape, table, zeros, starts, **(settings | {"weights": weights}))
        if fit.status is Status.OK:
            found.append(fit.params)
    return np.array(found).reshape(-1, starts.shape[1])


def _screened_starts(
    tape: Tape, X: Floats, y: Floats, weights: ArrayLike | None, n: int, n_screened: int, rng: np.random.Generator
) -> Floats:
    """The n best of many points of all magnitudes, judged by one linear solve each."""
    shape = (n_screened, len(tape.nonlinear))
    points = _whole(tape, rng.choice((-1.0, 1.0), shape) * 10.0 ** rng.uniform(-1.5, 1.3, shape))
    losses = start_losses(tape, X, y, points, weights=weights)
    return points[np.argsort(losses, kind="stable")[:n]]


def _starts(tape: Tape, X: Floats, y: Floats, n: int, init: str, spread: float, rng: np.random.Generator) -> Floats:
    """(n, n_params) start points; only the nonlinear constants need any."""
    free = len(tape.nonlinear)
    if free == 0 or n == 0:
        return np.ones((min(n, 1), tape.n_params))
    if init == "lhs":
        from scipy.stats import qmc  # late: scipy.stats takes half a second to load

        points = (2.0 * qmc.LatinHypercube(free, rng=rng).random(n) - 1.0) * spread
    elif init == "random":
        points = rng.normal(0.0, spread, (n, free))
    elif init == "grid":
        points = _grid(n, free) * spread
    elif init == "evolutionary":
        points = _evolved(tape, X, y, n, spread, rng)
    else:
        raise ValueError(f"unknown init {init!r}; known are {', '.join(INITS)}")
    return _whole(tape, points)


def _grid(n: int, free: int) -> Floats:
    """The first n points of a regular grid in [-1, 1]^free, in an order that spreads early points."""
    side = max(2, int(np.ceil(n ** (1.0 / free))))
    axis = np.linspace(-1.0, 1.0, side + 2)[1:-1]
    total = side**free if free * np.log(side) < 60 else 2**62
    picks = [(k * total) // n for k in range(n)]
    return np.array([[axis[(pick // side**j) % side] for j in range(free)] for pick in picks])


def _evolved(tape: Tape, X: Floats, y: Floats, n: int, spread: float, rng: np.random.Generator) -> Floats:
    """The n best of a small differential evolution: selection, crossover, mutation, replacement."""
    free = len(tape.nonlinear)
    population = rng.uniform(-spread, spread, (max(2 * n, 8), free))
    losses = start_losses(tape, X, y, _whole(tape, population))
    for _ in range(8):
        a, b, c = (population[rng.permutation(len(population))] for _ in range(3))
        cross = rng.random(population.shape) < 0.7
        children = np.where(cross, a + 0.7 * (b - c), population)
        trial = start_losses(tape, X, y, _whole(tape, children))
        better = trial < losses
        population[better], losses[better] = children[better], trial[better]
    return population[np.argsort(losses, kind="stable")[:n]]


def _whole(tape: Tape, thetas: Floats) -> Floats:
    """Rows of nonlinear constants as rows of all constants."""
    rows = np.ones((len(thetas), tape.n_params))
    rows[:, tape.nonlinear] = thetas
    return rows


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
