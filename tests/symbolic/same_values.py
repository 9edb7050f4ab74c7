"""Do two formulas have the same values?  Judged in extended precision on points where the question is fair.

Left out are points where the first formula is undefined or so ill-conditioned that its own value is noise, where the
base of a variable power is not positive (x**y at whole y is beyond Ψ), and where sinh and tanh, which Ψ writes as
sums of exponentials, cancel or saturate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unisymnet.symbolic.expr import Call, Const, Expr, Param, Var, walk
from unisymnet.symbolic.operators import OPERATORS

# What identify can express.
LIBRARY = tuple("add sub mul div neg pow sin cos exp ln sqrt square inv abs sinh cosh tanh".split())

_JITTER = 1e-12


def values(expr: Expr, X: np.ndarray, params: Sequence[float] = (), *, jitter: float = 0.0) -> dict[Expr, np.ndarray]:
    """Extended-precision values of every part of ``expr``; ``jitter`` disturbs all but whole numbers."""
    known: dict[Expr, np.ndarray] = {}
    signs = np.resize([1.0, -1.0, 0.5], X.shape[1])
    Z = X.astype(np.longdouble) * (1 + jitter * signs)
    with np.errstate(all="ignore"):
        for node in walk(expr):
            if node in known:
                continue
            if isinstance(node, Call):
                known[node] = OPERATORS[node.op].apply(*(known[a] for a in node.args))
            elif isinstance(node, Var):
                known[node] = Z[:, node.index]
            else:
                assert isinstance(node, Const | Param)
                number = node.value if isinstance(node, Const) else params[node.index]
                bent = 0.0 if number % 1 == 0 and abs(number) < 1e6 else jitter * np.cos(len(known))
                known[node] = np.full(len(X), np.longdouble(number) * (1 + bent))
    return known


def fair_points(expr: Expr, X: np.ndarray) -> np.ndarray:
    """Rows of X on which the value of ``expr`` means something."""
    known, disturbed = values(expr, X), values(expr, X, jitter=_JITTER)
    result = known[expr]
    with np.errstate(all="ignore"):
        fair = np.isfinite(result) & (np.abs(result) < 1e250) & (np.abs(result) > 1e-250)
        fair &= np.abs(result - disturbed[expr]) <= 1e4 * _JITTER * np.abs(result)
        for node in known:
            if isinstance(node, Call) and node.op == "pow" and not isinstance(node.args[1], Const):
                base, exponent = known[node.args[0]], known[node.args[1]]
                fair &= (base > 0) & np.isfinite(base) & np.isfinite(exponent)  # 1**nan is 1 in numpy
            if isinstance(node, Call) and node.op in ("add", "sub"):
                # What cancels to the last digits is rounding, also where a saturated function hides it from the jitter.
                largest = np.max([np.abs(known[a]) for a in node.args], axis=0)
                fair &= np.abs(known[node]) > 1e-6 * largest
            if isinstance(node, Call) and node.op in ("sinh", "cosh", "tanh"):
                size = np.abs(known[node.args[0]])
                fair &= (size < 300) & ((size > 1e-3) | (node.op == "cosh"))
    return fair


def assert_same_values(expr: Expr, other: Expr, X: np.ndarray, params: Sequence[float] = ()) -> int:
    """``other`` is defined and equal to 1e-9 relative on all fair points; returns their number."""
    fair = fair_points(expr, X)
    want, got = values(expr, X)[expr][fair], values(other, X, params)[other][fair]
    with np.errstate(all="ignore"):
        wrong = ~(np.abs(want - got) <= 1e-9 * np.abs(want))
    assert not wrong.any(), f"{expr}  is not  {other}  at {X[fair][wrong][:3]}: {want[wrong][:3]}, {got[wrong][:3]}"
    return int(fair.sum())
