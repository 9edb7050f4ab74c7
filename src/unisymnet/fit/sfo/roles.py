"""What stands under an exponent says which exponents are likely: in a product mostly 1 and -1, alone anything but 1.

The costs are minus the logarithms of how often random functions (corpus/) have each exponent in each role, rounded.
Also the signs of columns: a merged constant has lost the one that made sqrt(-2*x0) real.  Fits nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from itertools import product as iterate_product

import numpy as np
from numpy.typing import NDArray

from ...symbolic.expr import Call, Expr, Param, children, evaluate, parts, product, rebuild, walk

Exponent = float | None  # None: continuous

_FACTOR = {1.0: 0.5, -1.0: 1.2, 2.0: 2.8, -2.0: 3.5, 0.5: 4.2, -0.5: 4.8, 3.0: 5.3, 4.0: 5.5, -3.0: 6.2, None: 6.0}
_ALONE = {-1.0: 0.8, 2.0: 1.3, 0.5: 1.7, -2.0: 3.4, -0.5: 3.5, 3.0: 4.2, 4.0: 4.6, None: 5.0, -3.0: 6.0, 1.0: 7.0}
_PRODUCT = {0.5: 0.3, -0.5: 1.3, None: 3.0, 1.0: 4.0, 2.0: 5.0, -1.0: 5.0, -2.0: 6.0}
_UNUSUAL = 7.0


def costs_of(
    skeleton: Expr, positions: Sequence[int], values: Sequence[Exponent], X: NDArray[np.float64]
) -> list[dict[Exponent, float]]:
    """For each exponent (a parameter's index) the values it may have and what each costs, in nats.

    Where the base changes its sign, only whole exponents are defined.
    """
    roles = _roles(skeleton)
    bases = _bases(skeleton)
    found = []
    for position in positions:
        costs = {value: roles[position].get(value, _UNUSUAL) for value in values}
        if position in bases and _sign(bases[position], X) == 0:
            costs = {v: cost for v, cost in costs.items() if v is not None and v == round(v)} or costs
        found.append(costs)
    return found


def drawn(skeleton: Expr, *, rng: np.random.Generator) -> dict[int, float]:
    """Exponents (by parameter's index) at random, each as often as random functions have it in its role."""
    found = {}
    for position, costs in _roles(skeleton).items():
        values = [value for value in costs if value is not None]
        chances = np.cumsum(np.exp([-costs[value] for value in values]))
        found[position] = values[int(np.searchsorted(chances, rng.random() * chances[-1], "right"))]
    return found


def facing_up(skeleton: Expr, X: NDArray[np.float64]) -> Expr:
    """Powers of what is negative on all rows as powers of its negative; the sign is another constant's affair."""

    def change(node: Expr) -> Expr:
        if _is_power(node) and _sign(children(node)[0], X) < 0:
            base, exponent = children(node)
            return Call("pow", (Call("neg", (base,)), exponent))
        return node

    return rebuild(skeleton, change)


def smooth_variants(skeleton: Expr, X: NDArray[np.float64], most: int) -> Iterator[tuple[Expr, dict[int, float]]]:
    """The skeleton with powers that are defined for either sign of their base, and what to add to these exponents.

    Of a base b that changes its sign, b*abs(b)**(c - 1) stands for the odd powers and abs(b)**c for the even ones.
    """
    unsure = [k for k, base in _bases(skeleton).items() if _sign(base, X) == 0]
    for odd in islice(iterate_product((True, False), repeat=len(unsure)), most if unsure else 0):
        is_odd = dict(zip(unsure, odd))

        def change(node: Expr, is_odd: dict[int, bool] = is_odd) -> Expr:
            if not _is_power(node):
                return node
            base, exponent = children(node)
            assert isinstance(exponent, Param)
            if exponent.index not in is_odd:
                return node
            power = Call("pow", (Call("abs", (base,)), exponent))
            return product([base, power]) if is_odd[exponent.index] else power

        yield rebuild(skeleton, change), {k: float(is_odd[k]) for k in unsure}


def _bases(skeleton: Expr) -> dict[int, Expr]:
    """What stands under each exponent."""
    powers = [node for node in walk(skeleton) if _is_power(node)]
    return {node.args[1].index: node.args[0] for node in reversed(powers)}  # type: ignore[attr-defined]


def _is_power(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.op == "pow" and isinstance(expr.args[1], Param)


def _roles(skeleton: Expr) -> dict[int, Mapping[Exponent, float]]:
    """The costs for each exponent: of a factor beside others, of a power alone, of a power of a product."""
    roles: dict[int, Mapping[Exponent, float]] = {}
    for node in walk(skeleton):
        factors = [factor for factor in parts(node, "mul") if not isinstance(factor, Param)]
        for factor in factors:
            if _is_power(factor):
                base, exponent = children(factor)
                assert isinstance(exponent, Param)
                alone = _PRODUCT if isinstance(base, Call) and base.op == "mul" else _ALONE
                roles[exponent.index] = _FACTOR if len(factors) > 1 and alone is _ALONE else alone
    return roles


def _sign(expr: Expr, X: NDArray[np.float64]) -> int:
    """Of what has no unknowns: 1 or -1 if all rows agree, 0 if not; 1 for what has unknowns."""
    if any(isinstance(node, Param) for node in walk(expr)):
        return 1
    values = evaluate(expr, X)
    if np.all(values <= 0.0):
        return -1
    return 0 if np.any(values < 0.0) else 1
