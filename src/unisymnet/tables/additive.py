"""The best sums of short features for a table, from simple to accurate, with their honest errors.

Several ways of choosing features (columns only, shapes, products, features that grow; the target or its logarithm)
run on every fold from scratch, so that the error of a sum includes the error of having chosen it. The sums shown are
then found on all rows. The linear model is always among them. Does not know the search for laws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..deadline import Deadline
from ..metrics import complexity
from ..symbolic.expr import Call, Const, Expr, Var, product
from .folds import Folds, make_folds
from .forward import Settings, Step, find_sums
from .links import LINKS, Link
from .pool import LINEAR, MIXED, SINGLE, Pool, base_pool
from .screen import screen_columns

Floats = NDArray[np.float64]

MAX_ROWS = 1500  # for choosing features; coefficients come from all rows
BUDGETS = (5, 9, 13, 17, 21, 25, 30, 35, 40, 50, 60)
MAX_STRONG, MAX_SHAPED = 12, 30  # columns whose products, and whose shapes, are features
MAX_TERMS = 16
LEAST_ROWS = 8
SCREEN_SHARE = 0.2  # of the time


@dataclass(frozen=True)
class Way:
    """One way of choosing features."""

    name: str
    kind: int
    price: float
    grow: bool = False
    link: str = "id"


WAYS = (
    Way("linear", LINEAR, 0.1),
    Way("shapes", SINGLE, 0.3),
    Way("products", MIXED, 0.5),
    Way("growing", SINGLE, 1.0, grow=True),
    Way("linear", LINEAR, 0.1, link="exp"),
    Way("shapes", SINGLE, 0.5, link="exp"),
    Way("growing products", MIXED, 1.0, grow=True),
)


@dataclass(frozen=True)
class Row:
    """A formula, its size, and its mean square error on the rows of every fold."""

    expr: Expr
    size: int
    errors: Floats
    source: str

    @property
    def error(self) -> float:
        return float(np.mean(self.errors))


@dataclass(frozen=True)
class Additive:
    """What was found; `rows_used` are the rows that the folds cut."""

    rows: tuple[Row, ...]
    folds: Folds
    rows_used: NDArray[np.intp]
    complete: bool

    @property
    def constant(self) -> Row:
        return self.rows[0]

    @property
    def linear(self) -> Row:
        """The best sum of columns as they are; the constant where no column helps."""
        return min((row for row in self.rows if row.source in ("mean", "linear")), key=lambda row: row.error)


def find_additive(
    X: Floats,
    y: Floats,
    weights: Floats,
    *,
    max_size: int,
    allowed: frozenset[str],
    ways: Sequence[Way] = WAYS,
    rng: np.random.Generator,
    deadline: Deadline,
) -> Additive:
    """Sums for these rows; after the linear model, ways are tried while there is time."""
    used = np.sort(rng.choice(len(y), MAX_ROWS, replace=False)) if len(y) > MAX_ROWS else np.arange(len(y))
    folds = make_folds(len(used), rng)
    some = X[used], y[used], weights[used]
    if len(used) < LEAST_ROWS or float(np.ptp(y)) == 0.0:
        mean = Row(Const(float(np.average(y, weights=weights))), 1, np.ones(len(folds.held)), "mean")
        return Additive((mean,), folds, used, True)
    rows = [_mean(y, weights, some, folds)]
    pool: Pool | None = None
    for number, way in enumerate(ways):
        link = LINKS[way.link]
        if number and deadline.expired():
            return Additive(tuple(rows), folds, used, False)
        if not link.suits(some[1], allowed):
            continue
        if pool is None and way.kind > LINEAR:
            pool = base_pool(some[0], *_columns(some, rng, deadline), allowed)
        part = base_pool(some[0], (), (), allowed) if pool is None else pool.part(way.kind)
        rows += _rows_of(way, link, part, (X, y, weights), some, folds, max_size, allowed, deadline, number > 0)
    return Additive(tuple(rows), folds, used, True)


def _columns(
    some: tuple[Floats, Floats, Floats], rng: np.random.Generator, deadline: Deadline
) -> tuple[list[int], list[int]]:
    """Columns whose products are looked at, and those whose shapes are."""
    d = some[0].shape[1]
    if d <= MAX_STRONG:
        return list(range(d)), list(range(d))
    limit = deadline.sooner(SCREEN_SHARE * deadline.remaining())
    strong = list(screen_columns(*some, most=MAX_STRONG, rng=rng, deadline=limit).columns)
    return strong, list(range(d)) if d <= MAX_SHAPED else strong


def _mean(y: Floats, weights: Floats, some: tuple[Floats, Floats, Floats], folds: Folds) -> Row:
    _, target, w = some
    errors = [
        _error(target, np.full(len(target), np.average(target, weights=folds.weights(k, w))), w, held)
        for k, held in enumerate(folds.held)
    ]
    return Row(Const(float(np.average(y, weights=weights))), 1, np.array(errors), "mean")


def _rows_of(
    way: Way,
    link: Link,
    pool: Pool,
    everything: tuple[Floats, Floats, Floats],
    some: tuple[Floats, Floats, Floats],
    folds: Folds,
    max_size: int,
    allowed: frozenset[str],
    deadline: Deadline,
    may_stop: bool,
) -> list[Row]:
    """Sums of one way for every budget of size; none if there was no time to judge them."""
    _, y, weights = some
    settings = Settings(way.price, MAX_TERMS, max_size - link.size, way.grow, allowed)
    budgets = [b - link.size for b in BUDGETS if b <= max_size] or [max_size - link.size]
    errors = np.zeros((len(folds.held), len(budgets)))
    inner = link.inner(y)
    for k, held in enumerate(folds.held):
        if may_stop and deadline.expired():
            return []
        kept = folds.weights(k, weights)
        steps, grown = _steps(pool, inner, link.weights(y, kept), settings, budgets)
        for b, step in enumerate(steps):
            F = grown.raw[:, list(step.features)]
            errors[k, b] = _error(y, link.fit(F, y, kept).predict(F), weights, held)
    rows: dict[tuple[int, ...], Row] = {}
    steps, grown = _steps(pool, inner, link.weights(y, weights), settings, budgets)
    for b, step in enumerate(steps):
        if step.features and step.features not in rows:
            exprs = [grown.features[i].expr for i in step.features]
            expr = written(exprs, everything, link)
            if expr is not None:
                rows[step.features] = Row(expr, complexity(expr), errors[:, b], _source(way))
    return list(rows.values())


def _source(way: Way) -> str:
    return way.name if way.link == "id" else f"{way.link} of {way.name}"


def _steps(
    pool: Pool, y: Floats, weights: Floats, settings: Settings, budgets: Sequence[int]
) -> tuple[list[Step], Pool]:
    path = find_sums(pool, y, weights, settings)
    n = int((weights > 0.0).sum())
    return [path.within(budget, n, settings.price) for budget in budgets], path.pool


def _error(y: Floats, predicted: Floats, weights: Floats, held: NDArray[np.intp]) -> float:
    with np.errstate(all="ignore"):
        value = float(np.average((y[held] - predicted[held]) ** 2, weights=weights[held]))
    return value if np.isfinite(value) else 1e300


def written(exprs: Sequence[Expr], rows: tuple[Floats, Floats, Floats], link: Link) -> Expr | None:
    """The formula with coefficients from all rows; None where a feature is undefined on one of them."""
    from ..symbolic.expr import evaluate

    X, y, weights = rows
    with np.errstate(all="ignore"):
        F = np.column_stack([np.broadcast_to(evaluate(expr, X), y.shape) for expr in exprs])
    if not np.isfinite(F).all():
        return None
    fitted = link.fit(F, y, weights)
    terms = [_term(float(c), expr) for c, expr in zip(fitted.coefficients, exprs) if c != 0.0]
    inner = Call("add", (Const(fitted.intercept), *terms)) if terms else Const(fitted.intercept)
    expr = link.outer(inner)
    with np.errstate(all="ignore"):
        return expr if np.isfinite(evaluate(expr, X)).all() else None


def _term(coefficient: float, expr: Expr) -> Expr:
    if isinstance(expr, Call) and expr.op == "div":
        top, bottom = expr.args
        if isinstance(top, Const):
            return Const(coefficient * top.value) / bottom
        return product([Const(coefficient), top]) / bottom
    return product([Const(coefficient), expr])


def columns_of(rows: Sequence[Row]) -> Iterator[int]:
    """Columns that formulas use."""
    from ..symbolic.expr import walk

    for row in rows:
        yield from (node.index for node in walk(row.expr) if isinstance(node, Var))
