"""Ψ and Ψ⁻¹ on formulas: products, quotients, powers and abs as nested ln and exp, and back.

``unify`` writes a formula with weighted sums, sin, cos, exp and ln only.  Its result is a *notation*: exp(ln x0 +
ln x1) stands for x0*x1 also where x0 is negative, and ln(exp(x0)) for abs(x0) (ADR 4); evaluate ``restore`` of it.
``restore(unify(e))`` has the values of ``e`` wherever ``e`` has one.  Knows no layers (identify.py).
"""

from __future__ import annotations

from ...errors import EncodingError
from ..expr import Call, Const, Expr, Var, product, total
from .reading import Numbers, read
from .unified import Affine, Unified, scaled, summed


def unify(expr: Expr) -> Expr:
    """Ψ: ``expr`` over weighted sums, sin, cos, exp and ln; EncodingError if that is impossible (asin, tan, …)."""
    graph = Unified()
    root = graph.lower(expr)
    written: list[Expr] = []
    for op, arg in zip(graph.ops, graph.args, strict=True):
        if op == "x":
            written.append(Var(int(arg[0])))
        else:
            written.append(Call("ln" if op == "abs" else op, (_sum(arg, written),)))
    return _sum(root, written)


def restore(expr: Expr) -> Expr:
    """Ψ⁻¹: exp(ln …) becomes products and powers, ln(exp …) becomes abs; the rest stays."""
    graph = Unified()
    return read(graph, _lift(expr, graph), Numbers())


def _sum(arg: Affine, written: list[Expr]) -> Expr:
    bias, terms = arg
    parts = [product(([] if w == 1.0 else [Const(w)]) + [written[node]]) for node, w in terms]
    return total([*parts, Const(bias)] if bias or not parts else parts)


def _lift(expr: Expr, graph: Unified) -> Affine:
    """The graph of a formula that is already unified, node by node and without any rule."""
    if isinstance(expr, Const):
        return (expr.value, ())
    if isinstance(expr, Var):
        return (0.0, ((graph.node("x", (float(expr.index), ())), 1.0),))
    if not isinstance(expr, Call):
        raise EncodingError(f"the formula has a free constant {expr}; bind its constants to numbers first")
    args = [_lift(a, graph) for a in expr.args]
    if expr.op == "add":
        return summed([(a, 1.0) for a in args])
    if expr.op == "mul" and sum(bool(terms) for _, terms in args) <= 1:
        args.sort(key=lambda a: not a[1])  # the one factor that is no number comes first
        for number, _ in args[1:]:
            args[0] = scaled(args[0], number)
        return args[0]
    if expr.op not in ("sin", "cos", "exp", "ln"):
        raise EncodingError(f"{expr.op} in {expr} does not belong to the unified form; call unify first")
    # A pair with a weight is no mark of `unify`, and stays as it is.
    weighted = len(args[0][1]) == 1 and args[0][1][0][1] != 1.0
    return (0.0, ((graph.node(expr.op if weighted else graph.tag(expr.op, args[0]), args[0]), 1.0),))
