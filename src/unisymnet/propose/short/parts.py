"""Smooth functions of one input each, joined by sums and products: which joining do the rows show?

A joining is a tree whose leaves are columns, or groups of them; each leaf is a polynomial in x or ln x.  The tree is
linear in every single leaf, so a few steps of least squares fit all of them together, in the space of y: rows may be
scattered, targets may change their sign, noise counts as it is.  The joining is believed if a polynomial in all inputs
together leaves no less.  What formulas the leaves are is not known here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ...arrays import TINY, Floats, Ints
from ...deadline import Deadline
from ...fit.steps import least_squares
from ...problem import Problem
from ...symbolic.expr import Call, Expr
from ..view.smooth import frames_of, polynomial, standardised

__all__ = ["LEVEL", "SIMPLER", "Leaf", "Parts", "Tree", "believed_parts", "joined"]

LEVEL = -1  # a leaf that is a number
DEGREES = (3, 5, 8, 12)
ROWS_A_NUMBER = 4  # of all polynomials together
WIDE = 20.0  # ratio of the ends of a positive column above which its logarithm is tried first
STEPS = 12
NEAR, MOST = 6.0, 3  # variances of the best joining at the first degree, of those followed further; how many these are
MAX_RATIO = 1.3  # to the variance that a polynomial in all inputs leaves
SIMPLER = 1.3  # variances by which a plain sum or product may be worse than what mixes both
MAX_SHARE = 0.3  # of the variance of y: more left says nothing
MIXED_SIGNS = 0.02  # of the squares of y on one side of zero, that are no noise
MAX_MIXED = 5  # inputs up to which joinings have two levels


Columns = int | tuple[int, ...]


@dataclass(frozen=True)
class Tree:
    """``op`` over ``parts``: trees, columns or groups of columns."""

    op: str
    parts: tuple[Tree | Columns, ...]

    def leaves(self) -> list[Columns]:
        return [leaf for part in self.parts for leaf in (part.leaves() if isinstance(part, Tree) else [part])]


def joined(tree: Tree, leaves: Sequence[Expr]) -> Expr:
    """The formula with these parts in the place of the leaves, in the order of ``Tree.leaves``."""
    rest = iter(leaves)

    def visit(node: Tree | Columns) -> Expr:
        return Call(node.op, tuple(map(visit, node.parts))) if isinstance(node, Tree) else next(rest)

    return visit(tree)


def trees(n_features: int, allows_sums: bool, allows_products: bool) -> Iterator[Tree]:
    """All inputs added or multiplied, a product on a level, and one input apart from the others."""
    every = tuple(range(n_features))
    if allows_sums:
        yield Tree("add", every)
    if allows_products:
        yield Tree("mul", every)
    if not (allows_sums and allows_products):
        return
    yield Tree("add", (LEVEL, Tree("mul", every)))
    if 2 < n_features <= MAX_MIXED:
        for i in every:
            rest = tuple(k for k in every if k != i)
            yield Tree("add", (i, Tree("mul", rest)))
            yield Tree("mul", (i, Tree("add", rest)))


def splits(n_features: int, allows_sums: bool, allows_products: bool) -> Iterator[Tree]:
    """Two groups of inputs, one of them a single input or both of two."""
    every = tuple(range(n_features))
    if not 2 < n_features <= MAX_MIXED:
        return
    pairs = itertools.combinations(every, 2) if n_features == 4 else ()
    for some in (*((i,) for i in every), *(pair for pair in pairs if 0 in pair)):
        rest = tuple(k for k in every if k not in some)
        parts = some if len(some) == 1 else (some,)
        if allows_products:
            yield Tree("mul", (*parts, rest))
        if allows_sums:
            yield Tree("add", (*parts, rest))


@dataclass(frozen=True)
class Leaf:
    """What the others leave to a leaf: ``target`` = ``factor``·leaf on the rows.  ``free``: it is a summand, and how a
    constant is shared among summands is open."""

    columns: Columns
    target: Floats
    factor: Floats
    free: bool


@dataclass(frozen=True)
class Parts:
    """A joining with its polynomials, and what it leaves: variance in units of that of y."""

    tree: Tree
    bases: tuple[Floats, ...]  # values of the polynomials of each leaf
    coefficients: Floats
    share: float

    def leaves(self, y: Floats) -> list[Leaf]:
        values = _leaf_values(self.bases, self.coefficients)
        _, factors = _value(self.tree, values)
        whole = zip(self.tree.leaves(), factors, _summands(self.tree), strict=True)
        found = []
        for k, (columns, factor, free) in enumerate(whole):
            without = [np.zeros_like(v) if i == k else v for i, v in enumerate(values)]
            found.append(Leaf(columns, y - _value(self.tree, without)[0], factor, free))
        return found


def believed_parts(problem: Problem, rows: Ints, deadline: Deadline, groups: bool = False) -> list[Parts]:
    """The joinings that leave no more of y than a polynomial in all inputs does, the best first; with ``groups``, those
    of two groups of inputs."""
    X, y, weights = problem.X[rows], problem.y[rows], problem.weights[rows]
    data = _Rows(X, y, np.sqrt(weights))
    if not data.variance > 0.0:
        return []
    first = []
    for tree in (splits if groups else trees)(problem.n_features, problem.allows("add"), problem.allows("mul")):
        for coordinates in data.coordinates():
            if deadline.expired():
                return []
            fitted = data.fitted(tree, coordinates, DEGREES[0], None)
            if fitted is not None:
                first.append((fitted, coordinates))
    first.sort(key=lambda one: one[0].share)
    found = []
    for start, coordinates in first[:MOST]:
        if start.share < NEAR * first[0][0].share:
            found.append(data.refined(start, coordinates, deadline))
    found.sort(key=lambda parts: parts.share)
    found = [parts for parts in found if not _needless(parts, found)]
    frame = next(frames_of(problem, noisy=True, max_rows=len(rows), max_columns=160), None)
    most = min(MAX_SHARE, MAX_RATIO * (frame.share if frame is not None else math.inf))
    return [parts for parts in found if parts.share < most]


def _needless(parts: Parts, others: Sequence[Parts]) -> bool:
    """Is there the same joining in better coordinates, or one with a single sign, a limit of this one or near it, that
    leaves hardly more?"""
    mixed = any(isinstance(part, Tree) for part in parts.tree.parts)
    for one in others:
        same = one.tree == parts.tree and one.share < parts.share
        plain = mixed and not any(isinstance(part, Tree) for part in one.tree.parts)
        if same or (plain and one.share < SIMPLER * parts.share):
            return True
    return False


@dataclass(frozen=True)
class _Rows:
    X: Floats
    y: Floats
    root: Floats

    @property
    def variance(self) -> float:
        centred = self.y - np.average(self.y, weights=self.root**2)
        return float(np.mean((self.root * centred) ** 2))

    def coordinates(self) -> Iterator[Floats]:
        """The columns, and those logarithms of them that differ from the columns, from -1 to 1."""
        positive = (self.X > 0.0).all(axis=0)
        with np.errstate(all="ignore"):
            logs = np.where(positive, np.log(np.where(positive, self.X, 1.0)), self.X)
        wide = positive & (self.X.max(axis=0) > WIDE * self.X.min(axis=0))
        yield standardised(self.X)
        if wide.any():
            yield standardised(np.where(wide, logs, self.X))

    def fitted(self, tree: Tree, z: Floats, degree: int, warm: Parts | None) -> Parts | None:
        """The polynomials of a degree; None where the rows are too few for them."""
        bases = _bases(tree, z, degree)
        n_numbers = sum(basis.shape[1] for basis in bases)
        if n_numbers * ROWS_A_NUMBER > len(self.y):
            return None

        def model(coefficients: Floats) -> tuple[Floats, Floats]:
            values, slopes = _value(tree, _leaf_values(bases, coefficients))
            return values, np.column_stack([s[:, None] * b for s, b in zip(slopes, bases, strict=True)])

        best: tuple[Floats, float] | None = None
        for start in self.starts(tree, bases) if warm is None else [_widened(warm, bases)]:
            coefficients, rss, _ = least_squares(model, start, self.y, self.root, steps=STEPS)
            if best is None or rss < best[1]:
                best = coefficients, rss
        if best is None or not math.isfinite(best[1]):
            return None
        # A penalty for numbers, as by leaving out rows one by one.
        left = best[1] * len(self.y) / (len(self.y) - n_numbers) ** 2
        return Parts(tree, tuple(bases), best[0], max(left / self.variance, TINY))

    def starts(self, tree: Tree, bases: Sequence[Floats]) -> Iterator[Floats]:
        """Every leaf a constant; where a product may change its sign, also one of its factors a line."""
        middle = float(np.average(self.y, weights=self.root**2))
        spread = math.sqrt(self.variance)
        plain = [np.zeros(basis.shape[1]) for basis in bases]
        factors = [k for k, in_product in enumerate(_in_product(tree)) if in_product]
        for k in factors:
            plain[k][0] = 1.0
        if not factors:
            yield np.concatenate(plain)
            return
        plain[factors[0]] *= math.copysign(max(abs(middle), spread), middle)
        yield np.concatenate(plain)
        powers = np.sum(self.y[self.y > 0.0] ** 2), np.sum(self.y[self.y < 0.0] ** 2)
        if tree.op == "add":
            # What stands beside the product may hold the mean, and leave it what changes its sign.
            plain[0][0] = middle
            plain[factors[0]][0] = spread
        elif min(powers) < MIXED_SIGNS * max(powers):
            return
        for k in factors:
            line = [part.copy() for part in plain]
            line[k][:2] = 0.0, plain[k][0]
            yield np.concatenate(line)

    def refined(self, start: Parts, z: Floats, deadline: Deadline) -> Parts:
        """With polynomials of the degree that predicts best."""
        best = last = start
        for degree in DEGREES[1:]:
            fitted = None if deadline.expired() else self.fitted(start.tree, z, degree, last)
            if fitted is None:
                break
            last = fitted
            if fitted.share < best.share:
                best = fitted
        return best


def _bases(tree: Tree, z: Floats, degree: int) -> list[Floats]:
    found = []
    for leaf, has_constant in zip(tree.leaves(), _constants(tree), strict=True):
        if leaf == LEVEL:
            found.append(np.ones((len(z), 1)))
        else:
            columns = [leaf] if isinstance(leaf, int) else list(leaf)
            n_terms = math.comb(len(columns) + degree, degree)
            found.append(polynomial(z[:, columns], n_terms)[:, 0 if has_constant else 1 :])
    return found


def _widened(parts: Parts, bases: Sequence[Floats]) -> Floats:
    """The coefficients of smaller polynomials, filled up with zeros."""
    ends = np.cumsum([basis.shape[1] for basis in parts.bases])
    known = np.split(parts.coefficients, ends[:-1])
    return np.concatenate([np.pad(k, (0, b.shape[1] - len(k))) for k, b in zip(known, bases, strict=True)])


def _leaf_values(bases: Sequence[Floats], coefficients: Floats) -> list[Floats]:
    ends = np.cumsum([basis.shape[1] for basis in bases])
    return [b @ c for b, c in zip(bases, np.split(coefficients, ends[:-1]), strict=True)]


def _value(tree: Tree | Columns, values: Sequence[Floats]) -> tuple[Floats, list[Floats]]:
    """The value of a tree and its slope by every leaf."""
    if not isinstance(tree, Tree):
        return values[0], [np.ones_like(values[0])]
    done, at = [], 0
    for part in tree.parts:
        n = len(part.leaves()) if isinstance(part, Tree) else 1
        done.append(_value(part, values[at : at + n]))
        at += n
    if tree.op == "add":
        return reduce(np.add, (v for v, _ in done)), [s for _, slopes in done for s in slopes]
    slopes = []
    for k, (_, inner) in enumerate(done):
        others = reduce(np.multiply, (v for i, (v, _) in enumerate(done) if i != k))
        slopes += [others * s for s in inner]
    return reduce(np.multiply, (v for v, _ in done)), slopes


def _summands(tree: Tree) -> list[bool]:
    """Is each leaf a summand?"""
    return list(
        itertools.chain.from_iterable(
            _summands(part) if isinstance(part, Tree) else [tree.op == "add"] for part in tree.parts
        )
    )


def _in_product(tree: Tree, inside: bool = False) -> list[bool]:
    """Does each leaf stand somewhere in a product, with a constant term of its own?"""
    inside = inside or tree.op == "mul"
    found: list[bool] = []
    for k, part in enumerate(tree.parts):
        found += _in_product(part, inside) if isinstance(part, Tree) else [inside and (tree.op == "mul" or k == 0)]
    return found


def _constants(tree: Tree) -> list[bool]:
    """Does the polynomial of each leaf have a constant term?  Of several summands only the first needs one."""
    found: list[bool] = []
    for k, part in enumerate(tree.parts):
        found += _constants(part) if isinstance(part, Tree) else [tree.op == "mul" or k == 0]
    return found
