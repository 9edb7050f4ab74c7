"""Canonical order of the nodes of a layered network: equal networks get equal masks, however they were built.

Nodes of a layer are ordered by operator, then by what feeds them.  Nodes that this leaves equal (sin(2x), sin(3x))
are told apart by whom they feed, by colour refinement up and down the layers; what even that leaves equal is
exchangeable.  Knows only names, connections and bias flags.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..operators import UNARY_LIBRARY

RANKS = {op: rank for rank, op in enumerate(UNARY_LIBRARY)}

Colours = list[list[int]]


def canonical_order(
    ops: Sequence[Sequence[str]], inputs: Sequence[Sequence[tuple[int, ...]]], biases: Sequence[Sequence[bool]]
) -> list[list[int]]:
    """For each layer the indices of its nodes in their canonical order."""
    below: list[int] | None = None  # None: the input columns, whose order is given
    colours: Colours = []
    orders: list[list[int]] = []
    tied = False
    for names, sources, flags in zip(ops, inputs, biases, strict=True):
        if len(names) == 1:
            below = [0]
            orders.append([0])
            colours.append(below)
            continue
        keys = [
            (RANKS[op], row if below is None else tuple(sorted([below[j] for j in row])), flag)
            for op, row, flag in zip(names, sources, flags, strict=True)
        ]
        order, below, distinct = _ranked(keys)
        tied = tied or not distinct
        orders.append(order)
        colours.append(below)
    if not tied:
        return orders
    return [sorted(range(len(layer)), key=layer.__getitem__) for layer in _settled(colours, inputs)]


def _ranked(keys: list[Any]) -> tuple[list[int], list[int], bool]:
    """Order of the keys; each key's colour: the place of the first key equal to it; are all keys distinct?"""
    order = sorted(range(len(keys)), key=keys.__getitem__)
    colours = [0] * len(keys)
    place, last, distinct = 0, keys[order[0]], True
    for at, i in enumerate(order):
        if keys[i] != last:
            place, last = at, keys[i]
        elif at:
            distinct = False
        colours[i] = place
    return order, colours, distinct


def _settled(colours: Colours, inputs: Sequence[Sequence[tuple[int, ...]]]) -> Colours:
    """Refine the colours until equal ones are exchangeable one for one."""
    feeds: list[list[tuple[int, ...]]] = []
    for at, layer in enumerate(colours):
        above = inputs[at + 1] if at + 1 < len(inputs) else []
        lists: list[list[int]] = [[] for _ in layer]
        for consumer, row in enumerate(above):
            for j in row:
                lists[j].append(consumer)
        feeds.append([tuple(row) for row in lists])
    while True:
        colours = _refined(colours, inputs, feeds)
        found = _first_tie(colours, inputs, feeds)
        if found is None:
            return colours
        level, members = found
        for i in members[1:]:  # tell one apart from the others; which one does not matter
            colours[level][i] += 1


def _refined(
    colours: Colours, inputs: Sequence[Sequence[tuple[int, ...]]], feeds: list[list[tuple[int, ...]]]
) -> Colours:
    colours = [list(layer) for layer in colours]
    while True:
        before = sum(len(set(layer)) for layer in colours)
        down = [(at, at + 1, feeds[at]) for at in range(len(colours) - 2, -1, -1)]
        up = [(at, at - 1, inputs[at]) for at in range(1, len(colours))]
        for at, other, neighbours in [*down, *up]:
            beside = colours[other]
            keys = [
                (own, tuple(sorted([beside[k] for k in row]))) for own, row in zip(colours[at], neighbours, strict=True)
            ]
            colours[at] = _ranked(keys)[1]
        if sum(len(set(layer)) for layer in colours) == before:
            return colours


def _first_tie(
    colours: Colours, inputs: Sequence[Sequence[tuple[int, ...]]], feeds: list[list[tuple[int, ...]]]
) -> tuple[int, list[int]] | None:
    """The topmost layer's first nodes of one colour that are not twins (twins have the same neighbours)."""
    for at in range(len(colours) - 1, -1, -1):
        groups: dict[int, list[int]] = {}
        for i, colour in enumerate(colours[at]):
            groups.setdefault(colour, []).append(i)
        for _, members in sorted(groups.items()):
            neighbours = {(inputs[at][i], feeds[at][i]) for i in members}
            if len(members) > 1 and len(neighbours) > 1:
                return at, members
    return None
