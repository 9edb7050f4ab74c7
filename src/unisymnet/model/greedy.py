"""Which few functions of the columns add up to a view of the target: greedy choices from dictionaries, as numbers.

Most laws, and most random functions, are sparse sums of products in y, 1/y, y² or 1/y², products of short sums in
ln|y|, or quotients of such.  Orthogonal least squares picks up to `N_STEPS` functions for each; what was picked, with
which weight, and how much is left after each pick are statistics that a small model can read.  Columns keep their own
scale here, because the functions of the corpus mostly have unit constants.  Symmetric in the points.  No torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .bits import Floats

Ints = NDArray[np.int64]

N_STEPS = 6
N_VIEWS = 4  # y, 1/y, y², 1/y² share the dictionary of products
POWERS = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)
_PAIRS = ((1, 1), (1, -1), (-1, 1), (-1, -1), (2, 1), (1, 2), (2, -1), (-1, 2), (-2, 1), (1, -2))
_TRIPLES = ((1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))
# Beyond so many columns only products and sums of two and no waves of two, or the dictionaries would be too large.
FEW = 5
_FLOOR = 1e-12
_COLLINEAR = 1e-5


class Table(NamedTuple):
    """Columns (batch, d, n) and the target, absent columns and points being 1; roots of the points' weights."""

    x: Floats
    y: Floats
    weight: Floats
    absent: NDArray[np.bool_]


class _Plan(NamedTuple):
    """Indices: products of two and of three powers (into their table); pairs, ordered pairs and triples of columns.

    ``over`` are (numerator, pair) for quotients by a sum.  The last three say which columns each function of a
    dictionary needs.
    """

    two: Ints
    three: Ints
    pairs: Ints
    ordered: Ints
    triples: Ints
    over: Ints
    needs_products: NDArray[np.bool_]
    needs_logs: NDArray[np.bool_]
    needs_implicit: NDArray[np.bool_]


@lru_cache(maxsize=4)
def plan_of(d: int) -> _Plan:
    small = d <= FEW

    def at(column: int, power: float) -> int:
        return column * len(POWERS) + POWERS.index(power)

    pairs, ordered = list(combinations(range(d), 2)), list(permutations(range(d), 2)) if small else []
    triples = list(combinations(range(d), 3)) if small else []
    shapes = _PAIRS if small else _PAIRS[:4]
    two = [(at(i, a), at(j, b)) for i, j in pairs for a, b in shapes]
    three = [[at(c, p) for c, p in zip(chosen, shape)] for chosen in triples for shape in _TRIPLES]
    # x_j/(x_i + x_j) is 1 - x_i/(x_i + x_j), so one of the two is enough.
    over = [(k, p) for p, (i, j) in enumerate(pairs) for k in range(d) if k != j] if small else []
    ones = _needs([(c,) for c in range(d)], d)
    by_pair, by_order, by_triple = (_needs(x, d) for x in (pairs, ordered, triples))
    tops = _needs([(k, *pairs[p]) for k, p in over], d)
    products = [np.repeat(ones, len(POWERS), axis=0), np.repeat(by_pair, len(shapes), axis=0)]
    waves = 4 if small else 0
    products += [np.repeat(by_triple, len(_TRIPLES), axis=0), *6 * [ones], *(waves + 2) * [by_pair], *2 * [tops]]
    logs = [ones, *2 * [by_pair], *4 * [by_triple], *2 * [by_order], *2 * [by_pair], *6 * [by_triple], *4 * [ones]]
    logs += [*4 * [ones], by_pair, by_order]
    implicit = 2 * [ones, _needs([(i, j) for i in range(d) for j in range(i, d)], d)]
    return _Plan(
        _indices(two, 2), _indices(three, 3), _indices(pairs, 2), _indices(ordered, 2), _indices(triples, 3),
        _indices(over, 2), np.concatenate(products), np.concatenate(logs), np.concatenate(implicit),
    )  # fmt: skip


