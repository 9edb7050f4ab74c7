"""Our own fast simplifier: ``simplify`` brings a formula into the canonical form of collect.py.

Flattens sums and products, folds constants, collects like terms and powers, and moves signs to the front.  It
never changes a value where the formula was defined (up to rounding) and is idempotent.  It does not expand
products of sums or know trigonometric identities; see sympy_bridge.py for slower and deeper work, and present.py
for the form a person likes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..expr import Call, Const, Expr, order_key
from ..operators import FUNCTIONS, OPERATORS
from .collect import ONE, checked, leads_negative, make_sum, negated
from .powers import make_abs, make_exp, make_power, make_product, raised
from .present import pretty

# Values at a number: those of the table, by the C library where that has the function.
FOLDS: dict[str, Callable[..., float]] = {
    **{op: getattr(math, op, OPERATORS[op].apply) for op in FUNCTIONS},
    "min": min,
    "max": max,
}


def simplify(expr: Expr, known: dict[Expr, Expr] | None = None) -> Expr:
    """The canonical form of ``expr``.  ``known`` remembers the forms of its parts, for formulas that share them."""
    return _canonical(expr, {} if known is None else known)


def present(expr: Expr) -> Expr:
    """``expr`` simplified and written the way a person likes to read it (see present.py)."""
    return pretty(simplify(expr))


def make_ln(arg: Expr) -> Expr:
    """``ln(arg)``: positive constants, exponentials and powers come out as terms."""
    if type(arg) is Const:
        return Const(math.log(arg.value)) if arg.value > 0.0 else Call("ln", (arg,))
    if type(arg) is not Call:
        return Call("ln", (arg,))
    if arg.op == "exp":
        return arg.args[0]
    if arg.op == "pow":
        base, exponent = arg.args
        if type(exponent) is Const:
            if exponent.value % 2.0 != 0.0:
                return make_sum([(exponent.value, make_ln(base))])
            if exponent.value < 0.0:
                return make_sum([(-1.0, Call("ln", (raised(base, -exponent.value),)))])
        elif type(base) is Const and base.value > 0.0:
            return make_sum([(math.log(base.value), exponent)])
    if arg.op == "mul":
        outside: list[tuple[float, Expr]] = []
        inside: list[tuple[Expr, float]] = []
        for factor in arg.args:
            if type(factor) is Const and factor.value not in (1.0, -1.0):
                outside.append((math.log(abs(factor.value)), ONE))
                inside.append((Const(math.copysign(1.0, factor.value)), 1.0))
            elif type(factor) is Call and factor.op == "exp":
                outside.append((1.0, factor.args[0]))
            else:
                inside.append((factor, 1.0))
        if outside:
            return make_sum([*outside, (1.0, make_ln(make_product(inside)))])
    return Call("ln", (arg,))


def make_function(op: str, arg: Expr) -> Expr:
    """``op(arg)`` for a function without a rule of its own; the sign of the argument comes out or vanishes."""
    if type(arg) is Const:
        try:
            return Const(checked(FOLDS[op](arg.value)))
        except (ValueError, OverflowError, KeyError):
            return Call(op, (arg,))
    if type(arg) is Call:
        row = OPERATORS[op]
        if row.undoes == arg.op:
            return arg.args[0]
        if row.parity == "even":
            arg = negated(arg) if leads_negative(arg) else arg
            return Call(op, arg.args if type(arg) is Call and arg.op == "abs" else (arg,))
        if row.parity == "odd" and leads_negative(arg):
            return make_sum([(-1.0, make_function(op, negated(arg)))])
    return Call(op, (arg,))


def make_choice(op: str, args: tuple[Expr, ...]) -> Expr:
    """``min`` or ``max`` of two: the order does not matter, and equal arguments leave no choice."""
    first, second = sorted(args, key=order_key)
    if type(first) is Const and type(second) is Const:
        return Const(FOLDS[op](first.value, second.value))
    return first if first == second else Call(op, (first, second))


def _canonical(expr: Expr, known: dict[Expr, Expr]) -> Expr:
    if type(expr) is not Call:
        return expr
    done = known.get(expr)
    if done is None:
        args = tuple([_canonical(a, known) for a in expr.args])
        rule = _RULES.get(expr.op)
        try:
            done = make_function(expr.op, args[0]) if rule is None else rule(args)
        except (ArithmeticError, ValueError):  # Unfoldable, or a number beyond floating point in some other way
            done = Call(expr.op, args)
        known[expr] = known[done] = done
    return done


_RULES: dict[str, Callable[[tuple[Expr, ...]], Expr]] = {
    "add": lambda args: make_sum([(1.0, a) for a in args]),
    "sub": lambda args: make_sum([(1.0, args[0]), (-1.0, args[1])]),
    "neg": lambda args: make_product([(Const(-1.0), 1.0), (args[0], 1.0)]),
    "mul": lambda args: make_product([(a, 1.0) for a in args]),
    "div": lambda args: make_product([(args[0], 1.0), (args[1], -1.0)]),
    "inv": lambda args: raised(args[0], -1.0),
    "square": lambda args: raised(args[0], 2.0),
    "sqrt": lambda args: raised(args[0], 0.5),
    "pow": lambda args: make_power(args[0], args[1]),
    "exp": lambda args: make_exp(args[0]),
    "ln": lambda args: make_ln(args[0]),
    "abs": lambda args: make_abs(args[0]),
    "min": lambda args: make_choice("min", args),
    "max": lambda args: make_choice("max", args),
}
