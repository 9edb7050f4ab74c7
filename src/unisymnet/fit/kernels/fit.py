"""The door to the compiled kernels: values, Jacobians and fits of tapes, in threads if asked.

What runs below the Python level is in interpreter.py, projection.py, levenberg.py and robust.py; it holds no lock,
so threads run side by side, and results do not depend on how many there are.  Knows no Expr (see constants.py).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ...arrays import Floats
from ...candidate import Status
from ...symbolic.expr import Call, Param, Var
from .compiling import watched_compiler
from .elementary import CAN_CACHE
from .interpreter import addresses
from .least_squares import SUMS
from .levenberg import EXACT, FIRST_DAMPING, LOSS, N_TRIALS, RUNNING, Starts, fitter, race
from .projection import N_REGISTERS, Data, Program, load, move, predict, slopes, stride_of
from .refer import refer
from .robust import Loss, refine
from .tape import Tape, compile_tape

T = TypeVar("T")
R = TypeVar("R")

THREAD_WORK = 200_000  # rows times starts times instructions; below, handing over costs more than it saves (ADR 18)
ANNOUNCED = "compiling numerical kernels, once per installation: usually less than a minute …"
HEAT = 16  # starts that race each other; fixed, so that results do not depend on the number of threads
_CHUNK = 1 << 15  # rows evaluated at a time: bounds the memory of the registers
_ROUNDING = 4e-31  # (3 eps)^2: a mean square this small beside that of y is rounding


@dataclass(frozen=True)
class TapeFit:
    """The best of all starts.  ``loss`` is the (weighted) mean loss, finite exactly when the status is OK.

    ``settled`` is False if the step limit came first; such a fit is usable, more steps may improve it.  ``exact``: the
    residuals are rounding.
    """

    params: Floats
    loss: float
    status: Status
    n_steps: int
    settled: bool = True
    exact: bool = False


def evaluate_tape(tape: Tape, X: ArrayLike, params: ArrayLike = ()) -> Floats:
    """Values on the rows of X (n, d); outside the domain nan or inf, as in ``symbolic.expr.evaluate``."""
    columns = _columns(tape, X)
    theta, c = _split(tape, params)
    values, none = np.empty(columns.shape[1]), np.empty((0, 0))
    if len(values) <= _CHUNK:
        _run(program_of(tape), columns, theta, c, values, none, none)
        return values
    for i in range(0, len(values), _CHUNK):
        part = np.ascontiguousarray(columns[:, i : i + _CHUNK])
        _run(program_of(tape), part, theta, c, values[i : i + _CHUNK], none, none)
    return values


def jacobian(tape: Tape, X: ArrayLike, params: ArrayLike) -> tuple[Floats, Floats]:
    """Values (n,) and their derivatives (n, n_params) by every unknown."""
    columns = _columns(tape, X)
    theta, c = _split(tape, params)
    n = columns.shape[1]
    values, J = np.empty(n), np.zeros((tape.n_params, n))
    by_theta, by_c = np.empty((len(theta), n)), np.empty((len(c), n))
    _run(program_of(tape), columns, theta, c, values, by_theta, by_c)
    J[tape.nonlinear], J[tape.linear] = by_theta, by_c
    return values, J.T


def covariance(
    tape: Tape, X: ArrayLike, params: ArrayLike, weights: ArrayLike | None, residual_variance: float
) -> Floats:
    """Covariance (n_params, n_params) of fitted constants; inf on the diagonal of those the data do not fix."""
    _, J = jacobian(tape, X, params)
    if weights is not None:
        J = J * np.sqrt(np.asarray(weights, dtype=np.float64))[:, None]
    J = J[np.isfinite(J).all(axis=1)]
    size = np.linalg.norm(J, axis=0)
    used = np.flatnonzero(size > 0)
    result = np.zeros((tape.n_params, tape.n_params))
    _, s, V = np.linalg.svd(J[:, used] / size[used], full_matrices=False)
    known = s > 1e-10 * s.max(initial=0.0)
    root = V[known].T / s[known]
    with np.errstate(over="ignore"):  # a constant of 1e-160 has no variance worth a number
        result[np.ix_(used, used)] = residual_variance * (root @ root.T) / np.outer(size[used], size[used])
    loose = (V[~known] ** 2).sum(axis=0) > 1e-6
    result[used[loose], used[loose]] = np.inf
    unused = np.flatnonzero(size == 0)
    result[unused, unused] = np.inf
    return result


def fit_tape(
    tape: Tape,
    X: ArrayLike,
    y: ArrayLike,
    starts: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    loss: str = "mse",
    delta: float = 10.0,
    tau: float = 0.5,
    max_steps: int = 60,
    tol: float = 1e-7,
    n_threads: int = 1,
) -> TapeFit:
    """Constants that minimise the loss: the best over the rows of ``starts`` (n_starts, n_params).

    Only the entries of ``tape.nonlinear`` matter as start values; the linear constants are solved for.  ``loss`` is
    "mse", "huber" (threshold ``delta``) or "quantile" (level ``tau``); ``max_steps`` limits the steps per start.
    """
    wanted = Loss(loss, {"huber": delta, "quantile": tau}.get(loss, 0.0))
    data, mass = _data(tape, X, y, weights)
    starts = np.atleast_2d(np.asarray(starts, dtype=np.float64))
    if starts.shape[1] != tape.n_params:
        raise ValueError(f"starts must have {tape.n_params} columns, one per unknown, got shape {starts.shape}")
    fit = _fit_squares(tape, data, mass, starts, max_steps, tol, n_threads)
    if fit.status is not Status.OK or loss == "mse":
        return fit
    rows, given = data.X.T, None if weights is None else np.asarray(weights, dtype=np.float64)

    def improve(params: Floats, target: Floats, weight: Floats) -> Floats:
        inner = Data(data.X, target, np.sqrt(weight))
        return _fit_squares(tape, inner, 1.0, params[None, :], 3, 1e-3, 1).params

    def predict(params: Floats) -> Floats:
        return evaluate_tape(tape, rows, params)

    # Outliers may have drawn the squares away from a start that was better.
    first = min((fit.params, starts[0]), key=lambda p: _or_inf(wanted.mean(data.y - predict(p), given)))
    params, value = refine(wanted, first, data.y, given, predict, improve)
    return TapeFit(params, value, Status.OK, fit.n_steps, fit.settled)


def _or_inf(value: float) -> float:
    return value if np.isfinite(value) else np.inf


def start_losses(
    tape: Tape, X: ArrayLike, y: ArrayLike, starts: ArrayLike, *, weights: ArrayLike | None = None
) -> Floats:
    """Mean squares at every start with the linear constants solved for, inf where undefined; no steps are taken."""
    data, mass = _data(tape, X, y, weights)
    thetas = np.ascontiguousarray(np.asarray(starts, dtype=np.float64)[:, tape.nonlinear])
    progress = _run_heat(tape, data, 0.0, 1.0, 0, thetas)[2]
    return progress[:, LOSS] / mass


def _run_heat(
    tape: Tape, data: Data, floor: float, tol: float, max_steps: int, thetas: Floats
) -> tuple[int, Floats, Floats, NDArray[np.int64]]:
    """The best start (-1: none), and linear constants, progress and state of every start; ``thetas`` move in place."""
    n = len(thetas)
    cs, progress, states = np.zeros((n, len(tape.linear))), np.zeros((n, 4)), np.zeros(n, dtype=np.int64)
    progress[:] = (np.inf, FIRST_DAMPING, 0.0, 0.0)
    starts = Starts(thetas, cs, progress, states)
    best = race(fitter(), program_of(tape), data, starts, floor, tol, max_steps)
    return best, cs, progress, states


def _fit_squares(
    tape: Tape, data: Data, mass: float, starts: Floats, max_steps: int, tol: float, n_threads: int
) -> TapeFit:
    """Least squares from every start, heat by heat."""
    weighted = data.y * data.root if data.root.size else data.y
    floor = _ROUNDING * float(weighted @ weighted)
    params = np.where(np.isfinite(starts[0]), starts[0], 0.0) if len(starts) else np.zeros(tape.n_params)
    # Without nonlinear unknowns every start is the same.
    first = starts[:, tape.nonlinear] if len(tape.nonlinear) else np.empty((1, 0))

    def run(i: int) -> tuple[int, Floats, Floats, Floats, int]:
        thetas = np.ascontiguousarray(first[i : i + HEAT])
        best, cs, progress, states = _run_heat(tape, data, floor, tol, max_steps, thetas)
        n_trials = int(progress[:, N_TRIALS].sum())
        return n_trials, thetas[best], cs[best], progress[best], states[best] if best >= 0 else -1

    if len(data.y) * min(len(first), HEAT) * len(tape.code) < THREAD_WORK:
        n_threads = 1
    loss, n_steps, settled, state = np.inf, 0, True, RUNNING
    for trials, theta, c, progress, state in in_order(run, range(0, len(first), HEAT), n_threads):
        n_steps += trials
        if state >= 0 and progress[LOSS] < loss:
            loss, settled = float(progress[LOSS]), bool(state != RUNNING)
            params[tape.nonlinear], params[tape.linear] = theta, c
        if state == EXACT:
            break
    if not loss < np.inf:
        return TapeFit(params, float("inf"), Status.NON_FINITE, n_steps)
    return TapeFit(params, loss / mass, Status.OK, n_steps, settled, bool(state == EXACT))


def in_order(run: Callable[[T], R], jobs: Iterable[T], n_threads: int) -> Iterator[R]:
    """``map`` that works ahead in threads if there is more than one."""
    if n_threads <= 1:
        yield from map(run, jobs)
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            yield from pool.map(run, jobs)


def warm_up(announce: Callable[[str], None] | None = None) -> bool:
    """Make every kernel ready: from the disk in a moment, or compiled, which is announced (by default, logged).

    True if something had to be compiled.
    """
    tell = announce or logging.getLogger("unisymnet").warning
    with watched_compiler(lambda: tell(ANNOUNCED)) as compiled:
        tape = compile_tape(Call("exp", (Call("mul", (Param(0), Var(0))),)), 1)
        X = np.array([[0.0], [1.0]])
        values, _ = jacobian(tape, X, [1.0])
        fit_tape(tape, X, values, [[0.5]])
    return bool(compiled)


def cache_folder() -> str | None:
    """Where numba keeps what it has compiled; None where it can keep nothing."""
    return _run.stats.cache_path if CAN_CACHE else None


def program_of(tape: Tape) -> Program:
    """The arrays of a tape as the kernels take them."""
    return Program(*addresses(), tape.code, tape.layout, tape.constants, tape.phi)


def _columns(tape: Tape, X: ArrayLike) -> Floats:
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != tape.n_features:
        raise ValueError(f"X must be a table with {tape.n_features} columns, got an array of shape {table.shape}")
    return np.array(table.T, order="C")  # always a copy: a read-only table would be another type, compiled again


def _split(tape: Tape, params: ArrayLike) -> tuple[Floats, Floats]:
    values = np.asarray(params, dtype=np.float64)
    if len(values) < tape.n_params:
        raise ValueError(f"the formula has {tape.n_params} free constants, but {len(values)} values were given")
    return values[tape.nonlinear], values[tape.linear]


def _data(tape: Tape, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None) -> tuple[Data, float]:
    """What the kernels read, and the total weight.  Equal weights are left out: they would only cost time."""
    columns, target = _columns(tape, X), np.array(y, dtype=np.float64)
    n = columns.shape[1]
    if target.shape != (n,):
        raise ValueError(f"X has {n} rows, but y has shape {target.shape}; give one value per row")
    root = np.empty(0)
    if weights is not None:
        w = np.asarray(weights, dtype=np.float64)
        if w.shape != (n,) or not np.all(w >= 0) or not np.any(w > 0):
            raise ValueError(f"weights must be {n} numbers >= 0 and not all 0, got shape {w.shape}, {w}")
        if np.any(w != w[0]):
            root = np.sqrt(w)
    return Data(columns, target, root), float(root @ root) if root.size else float(n)


@njit(**SUMS)
def _run(program: Program, X: Floats, theta: Floats, c: Floats, values: Floats, by_theta: Floats, by_c: Floats) -> None:
    """Values, and the slopes by theta and c unless their arrays are empty."""
    n = values.shape[0]
    work = np.empty(program.layout[N_REGISTERS] * stride_of(n))
    referred = refer(program)
    load(referred, X, work)
    move(referred, theta, work, n)
    predict(referred, c, work, values)
    if by_theta.shape[0] > 0:
        slopes(referred, c, work, np.empty_like(work), n, by_theta)
    for k in range(by_c.shape[0]):
        place = program.phi[k] * stride_of(n)
        for i in range(n):
            by_c[k, i] = work[place + i]
