"""Random formulas as in the paper's "Function Sampling", after Lample & Charton.

A binary tree drawn uniformly over all shapes, unary operators inserted at random places, then affine maps around
some variables and unary operators.  All of the first d variables occur.  Not known here: points, labels, and
whether the formula is defined anywhere.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from ..symbolic.expr import Call, Const, Expr, Var
from .settings import CorpusSettings, Frequencies

Shape = list["Shape"]  # [] is a leaf, [left, right] a binary node, [inner] a unary one


def uniforms(rng: np.random.Generator) -> Iterator[float]:
    """Endless numbers in [0, 1); one at a time from numpy would cost more than the rest of a tree."""
    while True:
        yield from rng.random(4096).tolist()


class TreeSampler:
    """Draws formulas; holds the settings in the form that makes a draw fast, and no state."""

    def __init__(self, settings: CorpusSettings) -> None:
        self.settings = settings
        self._dimensions = [d for d, _ in settings.dimensions]
        self._dimension_steps = _steps([p for _, p in settings.dimensions])
        self._binary = _table(settings.binary)
        self._unary = _table(settings.unary)

    def dimension(self, draws: Iterator[float]) -> int:
        """How many inputs the next function has."""
        return self._dimensions[bisect(self._dimension_steps, next(draws))]

    def draw(self, n_features: int, draws: Iterator[float]) -> Expr:
        """A formula in exactly the variables x0 … x(d-1) from uniform ``draws``."""
        s = self.settings
        fewest = max(n_features - 1, 0)
        n_binary = fewest + int(next(draws) * (n_features + s.extra_binary + 1 - fewest))
        n_unary = int(next(draws) * (min(s.max_unary, n_features + 1) + 1))
        shape, nodes = random_shape(n_binary, draws)
        for _ in range(n_unary):
            # A node chosen uniformly becomes a unary one above a copy of itself.
            chosen = nodes[int(next(draws) * len(nodes))]
            inner = list(chosen)
            chosen[:] = [inner]
            nodes.append(inner)
        # Every variable once, the other leaves at random, then shuffled: no missing variable, no preferred place.
        leaves = [*range(n_features), *(int(next(draws) * n_features) for _ in range(n_binary + 1 - n_features))]
        _shuffle(leaves, draws)
        return self._build(shape, leaves, draws)

    def _build(self, shape: Shape, leaves: list[int], draws: Iterator[float]) -> Expr:
        if not shape:
            return self._affine(Var(leaves.pop()), draws)
        if len(shape) == 1:
            inner = self._build(shape[0], leaves, draws)
            names, steps = self._unary
            return self._affine(Call(names[bisect(steps, next(draws))], (inner,)), draws)
        left = self._build(shape[0], leaves, draws)
        right = self._build(shape[1], leaves, draws)
        names, steps = self._binary
        return Call(names[bisect(steps, next(draws))], (left, right))

    def _affine(self, inner: Expr, draws: Iterator[float]) -> Expr:
        """w·inner + b with (w, b) from D_aff, or the expression itself."""
        s = self.settings
        if next(draws) >= s.affine_rate:
            return inner
        inner = Call("mul", (Const(_affine_number(draws)), inner))
        if next(draws) < s.bias_rate:
            inner = Call("add", (inner, Const(_affine_number(draws))))
        return inner


def random_shape(n_binary: int, draws: Iterator[float]) -> tuple[Shape, list[Shape]]:
    """A binary tree with ``n_binary`` inner nodes, every shape equally likely, and the list of its nodes.

    By the cycle lemma: a shuffled word of n inner nodes and n + 1 leaves has exactly one rotation that is the prefix
    notation of a tree.  Same distribution as Lample & Charton's recursive sampling, without their table.
    """
    steps = [1] * n_binary + [-1] * (n_binary + 1)
    _shuffle(steps, draws)
    heights = list(accumulate(steps))
    start = heights.index(min(heights)) + 1
    stack: list[Shape] = []
    nodes: list[Shape] = []
    for step in reversed(steps[start:] + steps[:start]):
        node = [stack.pop(), stack.pop()] if step > 0 else []
        stack.append(node)
        nodes.append(node)
    return stack[0], nodes


def _shuffle(items: list[int], draws: Iterator[float]) -> None:
    for i in range(len(items) - 1, 0, -1):
        j = int(next(draws) * (i + 1))
        items[i], items[j] = items[j], items[i]


def _affine_number(draws: Iterator[float]) -> float:
    """sign · mantissa · 10^exponent of D_aff, kept away from 0 so that a label never promises a vanishing edge."""
    sign = 1.0 if next(draws) < 0.5 else -1.0
    mantissa = 0.05 + 0.95 * next(draws)
    return sign * mantissa * 10.0 ** (2.0 * next(draws) - 1.0)


def _steps(weights: list[float]) -> list[float]:
    total = sum(weights)
    return [value / total for value in accumulate(weights[:-1])]


def _table(frequencies: Frequencies) -> tuple[list[str], list[float]]:
    return [name for name, _ in frequencies], _steps([weight for _, weight in frequencies])
