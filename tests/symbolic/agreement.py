"""Do two formulas agree wherever the first one is defined and its value is more than rounding noise?"""

from __future__ import annotations

from typing import Any

import numpy as np

from unisymnet.symbolic.expr import Call, Const, Expr, Var, evaluate, walk
from unisymnet.symbolic.operators import OPERATORS

_NOISE = 1e-13
_PRODUCTS = ("pow", "mul", "div", "exp", "inv", "square")


def defined_rows(expr: Expr, X: np.ndarray) -> np.ndarray:
    """Rows on which ``expr`` and all its parts are finite, far from overflow and underflow, and well-conditioned.

    Conditioning is estimated by evaluating with every intermediate result disturbed in its 13th digit.
    """
    plain = _values(expr, X, noise=0.0)
    fair = np.ones(len(X), dtype=bool)
    with np.errstate(all="ignore"):
        for node, value in plain.items():
            size = np.abs(value)
            fair &= np.isfinite(size) & (size < 1e100) & ((size > 1e-100) | (size == 0.0))
            if isinstance(node, Call) and node.op in _PRODUCTS:  # a zero made of non-zeros is an underflow
                fair &= (value != 0.0) | np.any([plain[a] == 0.0 for a in node.args], axis=0)
        for seed in range(3):
            moved = np.abs(_values(expr, X, noise=_NOISE, seed=seed)[expr] - plain[expr])
            fair &= moved <= 1e-10 * np.abs(plain[expr])
    return fair


def assert_agree(before: Expr, after: Expr, X: np.ndarray, rel: float = 1e-9) -> int:
    """Fail if ``after`` differs from ``before``; the number of rows on which they could be compared."""
    fair = defined_rows(before, X)
    old, new = evaluate(before, X), evaluate(after, X)
    with np.errstate(all="ignore"):
        wrong = fair & ~(np.abs(new - old) <= rel * np.abs(old))
    assert not wrong.any(), (
        f"{before}  ->  {after}\nat {X[wrong][0]}: {old[wrong][0]} became {new[wrong][0]} ({wrong.sum()} rows)"
    )
    return int(fair.sum())


def _values(expr: Expr, X: np.ndarray, *, noise: float, seed: int = 0) -> dict[Expr, Any]:
    rng = np.random.default_rng(seed)
    known: dict[Expr, Any] = {}
    with np.errstate(all="ignore"):
        for node in walk(expr):
            if node in known:
                continue
            if isinstance(node, Call):
                value = OPERATORS[node.op].apply(*(known[a] for a in node.args))
            elif isinstance(node, Var):
                value = X[:, node.index]
            else:
                assert isinstance(node, Const)
                known[node] = np.full(len(X), node.value)  # a disturbed exponent would be another formula
                continue
            known[node] = value * (1.0 + noise * rng.standard_normal(len(X))) if noise else value
    return known
