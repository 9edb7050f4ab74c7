"""Skeletons that somebody holds for likely, filled with numbers: the first people of an island, and units for all.

Knows no genomes and no data.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...fit.sfo.roles import drawn
from ...symbolic.expr import Call, Const, Expr, Param, size, variables, walk

LARGEST_PART = 20  # nodes
MOST_PARTS = 256


def parts(exprs: Iterable[Expr]) -> list[Expr]:
    """Parts of these formulas that may be units, each once."""
    found = dict.fromkeys(part for expr in exprs for part in walk(expr) if _is_unit(part))
    return list(found)[:MOST_PARTS]


def _is_unit(part: Expr) -> bool:
    return isinstance(part, Call) and size(part) <= LARGEST_PART and bool(variables(part))


def instance(skeleton: Expr, *, rng: np.random.Generator) -> Expr:
    """The skeleton with random numbers for its parameters, and exponents that are likely at their place."""
    exponents = drawn(skeleton, rng=rng)

    def fill(node: Expr) -> Expr:
        if isinstance(node, Param):
            return _number(rng)
        if not isinstance(node, Call):
            return node
        if node.op == "pow" and isinstance(node.args[1], Param):
            base, power = fill(node.args[0]), exponents.get(node.args[1].index, 1.0)
            return base if power == 1.0 else base**power
        return Call(node.op, [fill(child) for child in node.args])

    return fill(skeleton)


def _number(rng: np.random.Generator) -> Const:
    """A start value: the sign is even odds, the size log-uniform around 1."""
    return Const(float(rng.choice((-1.0, 1.0)) * np.exp(rng.normal(0.0, 1.0))))
