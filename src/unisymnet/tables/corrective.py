"""Sums whose constants are all fitted again whenever a feature joins: those inside the features too.

A feature comes from a grid of knots, widths and origins, and its neighbours on the grid would fit nearly as well; what
the first ones get wrong is then mended by later ones, and the sum grows long. Here the next feature is the one that
explains most of what is left beside everything that moving the present constants could explain; the best few are tried
with all constants fitted. At the end terms leave one by one. Only formulas and arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, power_of_two
from ..deadline import Deadline
from ..formula.constants import free
from ..formula.derivative import value_and_jacobian
from ..metrics import complexity
from ..symbolic.expr import Call, Const, Expr, evaluate, variables, walk
from .polish import ROUNDS, polish
from .pool import Pool
from .sums import sum_of, term_of

TRIED = 4  # features at each step that are fitted with everything else
NEW_SHARE = 0.02  # of a feature that moving constants must not be able to explain
FEW_ROUNDS = 4  # of fitting for a feature that is only tried
MAX_TERMS, ROWS_A_TERM = 10, 10
LEAST_TO_EXCHANGE = 3  # terms
WORSE = 40.0  # nats by which a longer sum may lie behind the best before the way ends


@dataclass(frozen=True)
class Fit:
    """A sum, its terms, and its mean square raised for its number of constants (generalised cross-validation)."""

    expr: Expr
    terms: tuple[Expr, ...]
    size: int
    error: float


@dataclass(frozen=True)
class Rows:
    """Rows that count, with the square roots of their weights."""

    X: Floats
    y: Floats
    root: Floats

    @property
    def n(self) -> int:
        return len(self.y)


def find_fits(
    pool: Pool,
    X: Floats,
    y: Floats,
    weights: Floats,
    price: float,
    max_size: int,
    deadline: Deadline | None = None,
) -> list[Fit]:
    """Sums of rising size, and those that are left when terms leave again; after the deadline what is there."""
    deadline = deadline or Deadline.never()
    used = weights > 0.0
    rows = Rows(X[used], y[used], np.sqrt(weights[used] / weights[used].mean()))
    table = pool.table[used] * rows.root.astype(np.float32)[:, None]
    sizes = pool.sizes
    families = [_family(feature.expr) for feature in pool.features]

    def longer(fit: Fit) -> list[Fit]:
        places = _next(fit, table, sizes, families, rows)
        tried = [_fitted((*fit.terms, pool.features[i].expr), rows, FEW_ROUNDS) for i in places]
        return [one for one in tried if one.size <= max_size and one.error < np.inf]

    fit = _fitted((), rows)
    found, best = [fit], _length(fit, rows, price)
    while len(fit.terms) < min(MAX_TERMS, rows.n // ROWS_A_TERM):
        tried, before = longer(fit), fit
        if not tried or deadline.expired():
            break
        fit = max(tried, key=lambda one: _rate(before, one, rows))
        fit = _exchanged(_fitted(fit.terms, rows), rows, price, longer)
        found.append(fit)
        best = min(best, _length(fit, rows, price))
        if fit.error <= 0.0 or _length(fit, rows, price) > best + WORSE:
            break
    return found + _shrunk(min(found, key=lambda one: _length(one, rows, price)), rows)


def within(found: Sequence[Fit], size: int, n: int, price: float) -> Fit:
    """The best sum of at most this size."""
    fit = [one for one in found if one.size <= size]
    return min(fit, key=lambda one: 0.5 * n * np.log(max(one.error, 1e-300)) + price * one.size)


def _rate(before: Fit, after: Fit, rows: Rows) -> float:
    """Nats that a longer sum gains for each node more: what a limit on size asks for."""
    gain = 0.5 * rows.n * np.log(max(before.error, 1e-300) / max(after.error, 1e-300))
    return float(gain / max(after.size - before.size, 1))


def _length(fit: Fit, rows: Rows, price: float) -> float:
    return float(0.5 * rows.n * np.log(max(fit.error, 1e-300)) + price * fit.size)


def _exchanged(fit: Fit, rows: Rows, price: float, longer: Callable[[Fit], list[Fit]]) -> Fit:
    """The sum with its first or its weakest term exchanged for a better one, if there is one."""
    if len(fit.terms) < LEAST_TO_EXCHANGE:
        return fit
    left = [_linear(_without(fit.terms, i), rows) for i in range(len(fit.terms))]
    best = fit
    for place in dict.fromkeys((0, int(np.argmin(left)))):
        for one in longer(_fitted(_without(fit.terms, place), rows, FEW_ROUNDS)):
            if _length(one, rows, price) < _length(best, rows, price) - price and one.size <= fit.size:
                best = one
    return best


def _without(terms: tuple[Expr, ...], place: int) -> tuple[Expr, ...]:
    return terms[:place] + terms[place + 1 :]


def _family(expr: Expr) -> tuple[frozenset[int], frozenset[str]]:
    """Columns and operators: neighbours on a grid, which lead to the same sum once constants are fitted."""
    ops = {node.op for node in walk(expr) if isinstance(node, Call)} - {"add", "sub"}
    return frozenset(variables(expr)), frozenset(ops)


def _next(
    fit: Fit,
    table: NDArray[np.float32],
    sizes: NDArray[np.intp],
    families: Sequence[object],
    rows: Rows,
) -> list[int]:
    """The features that say most about what is left, beside what moving constants could."""
    form, values = free(fit.expr)
    shown, jacobian = value_and_jacobian(form, rows.X, values)
    J = np.column_stack([np.ones(rows.n), jacobian]) * rows.root[:, None]
    if not np.isfinite(J).all():
        return []
    Q = np.linalg.qr(J / np.maximum(np.linalg.norm(J, axis=0), 1e-300))[0]
    left = (rows.y - shown) * rows.root
    left = left - Q @ (Q.T @ left)
    left = left / power_of_two(left)  # squares in single precision end at 1e38
    rss = max(float(left @ left), 1e-300)
    full = np.einsum("ij,ij->j", table, table)
    along = Q.astype(np.float32).T @ table
    norms = full - np.einsum("ij,ij->j", along, along)
    fresh = norms > NEW_SHARE * full
    gain = np.where(fresh, (table.T @ left.astype(np.float32)) ** 2 / np.where(fresh, norms, 1.0), 0.0)
    nats = -0.5 * rows.n * np.log(np.maximum(1.0 - gain.astype(np.float64) / rss, 1e-9))
    rates = np.where(fresh, nats / sizes, -np.inf)
    found: dict[object, int] = {}
    for i in np.argsort(-rates, kind="stable"):
        if len(found) == TRIED or not nats[i] > 0.0 or not fresh[i]:
            break
        found.setdefault(families[i], int(i))
    return list(found.values())


def _fitted(terms: Sequence[Expr], rows: Rows, rounds: int = ROUNDS) -> Fit:
    with np.errstate(all="ignore"):
        F = np.column_stack([np.ones(rows.n), *(np.broadcast_to(evaluate(t, rows.X), rows.y.shape) for t in terms)])
        if not np.isfinite(F).all():
            return Fit(Const(0.0), tuple(terms), 1, np.inf)
        A = F * rows.root[:, None]
        scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        found = np.linalg.lstsq(A / scale, rows.y * rows.root, rcond=1e-10)[0] / scale
        expr = sum_of(float(found[0]), found[1:].tolist(), terms)
        expr = polish(expr, rows.X, rows.y, rows.root**2, rounds)
        values = np.broadcast_to(evaluate(expr, rows.X), rows.y.shape)
        n_constants = len(free(expr)[1])
        room = max(1.0 - n_constants / rows.n, 0.05)
        error = float(np.mean(((rows.y - values) * rows.root) ** 2)) / room**2
    return Fit(expr, _terms(expr), complexity(expr), error if np.isfinite(error) else np.inf)


def _terms(expr: Expr) -> tuple[Expr, ...]:
    """The features of a sum that `sum_of` wrote, without their coefficients."""
    if not (isinstance(expr, Call) and expr.op == "add"):
        return ()
    return tuple(term_of(part) for part in expr.args[1:])


def _shrunk(fit: Fit, rows: Rows) -> list[Fit]:
    """Sums that remain when the term that is needed least leaves, again and again."""
    found = []
    while len(fit.terms) > 1:
        left = [_linear(_without(fit.terms, i), rows) for i in range(len(fit.terms))]
        fit = _fitted(_without(fit.terms, int(np.argmin(left))), rows)
        found.append(fit)
    return found


def _linear(terms: Sequence[Expr], rows: Rows) -> float:
    """Sum of squares that the terms as they are leave."""
    with np.errstate(all="ignore"):
        A = np.column_stack([np.ones(rows.n), *(np.broadcast_to(evaluate(t, rows.X), rows.y.shape) for t in terms)])
        A = A * rows.root[:, None]
        if not np.isfinite(A).all():
            return np.inf
        target = rows.y * rows.root
        Q = np.linalg.qr(A / np.maximum(np.linalg.norm(A, axis=0), 1e-300))[0]
        return float(np.sum((target - Q @ (Q.T @ target)) ** 2))
