"""Write a formula with the operators that a problem permits.

Powers, quotients and differences have several spellings; a stage builds the plainest one and this file
replaces what the user has not allowed.  It changes no value.
"""

from __future__ import annotations

from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, call, product, rebuild, walk

__all__ = ["spell"]

MAX_FACTORS = 9  # the longest product that stands for a whole power


def spell(expr: Expr, problem: Problem) -> Expr | None:
    """The same formula in permitted operators, or None if there is no such spelling here."""
    if not problem.operators:
        return expr
    spelled = rebuild(expr, lambda node: _permitted(node, problem))
    bad = any(isinstance(node, Call) and not problem.allows(node.op) for node in walk(spelled))
    return None if bad else spelled


def _permitted(node: Expr, problem: Problem) -> Expr:
    if not isinstance(node, Call) or problem.allows(node.op):
        return node
    a = node.args[0]
    if node.op == "neg":
        return Const(-a.value) if isinstance(a, Const) else call("mul", -1.0, a)
    if node.op == "sub":
        b = node.args[1]
        return call("add", a, Const(-b.value) if isinstance(b, Const) else call("mul", -1.0, b))
    if node.op == "div":
        return _quotient(a, node.args[1], problem)
    if node.op == "sqrt" and problem.allows("pow"):
        return call("pow", a, 0.5)
    if node.op == "square":
        return _power(a, 2.0, problem)
    if node.op == "inv":
        return _quotient(Const(1.0), a, problem)
    if node.op == "pow" and isinstance(node.args[1], Const):
        return _power(a, node.args[1].value, problem)
    return node


def _quotient(a: Expr, b: Expr, problem: Problem) -> Expr:
    if problem.allows("div"):
        return call("div", a, b)
    if isinstance(b, Const):
        below: Expr = Const(1.0 / b.value) if b.value else b
    else:
        below = call("inv", b) if problem.allows("inv") else call("pow", b, -1.0)
    return below if a == Const(1.0) else call("mul", a, below)


def _power(base: Expr, exponent: float, problem: Problem) -> Expr:
    """base**exponent without ``pow``: roots, squares and repeated factors."""
    if problem.allows("pow"):
        return call("pow", base, exponent)
    if exponent < 0:
        return _quotient(Const(1.0), _power(base, -exponent, problem), problem)
    whole, rest = divmod(exponent, 1.0)
    if whole > MAX_FACTORS or rest not in (0.0, 0.5) or (rest and not problem.allows("sqrt")):
        return call("pow", base, exponent)
    factors: list[Expr] = [base] * int(whole)
    if problem.allows("square") and whole >= 2:
        factors = [call("square", base)] * (int(whole) // 2) + [base] * (int(whole) % 2)
    if rest:
        factors.append(call("sqrt", base))
    return product(factors)
