"""Which numbers of a formula are free: ``free_constants`` makes them parameters, ``merge_params`` drops redundant ones.

c0*(c1*x + c2) has three parameters but only two degrees of freedom, so a fit of it meets a singular Jacobian.
Merging (merge.py) rewrites it as c0*x + c1.  Nothing here knows data or fits anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .expr import Call, Const, Expr, Param, n_params, rebuild, walk
from .merge import Merger
from .operators import OPERATORS


def free_constants(expr: Expr, *, exponents: bool = False) -> tuple[Expr, tuple[float, ...]]:
    """Every number of ``expr`` as a parameter, redundant ones merged, and the values that give ``expr`` back.

    Numbers that stand alone as an exponent stay fixed unless ``exponents``; factors 1 and -1 are signs, not
    constants, and stay fixed too.  Parts made of numbers only count as one number.  Parameters that ``expr`` has
    already are kept and start at 1.
    """
    with np.errstate(all="ignore"):
        folded = rebuild(expr, _folded)
    return merge_values(*numbered(folded, [1.0] * n_params(expr), exponents=exponents))


def numbered(expr: Expr, known: Sequence[float] = (), *, exponents: bool = False) -> tuple[Expr, list[float]]:
    """``free_constants`` without the merging; ``known`` are the values of the parameters there are."""
    values = list(known)

    def visit(node: Expr, factor: bool = False) -> Expr:
        if isinstance(node, Const):
            if factor and abs(node.value) == 1.0:
                return node
            values.append(node.value)
            return Param(len(values) - 1)
        if not isinstance(node, Call):
            return node
        if node.op == "pow" and not exponents and isinstance(node.args[1], Const):
            return Call("pow", (visit(node.args[0]), node.args[1]))
        return Call(node.op, [visit(a, node.op in ("mul", "div")) for a in node.args])

    return visit(expr), values


def moved_params(expr: Expr, by: int) -> Expr:
    """Parameter c(i + by) in place of every ci."""
    return rebuild(expr, lambda node: Param(node.index + by) if isinstance(node, Param) else node)


def merge_params(expr: Expr) -> Expr:
    """The parameters of ``expr`` merged and numbered in reading order; numbers stay as they are."""
    return merge_values(expr, None)[0]


def merge_values(expr: Expr, values: Sequence[float] | None) -> tuple[Expr, tuple[float, ...]]:
    """``merge_params`` together with the values of the new parameters that keep the function the same.

    Without ``values`` every parameter counts as 1.
    """
    merger = Merger(expr, values)
    merged = merger.join(merger.terms(expr))
    numbers: dict[int, int] = {}
    for node in walk(merged):
        if isinstance(node, Param):
            numbers.setdefault(node.index, len(numbers))
    result = rebuild(merged, lambda node: Param(numbers[node.index]) if isinstance(node, Param) else node)
    return result, tuple(merger.values[old] for old in numbers)


def _folded(node: Expr) -> Expr:
    """A call of numbers as a number, if that is finite."""
    if isinstance(node, Call) and all(isinstance(a, Const) for a in node.args):
        value = float(OPERATORS[node.op].apply(*(a.value for a in node.args if isinstance(a, Const))))
        return Const(value) if math.isfinite(value) else node
    return node
