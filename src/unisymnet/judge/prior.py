"""The price of a structure: how surprising its symbols are, given what stands above each of them, and its common parts.

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
from typing import NamedTuple

from .numbers import number_key, number_nats, simple_fraction
from .parts import Part, matches, read_part
from .tree import ADD, COLUMN, EXPONENT, MUL, NUMBER, POW, ROOT, Node, spread

FUNCTIONS = ("sin", "cos", "exp", "ln", "tan", "tanh", "sinh", "cosh", "asin", "acos", "atan", "abs")
RARE = frozenset({"tan", "tanh", "sinh", "cosh", "asin", "acos", "atan", "abs"})
SYMBOLS = (ADD, MUL, POW, NUMBER, COLUMN, *FUNCTIONS)

BACK_OFF = 4.0  # expressions' worth of the average over all parents
LEARNED = 0.7  # the rest is spread evenly, so that nothing is impossible
RARE_WEIGHT = 0.3
LARGEST_USUAL = 6.0  # exponents beyond it follow an exponential on a short range; a nat for every 1.5 more
FREE_EXPONENT = 0.08  # of all exponents


class Price(NamedTuple):
    """Nats of a structure, what the numbers of its common parts would cost if they were written down, these parts, and
    the places of their numbers, which cost nothing more."""

    structure: float
    saved: float = 0.0
    parts: tuple[Part, ...] = ()
    places: frozenset[int] = frozenset()

    def __add__(self, other: Price) -> Price:  # type: ignore[override]
        places = self.places | other.places
        return Price(self.structure + other.structure, self.saved + other.saved, self.parts + other.parts, places)


@dataclass(frozen=True)
class Prior:
    """Prices from counts.  ``symbols`` by parent, ``arity`` of sums and products, ``exponents`` and ``numbers`` as
    shares by name, ``parts`` that are common."""

    symbols: Mapping[str, Mapping[str, float]]
    arity: Mapping[str, Mapping[str, float]]
    exponents: Mapping[str, float]
    numbers: Mapping[str, float]
    parts: tuple[Part, ...] = ()

    def price(self, tree: Node, n_columns: int) -> Price:
        """Nats of the whole tree without its numbers: those are priced one by one, but for those of common parts.

        The root of a product is as likely as the product of roots, which is how a search may have found it."""
        found, apart = self._price(tree, ROOT, n_columns), spread(tree)
        return found if apart is tree else min(found, self._price(apart, ROOT, n_columns), key=_whole)

    def _price(self, node: Node, parent: str, n_columns: int) -> Price:
        """The cheaper of symbol by symbol and as one of the common parts."""
        nats = self.symbol_nats(parent, node.symbol)
        if node.symbol == COLUMN:
            return Price(nats + math.log(n_columns))
        if node.symbol in (ADD, MUL):
            nats += self.arity_nats(node.symbol, len(node.children)) - _orders(node.children)
        best = Price(nats)
        for position, child in enumerate(node.children):
            if node.symbol == POW and position == 1:
                if child.symbol != NUMBER:  # an exponent that is a formula is as rare as a rare number
                    best += self._price(child, EXPONENT, n_columns) + Price(-math.log(0.5 * FREE_EXPONENT))
            else:
                best += self._price(child, node.symbol, n_columns)
        for match in matches(self.parts, node):
            saved = sum(self.written(number, above) for above, number in match.numbers)
            one = Price(match.part.nats, saved, (match.part,), frozenset(number.place for _, number in match.numbers))
            for above, hole in match.holes:
                one += self._price(hole, above, n_columns)
            best = min(best, one, key=_whole)
        return best

    def written(self, number: Node, parent: str) -> float:
        """A number below a symbol, written down."""
        return self.exponent_nats(number.value) if parent == EXPONENT else self.constant_nats(number.value)

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
    single = 1.0 - sum(math.exp(-part.nats) for part in prior.parts)  # the rest of the belief is in common parts
    return {
        symbol: single * LEARNED * (counts.get(symbol, 0.0) + BACK_OFF * everywhere[symbol] / total) / weight
        + single * (1.0 - LEARNED) * share / even
        for symbol, share in weights.items()
    }


def _whole(price: Price) -> float:
    return price.structure - price.saved


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
    parts = tuple(Part(read_part(tree), nats) for tree, nats in table["parts"])
    return Prior(table["symbols"], table["arity"], table["exponents"], table["numbers"], parts)
