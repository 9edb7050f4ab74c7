"""Formulas of some functions of a template in plainer words, where the functions that are still smooth allow it.

In f + g only the sum is known, and a constant may belong to either; in f*g a factor.  A formula that was fitted to
values known to a few digits has constants with as many.  Without such a constant or factor, and with round numbers, a
formula may be exact, and then the values of the other functions are.  Does not search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...arrays import Floats
from ...symbolic.expr import Call, Const, Expr, product, rebuild, total
from .smooth import Smooth, refitted

Rows = tuple[Floats, Floats, Floats]

AS_GOOD, AS_GOOD_NOISY = 1.5, 1.02  # times the error of the smooth functions
DIGITS = 3  # of round numbers
MAX_TERMS = 8


def simplified(smooth: Smooth, found: Mapping[str, Expr], rows: Rows) -> dict[str, Expr]:
    """Those of the formulas with which all rows are as well explained as with the smooth function, spelled plainly.

    Under noise many round numbers are as good; there only a constant that is added may go.
    """
    plain: dict[str, Expr] = {}
    limit = (AS_GOOD if smooth.clean else AS_GOOD_NOISY) * smooth.error
    for name, expr in found.items():
        for tried in (*(spellings(expr) if smooth.clean else without_constant(expr)), expr):
            fit = refitted(smooth, *rows, plain | {name: tried})
            if fit is not None and fit.error <= limit:
                plain[name] = tried
                break
    return plain


def without_constant(expr: Expr) -> Iterator[Expr]:
    terms = expr.args if isinstance(expr, Call) and expr.op == "add" else ()
    rest = [term for term in terms if not isinstance(term, Const)]
    if 0 < len(rest) < len(terms):
        yield total(rest)


def spellings(expr: Expr) -> Iterator[Expr]:
    """The plainest first: without an added constant, without a factor, with round numbers."""
    terms = list(expr.args) if isinstance(expr, Call) and expr.op == "add" else [expr]
    if len(terms) > MAX_TERMS:
        return
    rest = [term for term in terms if not isinstance(term, Const)]
    seen: set[Expr] = {Const(0.0)}
    for chosen in (rest, terms):
        for scaled in (_monic(chosen), total(chosen)):
            tried = rebuild(scaled, _round)
            if tried not in seen:
                seen.add(tried)
                yield tried
    yield from (tried for tried in without_constant(expr) if tried not in seen)


def _monic(terms: list[Expr]) -> Expr:
    """The sum divided by the factor of its first term."""
    number = _factor(terms[0]) if terms else 0.0
    if number in (0.0, 1.0):
        return total(terms)
    return total([_divided(term, number) for term in terms])


def _factor(term: Expr) -> float:
    if isinstance(term, Call) and term.op in ("mul", "div"):
        return next((arg.value for arg in term.args[:1] if isinstance(arg, Const)), 1.0)
    return 1.0


def _divided(term: Expr, number: float) -> Expr:
    if isinstance(term, Const):
        return Const(term.value / number)
    if isinstance(term, Call) and term.op in ("mul", "div") and isinstance(term.args[0], Const):
        first = term.args[0].value / number
        if term.op == "mul":
            return product([*([] if abs(first - 1.0) < 1e-12 else [Const(first)]), *term.args[1:]])
        return Const(first) / term.args[1]
    return product([Const(1.0 / number), term])


def _round(node: Expr) -> Expr:
    return Const(float(f"{node.value:.{DIGITS}g}")) if isinstance(node, Const) else node
