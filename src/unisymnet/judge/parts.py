"""Common parts of formulas: 1/(1 + □), 1/sqrt(1 + □), □^2 + □^2, 1/(exp(□) - 1), each with a price of its own.

A part is the top of a tree with holes below.  Its numbers belong to it and cost nothing more: who writes 1/sqrt(1 - u)
chooses one thing, not a power, a root, a sum and a one.  The table (prior.json) counts them in public expressions;
``benchmarks/make_prior.py`` makes it.  Signs are free, as everywhere in the prior.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .tree import ADD, EXPONENT, MUL, NUMBER, POW, Node

HOLE = "hole"

Below = tuple[tuple[str, Node], ...]  # nodes, each with the symbol above it


@dataclass(frozen=True)
class Part:
    """``tree`` has leaves HOLE and numbers; ``nats`` is its price at any place."""

    tree: Node
    nats: float


@dataclass(frozen=True)
class Match:
    """A part found at the top of a tree, what fills its holes, and its own numbers."""

    part: Part
    holes: Below
    numbers: Below


def matches(parts: Sequence[Part], node: Node) -> Iterator[Match]:
    """Every way to read the top of a tree as one of the parts."""
    for part in parts:
        if part.tree.symbol == node.symbol and len(part.tree.children) == len(node.children):
            for holes, numbers in _fill(part.tree, node, ""):
                yield Match(part, holes, numbers)


def _fill(pattern: Node, node: Node, parent: str) -> Iterator[tuple[Below, Below]]:
    if pattern.symbol == HOLE:
        # A number times something is no product of two things: 1/sqrt(1 + c*x) is not 1/sqrt(1 - u*v).
        if parent != MUL or node.symbol != NUMBER:
            yield ((parent, node),), ()
        return
    if pattern.symbol != node.symbol or len(pattern.children) != len(node.children):
        return
    if pattern.symbol == NUMBER:
        if pattern.value == (node.value if parent == EXPONENT else abs(node.value)):
            yield (), ((parent, node),)
        return
    orders = itertools.permutations(node.children) if node.symbol in (ADD, MUL) else [node.children]
    for order in orders:
        found: list[tuple[Below, Below]] = [((), ())]
        for place, (below, child) in enumerate(zip(pattern.children, order, strict=True)):
            above = EXPONENT if node.symbol == POW and place == 1 else node.symbol
            more = list(_fill(below, child, above))
            found = [(holes + h, numbers + n) for holes, numbers in found for h, n in more]
            if not found:
                break
        yield from found


def holes_of(pattern: Node, parent: str = "") -> Iterator[str]:
    """The symbol above each hole, from left to right."""
    if pattern.symbol == HOLE:
        yield parent
    for child in pattern.children:
        yield from holes_of(child, pattern.symbol)


def written(pattern: Node) -> Any:
    """A part as JSON: a hole is null, a number itself, anything else its symbol and what is below."""
    if pattern.symbol == HOLE:
        return None
    if pattern.symbol == NUMBER:
        return pattern.value
    return [pattern.symbol, *map(written, pattern.children)]


def read_part(stored: Any) -> Node:
    """The part that ``written`` has written."""
    if stored is None:
        return Node(HOLE)
    if isinstance(stored, list):
        return Node(stored[0], tuple(map(read_part, stored[1:])))
    return Node(NUMBER, value=float(stored))
