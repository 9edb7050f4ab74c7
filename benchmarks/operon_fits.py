"""pyoperon's Levenberg-Marquardt on the tasks of fits.py, for comparison; needs the ``bench`` extra.

Its wheel exposes the optimiser for trees built node by node.  It computes in single precision, so the constants found
are judged by our own evaluation in double precision.
"""

from __future__ import annotations

import numpy as np
import pyoperon
from numpy.typing import NDArray

from unisymnet.symbolic.expr import Call, Const, Expr, Param, Var, evaluate

Floats = NDArray[np.float64]
_UNARY = {"exp": "Exp", "ln": "Log", "sin": "Sin", "cos": "Cos", "sqrt": "Sqrt", "square": "Square"}
_BINARY = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div"}


def _postfix(expr: Expr, start: Floats, hashes: list[int], order: list[int]) -> list[pyoperon.Node]:
    """Nodes in pyoperon's order, the right argument before the left; ``order`` collects the unknowns as met."""
    node = pyoperon.Node
    if isinstance(expr, Var):
        leaf = node.Variable(1.0)
        leaf.HashValue = leaf.CalculatedHashValue = hashes[expr.index]
        leaf.Optimize = False
        return [leaf]
    if isinstance(expr, Const | Param):
        leaf = node.Constant(expr.value if isinstance(expr, Const) else float(start[expr.index]))
        leaf.Optimize = isinstance(expr, Param)
        if isinstance(expr, Param):
            order.append(expr.index)
        return [leaf]
    assert isinstance(expr, Call)
    if expr.op == "neg":
        return _postfix(Call("sub", (Const(0.0), expr.args[0])), start, hashes, order)
    if expr.op == "inv":
        return _postfix(Call("div", (Const(1.0), expr.args[0])), start, hashes, order)
    if expr.op == "abs":
        return _postfix(Call("sqrt", (Call("square", expr.args),)), start, hashes, order)
    if expr.op == "pow":
        left, right = expr.args
        return [*_postfix(right, start, hashes, order), *_postfix(left, start, hashes, order), node.Pow()]
    if expr.op in _UNARY:
        return [*_postfix(expr.args[0], start, hashes, order), getattr(node, _UNARY[expr.op])()]
    nodes = _postfix(expr.args[-1], start, hashes, order)
    for argument in reversed(expr.args[:-1]):
        nodes += [*_postfix(argument, start, hashes, order), getattr(node, _BINARY[expr.op])()]
    return nodes


def fit_operon(expr: Expr, X: Floats, y: Floats, starts: Floats, goal: float) -> float:
    """Best mean square error over the starts; stops at the first that reaches ``goal``."""
    data = pyoperon.Dataset(np.asfortranarray(np.column_stack([X, y])))
    problem = pyoperon.Problem(data)
    problem.TrainingRange, problem.TestRange = pyoperon.Range(0, len(y)), pyoperon.Range(0, 1)
    problem.Target = list(data.Variables)[-1]
    table = pyoperon.DispatchTable()
    optimiser = pyoperon.LMOptimizer(table, problem, max_iter=60)
    fit, rng, best = pyoperon.CoefficientOptimizer(optimiser), pyoperon.RandomGenerator(1), np.inf
    for start in starts:
        order: list[int] = []
        tree = pyoperon.Tree(_postfix(expr, start, data.VariableHashes, order))
        tree.UpdateNodes()
        if tree.CoefficientsCount != len(start):
            return np.inf  # an unknown that occurs twice cannot be tied
        found, _ = fit(rng, tree)
        params = np.empty(len(start))
        params[order] = found.GetCoefficients()
        loss = float(np.mean((evaluate(expr, X, params) - y) ** 2))
        best = min(best, loss) if np.isfinite(loss) else best
        if best <= goal:
            break
    return best
