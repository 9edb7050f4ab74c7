"""A few terms out of a library, grown from below: stage `subsets`, for noisy data.

Columns that hardly differ (a measured column and its square on a short range, inputs that move together) make a full
basis singular, and elimination from it chooses by rounding.  Growing the best subset of every size from nothing does
not have that trouble (fit/subset.py).  A sum may stand below a root, a fraction line or in an exponent: then it is
grown for that view of y, with residuals that count as those of y, so that subsets of all views can be compared.
Subsets are put forward; the judge decides among them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import DIGITS_9, Floats, Ints, evenly
from ...candidate import ParetoFront, Proposal
from ...deadline import Deadline
from ...fit.subset import Subset, best_subsets, subset_codelength
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, evaluate, product, total
from ..view.views import Target, View, views_of

__all__ = ["Subsets"]

ONE: Expr = Const(1.0)
VIEWS = ("y", "y**2", "1/y", "1/y**2", "sqrt(y)", "ln(y)")
NEAR = 12.0  # nats behind the best subset: the judge, who knows what terms cost, may still prefer it
MOST = 8  # proposals, beside the best of every size for y itself
MAX_TERMS, MAX_MIXED = 240, 160
LEAST_ROWS = 8
ONE_SIDED = ("y**2", "1/y", "1/y**2")
LEAST_SIDE = 1e-3  # of the median of a view
MAX_SIDE = 20_000  # rows

Ranked = tuple[float, View, Subset]  # by the length of the description


@dataclass(frozen=True)
class Subsets:
    """Settings: terms in one formula, rows that are looked at, subsets kept while growing."""

    name: str = "subsets"
    max_size: int = 6
    max_rows: int = 400
    beam: int = 30
    keep: int = 3

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        weighed = np.flatnonzero(problem.weights)  # a row that weighs nothing has no view
        rows = weighed[evenly(len(weighed), self.max_rows)]
        terms, table, n_plain = _library(problem, problem.X[rows])
        if len(rows) < LEAST_ROWS or len(terms) < 2:
            return
        seen = set()
        # Usual terms among themselves, then plain ones, then all: a large library hides what a small one shows.
        for n_terms in dict.fromkeys(min(n, len(terms)) for n in (_n_usual(problem), n_plain, len(terms))):
            ranked: list[Ranked] = []
            for view in views_of(problem, VIEWS):
                if deadline.expired():
                    return
                ranked += self._grown(problem, view, rows, table[:, :n_terms])
            for view, subset in _worth_trying(ranked):
                if (view.name, subset.columns) not in seen:
                    seen.add((view.name, subset.columns))
                    parts = {terms[i]: float(c) for i, c in zip(subset.columns, subset.coefficients, strict=True)}
                    if view.name in ONE_SIDED:
                        parts = _on_its_side(parts, view, problem)
                    yield Proposal(view.invert(total([_times(c, term) for term, c in parts.items()])), self.name)

    def _grown(self, problem: Problem, view: View, rows: Ints, table: Floats) -> list[Ranked]:
        target = Target.see(problem, view, rows)
        if len(target) < len(rows):
            return []  # undefined on some rows: what it leaves there could not be compared
        size = min(self.max_size, len(rows) // 4)
        columns = table * target.weights[:, None]
        found = best_subsets(columns, target.weighted, max_size=size, beam=self.beam, keep=self.keep, shrink=True)
        return [(self._length(problem, view, rows, table, one), view, one) for one in found]

    def _length(self, problem: Problem, view: View, rows: Ints, table: Floats, subset: Subset) -> float:
        """By what is left of y itself: far from the law, residuals of a view are not those of y."""
        left = problem.y[rows] - view.back(table[:, subset.columns] @ subset.coefficients)
        loss = float(problem.weights[rows] @ left**2)
        return subset_codelength(loss, len(rows), subset.size, table.shape[1]) if np.isfinite(loss) else np.inf


def _on_its_side(parts: dict[Expr, float], view: View, problem: Problem) -> dict[Expr, float]:
    """With a constant large enough that no row lies beyond zero, where a root or a fraction has no value; a fit could
    not begin there.  Noise puts sums that come near zero, as in the law of cosines, on both sides of it."""
    if ONE not in parts:
        return parts
    X, values = problem.X[:MAX_SIDE], view.values(problem.y[:MAX_SIDE])
    side, typical = np.sign(np.nanmedian(values)), float(np.nanmedian(np.abs(values)))
    with np.errstate(all="ignore"):
        low = float(np.nanmin(side * sum(c * evaluate(term, X) for term, c in parts.items())))
    missing = max(LEAST_SIDE * typical - low, 0.0)
    return parts | {ONE: parts[ONE] + float(side) * missing}


def _times(factor: float, term: Expr) -> Expr:
    return Const(factor) if term == ONE else product([Const(factor), term])


def _n_usual(problem: Problem) -> int:
    """How many terms are columns, their products and squares, which come first."""
    d = problem.n_features
    return 1 + d + (d * (d - 1) // 2 if problem.allows("mul") else 0) + (d if problem.allows("pow") else 0)


def _worth_trying(ranked: list[Ranked]) -> list[tuple[View, Subset]]:
    """The best of every size for the view with the shortest description, others about as short, and the best of every
    size for y itself."""
    if not ranked:
        return []
    order = sorted(ranked, key=lambda one: one[0])
    near = [one for one in order if one[0] <= order[0][0] + NEAR][:MOST]
    chosen = [*_by_size(order, order[0][1].name), *near, *_by_size(order, "y")]
    return [(view, subset) for _, view, subset in chosen]


def _by_size(order: list[Ranked], view: str) -> list[Ranked]:
    best = {one[2].size: one for one in reversed(order) if one[1].name == view}
    return [best[size] for size in sorted(best)]


def _library(problem: Problem, X: Floats) -> tuple[list[Expr], Floats, int]:
    """Terms that are defined on all rows and differ from a constant, as formulas and as columns; how many are plain."""
    terms, columns, n_plain = [ONE], [np.ones(len(X))], 1
    for kind, most in ((_terms, MAX_TERMS), (_mixed, MAX_MIXED)):
        n_plain = len(terms)
        for term in itertools.islice(kind(problem), most):
            with np.errstate(all="ignore"):
                values = evaluate(term, X)
            if np.isfinite(values).all() and np.ptp(values) > DIGITS_9 * max(float(np.max(np.abs(values))), 1e-300):
                terms.append(term)
                columns.append(values)
    return terms, np.column_stack(columns), n_plain


def _terms(problem: Problem) -> Iterator[Expr]:
    """Columns, their powers and functions, products of two, and these with a third or a square."""
    inputs: list[Expr] = [Var(i) for i in range(problem.n_features)]
    powers = (2.0, -1.0, 0.5, 3.0, -2.0, 4.0, 1.5) if problem.allows("pow") else ()
    names = [name for name in ("ln", "exp", "sin", "cos") if problem.allows(name)]
    yield from inputs
    if problem.allows("mul"):
        yield from (product([a, b]) for a, b in itertools.combinations(inputs, 2))
    yield from (Call("pow", (x, Const(p))) for p in powers[:2] for x in inputs)
    if powers and problem.allows("mul"):
        yield from (product([a, Call("pow", (b, Const(-1.0)))]) for a, b in itertools.permutations(inputs, 2))
    yield from (Call("pow", (x, Const(p))) for p in powers[2:] for x in inputs)
    # What stands in an exponential or a wave has a unit of its own: other rates are for other stages.
    yield from (Call(name, (x,)) for name in names for x in inputs)
    if powers and problem.allows("mul"):
        yield from (product([a, Call("pow", (b, Const(2.0)))]) for a, b in itertools.permutations(inputs, 2))
        yield from (product(some) for some in itertools.combinations(inputs, 3))


def _mixed(problem: Problem) -> Iterator[Expr]:
    """Powers of one column, or products of two, times functions of another: (1 + e·cos(phi))/r, a·b·cos(c)."""
    if not problem.allows("mul"):
        return
    inputs: list[Expr] = [Var(i) for i in range(problem.n_features)]
    names = [name for name in ("cos", "sin", "exp", "ln") if problem.allows(name)]
    powers = (-1.0, 2.0, -2.0) if problem.allows("pow") else ()
    pairs = itertools.permutations(inputs, 2)
    yield from (product([a, Call(name, (b,))]) for a, b in pairs for name in names)
    for a, b in itertools.combinations(inputs, 2):
        yield from (product([a, b, Call(name, (c,))]) for c in inputs if c not in (a, b) for name in names[:2])
    for power, (a, b) in itertools.product(powers, itertools.permutations(inputs, 2)):
        yield from (product([Call("pow", (a, Const(power))), Call(name, (b,))]) for name in names)
