"""Local moves on formulas: the steps by which evolution walks from one law to its neighbours.

Each move takes a formula and gives a changed one, in the words of the network: add or drop a unit, change an
operator, wrap, split, re-wire an input, or take over a subnetwork of another formula.  Moves know which operators
are allowed, and nothing of data or fits.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...fit.sfo.roles import drawn
from ...symbolic.expr import Call, Const, Expr, Param, Var, call, children, product, size, total, variables, walk

UNARY = ("sin", "cos", "exp", "ln", "sqrt", "tanh", "abs")
EXPONENTS = (-2.0, -1.0, -0.5, 0.5, 2.0, 3.0)
ATTEMPTS = 20  # to hit a node of the wanted kind
HINTED = 0.3  # of the units, where there are hints
LARGEST_HINT = 20
MANY = 5  # inputs: beyond that, products of two are many, so only the simplest
MOST_PAIRS = 100  # of inputs, drawn where there are more
INSTANCES = 3  # of each part of a hint

# The moves by name and how often each is made; the last needs another formula.
_MOVES = (
    ("_add_unit", 2.0),
    ("_scale_unit", 2.0),
    ("_drop", 1.5),
    ("_wrap", 1.0),
    ("_change_operator", 1.5),
    ("_rewire", 1.5),
    ("_split", 1.0),
    ("_fresh", 1.0),
    ("_swap", 2.0),
)
_UP_TO = np.cumsum([weight for _, weight in _MOVES])


@dataclass(frozen=True)
class Moves:
    """The moves open to a problem with these inputs and operators.

    ``hints`` are skeletons that somebody holds for likely; parts of them serve as units.
    """

    n_features: int
    unary: tuple[str, ...]
    hints: tuple[Expr, ...] = ()

    def mutate(self, expr: Expr, donor: Expr | None, *, rng: np.random.Generator) -> Expr:
        """One random move; ``donor`` is a formula whose parts may be taken over."""
        up_to = _UP_TO if donor is not None else _UP_TO[:-1]
        name, _ = _MOVES[int(np.searchsorted(up_to, rng.random() * up_to[-1], "right"))]
        if name == "_swap":
            assert donor is not None
            return self._swap(expr, donor, rng)
        move: Callable[[Expr, np.random.Generator], Expr] = getattr(self, name)
        return move(expr, rng)

    def unit(self, *, rng: np.random.Generator) -> Expr:
        """A small random unit: a power product of one or two inputs, plain or inside a unary operator, or a part of a
        hint."""
        if self.hints and rng.random() < HINTED:
            return self._hinted(rng)
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

    def units(self, n_random: int, *, rng: np.random.Generator) -> list[Expr]:
        """Many units: powers and products of two inputs, instances of all parts of the hints, and random ones."""
        inputs = [Var(i) for i in range(self.n_features)]
        found: list[Expr] = [x if p == 1.0 else x**p for x in inputs for p in (1.0, *EXPONENTS)]
        powers = [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0] if self.n_features <= MANY else [-1.0, 1.0]
        pairs = list(itertools.combinations(inputs, 2))
        for i in rng.permutation(len(pairs))[:MOST_PAIRS]:
            a, b = pairs[int(i)]
            found += [a**p * b**q for p in powers for q in powers]
        parts = {part: None for hint in self.hints for part in walk(hint) if _is_unit(part)}
        found += [instance(part, rng=rng) for part in parts for _ in range(INSTANCES)]
        return found + [self.unit(rng=rng) for _ in range(n_random)]

    def _hinted(self, rng: np.random.Generator) -> Expr:
        hint = self.hints[int(rng.integers(len(self.hints)))]
        for _ in range(ATTEMPTS):
            part = _node(hint, int(rng.integers(size(hint))))
            if _is_unit(part):
                return instance(part, rng=rng)
        return Var(int(rng.integers(self.n_features)))

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

    def _swap(self, expr: Expr, donor: Expr, rng: np.random.Generator) -> Expr:
        part = _node(donor, int(rng.integers(size(donor))))
        return _at_random(expr, lambda node: part, rng)


def _is_unit(part: Expr) -> bool:
    """May this part of a hint be a unit?"""
    return isinstance(part, Call) and size(part) <= LARGEST_HINT and bool(variables(part))


def instance(skeleton: Expr, *, rng: np.random.Generator) -> Expr:
    """The skeleton with random numbers for its parameters, and exponents that are likely at their place."""
    exponents = drawn(skeleton, rng=rng)

    def fill(node: Expr) -> Expr:
        if isinstance(node, Param):
            return _number(rng)
        if not isinstance(node, Call):
            return node
        if node.op == "pow" and isinstance(node.args[1], Param):
            base, power = fill(node.args[0]), exponents.get(node.args[1].index, 1.0)
            return base if power == 1.0 else base**power
        return Call(node.op, [fill(child) for child in node.args])

    return fill(skeleton)


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
    for _ in range(ATTEMPTS):
        place = int(rng.integers(size(expr)))
        is_call = isinstance(_node(expr, place), Call)
        if not (only_calls and not is_call) and not (only_leaves and is_call):
            return replaced(expr, place, change)
    return expr


def _node(expr: Expr, place: int) -> Expr:
    """The node number ``place``, parents before children."""
    while place:
        place -= 1
        for child in children(expr):
            if place < size(child):
                expr = child
                break
            place -= size(child)
    return expr


def replaced(expr: Expr, place: int, change: Callable[[Expr], Expr]) -> Expr:
    """The formula with node number ``place`` changed, parents before children."""
    if not place:
        return change(expr)
    assert isinstance(expr, Call)
    args, place = list(expr.args), place - 1
    for i, child in enumerate(args):
        if place < size(child):
            args[i] = replaced(child, place, change)
            break
        place -= size(child)
    return Call(expr.op, args)
