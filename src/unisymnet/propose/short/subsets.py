"""A few terms out of a library, grown from below: stage `subsets`, for noisy data.

Columns that hardly differ (a measured column and its square on a short range, inputs that move together) make a full
basis singular, and elimination from it chooses by rounding.  Growing the best subset of every size from nothing does
not have that trouble (fit/subset.py).  Subsets are put forward; the judge decides among them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import DIGITS_9, Floats
from ...candidate import ParetoFront, Proposal
from ...deadline import Deadline
from ...fit.subset import Subset, best_subsets, subset_codelength
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, evaluate, product, total

__all__ = ["Subsets"]

ONE: Expr = Const(1.0)
NEAR = 12.0  # nats behind the best subset: the judge, who knows what terms cost, may still prefer it
MOST = 8  # proposals, beside the best of every size
MAX_TERMS = 240


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
        rows = np.unique(np.linspace(0, problem.n_rows - 1, self.max_rows).astype(int))
        terms, table = _library(problem, problem.X[rows])
        if len(rows) < 8 or len(terms) < 2 or deadline.expired():
            return
        root = np.sqrt(problem.weights[rows] / problem.weights[rows].mean())
        table, target = table * root[:, None], problem.y[rows] * root
        size = min(self.max_size, len(rows) // 4)
        seen = set()
        for n_terms in dict.fromkeys((min(_n_usual(problem), len(terms)), len(terms))):  # usual terms among themselves
            if deadline.expired():
                return
            found = best_subsets(table[:, :n_terms], target, max_size=size, beam=self.beam, keep=self.keep)
            for subset in _worth_trying(found, len(rows), n_terms):
                if subset.columns not in seen:
                    seen.add(subset.columns)
                    parts = zip(subset.columns, subset.coefficients, strict=True)
                    yield Proposal(total([_times(float(c), terms[i]) for i, c in parts]), self.name)


def _times(factor: float, term: Expr) -> Expr:
    return Const(factor) if term == ONE else product([Const(factor), term])


def _n_usual(problem: Problem) -> int:
    """How many terms are columns, their products and squares, which come first."""
    d = problem.n_features
    return 1 + d + (d * (d - 1) // 2 if problem.allows("mul") else 0) + (d if problem.allows("pow") else 0)


def _worth_trying(found: list[Subset], n_rows: int, n_terms: int) -> list[Subset]:
    """The best of every size, and others whose description is about the shortest; short descriptions first."""
    lengths = [subset_codelength(subset.loss, n_rows, subset.size, n_terms) for subset in found]
    best = {subset.size: place for place, subset in reversed(list(enumerate(found)))}  # the best of a size comes first
    order = sorted(range(len(found)), key=lambda i: lengths[i])
    near = [i for i in order if lengths[i] <= min(lengths) + NEAR][:MOST]
    return [found[i] for i in dict.fromkeys([*near, *(best[size] for size in sorted(best))])]


def _library(problem: Problem, X: Floats) -> tuple[list[Expr], Floats]:
    """Terms that are defined on all rows and differ from a constant, as formulas and as columns."""
    terms, columns = [ONE], [np.ones(len(X))]
    for term in itertools.islice(_terms(problem), MAX_TERMS):
        with np.errstate(all="ignore"):
            values = evaluate(term, X)
        if np.isfinite(values).all() and np.ptp(values) > DIGITS_9 * max(float(np.max(np.abs(values))), 1e-300):
            terms.append(term)
            columns.append(values)
    return terms, np.column_stack(columns)


def _terms(problem: Problem) -> Iterator[Expr]:
    """Columns, their powers and functions, products of two, and these with a third or a square."""
    inputs: list[Expr] = [Var(i) for i in range(problem.n_features)]
    powers = (2.0, -1.0, 0.5, 3.0, -2.0) if problem.allows("pow") else ()
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
