"""A formula as the prior reads it: n-ary sums and products, powers, functions, numbers and columns.

Quotients and roots are powers, signs are free factors, so that a formula costs the same however it is written.
It does not know prices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..symbolic.expr import Call, Const, Expr, Param, Var
from ..symbolic.rewrite.collect import terms_of
from ..symbolic.rewrite.simplify import simplify

ADD, MUL, POW, NUMBER, COLUMN, ROOT, EXPONENT = "add", "mul", "pow", "number", "column", "root", "exponent"


@dataclass(frozen=True)
class Node:
    """One symbol with what stands below it.  ``value`` is a number's value or a column's index; ``place`` says which
    number of the formula it is, in reading order."""

    symbol: str
    children: tuple[Node, ...] = ()
    value: float = 0.0
    place: int = -1

    def walk(self, parent: str = ROOT) -> Iterator[tuple[str, Node]]:
        """Every node with the symbol above it."""
        yield parent, self
        for position, child in enumerate(self.children):
            yield from child.walk(EXPONENT if self.symbol == POW and position == 1 else self.symbol)


@dataclass(frozen=True)
class Reading:
    """A formula as a tree, and as a form whose numbers are parameters in reading order."""

    tree: Node
    form: Expr
    values: tuple[float, ...]


def read(expr: Expr) -> Reading:
    """The simplified formula.  Every number but a factor of -1 has a place; parameters have the value nan."""
    values: list[float] = []

    def number(value: float) -> tuple[Node, Expr]:
        values.append(value)
        return Node(NUMBER, value=value, place=len(values) - 1), Param(len(values) - 1)

    def visit(node: Expr) -> tuple[Node, Expr]:
        if isinstance(node, Const):
            return number(node.value)
        if isinstance(node, Param):
            return number(math.nan)
        if isinstance(node, Var):
            return Node(COLUMN, value=float(node.index)), node
        assert isinstance(node, Call)
        if node.op == MUL:
            signed = [arg for arg in node.args if isinstance(arg, Const) and abs(arg.value) == 1.0]
            parts = [visit(arg) for arg in node.args if arg not in signed]
            tree = parts[0][0] if len(parts) == 1 else Node(MUL, _flat(MUL, [t for t, _ in parts]))
            return tree, Call(MUL, [*signed, *(form for _, form in parts)])
        parts = [visit(arg) for arg in node.args]
        children = [tree for tree, _ in parts]
        below = _flat(ADD, children) if node.op == ADD else tuple(children)
        return Node(node.op, below), Call(node.op, [form for _, form in parts])

    tree, form = visit(simplify(expr))
    return Reading(tree, form, tuple(values))


def _flat(symbol: str, children: list[Node]) -> tuple[Node, ...]:
    out: list[Node] = []
    for child in children:
        out += child.children if child.symbol == symbol else (child,)
    return tuple(out)


def spread(tree: Node) -> Node:
    """With powers of products as products of powers, which is the same where the inputs are positive; the tree itself
    where it has none."""
    below = tuple(map(spread, tree.children))
    if tree.symbol == POW and below[0].symbol == MUL and below[1].symbol == NUMBER:
        return Node(MUL, tuple(_power(child, below[1]) for child in below[0].children))
    if all(new is old for new, old in zip(below, tree.children, strict=True)):
        return tree
    return Node(tree.symbol, _flat(MUL, list(below)) if tree.symbol == MUL else below, tree.value, tree.place)


def _power(node: Node, exponent: Node) -> Node:
    if node.symbol == NUMBER:
        return node
    return Node(POW, (node.children[0] if node.symbol == POW else node, exponent))


def plane_places(tree: Node) -> tuple[int, ...]:
    """Places of the numbers of a sum that is linear in them, the constant first: a plane, a parabola, a + b*ln(x).

    Empty for a sum without a constant, or with a number inside a term, and for everything else.
    """
    if tree.symbol != ADD:
        return ()
    constants = [child.place for child in tree.children if child.symbol == NUMBER]
    factors: list[int] = []
    for term in tree.children:
        if term.symbol == NUMBER:
            continue
        numbers = [(parent, node) for parent, node in term.walk() if node.symbol == NUMBER]
        inner = [node.place for parent, node in numbers if not (parent == EXPONENT and node.value.is_integer())]
        own = [child.place for child in term.children if child.symbol == NUMBER] if term.symbol == MUL else []
        if inner != own:
            return ()
        factors += own
    return (*constants, *factors) if len(constants) == 1 and factors else ()


def is_plane(expr: Expr) -> bool:
    """Is it a sum of columns, each times a number?"""
    cores = [core for core in terms_of(simplify(expr)) if not isinstance(core, Const)]
    return bool(cores) and all(isinstance(core, Var) for core in cores)
