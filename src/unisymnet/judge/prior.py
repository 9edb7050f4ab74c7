"""The price of a structure: how surprising its symbols are, given what stands above each of them.

The table (prior.json) counts public expressions; ``benchmarks/make_prior.py`` makes it.  Half of the belief is in
whole textbook forms (forms.py), half in this grammar.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from importlib import resources

from .numbers import number_key, number_nats, simple_fraction
from .tree import ADD, COLUMN, EXPONENT, MUL, NUMBER, POW, ROOT, Node, spread

FUNCTIONS = ("sin", "cos", "exp", "ln", "tan", "tanh", "sinh", "cosh", "asin", "acos", "atan", "abs")
RARE = frozenset({"tan", "tanh", "sinh", "cosh", "asin", "acos", "atan", "abs"})
SYMBOLS = (ADD, MUL, POW, NUMBER, COLUMN, *FUNCTIONS)

BACK_OFF = 4.0  # expressions' worth of the average over all parents
LEARNED = 0.7  # the rest is spread evenly, so that nothing is impossible
RARE_WEIGHT = 0.3
LARGEST_USUAL = 6.0  # exponents beyond it follow an exponential on a short range; a nat for every 1.5 more
FREE_EXPONENT = 0.08  # of all exponents


@dataclass(frozen=True)
class Prior:
    """Prices from counts.  ``symbols`` by parent, ``arity`` of sums and products, ``exponents`` and ``numbers`` as
    shares by name."""

    symbols: Mapping[str, Mapping[str, float]]
    arity: Mapping[str, Mapping[str, float]]
    exponents: Mapping[str, float]
    numbers: Mapping[str, float]

    def tree_nats(self, tree: Node, n_columns: int) -> float:
        """Nats of the whole tree without its numbers: those are priced one by one.

        The root of a product is as likely as the product of roots, which is how a search may have found it."""
        nats, apart = self._nats(tree, ROOT, n_columns), spread(tree)
        return nats if apart is tree else min(nats, self._nats(apart, ROOT, n_columns))

    def _nats(self, node: Node, parent: str, n_columns: int) -> float:
        nats = self.symbol_nats(parent, node.symbol)
        if node.symbol == COLUMN:
            return nats + math.log(n_columns)
        if node.symbol in (ADD, MUL):
            nats += self.arity_nats(node.symbol, len(node.children)) - _orders(node.children)
        for position, child in enumerate(node.children):
            if node.symbol == POW and position == 1:
                if child.symbol != NUMBER:  # an exponent that is a formula is as rare as a rare number
                    nats += -math.log(0.5 * FREE_EXPONENT) + self._nats(child, EXPONENT, n_columns)
            else:
                nats += self._nats(child, node.symbol, n_columns)
        return nats

    def constant_nats(self, value: float) -> float:
        """A number in a sum, a product or a function, written down."""
        return number_nats(value, self.numbers)

    def exponent_nats(self, value: float) -> float:
        """A number as an exponent, written down; inf for one that is no small fraction."""
        ratio = simple_fraction(abs(value))
        if ratio is None:
            ratio = Fraction(value).limit_denominator(100)
            if abs(float(ratio) - value) > 1e-12 * abs(value):
                return math.inf
        size = abs(ratio.numerator) * ratio.denominator
        key = ("-" if value < 0.0 else "") + number_key(value)
        share = LEARNED * self.exponents.get(key, 0.0) + (1.0 - LEARNED) * size**-1.5 / 7.0
        return max(0.0, abs(value) - LARGEST_USUAL) / 1.5 - math.log((1.0 - FREE_EXPONENT) * share)

    def symbol_nats(self, parent: str, symbol: str) -> float:
        shares = _shares(self, parent)
        return -math.log(shares[symbol]) if symbol in shares else -math.log(0.3 * RARE_WEIGHT / len(SYMBOLS))

    def arity_nats(self, symbol: str, n: int) -> float:
        counts = self.arity.get(symbol, {})
        total = sum(counts.values())
        geometric = 0.5 ** (n - 1)
        return -math.log((counts.get(str(n), 0.0) + BACK_OFF * geometric) / (total + BACK_OFF))

    def __hash__(self) -> int:
        return id(self)


@lru_cache(maxsize=256)
def _shares(prior: Prior, parent: str) -> dict[str, float]:
    """How likely each symbol is below a parent."""
    everywhere: Counter[str] = Counter()
    for counts in prior.symbols.values():
        everywhere.update(counts)
    counts = prior.symbols.get(parent, {})
    weight = sum(counts.values()) + BACK_OFF
    impossible = parent if parent in (ADD, MUL) else ""  # a sum in a sum is one sum
    weights = {symbol: RARE_WEIGHT if symbol in RARE else 1.0 for symbol in SYMBOLS if symbol != impossible}
    even, total = sum(weights.values()), sum(everywhere[symbol] for symbol in weights) or 1.0
    return {
        symbol: LEARNED * (counts.get(symbol, 0.0) + BACK_OFF * everywhere[symbol] / total) / weight
        + (1.0 - LEARNED) * share / even
        for symbol, share in weights.items()
    }


def _orders(children: tuple[Node, ...]) -> float:
    """ln of the number of orders in which the same sum or product could be written."""
    alike = Counter(_shape(child) for child in children)
    return math.lgamma(len(children) + 1) - sum(math.lgamma(n + 1) for n in alike.values())


def _shape(node: Node) -> Node:
    """The node without the values of its numbers."""
    value = 0.0 if node.symbol == NUMBER else node.value
    return Node(node.symbol, tuple(_shape(child) for child in node.children), value)


@cache
def load_prior() -> Prior:
    """The table that comes with the package."""
    table = json.loads(resources.files(__package__).joinpath("prior.json").read_text("utf-8"))
    return Prior(table["symbols"], table["arity"], table["exponents"], table["numbers"])
