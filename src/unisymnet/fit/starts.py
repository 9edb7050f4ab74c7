"""Where fits of constants start: a box, all magnitudes, and for waves all frequencies that the rows can tell apart.

Only nonlinear constants need starts; the linear ones are solved for.  A wave is fitted only from a start within about
a radian of it at every row, so frequencies are measured against the columns they run along, and many are looked at.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from ..symbolic.expr import Call, Expr, Param, bind, evaluate, n_params, parts, product, walk
from .kernels.fit import start_losses
from .kernels.tape import Tape

INITS = ("lhs", "random", "grid", "evolutionary")
FASTEST = 40.0  # radians within one standard deviation of what a frequency multiplies, shared by all frequencies
FASTEST_A_ROW = 0.45  # no more than a period for every four rows, of which few could tell it from others
MORE_A_FREQUENCY = 8  # times as many points to look at for each frequency
SCREENED_ROWS = 80


def drawn(tape: Tape, X: Floats, y: Floats, n: int, init: str, spread: float, rng: np.random.Generator) -> Floats:
    """(n, n_params) start points from the box [-spread, spread], or a normal distribution of that width."""
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


def screened(
    expr: Expr, tape: Tape, X: Floats, y: Floats, weights: ArrayLike | None, n: int, n_screened: int, most: int,
    *, rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """The n best of many points, judged by one linear solve each: all magnitudes, for waves all frequencies.

    ``n_screened`` points are looked at, more for every frequency, but not more than ``most``.
    """
    free = tape.nonlinear
    roles = {k: role for k, role in wave_constants(expr).items() if k in set(free)}
    frequencies = {k: unit for k, unit in roles.items() if unit is not None}
    count = max(n_screened, min(n_screened * MORE_A_FREQUENCY ** len(frequencies), most))
    points = np.ones((count, tape.n_params))
    shape = (count, len(free))
    points[:, free] = rng.choice((-1.0, 1.0), shape) * 10.0 ** rng.uniform(-1.5, 1.3, shape)
    fastest = min(FASTEST, FASTEST_A_ROW * len(y)) / max(len(frequencies), 1)
    for k, unit in roles.items():
        if unit is None:
            points[:, k] = rng.uniform(-math.pi, math.pi, count)
            continue
        with np.errstate(all="ignore"):
            step = float(np.std(evaluate(bind(unit, [1.0] * n_params(expr)), X)))
        if math.isfinite(step) and step > 0.0:
            points[:, k] = rng.uniform(-fastest, fastest, count) / step
    rows = np.arange(len(y))
    if len(y) > SCREENED_ROWS and count > n_screened:
        rows = np.sort(rng.choice(rows, SCREENED_ROWS, replace=False))
    kept = None if weights is None else np.asarray(weights)[rows]
    losses = start_losses(tape, X[rows], y[rows], points, weights=kept)
    return points[np.argsort(losses, kind="stable")[:n]]


def wave_constants(expr: Expr) -> dict[int, Expr | None]:
    """Parameters in the arguments of sines and cosines: what a frequency multiplies, None for a phase."""
    roles: dict[int, Expr | None] = {}
    for node in walk(expr):
        if isinstance(node, Call) and node.op in ("sin", "cos", "tan"):
            for term in parts(node.args[0], "add", "sub"):
                factors = parts(term, "mul", "neg")
                for factor in factors:
                    if isinstance(factor, Param):
                        others = [other for other in factors if other is not factor]
                        roles[factor.index] = product(others) if others else None
    return roles


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
        offspring = np.where(cross, a + 0.7 * (b - c), population)
        trial = start_losses(tape, X, y, _whole(tape, offspring))
        better = trial < losses
        population[better], losses[better] = offspring[better], trial[better]
    return population[np.argsort(losses, kind="stable")[:n]]


def _whole(tape: Tape, thetas: Floats) -> Floats:
    """Rows of nonlinear constants as rows of all constants."""
    rows = np.ones((len(thetas), tape.n_params))
    rows[:, tape.nonlinear] = thetas
    return rows
