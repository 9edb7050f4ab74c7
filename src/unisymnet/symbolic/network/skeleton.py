"""Φ: network structure to functional skeleton, a formula with free constants.

The forward equations are written out with one symbol per open connection and bias; id nodes vanish into the sums
they feed; Ψ⁻¹ (reading.py) turns exp∘ln and ln∘exp pairs back into products, powers and abs and merges constants of
one role: c0*(c1*x0 + c2) becomes c0*x0 + c1, exp(ln x0 + ln x1) becomes c0*x0**c1*x1**c2.  A node used twice keeps its
constants: the same parameter then stands in two places.  Does not know how constants are fitted (fit/).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..expr import Call, Expr, Param, rebuild, walk
from .reading import Numbers, read
from .structure import Network, Row, Structure
from .unified import Affine, Unified, summed


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A formula whose constants are parameters c0, c1, … numbered in reading order.

    ``exponents`` are the indices of those that stand alone as the exponent of a power.
    """

    expr: Expr
    n_params: int
    exponents: tuple[int, ...]

    def __str__(self) -> str:
        return str(self.expr)


def to_skeleton(structure: Structure) -> Skeleton:
    """Φ(S).  Signs that a merged constant would have carried are taken as positive: sqrt(c*x0) is c0*x0**c1."""
    rows = [
        [
            (op, dict.fromkeys(sources, 1.0), 1.0 if biased else None)
            for op, sources, biased in zip(ops, inputs, biases, strict=True)
        ]
        for ops, inputs, biases in zip(structure.ops, structure.inputs, structure.biases, strict=True)
    ]
    return _skeleton(rows)[0]


def network_to_skeleton(network: Network) -> tuple[Skeleton, tuple[float, ...]]:
    """The skeleton of a network and the values of its parameters.

    It is ``to_skeleton(network.structure)`` unless the numbers call for another form of it: sqrt(-x0) needs its
    sign, exp(x1*ln(x0)**2) is no x0**x1, and a weight of zero drops a term.
    """
    return _skeleton(network.rows)


def network_to_expr(network: Network) -> Expr:
    """The formula that a network stands for, with its numbers."""
    graph = Unified()
    return read(graph, _flat(graph, network.rows), Numbers())


class _Parameters:
    """The scribe that writes every number as a new parameter and remembers its value."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def weight(self, value: float) -> Expr:
        self.values.append(value)
        return Param(len(self.values) - 1)

    bias = weight

    def power(self, base: Expr, exponent: float) -> Expr:
        return Call("pow", (base, self.weight(exponent)))


def _skeleton(layers: Sequence[Sequence[Row]]) -> tuple[Skeleton, tuple[float, ...]]:
    graph = Unified()
    scribe = _Parameters()
    expr = read(graph, _flat(graph, layers), scribe)
    found = dict.fromkeys(node.index for node in walk(expr) if isinstance(node, Param))
    places = {old: new for new, old in enumerate(found)}
    expr = rebuild(expr, lambda node: Param(places[node.index]) if isinstance(node, Param) else node)
    exponents = {
        node.args[1].index
        for node in walk(expr)
        if isinstance(node, Call) and node.op == "pow" and isinstance(node.args[1], Param)
    }
    return Skeleton(expr, len(places), tuple(sorted(exponents))), tuple(scribe.values[old] for old in found)


def _flat(graph: Unified, layers: Sequence[Sequence[Row]]) -> Affine:
    """The network as a graph without layers and id nodes; nodes that merely look alike stay apart."""
    below: dict[int, Affine] = {}
    for at, layer in enumerate(layers):
        if at == 0:
            used = sorted({j for _, weights, _ in layer for j in weights})
            below = {j: (0.0, ((graph.fresh("x", (float(j), ())), 1.0),)) for j in used}
        values: dict[int, Affine] = {}
        for i, (op, weights, bias) in enumerate(layer):
            arg = summed([((bias or 0.0, ()), 1.0), *((below[j], w) for j, w in weights.items())])
            values[i] = arg if op == "id" else (0.0, ((graph.fresh(graph.tag(op, arg), arg), 1.0),))
        below = values
    return below[0]