def _indices(rows: Sequence[Sequence[int]], width: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


def _needs(columns: Sequence[Sequence[int]], d: int) -> NDArray[np.bool_]:
    """(functions, d): which columns each function needs."""
    needs = np.zeros((len(columns), d), dtype=bool)
    for row, chosen in zip(needs, columns):
        row[list(chosen)] = True
    return needs


def greedy(rows: Floats) -> NDArray[np.float32]:
    """Statistics (batch, size) of data sets given as rows (batch, n, d + 1), zero rows being no points."""
    x, y, weight, absent = table_of(rows)
    with np.errstate(all="ignore"):
        inverse = 1.0 / away(y)
        views = unit(np.concatenate([y, inverse, y * y, inverse * inverse], axis=1), weight)
        plan = plan_of(x.shape[1])
        parts = [
            *select(unit(products(x), weight, absent, plan.needs_products), views),
            *select(unit(_logs(x), weight, absent, plan.needs_logs), unit(np.log(np.abs(y) + 1e-12), weight)),
            *select(unit(_implicit(x, y), weight, absent, plan.needs_implicit), views[:, :1]),
            np.log10(np.maximum((weight[:, 0] > 0.0).sum(axis=1), 1.0)) / 3.0,
        ]
    flat = np.concatenate([part.reshape(len(rows), -1) for part in parts], axis=1)
    return np.nan_to_num(flat, nan=0.0, posinf=0.0, neginf=0.0).astype(np.float32)


def table_of(rows: Floats) -> Table:
    """The parts of data sets given as rows."""
    present = np.any(rows != 0.0, axis=-1)
    values = np.where(present[:, :, None], rows, 1.0).astype(np.float64).transpose(0, 2, 1)
    used = (rows != 0.0).any(axis=1)
    x = np.where(used[:, :-1, None], values[:, :-1], 1.0)
    y = values[:, -1:]
    y = y / np.median(np.abs(y), axis=2, keepdims=True).clip(1e-300)
    weight = np.sqrt(present / np.maximum(present.sum(axis=1, keepdims=True), 1))[:, None]
    return Table(x, y, weight, ~used[:, :-1])


def away(values: Floats) -> Floats:
    """The same values, none of them 0."""
    return np.where(np.abs(values) < 1e-9, 1e-9, values)


def products(x: Floats) -> Floats:
    """Powers, their products, functions of one column, waves of two, quotients by sums and differences of two."""
    plan = plan_of(x.shape[1])
    size, safe = np.abs(x), away(x)
    inverse, root = 1.0 / safe, np.sqrt(size)
    powers = np.stack([inverse * inverse, inverse, 1.0 / np.sqrt(np.abs(safe)), root, x, x * x], axis=2)
    table = powers.reshape(x.shape[0], -1, x.shape[2])
    two = table[:, plan.two[:, 0]] * table[:, plan.two[:, 1]]
    three = table[:, plan.three[:, 0]] * table[:, plan.three[:, 1]] * table[:, plan.three[:, 2]]
    sine, cosine, growth = np.sin(x), np.cos(x), np.exp(np.clip(x, -30.0, 30.0))
    singles = [size, np.log(np.abs(safe)), sine, cosine, growth, 1.0 / growth]
    i, j = plan.pairs.T
    waves = []
    if x.shape[1] <= FEW:
        (ss, sc), (cs, cc) = ((f[:, i] * sine[:, j], f[:, i] * cosine[:, j]) for f in (sine, cosine))
        waves = [sc + cs, sc - cs, cc - ss, cc + ss]
    sums = 1.0 / away(np.stack([x[:, i] + x[:, j], x[:, i] - x[:, j]]))
    top, pair = plan.over.T
    quotients = [x[:, top] * inverted[:, pair] for inverted in sums]
    return np.concatenate([table, two, three, *singles, *waves, *sums, *quotients], axis=1)


def _logs(x: Floats) -> Floats:
    """Logarithms of columns and of sums of two and three of them and their products, and a few plain functions."""
    plan = plan_of(x.shape[1])
    i, j = plan.pairs.T
    a, b = plan.ordered.T
    p, q, r = plan.triples.T
    product = x[:, i] * x[:, j]
    square = x * x
    plus, minus = x[:, p] + x[:, q], x[:, p] - x[:, q]
    sums = [
        x, x[:, i] + x[:, j], x[:, i] - x[:, j],
        plus + x[:, r], plus - x[:, r], minus + x[:, r], minus - x[:, r],
        square[:, a] + x[:, b], square[:, a] - x[:, b], product + 1.0, product - 1.0,
        x[:, p] + x[:, q] * x[:, r], x[:, p] - x[:, q] * x[:, r], x[:, q] + x[:, p] * x[:, r],
        x[:, q] - x[:, p] * x[:, r], x[:, r] + x[:, p] * x[:, q], x[:, r] - x[:, p] * x[:, q],
        np.sin(x), np.cos(x), x + 1.0, x - 1.0,
    ]  # fmt: skip
    inverse = 1.0 / away(x)
    plain = [x, square, inverse, np.sqrt(np.abs(x)), product, x[:, a] * inverse[:, b]]
    return np.concatenate([np.log(np.abs(np.concatenate(sums, axis=1)) + 1e-12), *plain], axis=1)


def _implicit(x: Floats, y: Floats) -> Floats:
    """Columns and their products, alone and times y: a quotient of two such sums is linear in these."""
    i, j = np.triu_indices(x.shape[1])
    monomials = np.concatenate([x, x[:, i] * x[:, j]], axis=1)
    return np.concatenate([monomials, monomials * y], axis=1)


def unit(values: Floats, weight: Floats, absent: Any = None, needs: Any = None) -> Floats:
    """Functions (batch, count, n) with weighted mean 0 and length 1, times the root of the weights.

    Constants are 0, and functions that need an absent column.
    """
    values = np.clip(values, -1e12, 1e12)
    mean = np.einsum("bcn,bn->bc", values, weight[:, 0] ** 2)
    values = (values - mean[:, :, None]) * weight
    length = np.sqrt(np.einsum("bcn,bcn->bc", values, values))
    small = length <= 1e-7 * (np.abs(mean) + 1e-9)
    if absent is not None:
        small |= absent @ needs.T
    return values * np.where(small, 0.0, 1.0 / np.maximum(length, 1e-300))[:, :, None]


def select(functions: Floats, views: Floats) -> tuple[Floats, Floats]:
    """What orthogonal least squares leaves of each view after each pick, and the weight of every function in the end.

    Views are handled together: a product of the dictionary with all their directions costs hardly more than with one.
    """
    batch, n_views = views.shape[:2]
    where = np.arange(batch)[:, None]
    there = np.einsum("bcn,bcn->bc", functions, functions)[:, :, None]
    left, rest = np.repeat(there, n_views, axis=2), views.copy()
    correlation = functions @ rest.transpose(0, 2, 1)
    basis = np.zeros((batch, n_views, N_STEPS, views.shape[2]))
    triangle = np.zeros((batch, n_views, N_STEPS, N_STEPS))
    picks = np.zeros((batch, n_views, N_STEPS), dtype=np.int64)
    shares = np.ones((batch, n_views, N_STEPS))
    for step in range(N_STEPS):
        gain = np.where(left > _COLLINEAR, correlation**2 / np.maximum(left, _COLLINEAR), 0.0)
        pick = gain.argmax(axis=1)
        going = (np.take_along_axis(gain, pick[:, None], 1)[:, 0] > 0.0) & (shares[:, :, step - 1] > _FLOOR)
        direction = functions[where, pick]
        done = basis[:, :, :step]
        for _ in range(2):  # once more against rounding
            overlap = np.einsum("bvkn,bvn->bvk", done, direction)
            triangle[:, :, :step, step] += overlap
            direction = direction - np.einsum("bvk,bvkn->bvn", overlap, done)
        length = np.linalg.norm(direction, axis=2)
        going &= length > 0.0
        triangle[:, :, step, step] = np.where(going, length, 1.0)
        direction = np.where(going[:, :, None], direction / np.maximum(length, 1e-300)[:, :, None], 0.0)
        rest = rest - direction * np.einsum("bvn,bvn->bv", direction, rest)[:, :, None]
        both = functions @ np.concatenate([direction, rest], axis=1).transpose(0, 2, 1)
        left, correlation = left - both[:, :, :n_views] ** 2, both[:, :, n_views:]
        basis[:, :, step], picks[:, :, step] = direction, pick
        shares[:, :, step] = np.einsum("bvn,bvn->bv", rest, rest)
    target = np.einsum("bvkn,bvn->bvk", basis, views)
    coefficients = np.linalg.solve(triangle, target[..., None])[..., 0]
    logs = np.log10(np.clip(shares, _FLOOR, 1.0)) / np.log10(_FLOOR)
    size = np.clip(1.0 + np.log10(np.abs(coefficients) + 1e-9) / 3.0, 0.0, 1.2)
    # A choice that leaves nothing is a fact, one that leaves a tenth is a hint.
    size *= 0.2 + 0.8 * np.clip(logs[:, :, -1:] * 1.5 - 0.25, 0.0, 1.0)
    weights = np.zeros((batch, n_views, functions.shape[1]))
    np.maximum.at(weights, (where[:, :, None], np.arange(n_views)[None, :, None], picks), size)
    return logs, weights
