"""Where a formula is defined, in words, from the domains in the operator table.

A condition that always holds (exp(x) > 0, x**2 + 1 > 0) is left out. Does not look at data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..symbolic.expr import Call, Const, Expr, product, variables, walk
from ..symbolic.operators import OPERATORS
from ..symbolic.text import to_text

DIGITS = 6


def domain_notes(expr: Expr, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Conditions on the columns under which the formula is a finite number: `("v > 0", "m != 0")`."""
    notes: dict[str, None] = {}
    for node in walk(expr):
        if isinstance(node, Call) and OPERATORS[node.op].domain != "all":
            notes |= dict.fromkeys(_conditions(node, names))
    return tuple(_merged(notes))


def _merged(notes: Iterable[str]) -> Iterator[str]:
    """a > 0 makes a != 0 and a >= 0 superfluous, and those two together are a > 0."""
    signs: dict[str, set[str]] = {}
    for note in notes:
        subject, sign, bound = note.rsplit(" ", 2)
        signs.setdefault(subject, set()).add(f"{sign} {bound}")
    for subject, found in signs.items():
        if "> 0" in found or {">= 0", "!= 0"} <= found:
            found = found - {">= 0", "!= 0"} | {"> 0"}
        yield from (f"{subject} {ending}" for ending in sorted(found))


def positive(expr: Expr) -> bool:
    """Is the value surely > 0 wherever it is defined?  False means: not known."""
    if isinstance(expr, Const):
        return expr.value > 0.0
    if not isinstance(expr, Call):
        return False
    if expr.op in ("exp", "cosh"):
        return True
    if expr.op == "add":
        return all(map(nonnegative, expr.args)) and any(map(positive, expr.args))
    if expr.op in ("mul", "div", "inv", "sqrt", "square", "abs"):
        return all(map(positive, expr.args))
    return expr.op == "pow" and positive(expr.args[0])


def nonnegative(expr: Expr) -> bool:
    """Is the value surely >= 0 wherever it is defined?  False means: not known."""
    if positive(expr) or (isinstance(expr, Const) and expr.value == 0.0):
        return True
    if not isinstance(expr, Call):
        return False
    if expr.op in ("square", "abs", "sqrt", "acos"):
        return True
    if expr.op == "pow":
        exponent = expr.args[1]
        # A fractional power exists for a positive base only, an even one is a square.
        if isinstance(exponent, Const) and exponent.value % 2.0 != 1.0:
            return True
        return nonnegative(expr.args[0])
    if expr.op == "mul" and len(expr.args) == 2 and expr.args[0] == expr.args[1]:
        return True
    return expr.op in ("add", "mul", "div", "inv") and all(map(nonnegative, expr.args))


def _conditions(node: Call, names: Sequence[str] | None) -> tuple[str, ...]:
    if node.op == "div":
        return _sign(node.args[1], "!=", names)
    if node.op == "inv":
        return _sign(node.args[0], "!=", names)
    if node.op == "pow":
        return _power(node, names)
    argument = node.args[0]
    if not variables(argument):
        return ()
    if node.op in ("ln", "sqrt"):
        return _sign(argument, ">" if node.op == "ln" else ">=", names)
    shown = to_text(argument, names, DIGITS)
    return (OPERATORS[node.op].domain.replace("argument", shown),)


def _power(node: Call, names: Sequence[str] | None) -> tuple[str, ...]:
    base, exponent = node.args
    if not isinstance(exponent, Const):
        return _sign(base, ">", names)
    if exponent.value % 1.0 == 0.0:
        return _sign(base, "!=", names) if exponent.value < 0.0 else ()
    return _sign(base, ">=" if exponent.value > 0.0 else ">", names)


def _sign(subject: Expr, sign: str, names: Sequence[str] | None) -> tuple[str, ...]:
    """`subject sign 0` with positive factors left out, or nothing where it always holds."""
    if not variables(subject) or positive(subject) or (sign == ">=" and nonnegative(subject)):
        return ()
    if isinstance(subject, Call) and subject.op == "mul":
        subject = product([a for a in subject.args if not positive(a)])
    if sign == "!=" and isinstance(subject, Call):
        if subject.op in ("square", "sqrt", "abs", "neg"):
            return _sign(subject.args[0], sign, names)
        if subject.op == "pow" and isinstance(subject.args[1], Const):
            return _sign(subject.args[0], sign, names)
        if subject.op == "mul":
            return tuple(note for factor in subject.args for note in _sign(factor, sign, names))
    return (f"{to_text(subject, names, DIGITS)} {sign} 0",)
