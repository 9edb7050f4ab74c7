"""Which few terms stand above and below the fraction line: t = P/Q on noisy data, grown from below.

With one column of Q fixed, the anchor, t·Q = P is linear in all other coefficients, and best subsets are grown for it
(fit/subset.py).  Two things must be known for that, and are learned in rounds from the best quotients so far: what
noise of t makes of t·Q (Sanathanan–Koerner), and t without its noise, which stands in columns, too.  The first round
takes the anchor for Q, and for t a smooth fit or t itself.  Elimination from all terms, as in fit.py, fails where these
hardly differ.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...arrays import TINY, Floats
from ...deadline import Deadline
from ...fit.subset import best_subsets, subset_codelength
from ..view.smooth import followed
from ..view.views import Target
from .equation import Equation
from .fit import FLATTEST

__all__ = ["grown"]

MOST_TERMS, BEAM, BRIEF_BEAM, KEEP = 6, 60, 20, 4  # beside the anchor; subsets kept while growing, and of every size
ROUNDS, BRIEF_ROUNDS = 12, 4
COUNT = 10  # choices that are worth fitting

Support = tuple[tuple[int, ...], tuple[int, ...]]  # columns of P and of Q


@dataclass(frozen=True)
class _Quotient:
    length: float
    anchor: int
    values: Floats
    below: Floats


def grown(
    equation: Equation, target: Target, X: Floats, deadline: Deadline, *, brief: bool = False
) -> list[tuple[float, Equation]]:
    """The same equation with a few terms only: the best choices, with the lengths of their descriptions.

    ``X`` holds the rows of the target.  A ``brief`` look tells which of several equations is worth a longer one.
    """
    num, den = equation.bases
    growth = _Growth(target, _unit(num.columns(X)), _unit(den.columns(X)), BRIEF_BEAM if brief else BEAM)
    if not growth.usable:
        return []
    smooth = followed(X, target.values, target.weights)
    for values in (smooth,) if brief else (target.values, smooth):
        for anchor in itertools.islice(growth.anchors(), 1 if brief else None):
            growth.grow(values, np.abs(growth.bottom[:, anchor]), anchor)
    for _ in range(BRIEF_ROUNDS if brief else ROUNDS):
        best = None if deadline.expired() else growth.next()
        if best is None:
            break
        growth.grow(best.values, best.below, best.anchor)
    order = sorted((one.length, support) for support, one in growth.found.items())[:COUNT]
    return [(length, Equation(equation.view, (num.only(top), den.only(below)))) for length, (top, below) in order]


@dataclass
class _Growth:
    """The columns of P and Q on some rows, and the quotients found so far."""

    target: Target
    top: Floats
    bottom: Floats
    beam: int
    found: dict[Support, _Quotient] = field(default_factory=dict)
    tried: set[Support] = field(default_factory=set)

    @property
    def usable(self) -> bool:
        return bool(
            np.isfinite(self.top).all() and np.isfinite(self.bottom).all() and len(self.target) > 4 * MOST_TERMS
        )

    def anchors(self) -> Iterator[int]:
        """Columns of one sign: they may be Q alone."""
        low, high = self.bottom.min(axis=0), self.bottom.max(axis=0)
        yield from np.flatnonzero((low > 0.0) | (high < 0.0)).tolist()

    def next(self) -> _Quotient | None:
        """The best quotient from which nothing was grown yet; a sum is none."""
        left = [support for support in self.found if support not in self.tried and len(support[1]) > 1]
        if not left:
            return None
        best = min(left, key=lambda support: (self.found[support].length, support))
        self.tried.add(best)
        return self.found[best]

    def grow(self, values: Floats, below: Floats, anchor: int) -> None:
        """Best subsets of the terms, with t and Q as they are known so far."""
        t, n_top = self.target, self.top.shape[1]
        others = [k for k in range(self.bottom.shape[1]) if k != anchor]
        weights = (t.weights / below)[:, None]
        table = np.column_stack([self.top, -values[:, None] * self.bottom[:, others]]) * weights
        wanted = t.values * self.bottom[:, anchor] * weights[:, 0]
        size = min(MOST_TERMS, len(t) // 8)
        for subset in best_subsets(table, wanted, max_size=size, beam=self.beam, keep=KEEP, shrink=True):
            top = [(k, c) for k, c in zip(subset.columns, subset.coefficients, strict=True) if k < n_top]
            rest = [
                (others[k - n_top], c) for k, c in zip(subset.columns, subset.coefficients, strict=True) if k >= n_top
            ]
            bottom = _sum(self.bottom, [(anchor, 1.0), *rest])
            if not top or bottom.min() <= 0.0 <= bottom.max():
                continue
            self._keep(_names(top), _names([(anchor, 1.0), *rest]), anchor, _sum(self.top, top) / bottom, bottom)

    def _keep(self, top: tuple[int, ...], bottom: tuple[int, ...], anchor: int, values: Floats, below: Floats) -> None:
        left = (self.target.values - values) * self.target.weights
        n_columns = self.top.shape[1] + self.bottom.shape[1] - 1
        length = subset_codelength(float(left @ left), len(left), len(top) + len(bottom) - 1, n_columns)
        known = self.found.get((top, bottom))
        if known is None or length < known.length:
            size = np.abs(below)
            self.found[top, bottom] = _Quotient(
                length, anchor, values, np.maximum(size, FLATTEST * float(np.median(size)) + TINY)
            )


def _unit(columns: Floats) -> Floats:
    """Columns of mean square 1; one of zeros becomes nan."""
    with np.errstate(all="ignore"):
        return np.asarray(columns / np.sqrt(np.mean(columns**2, axis=0)))


def _sum(columns: Floats, parts: Sequence[tuple[int, float]]) -> Floats:
    return np.asarray(columns[:, [k for k, _ in parts]] @ np.array([c for _, c in parts]))


def _names(parts: Sequence[tuple[int, float]]) -> tuple[int, ...]:
    return tuple(sorted(k for k, _ in parts))
