"""Formula to network: the paper's algorithms "Structure Identification" and "SymbolicDecompose".

The unified graph (unified.py) is cut into layers from the top, as the paper does: a node stands right below the
lowest node that uses it.  Every distinct node exists once; if it is needed again further up, an ``id`` chain carries
its value there, shared by all who need it.  Where that saves nodes, a node with several inputs stands as low as it
can, so that one chain carries its value instead of several carrying its inputs.  Knows no labels and no limits
(tokens.py).
"""

from __future__ import annotations

import math

from ...errors import EncodingError
from ..expr import Expr
from .structure import Network, Row
from .unified import Affine, Unified

Levels = dict[int, int]

_NAMES = {"abs": "ln"}


def identify(expr: Expr, n_features: int | None = None) -> Network:
    """The network of ``expr`` with its numbers; ``n_features``, if given, is the number of columns there are.

    Raises EncodingError for operators that the library cannot express (asin, tan, …) and for formulas that are
    nowhere defined.  The formula that the network stands for is that of skeleton.network_to_skeleton.
    """
    graph = Unified()
    root = graph.lower(expr)
    _check_columns(graph, n_features)
    return Network.from_rows(_layers(graph, root), pruned=True)


def levels_of(graph: Unified, root: Affine, depth: int) -> tuple[Levels, Levels]:
    """For every node used: its layer, and the highest layer on which its value must still be at hand."""
    heights, args = graph.heights, graph.args
    best = _latest(graph, root, depth, {})
    movable = [node for node, level in best[0].items() if level > heights[node] and len(args[node][1]) > 1]
    if not movable:
        return best
    caps: Levels = {}
    length = _chain_length(best)
    for node in sorted(movable):
        trial = _latest(graph, root, depth, {**caps, node: heights[node]})
        if _chain_length(trial) < length:
            best, length = trial, _chain_length(trial)
            caps[node] = heights[node]
    return best


def _latest(graph: Unified, root: Affine, depth: int, caps: Levels) -> tuple[Levels, Levels]:
    """Every node as high as its users and ``caps`` allow."""
    levels = {node: depth - 1 for node, _ in root[1]}
    tops = dict(levels)
    heights, args = graph.heights, graph.args
    # Nodes come after what they use, so walking backwards meets every user of a node before the node itself.
    for node in range(len(args) - 1, -1, -1):
        level = levels.get(node)
        if level is None:
            continue
        if heights[node] == 0:
            levels[node] = 0
            continue
        if caps and caps.get(node, level) < level:
            level = levels[node] = caps[node]
        for child, _ in args[node][1]:
            if levels.get(child, depth) >= level:
                levels[child] = level - 1
            if tops.get(child, -1) < level - 1:
                tops[child] = level - 1
    return levels, tops


def _chain_length(placed: tuple[Levels, Levels]) -> int:
    """How many id nodes the chains need (up to a constant that all placements share)."""
    return sum(placed[1].values()) - sum(placed[0].values())


def _check_columns(graph: Unified, n_features: int | None) -> None:
    if n_features is None:
        return
    for op, arg in zip(graph.ops, graph.args, strict=True):
        if op == "x" and arg[0] >= n_features:
            raise EncodingError(f"the formula uses column {int(arg[0])}, but there are only {n_features} columns")


def _layers(graph: Unified, root: Affine) -> list[list[Row]]:
    """Rows of every layer, bottom first, in no particular order."""
    heights = graph.heights
    depth = 1 + max([heights[node] for node, _ in root[1]], default=0)
    levels, tops = levels_of(graph, root, depth)
    names: list[list[tuple[int, bool]]] = [[] for _ in range(depth + 1)]  # (node, is it an id that carries it?)
    places: list[dict[int, int]] = [{} for _ in range(depth + 1)]
    for node, level in levels.items():
        if level == 0:
            places[0][node] = int(graph.args[node][0])
        else:
            places[level][node] = len(names[level])
            names[level].append((node, False))
        for chain in range(level + 1, tops[node] + 1):
            places[chain][node] = len(names[chain])
            names[chain].append((node, True))
    rows = []
    for level in range(1, depth):
        below = places[level - 1]
        layer: list[Row] = []
        for node, carried in names[level]:
            if carried:
                layer.append(("id", {below[node]: 1.0}, None))
            else:
                op = graph.ops[node]
                layer.append(_row(_NAMES.get(op, op), graph.args[node], below))
        rows.append(layer)
    rows.append([_row("id", root, places[depth - 1])])
    return rows


def _row(op: str, arg: Affine, below: dict[int, int]) -> Row:
    bias, terms = arg
    weights = {below[node]: weight for node, weight in terms}
    if not math.isfinite(sum(weights.values(), bias)):
        raise EncodingError("a constant of the formula's network is too large for a number; rescale the formula")
    return (op, weights, bias if bias or not terms else None)
