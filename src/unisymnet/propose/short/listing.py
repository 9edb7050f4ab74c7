"""All formulas up to a price, in the judge's own grammar; constants to be fitted are parameters, each with a price.

The same formula may come in several spellings; the stage keeps the first.  Knows no data.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...judge.parts import HOLE, Part, holes_of
from ...judge.prior import FUNCTIONS, RARE, Prior, load_prior
from ...judge.tree import ADD, COLUMN, MUL, NUMBER, POW, ROOT, Node
from ...symbolic.expr import Call, Const, Expr, Param, Var, rebuild

EXPONENTS = (-1.0, 2.0, -2.0, 0.5, 3.0, -0.5, 1.5)
NUMBERS = (1.0, 2.0, 0.5)
MAX_ARITY = 3
CONSTANT_SHARE = 0.25  # what the judge leaves to the grammar: half is for a constant, half of the rest for whole forms

MAX_TREES = 150_000  # of one list: half a gigabyte for all of them

Priced = tuple[float, Expr]


class TooMany(Exception):
    """There are more formulas of a price than memory should hold."""


@dataclass
class Listing:
    """Trees by price.  ``columns`` in the problem, ``constant`` is what one fitted constant costs at least."""

    n_columns: int
    constant: float
    allowed: frozenset[str] = frozenset()
    prior: Prior = field(default_factory=load_prior)
    _known: dict[tuple[str, float], list[Priced]] = field(default_factory=dict)

    def formulas(self, most: float) -> list[Priced]:
        """Every formula of at most this price, the cheapest first; parameters numbered in reading order.  Raises
        ``TooMany`` where they are too many to be listed."""
        budget = most + math.log(CONSTANT_SHARE)
        found = [(price - math.log(CONSTANT_SHARE), _numbered(tree)) for price, tree in self._below(ROOT, budget)]
        return sorted(found, key=lambda pair: pair[0])  # the order among equals is that of making them

    def _below(self, parent: str, budget: float) -> list[Priced]:
        """Trees below a parent that cost at most the budget, cheapest first."""
        budget = math.ceil(2.0 * budget) / 2.0  # so that few lists are made; none may miss a tree
        key = parent, budget
        if key not in self._known:
            made = list(itertools.islice(self._made(parent, budget), MAX_TREES)) if budget > 0.0 else []
            if len(made) == MAX_TREES:
                raise TooMany
            self._known[key] = sorted(made, key=lambda pair: pair[0])
        return self._known[key]

    def _made(self, parent: str, budget: float) -> Iterator[Priced]:
        def left(symbol: str) -> float:
            return budget - self.prior.symbol_nats(parent, symbol)

        price = budget - left(COLUMN) + math.log(self.n_columns)
        if price <= budget:
            yield from ((price, Var(index)) for index in range(self.n_columns))
        if parent in (ADD, MUL):
            yield from self._numbers(budget, budget - left(NUMBER), parent)
        if parent != POW and self._allows(POW):
            yield from self._powers(budget - left(POW), budget)
        for symbol in (ADD, MUL):
            if parent != symbol and self._allows(symbol):
                yield from self._joined(symbol, budget - left(symbol), budget)
        for name in FUNCTIONS:
            if name not in RARE and name != parent and self._allows(name):
                price = budget - left(name)
                yield from ((price + cost, Call(name, (tree,))) for cost, tree in self._below(name, budget - price))
        for part in self.prior.parts:
            if part.tree.symbol != parent and all(map(self._allows, _operators(part.tree))):
                yield from self._common(part, budget)

    def _common(self, part: Part, budget: float) -> Iterator[Priced]:
        """The part with everything that is cheap enough in its holes."""
        for cost, trees in self._fillings(tuple(holes_of(part.tree)), budget - part.nats):
            yield from ((part.nats + cost, tree) for tree in _filled(part.tree, iter(trees)))

    def _fillings(self, holes: tuple[str, ...], budget: float) -> Iterator[tuple[float, tuple[Expr, ...]]]:
        if not holes:
            yield 0.0, ()
            return
        for cost, tree in itertools.takewhile(lambda pair: pair[0] <= budget, self._below(holes[0], budget)):
            for more, rest in self._fillings(holes[1:], budget - cost):
                yield cost + more, (tree, *rest)

    def _numbers(self, budget: float, price: float, parent: str) -> Iterator[Priced]:
        if price + self.constant <= budget:
            yield price + self.constant, Param(0)
        for value in NUMBERS:
            if value == 1.0 and parent == MUL:
                continue
            cost = price + self.prior.constant_nats(value)
            if cost <= budget:
                yield cost, Const(value)

    def _powers(self, price: float, budget: float) -> Iterator[Priced]:
        for exponent in EXPONENTS:
            cost = price + self.prior.exponent_nats(exponent)
            below = self._below(POW, budget - cost)
            yield from ((cost + more, Call(POW, (tree, Const(exponent)))) for more, tree in below)
        free = price + self.constant + math.log(1.0 / 0.08)
        below = self._below(POW, budget - free)
        yield from ((free + more, Call(POW, (tree, Param(0)))) for more, tree in below if isinstance(tree, Var))

    def _joined(self, symbol: str, price: float, budget: float) -> Iterator[Priced]:
        for n in range(2, MAX_ARITY + 1):
            own = price + self.prior.arity_nats(symbol, n)
            orders = math.lgamma(n + 1)  # how many orders the same sum has, if its parts differ
            for cost, parts in self._sets(self._below(symbol, budget - own + orders), n, budget - own + orders):
                if sum(isinstance(part, Param | Const) for part in parts) > 1:
                    continue
                alike = math.log(math.factorial(n)) if len(set(parts)) == n else 0.0
                whole = own + cost - alike
                if whole <= budget:
                    yield whole, Call(symbol, parts)
                    if symbol == ADD:
                        yield from ((whole, tree) for tree in _signed(parts))

    def _sets(self, trees: list[Priced], n: int, budget: float) -> Iterator[tuple[float, tuple[Expr, ...]]]:
        """Unordered choices of n trees whose prices add up to at most the budget; ``trees`` are sorted."""
        if n == 1:
            yield from ((cost, (tree,)) for cost, tree in itertools.takewhile(lambda pair: pair[0] <= budget, trees))
            return
        for i, (cost, tree) in enumerate(trees):
            if n * cost > budget:
                return
            for more, rest in self._sets(trees[i:], n - 1, budget - cost):
                yield cost + more, (tree, *rest)

    def _allows(self, operator: str) -> bool:
        return not self.allowed or operator in self.allowed


def _operators(tree: Node) -> set[str]:
    return {node.symbol for _, node in tree.walk()} - {HOLE, NUMBER}


def _filled(tree: Node, holes: Iterator[Expr]) -> list[Expr]:
    """A common part with its holes filled from left to right, once for each choice of signs."""
    if tree.symbol == HOLE:
        return [next(holes)]
    if tree.symbol == NUMBER:
        return [Const(tree.value)]
    filled: list[Expr] = []
    for ways in itertools.product(*[_filled(child, holes) for child in tree.children]):
        filled.append(Call(tree.symbol, ways))
        if tree.symbol == ADD:
            filled.extend(_signed(ways))
    return filled


def _signed(parts: tuple[Expr, ...]) -> Iterator[Expr]:
    """The sum with minus signs that no fitted constant can take over."""
    plain = [i for i, part in enumerate(parts) if not _has_factor(part)]
    for i in plain if len(plain) > 1 else plain[: len(parts) - 1 or 1]:
        minus = Call(MUL, (Const(-1.0), parts[i]))
        yield Call(ADD, (*parts[:i], minus, *parts[i + 1 :]))


def _has_factor(expr: Expr) -> bool:
    if isinstance(expr, Param):
        return True
    return isinstance(expr, Call) and expr.op == MUL and any(isinstance(arg, Param) for arg in expr.args)


def _numbered(expr: Expr) -> Expr:
    count = itertools.count()
    return rebuild(expr, lambda node: Param(next(count)) if isinstance(node, Param) else node)
