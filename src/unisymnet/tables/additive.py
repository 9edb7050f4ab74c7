"""The best sums of short features for a table, from simple to accurate, with their honest errors.

Several ways of choosing features (columns only, shapes, products, features that grow; the target or its logarithm)
run on every fold from scratch, so that the error of a sum includes the error of having chosen it. The sums shown are
then found on all rows. The linear model is always among them. Does not know the search for laws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..deadline import Deadline
from ..metrics import complexity
from ..symbolic.expr import Const, Expr, evaluate
from .corrective import find_fits, within
from .folds import Folds, make_folds
from .forward import Settings, Step, find_sums
from .links import LINKS, Fitted, Link
from .polish import polish
from .pool import LINEAR, MIXED, SINGLE, WAVY, Pool, base_pool
from .screen import screen_columns
from .sums import sum_of

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
    corrective: bool = False  # all constants are fitted whenever a feature joins


WAYS = (
    Way("linear", LINEAR, 0.1),
    Way("shapes", SINGLE, 0.3),
    Way("corrected", WAVY, 1.0, corrective=True),
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
    whole: Row | None = None  # the linear model of all columns, where it is not too long

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
    whole: Row | None = None
    for number, way in enumerate(ways):
        link = LINKS[way.link]
        if number and deadline.expired():
            return Additive(tuple(rows), folds, used, False, whole)
        if not link.suits(some[1], allowed):
            continue
        if pool is None and way.kind > LINEAR:
            pool = base_pool(some[0], *_columns(some, rng, deadline), allowed)
        part = base_pool(some[0], (), (), allowed) if pool is None else pool.part(way.kind)
        if way.corrective:
            rows += _corrected(way, part, (X, y, weights), some, folds, max_size, deadline)
            continue
        rows += _rows_of(way, link, part, (X, y, weights), some, folds, max_size, allowed, deadline, number > 0)
        if number == 0:
            whole = _all_columns(part, (X, y, weights), some, folds, max_size)
            rows += [] if whole is None else [whole]
    return Additive(tuple(rows), folds, used, True, whole)


def _all_columns(
    pool: Pool, everything: tuple[Floats, Floats, Floats], some: tuple[Floats, Floats, Floats], folds: Folds, most: int
) -> Row | None:
    """The linear model of every column, where it is not too long: on few rows leaving columns out is a choice, too."""
    link, (_, y, weights) = LINKS["id"], some
    places = [i for i, feature in enumerate(pool.features) if feature.kind == LINEAR]
    if 1 + int(pool.sizes[places].sum()) > most or len(places) < 2:
        return None
    F = pool.raw[:, places]
    errors = []
    for k, held in enumerate(folds.held):
        errors.append(_error(y, link.fit(F, y, folds.weights(k, weights)).predict(F), weights, held))
    expr = written([pool.features[i].expr for i in places], everything, link)
    return None if expr is None else Row(expr, complexity(expr), np.array(errors), "linear")


def _corrected(
    way: Way,
    pool: Pool,
    everything: tuple[Floats, Floats, Floats],
    some: tuple[Floats, Floats, Floats],
    folds: Folds,
    max_size: int,
    deadline: Deadline,
) -> list[Row]:
    """Sums whose constants are all fitted together; none if there was no time to judge them."""
    X, y, weights = some
    budgets = [b for b in BUDGETS if b <= max_size] or [max_size]
    errors = np.zeros((len(folds.held), len(budgets)))
    for k, held in enumerate(folds.held):
        if deadline.expired():
            return []
        kept = folds.weights(k, weights)
        found = find_fits(pool, X, y, kept, way.price, max_size, deadline)
        for b, budget in enumerate(budgets):
            expr = within(found, budget, len(y) - len(held), way.price).expr
            errors[k, b] = _error(y, np.broadcast_to(evaluate(expr, X), y.shape), weights, held)
    if deadline.expired():  # the folds may not have had their time
        return []
    rows: dict[Expr, Row] = {}
    found = find_fits(pool, X, y, weights, way.price, max_size)
    for b, budget in enumerate(budgets):
        best = within(found, budget, len(y), way.price)
        if best.terms and best.expr not in rows:
            expr = polish(best.expr, *everything) if len(everything[1]) > len(y) else best.expr
            rows[best.expr] = Row(expr, complexity(expr), errors[:, b], way.name)
    return [row for row in rows.values() if np.isfinite(evaluate(row.expr, everything[0])).all()]


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
    X, y, weights = rows
    with np.errstate(all="ignore"):
        F = np.column_stack([np.broadcast_to(evaluate(expr, X), y.shape) for expr in exprs])
    if not np.isfinite(F).all():
        return None
    expr = _as_formula(exprs, link.fit(F, y, weights), link)
    with np.errstate(all="ignore"):
        return expr if np.isfinite(evaluate(expr, X)).all() else None


def _as_formula(exprs: Sequence[Expr], fitted: Fitted, link: Link) -> Expr:
    return link.outer(sum_of(fitted.intercept, fitted.coefficients.tolist(), exprs))
