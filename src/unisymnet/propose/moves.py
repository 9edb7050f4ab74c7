"""Local moves on formulas: the steps by which evolution walks from one law to its neighbours.

Each move takes a formula and gives a changed one, in the words of the network: add or drop a unit, change an
operator, wrap, split, re-wire an input, or take over a subnetwork of another formula.  Moves know which operators
are allowed, and nothing of data or fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..symbolic.expr import Call, Const, Expr, Var, call, children, product, total, walk

UNARY = ("sin", "cos", "exp", "ln", "sqrt", "tanh", "abs")
EXPONENTS = (-2.0, -1.0, -0.5, 0.5, 2.0, 3.0)


@dataclass(frozen=True)
class Moves:
    """The moves open to a problem with these inputs and operators."""

    n_features: int
    unary: tuple[str, ...]

    def mutate(self, expr: Expr, others: Sequence[Expr], *, rng: np.random.Generator) -> Expr:
        """One random move; ``others`` are formulas whose parts may be taken over."""
        moves: list[tuple[float, Callable[[], Expr]]] = [
            (2.0, lambda: self._add_unit(expr, rng)),
            (2.0, lambda: self._scale_unit(expr, rng)),
            (1.5, lambda: self._drop(expr, rng)),
            (1.0, lambda: self._wrap(expr, rng)),
            (1.5, lambda: self._change_operator(expr, rng)),
            (1.5, lambda: self._rewire(expr, rng)),
            (1.0, lambda: self._split(expr, rng)),
            (1.0, lambda: self._fresh(expr, rng)),
        ]
        if others:
            moves.append((2.0, lambda: self._swap(expr, others, rng)))
        weights = np.array([weight for weight, _ in moves])
        return moves[int(rng.choice(len(moves), p=weights / weights.sum()))][1]()

    def unit(self, *, rng: np.random.Generator) -> Expr:
        """A small random unit: a power product of one or two inputs, plain or inside a unary operator."""
        n_factors = 1 if self.n_features == 1 or rng.random() < 0.6 else 2
        factors: list[Expr] = []
        for column in rng.choice(self.n_features, size=n_factors, replace=False):
            variable = Var(int(column))
            factors.append(variable if rng.random() < 0.6 else variable ** float(rng.choice(EXPONENTS)))
        inner = product(factors)
        if not self.unary or rng.random() < 0.45:
            return inner
        argument = inner if rng.random() < 0.4 else product([_number(rng), inner])
        if rng.random() < 0.3:
            argument = argument + _number(rng)
        return call(str(rng.choice(self.unary)), argument)

    def _add_unit(self, expr: Expr, rng: np.random.Generator) -> Expr:
        return _at_random(expr, lambda node: total([node, product([_number(rng), self.unit(rng=rng)])]), rng, root=0.5)

    def _scale_unit(self, expr: Expr, rng: np.random.Generator) -> Expr:
        def change(node: Expr) -> Expr:
            unit = self.unit(rng=rng)
            return node / unit if rng.random() < 0.4 else product([node, unit])

        return _at_random(expr, change, rng, root=0.3)

    def _drop(self, expr: Expr, rng: np.random.Generator) -> Expr:
        """A call loses one argument, or is replaced by one."""

        def change(node: Expr) -> Expr:
            args = children(node)
            if not args:
                return node
            if len(args) > 2:
                gone = int(rng.integers(len(args)))
                return Call(node.op, args[:gone] + args[gone + 1 :]) if isinstance(node, Call) else node
            return args[int(rng.integers(len(args)))]

        return _at_random(expr, change, rng, only_calls=True)

    def _wrap(self, expr: Expr, rng: np.random.Generator) -> Expr:
        if not self.unary or rng.random() < 0.3:
            return _at_random(expr, lambda node: node ** float(rng.choice(EXPONENTS)), rng)
        return _at_random(expr, lambda node: call(str(rng.choice(self.unary)), node), rng)

    def _change_operator(self, expr: Expr, rng: np.random.Generator) -> Expr:
        def change(node: Expr) -> Expr:
            assert isinstance(node, Call)
            if len(node.args) == 1 and self.unary:
                return call(str(rng.choice(self.unary)), node.args[0])
            if node.op == "pow":
                return node.args[0] ** float(rng.choice(EXPONENTS))
            other = {"add": "mul", "sub": "div", "mul": "add", "div": "sub"}.get(node.op)
            return node if other is None else Call(other, node.args)

        return _at_random(expr, change, rng, only_calls=True)

    def _rewire(self, expr: Expr, rng: np.random.Generator) -> Expr:
        """An input edge moves to another column, or gets an offset."""

        def change(node: Expr) -> Expr:
            if isinstance(node, Var) and (self.n_features == 1 or rng.random() < 0.4):
                return node + _number(rng)
            return Var(int(rng.integers(self.n_features)))

        return _at_random(expr, change, rng, only_leaves=True)

    def _split(self, expr: Expr, rng: np.random.Generator) -> Expr:
        """A node becomes the sum of itself and another unit times itself: one unit turns into two."""
        return _at_random(expr, lambda node: node * (_number(rng) + self.unit(rng=rng)), rng)

    def _fresh(self, expr: Expr, rng: np.random.Generator) -> Expr:
        return _at_random(expr, lambda node: self.unit(rng=rng), rng)

    def _swap(self, expr: Expr, others: Sequence[Expr], rng: np.random.Generator) -> Expr:
        donor = others[int(rng.integers(len(others)))]
        parts = list(walk(donor))
        return _at_random(expr, lambda node: parts[int(rng.integers(len(parts)))], rng)


def _number(rng: np.random.Generator) -> Const:
    """A start value: the sign is even odds, the size log-uniform around 1."""
    return Const(float(rng.choice((-1.0, 1.0)) * np.exp(rng.normal(0.0, 1.0))))


def _at_random(
    expr: Expr,
    change: Callable[[Expr], Expr],
    rng: np.random.Generator,
    *,
    root: float = 0.0,
    only_calls: bool = False,
    only_leaves: bool = False,
) -> Expr:
    """Apply ``change`` to one random node (to the root with at least probability ``root``)."""
    if root and rng.random() < root:
        return change(expr)
    paths = [
        path
        for path, node in _paths(expr, ())
        if not (only_calls and not isinstance(node, Call)) and not (only_leaves and isinstance(node, Call))
    ]
    if not paths:
        return expr
    return _replace(expr, paths[int(rng.integers(len(paths)))], change)


def _paths(expr: Expr, path: tuple[int, ...]) -> list[tuple[tuple[int, ...], Expr]]:
    out = [(path, expr)]
    for i, child in enumerate(children(expr)):
        out += _paths(child, (*path, i))
    return out


def _replace(expr: Expr, path: tuple[int, ...], change: Callable[[Expr], Expr]) -> Expr:
    if not path:
        return change(expr)
    assert isinstance(expr, Call)
    args = list(expr.args)
    args[path[0]] = _replace(args[path[0]], path[1:], change)
    return Call(expr.op, args)
