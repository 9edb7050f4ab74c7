"""How big a formula is as a UniSymNet, as an EQL-type network and as a symbolic tree (the paper's two theorems).

Both networks are layered by the same rules, chains of ``id`` included.  As in the theorems, a final ``id`` that only
passes one value on is not counted; ``Counts.label`` counts it, as the label does (ADR 1).  An EQL-type network has
unary activations, one of them (·)^k for any number k, and binary × and ÷; its products are built as in the
proof of Theorem 1: one layer of powers (``id`` for an exponent of one), then pairs.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from ..expr import Call, Expr
from .identify import identify, levels_of
from .structure import Structure
from .unified import Affine, Unified, summed


@dataclass(frozen=True, slots=True)
class Size:
    """Depth L and number of nodes N."""

    depth: int
    nodes: int

    @property
    def complexity(self) -> int:
        """C = L·N of the paper's statistical comparison."""
        return self.depth * self.nodes


@dataclass(frozen=True, slots=True)
class Counts:
    """One formula, three ways: ``unisymnet`` and ``eql`` without an idle final id, ``label`` with it, ``tree``."""

    unisymnet: Size
    eql: Size
    tree: Size
    label: Size


def counts(expr: Expr) -> Counts:
    """Depth and nodes of ``expr`` in each representation; EncodingError where a network cannot express it."""
    structure = identify(expr).structure
    return Counts(_of_structure(structure), eql_size(expr), tree_size(expr), Size(structure.depth, structure.n_nodes))


def tree_size(expr: Expr) -> Size:
    """The binary tree: edges from root to deepest leaf, operators plus operands.  Sums and products are balanced."""
    if not isinstance(expr, Call):
        return Size(0, 1)
    parts = [tree_size(a) for a in expr.args]
    nodes = sum(part.nodes for part in parts) + max(1, len(parts) - 1)
    depths = [part.depth for part in parts]
    if len(depths) == 1:
        return Size(depths[0] + 1, nodes)
    heapq.heapify(depths)
    while len(depths) > 1:  # joining the two shallowest first gives the shallowest tree
        heapq.heappop(depths)
        heapq.heapreplace(depths, 1 + depths[0])
    return Size(depths[0], nodes)


def eql_size(expr: Expr) -> Size:
    """The EQL-type network of ``expr``."""
    graph = Unified()
    root = graph.lower(expr)
    eql = _Eql(graph)
    return eql.size(eql.affine(root))


def _of_structure(structure: Structure) -> Size:
    idle = structure.depth > 1 and len(structure.inputs[-1][0]) == 1 and not structure.biases[-1][0]
    return Size(structure.depth - idle, structure.n_nodes - idle)


class _Eql:
    """A graph of EQL nodes.  Only what feeds what matters, so a binary node is stored with both its sums as one."""

    def __init__(self, source: Unified) -> None:
        self.source = source
        self.graph = Unified()
        self.nodes: dict[object, int] = {}
        self.images: dict[int, Affine] = {}

    def size(self, root: Affine) -> Size:
        depth = 1 + max([self.graph.heights[node] for node, _ in root[1]], default=0)
        levels, tops = levels_of(self.graph, root, depth)
        nodes = 1 + sum((level > 0) + tops[node] - level for node, level in levels.items())
        idle = depth > 1 and len(root[1]) == 1 and not root[0]
        return Size(depth - idle, nodes - idle)

    def affine(self, arg: Affine) -> Affine:
        return summed([((arg[0], ()), 1.0), *((self.image(node), weight) for node, weight in arg[1])])

    def image(self, node: int) -> Affine:
        found = self.images.get(node)
        if found is None:
            found = self.images[node] = self._image(self.source.ops[node], self.source.args[node])
        return found

    def _image(self, op: str, arg: Affine) -> Affine:
        if op == "x":
            return self.node("x", arg)
        if op == "abs":
            return self.node("abs", self.affine(self.source.args[arg[1][0][0]]))
        if op != "exp" or not self.source.has_log(arg[1]):
            return self.node(op, self.affine(arg))
        factors, rest = [], []
        for child, weight in arg[1]:
            if self.source.ops[child] == "ln":
                factors.append((self.affine(self.source.args[child]), weight))
            else:
                rest.append((child, weight))
        if rest:
            factors.append((self.node("exp", self.affine((0.0, tuple(rest)))), 1.0))
        return self.product(factors)

    def product(self, factors: Sequence[tuple[Affine, float]]) -> Affine:
        """A layer of powers, if there are any, then pairs until one is left; divisors come last."""
        powers = [abs(exponent) != 1.0 for _, exponent in factors]
        divisors = all(exponent < 0 for _, exponent in factors)
        items = []
        for i, (base, exponent) in enumerate(sorted(factors, key=lambda f: f[1] < 0)):
            inverted = divisors and i == 0  # something must stand above the line: (·)^-k
            divides = exponent < 0 and not inverted
            power = exponent if inverted else abs(exponent)
            if any(powers) or inverted:
                base = self.node("id" if power == 1.0 else f"^{power}", base)
            items.append((base, divides))
        while len(items) > 1:
            pairs = [self.pair(*items[at : at + 2]) for at in range(0, len(items) - 1, 2)]
            items = pairs + [(self.node("id", base), divides) for base, divides in items[len(pairs) * 2 :]]
        return items[0][0]

    def pair(self, a: tuple[Affine, bool], b: tuple[Affine, bool]) -> tuple[Affine, bool]:
        op = "×" if a[1] == b[1] else "÷"
        terms = sorted({node for part in (a[0], b[0]) for node, _ in part[1]})
        return self.node(op, (0.0, tuple((node, 1.0) for node in terms)), a[0], b[0]), a[1] and b[1]

    def node(self, op: str, arg: Affine, *parts: Affine) -> Affine:
        key = (op, *(parts or (arg,)))
        found = self.nodes.get(key)
        if found is None:
            found = self.nodes[key] = self.graph.fresh(op, arg)
        return (0.0, ((found, 1.0),))
