"""All the features that a sum may be made of: shapes of one column, products of two, and what grows from them.

Features have a kind, so that a sum of columns, a sum of shapes and a sum with interactions can be compared on the same
rows. The table of centred and scaled values is for choosing; who writes the formula uses `raw`. Does not know the
target.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, evenly
from ..metrics import complexity
from ..symbolic.expr import Call, Const, Expr, Var
from .bank import FEW_LEVELS, Shape, knots, shapes_of_column, short

Singles = NDArray[np.float32]

LINEAR, SINGLE, MIXED, WAVY = 0, 1, 2, 3  # kinds of features
MAX_VALUES = 16_000_000  # rows times features
MAX_FACTORS = 6  # plain shapes of a column that are multiplied with those of others
MAX_CHILDREN = 400  # features that grow from one
BEND_AT = (0.2, 0.4, 0.6, 0.8)
QUARTERS = (1, 2, 3, 4, 5, 6, 8)  # of a wave, over the range of a product
CONSTANT = 1e-7  # spread, as a share of the largest value, below which a feature says nothing
LARGEST = 1e100  # of a feature, and the inverse of it the smallest: sums of squares must be storable


@dataclass(frozen=True)
class Feature:
    """A short formula, its kind, and what a sum grows by with it: the formula, a coefficient, a product, a sum."""

    expr: Expr
    kind: int
    size: int
    plain: bool = True


@dataclass(frozen=True)
class Pool:
    """Features and their values, (rows, features), as they are and centred and scaled."""

    features: tuple[Feature, ...]
    raw: Floats
    table: Singles

    @property
    def sizes(self) -> NDArray[np.intp]:
        return np.array([feature.size for feature in self.features], dtype=np.intp)

    @property
    def kinds(self) -> NDArray[np.intp]:
        return np.array([feature.kind for feature in self.features], dtype=np.intp)

    def part(self, kind: int) -> Pool:
        """Features of this kind and of simpler ones."""
        kept = np.flatnonzero(self.kinds <= kind)
        return Pool(tuple(self.features[i] for i in kept), self.raw[:, kept], self.table[:, kept])

    def with_more(self, other: Pool) -> Pool:
        return Pool(
            self.features + other.features,
            np.hstack([self.raw, other.raw]),
            np.hstack([self.table, other.table]),
        )

    def rows(self, rows: NDArray[np.intp]) -> Pool:
        return Pool(self.features, self.raw[rows], self.table[rows])


def make_pool(found: Iterable[tuple[Expr, Floats, int, bool]], n_rows: int) -> Pool:
    """A pool of formulas with values; those that are constant or undefined somewhere are left out."""
    features, raw = [], []
    for expr, values, kind, plain in found:
        top = float(np.max(np.abs(values)))
        wide = float(np.ptp(values)) if top < LARGEST else 0.0
        if wide > max(CONSTANT * top, 1.0 / LARGEST):
            features.append(Feature(expr, kind, complexity(expr) + 3, plain))
            raw.append(values)
    if not features:
        return Pool((), np.zeros((n_rows, 0)), np.zeros((n_rows, 0), dtype=np.float32))
    stacked = np.column_stack(raw)
    spread = stacked.std(axis=0)
    return Pool(tuple(features), stacked, ((stacked - stacked.mean(axis=0)) / spread).astype(np.float32))


def base_pool(X: Floats, strong: Sequence[int], shaped: Sequence[int], allowed: frozenset[str] = frozenset()) -> Pool:
    """All columns as they are, shapes of the `shaped` ones, products and quotients of the `strong` ones."""
    found: list[tuple[Expr, Floats, int, bool]] = []
    banks: dict[int, list[Shape]] = {}
    for column in range(X.shape[1]):
        found.append((Var(column), X[:, column], LINEAR, True))
    for column in shaped:
        banks[column] = shapes_of_column(X[:, column], column, allowed)
        found += [(shape.expr, shape.values, SINGLE, shape.plain) for shape in banks[column][1:]]
    pairs = [(i, j) for i, j in combinations(strong, 2) if i in banks and j in banks]
    if pairs and (not allowed or "mul" in allowed):
        most = max(MAX_VALUES // len(X) - len(found), len(pairs))
        each = min(max(1, int(np.sqrt(most / len(pairs)))), MAX_FACTORS)
        for i, j in pairs:
            found += [(expr, values, MIXED, True) for expr, values in _mixed(banks[i], banks[j], each, allowed)]
            found += [(expr, values, WAVY, False) for expr, values in _waves(banks[i][0], banks[j][0], allowed)]
    return make_pool(found, len(X))


def children(pool: Pool, index: int, allowed: frozenset[str] = frozenset()) -> Pool:
    """What grows from one feature: its products with every plain shape, and, if it is a product, its own shapes."""
    parent, values = pool.features[index], pool.raw[:, index]
    found: list[tuple[Expr, Floats, int, bool]] = []
    if not allowed or "mul" in allowed:
        own = [i for i, f in enumerate(pool.features) if f.kind < MIXED and f.plain and i != index]
        if len(own) > MAX_CHILDREN:
            own = [own[i] for i in np.linspace(0, len(own) - 1, MAX_CHILDREN).astype(int)]
        for i in own:
            other = pool.features[i]
            expr = _product(parent.expr, other.expr)
            found.append((expr, values * pool.raw[:, i], MIXED, True))
    if parent.kind == MIXED:
        found += [(expr, bent, MIXED, False) for expr, bent in _bends(parent.expr, values, allowed)]
    return make_pool(found, len(values))


def _bends(expr: Expr, values: Floats, allowed: frozenset[str]) -> Iterable[tuple[Expr, Floats]]:
    if not allowed or {"abs", "sub"} <= allowed:
        for a in knots(values, BEND_AT):
            yield Call("abs", (expr - Const(a),)), np.abs(values - a)
    if not allowed or "square" in allowed:
        yield Call("square", (expr,)), values**2
    low = float(values.min())
    if low >= 0.0 and (not allowed or "sqrt" in allowed):
        yield Call("sqrt", (expr,)), np.sqrt(values)
    if low > 0.0 and (not allowed or "ln" in allowed):
        yield Call("ln", (expr,)), np.log(values)


def _mixed(
    first: list[Shape], second: list[Shape], most: int, allowed: frozenset[str]
) -> Iterable[tuple[Expr, Floats]]:
    x, z = first[0], second[0]
    if (not allowed or {"abs", "sub"} <= allowed) and _overlap(x.values, z.values):
        gap = np.abs(x.values - z.values)
        yield Call("abs", (x.expr - z.expr,)), gap
        if not allowed or {"div", "add"} <= allowed:
            yield Const(1.0) / (Call("abs", (x.expr - z.expr,)) + 1.0), 1.0 / (gap + 1.0)
        if (not allowed or "step" in allowed) and _few(x.values) and _few(z.values):
            yield Call("step", (Const(0.5) - Call("abs", (x.expr - z.expr,)),)), (gap < 0.5).astype(np.float64)
        for op, values in (("max", np.maximum(x.values, z.values)), ("min", np.minimum(x.values, z.values))):
            if not allowed or op in allowed:
                yield Call(op, (x.expr, z.expr)), values
    for left in _factors(first, most):
        for right in _factors(second, most):
            yield _product(left.expr, right.expr), left.values * right.values


def _few(values: Floats) -> bool:
    """Few levels, all whole numbers?"""
    levels = np.unique(values)
    return len(levels) <= FEW_LEVELS and bool((levels == np.round(levels)).all())


def _waves(first: Shape, second: Shape, allowed: frozenset[str]) -> Iterable[tuple[Expr, Floats]]:
    """Products of two columns counted from their ends, and waves of them: a table rarely has its origin where the
    interaction has, least of all a standardised one."""
    if allowed and not {"mul", "sin", "add", "sub"} <= allowed:
        return
    for (left, x), (right, z) in product(_from_ends(first), _from_ends(second)):
        values = x * z
        expr, top = left * right, float(values.max())
        yield expr, values
        for quarters in QUARTERS:
            rate = short(quarters * np.pi / (2.0 * top), 1.0 / top)
            yield Call("sin", (Const(rate) * expr,)), np.sin(rate * values)


def _from_ends(shape: Shape) -> list[tuple[Expr, Floats]]:
    """The column counted from its smallest value, and to its largest."""
    x = shape.values
    low, high = float(x.min()), float(x.max())
    if len(np.unique(x)) <= FEW_LEVELS:
        return []
    low, high = short(low, high - low), short(high, high - low)
    return [(shape.expr - Const(low) if low else shape.expr, x - low), (Const(high) - shape.expr, high - x)]


def _product(left: Expr, right: Expr) -> Expr:
    """a·b, written as a quotient where one of them is 1/x."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Call) and one.op == "div" and one.args[0] == Const(1.0):
            return other / one.args[1]
    return left * right


def _factors(shapes: list[Shape], most: int) -> list[Shape]:
    plain = [shape for shape in shapes if shape.plain]
    if len(plain) <= most or len(np.unique(shapes[0].values)) <= FEW_LEVELS:  # cases cannot stand for each other
        return plain
    places = evenly(len(plain), most)
    return [plain[i] for i in places]


def _overlap(x: Floats, z: Floats) -> bool:
    """Do both columns live on the same scale, so that their difference can mean something?"""
    low, high = max(x.min(), z.min()), min(x.max(), z.max())
    return bool(high - low > 0.5 * max(np.ptp(x), np.ptp(z)) and len(np.unique(x)) > 2 and len(np.unique(z)) > 2)
