"""Which polynomial relation P(x) = Q(x)·y the points obey, and sums that appear once a column is divided off.

A quotient of two polynomials is linear in their coefficients: the vector that a table of monomials, alone and times y,
maps to almost nothing.  Among several such vectors one of low degree is taken (every relation times a column is one
again).  Told are how much is left and the coefficients of the columns' own monomials.  Together with greedy.py this
leaves two thirds of the corpus without a remainder in some view, which is what a small model can read best.
Symmetric in the points.  No torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .bits import Floats
from .greedy import FEW, Table, away, plan_of, products, select, table_of, unit

# For y, y² and, as power 0, ln|y|: degrees of P and Q.  Where a relation times a column still fits, what is found is a
# mixture with such multiples, so every degree is asked for alone.
Families = Mapping[int, Sequence[tuple[int, int]]]
FAMILIES: Families = {
    1: ((1, 1), (2, 1), (1, 2), (3, 0), (3, 1), (2, 2), (3, 2)), 2: ((2, 1), (2, 2)), 0: ((2, 1), (3, 0)),
}  # fmt: skip
# More coefficients than small tables have rows, so these come last and are often silent.
LARGE: Families = {1: ((4, 2), (3, 3))}
# Many columns: what has fewer coefficients than tables have rows, 77 for ten columns.
MANY: Families = {1: ((1, 1), (2, 0), (2, 1))}
_FLOOR = 1e-14
_PENALTY, _STEEP = 1e-13, 16.0
_ROUNDS = 5
_SPARE = 4  # points beyond the number of coefficients, or a relation says nothing


class _Monomials(NamedTuple):
    """All monomials up to a degree, low degrees first; each is an earlier one times a column."""

    degree: NDArray[np.int64]
    parent: list[int]
    column: list[int]
    times: NDArray[np.int64]  # (columns, monomials): which monomial a product with a column is, -1 if none
    needs: NDArray[np.bool_]


@lru_cache(maxsize=16)
def _monomials(d: int, degree: int) -> _Monomials:
    chosen = [c for k in range(degree + 1) for c in combinations_with_replacement(range(d), k)]
    at = {c: i for i, c in enumerate(chosen)}
    times = np.array([[at.get(tuple(sorted((*c, j))), -1) for c in chosen] for j in range(d)])
    exponents = np.array([[c.count(j) for j in range(d)] for c in chosen])
    parent, column = [at[c[:-1]] if c else 0 for c in chosen], [c[-1] if c else 0 for c in chosen]
    return _Monomials(exponents.sum(axis=1), parent, column, times, exponents > 0)


def relations(rows: Floats) -> NDArray[np.float32]:
    """Statistics (batch, size) of data sets given as rows (batch, n, d + 1), zero rows being no points."""
    table = table_of(rows)
    with np.errstate(all="ignore"):
        if table.x.shape[1] <= FEW:
            parts = [*_all_related(table, FAMILIES), *_peeled(table), *_all_related(table, LARGE)]
        else:
            parts = list(_all_related(table, MANY))
    flat = np.concatenate([part.reshape(len(rows), -1) for part in parts], axis=1)
    return np.nan_to_num(flat, nan=0.0, posinf=0.0, neginf=0.0).astype(np.float32)


class _Side(NamedTuple):
    """The monomials of P and Q on the points, Q's times the target: columns of length 1, and what they mean.

    ``gram`` has a small penalty on high degrees and a large one on monomials that are ``missing``.  ``scales`` are the
    lengths of the columns' own monomials, to which ``back`` leads from the centred ones.
    """

    p: _Monomials
    q: _Monomials
    basis: Floats
    lengths: Floats
    missing: NDArray[np.bool_]
    gram: Floats
    scales: Floats
    back: Floats


def _side(table: Table, power: int, p: _Monomials, q: _Monomials) -> _Side:
    x, y, weight, absent = table
    target = np.clip(y**power if power else np.log(np.abs(away(y))), -1e9, 1e9)
    centre, spread = _moments(x, weight)
    scaled = (x - centre[:, :, None]) / spread[:, :, None]
    damped = weight / (1.0 + np.abs(target))  # large values must not decide alone
    basis = np.concatenate([_values(p, scaled), _values(q, scaled) * target], axis=1) * damped
    lengths = np.linalg.norm(basis, axis=2)
    missing = np.concatenate([absent @ p.needs.T, absent @ q.needs.T], axis=1) | ~(lengths > 1e-9)
    lengths = np.where(missing, 1.0, lengths)
    basis = np.where(missing[:, :, None], 0.0, basis / lengths[:, :, None])
    penalty = np.where(missing, 1e3, _PENALTY * _STEEP ** np.concatenate([p.degree, q.degree]))
    gram = basis @ basis.transpose(0, 2, 1) + penalty[:, :, None] * np.eye(basis.shape[1])
    own = np.concatenate([_values(p, x) * damped, _values(q, x) * target * damped], axis=1)
    scales = np.where(missing, 0.0, np.linalg.norm(own, axis=2))
    back = _uncentred(p if len(p.parent) > len(q.parent) else q, centre, spread)
    return _Side(p, q, basis, lengths, missing, gram, scales, back)


def _all_related(table: Table, families: Families) -> Iterator[Floats]:
    for power, degrees in families.items():
        yield from _related(table, power, degrees)


def _related(table: Table, power: int, degrees: Sequence[tuple[int, int]]) -> Iterator[Floats]:
    """For each pair of degrees: how little the best relation leaves (1: nothing), and the sizes of its coefficients."""
    p, q = (_monomials(table.x.shape[1], max(pair[k] for pair in degrees)) for k in (0, 1))
    side = _side(table, power, p, q)
    n_points = (table.weight[:, 0] > 0.0).sum(axis=1)
    for degree_p, degree_q in degrees:
        n_p, n_q = int((p.degree <= degree_p).sum()), int((q.degree <= degree_q).sum())
        kept = np.r_[:n_p, len(p.parent) : len(p.parent) + n_q]
        vector = _least(side.gram[:, kept[:, None], kept])
        left = np.sum(np.einsum("bi,bin->bn", vector, side.basis[:, kept]) ** 2, axis=1)
        enough = n_points >= (~side.missing[:, kept]).sum(axis=1) + _SPARE
        exact = np.where(enough, np.log10(np.clip(left, _FLOOR, 1.0)) / np.log10(_FLOOR), 0.0)
        halves = np.split(vector / side.lengths[:, kept], [n_p], axis=1)
        own = [np.einsum("bi,ibj->bj", v, side.back[: v.shape[1], :, : v.shape[1]]) for v in halves]
        size = np.abs(np.concatenate(own, axis=1)) * side.scales[:, kept]
        size = size / np.maximum(size.max(axis=1, keepdims=True), 1e-300)
        yield exact
        yield np.clip(1.0 + np.log10(size + 1e-9) / 3.0, 0.0, 1.0) * np.clip(exact * 2.5 - 1.0, 0.0, 1.0)[:, None]


def _least(gram: Floats) -> Floats:
    """Unit vectors that the matrices shrink most, by inverse iteration."""
    inverse = np.linalg.inv(np.nan_to_num(gram, nan=1.0, posinf=1e9, neginf=-1e9))
    vector = np.ones(gram.shape[:2])
    for _ in range(_ROUNDS):
        vector = (inverse @ vector[:, :, None])[:, :, 0]
        vector /= np.maximum(np.linalg.norm(vector, axis=1, keepdims=True), 1e-300)
    return vector


def _moments(x: Floats, weight: Floats) -> tuple[Floats, Floats]:
    share = weight**2
    centre = (x * share).sum(axis=2)
    spread = np.sqrt(((x - centre[:, :, None]) ** 2 * share).sum(axis=2))
    return centre, np.maximum(spread, 1e-9)


def _values(monomials: _Monomials, x: Floats) -> Floats:
    values = np.ones((x.shape[0], len(monomials.parent), x.shape[2]))
    for i in range(1, len(monomials.parent)):
        values[:, i] = values[:, monomials.parent[i]] * x[:, monomials.column[i]]
    return values


def _uncentred(monomials: _Monomials, centre: Floats, spread: Floats) -> Floats:
    """Monomials of (x - centre) / spread as sums of monomials of x: (monomials, batch, monomials)."""
    n = len(monomials.parent)
    rows = np.zeros((n, len(centre), n))
    rows[0, :, 0] = 1.0
    for i in range(1, n):
        j, before = monomials.column[i], rows[monomials.parent[i]]
        inside = monomials.times[j] >= 0
        rows[i][:, monomials.times[j][inside]] = before[:, inside]
        rows[i] -= centre[:, j, None] * before
        rows[i] /= spread[:, j, None]
    return rows


def _peeled(table: Table) -> list[Floats]:
    """The greedy choices for y over one column and for y times one, of the column that leaves least."""
    x, y, weight, absent = table
    functions = unit(products(x), weight, absent, plan_of(x.shape[1]).needs_products)
    views = unit(np.concatenate([y / away(x), y * x], axis=1), weight)
    parts = []
    for logs, weights in zip(*(np.split(part, 2, axis=1) for part in select(functions, views))):
        score = np.where(absent, -1.0, np.nan_to_num(logs).sum(axis=2))
        best = score.argmax(axis=1)
        where = np.arange(len(best))
        parts += [np.eye(x.shape[1])[best] * logs[where, best, -1:], logs[where, best], weights[where, best]]
    return parts
