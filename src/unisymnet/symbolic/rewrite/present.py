"""The form a person likes: ``a - b``, ``a/b``, ``sqrt(x)``, falling powers, coefficients first.

Takes the canonical form of collect.py (simplify.py does that for the caller) and changes no value.  A constant that
is awkward only because of where it stands goes back to where it is round: 1.4142…*sqrt(x) is sqrt(2*x),
0.333…*x is x/3, 2.718…*exp(x) is exp(x + 1).  It rounds nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from ..expr import Call, Const, Expr, Var, order_key, product
from ..operators import FUNCTIONS, OPERATORS
from .collect import is_number, leads_negative, negated, takes_factor

ODD_FUNCTIONS = tuple(op for op in FUNCTIONS if OPERATORS[op].parity == "odd")


def pretty(expr: Expr) -> Expr:
    """A canonical formula rewritten for reading."""
    if type(expr) is not Call:
        return expr
    if expr.op == "add":
        return _sum(expr)
    if expr.op in ("mul", "pow") and not is_number(expr):
        negative, value = _signed(expr)
        return _minus(value) if negative else value
    return Call(expr.op, [pretty(a) for a in expr.args])


def _sum(expr: Call) -> Expr:
    terms = sorted(_constants_into_logarithms(list(expr.args)), key=_reading_key)
    if len(terms) == 1:
        return pretty(terms[0])
    signed = [_signed(term) for term in terms]
    lead = next((i for i, (negative, _) in enumerate(signed) if not negative), 0)
    signed.insert(0, signed.pop(lead))
    negative, total = signed[0]
    if negative:
        total = _minus(total)
    plus: list[Expr] = [total]  # operands of the n-ary + that is being written, as the parser reads a chain
    for negative, value in signed[1:]:
        if negative:
            plus = [Call("sub", (_joined(plus), value))]
        else:
            plus.append(value)
    return _joined(plus)


def _joined(terms: list[Expr]) -> Expr:
    return terms[0] if len(terms) == 1 else Call("add", terms)


def _minus(expr: Expr) -> Expr:
    """-expr; a leading number takes the sign."""
    if type(expr) is Const:
        return Const(-expr.value)
    if type(expr) is Call and expr.op in ("mul", "div"):
        first = _minus(expr.args[0])
        if type(first) is not Call or first.op != "neg":
            return Call(expr.op, (first, *expr.args[1:]))
    return Call("neg", (expr,))


def _signed(term: Expr) -> tuple[bool, Expr]:
    """Is the term subtracted, and what is written after the sign?"""
    if type(term) is Const:
        return term.value < 0.0, Const(abs(term.value))
    if type(term) is not Call or term.op not in ("mul", "pow") or is_number(term):
        return False, pretty(term)
    factors: list[Expr] = list(term.args) if term.op == "mul" else [term]
    coefficient = 1.0
    if type(factors[0]) is Const:
        coefficient, factors = factors[0].value, factors[1:]
    negative, coefficient = coefficient < 0.0, abs(coefficient)
    if negative:
        negative = not _absorb_sign(factors)
    coefficient = _absorb_coefficient(coefficient, factors)
    return negative, _quotient(coefficient, factors)


def _quotient(coefficient: float, factors: list[Expr]) -> Expr:
    factors = _shared_power(factors)
    upper: list[Expr] = []
    lower: list[Expr] = []
    for factor in factors:
        power = type(factor) is Call and factor.op == "pow" and not is_number(factor)
        exponent = factor.args[1] if power and type(factor) is Call else None
        if type(exponent) is Const and type(factor) is Call:
            below = exponent.value < 0.0
            (lower if below else upper).append(_power(factor.args[0], abs(exponent.value)))
        elif exponent is not None and type(factor) is Call:
            upper.append(Call("pow", [pretty(a) for a in factor.args]))
        else:
            upper.append(pretty(factor))
    if coefficient != 1.0:
        divisor = _divisor(coefficient, factors)
        if divisor is not None and (lower or _short(coefficient) is None):
            lower.insert(0, Const(divisor))
        else:
            upper.insert(0, Const(coefficient))
    if not lower:
        return product(upper)
    return Call("div", (product(upper), product(lower)))


def _shared_power(factors: list[Expr]) -> list[Expr]:
    """x**2/y**2 as (x/y)**2: whole powers that two or more factors share are written once, the commonest first."""
    exponents = [_whole_exponent(factor) for factor in factors]
    sizes = Counter(abs(e) for e in exponents if abs(e) > 1)
    n = max(sizes, key=lambda size: (sizes[size], size), default=0)
    if sizes[n] < 2:
        return factors
    members = [(f, e) for f, e in zip(factors, exponents, strict=True) if e and e % n == 0]
    others = [f for f, e in zip(factors, exponents, strict=True) if not e or e % n]
    sign = 1 if any(e > 0 for _, e in members) else -1  # 1/(x*y)**2 rather than (1/(x*y))**2
    inside = product([_raised(f, sign * e // n) for f, e in members])
    return [*_shared_power(others), Call("pow", (inside, Const(float(sign * n))))]


def _whole_exponent(factor: Expr) -> int:
    """n of a factor b**n, 0 if it is none."""
    if type(factor) is Call and factor.op == "pow" and not is_number(factor) and type(factor.args[1]) is Const:
        exponent = factor.args[1].value
        return int(exponent) if exponent.is_integer() and abs(exponent) < 100 else 0
    return 0


def _raised(factor: Expr, exponent: int) -> Expr:
    base = factor.args[0] if type(factor) is Call else factor
    return base if exponent == 1 else Call("pow", (base, Const(float(exponent))))


def _divisor(coefficient: float, factors: list[Expr]) -> float | None:
    """The whole number that says the same below the fraction bar, unless it would have to be multiplied in there."""
    divisor = _short(1.0 / coefficient) if coefficient else None  # products of tiny numbers can be 0
    if divisor is None or not divisor.is_integer() or 1.0 / divisor != coefficient:
        return None
    for factor in factors:
        if type(factor) is Call and factor.op == "pow" and factor.args[1] == Const(-1.0):
            base = factor.args[0]
            if type(base) is Call and base.op == "add" and takes_factor(base, divisor):
                return None
    return divisor


def _power(base: Expr, exponent: float) -> Expr:
    if exponent == 1.0:
        return pretty(base)
    if exponent == 0.5:
        return Call("sqrt", (pretty(base),))
    return Call("pow", (pretty(base), Const(exponent)))


def _absorb_sign(factors: list[Expr]) -> bool:
    """Turn -(a - b)/c into (b - a)/c, and -sin(a - b) into sin(b - a), where a difference allows it."""
    for i, factor in enumerate(factors):
        if type(factor) is not Call:
            continue
        base, exponent = factor.args if factor.op == "pow" else (factor, Const(1.0))
        odd = type(exponent) is Const and exponent.value % 2.0 == 1.0
        if odd and type(base) is Call:
            if _is_difference(base):
                flipped = negated(base)
            elif base.op in ODD_FUNCTIONS and _is_difference(base.args[0]):
                flipped = Call(base.op, (negated(base.args[0]),))
            else:
                continue
            factors[i] = flipped if factor.op != "pow" else Call("pow", (flipped, exponent))
            return True
    return False


def _is_difference(expr: Expr) -> bool:
    return type(expr) is Call and expr.op == "add" and any(map(leads_negative, expr.args))


def _absorb_coefficient(value: float, factors: list[Expr]) -> float:
    """Move an awkward coefficient under a root or into an exponential where it is round; what is left of it."""
    if value == 1.0 or not 1e-9 < value < 1e9 or _short(value) is not None:
        return value
    for i, factor in enumerate(factors):
        if type(factor) is not Call:
            continue
        if factor.op == "exp":
            shift = _short(math.log(value))
            if shift is not None and math.exp(shift) == value:
                arg = factor.args[0]
                terms = arg.args if type(arg) is Call and arg.op == "add" else (arg,)
                factors[i] = Call("exp", (Call("add", (*terms, Const(shift))),))
                return 1.0
        if factor.op == "pow" and factor.args[1] in (Const(0.5), Const(-0.5)) and not is_number(factor):
            upper = factor.args[1] == Const(0.5)
            inner = _short(value**2 if upper else value**-2)
            if inner is not None and (math.sqrt(inner) if upper else 1.0 / math.sqrt(inner)) == value:
                factors[i] = Call("pow", (_times(inner, factor.args[0]), factor.args[1]))
                return 1.0
    return value


def _constants_into_logarithms(terms: list[Expr]) -> list[Expr]:
    """1.0986… + ln(x) is ln(3*x), if there is one logarithm and the number gets round."""
    constant = terms[-1]
    logs = [i for i, t in enumerate(terms) if _logarithm(t) is not None]
    if type(constant) is not Const or len(logs) != 1 or _short(constant.value) is not None:
        return terms
    coefficient, arg = _logarithm(terms[logs[0]]) or (0.0, constant)
    exponent = constant.value / coefficient
    inner = _short(math.exp(exponent)) if abs(exponent) < 100.0 else None
    if inner is None or coefficient * math.log(inner) != constant.value:
        return terms
    log: Expr = Call("ln", (_times(inner, arg),))
    terms[logs[0]] = log if coefficient == 1.0 else Call("mul", (Const(coefficient), log))
    return terms[:-1]


def _logarithm(term: Expr) -> tuple[float, Expr] | None:
    """(c, u) if the term is c*ln(u)."""
    coefficient = 1.0
    if type(term) is Call and term.op == "mul" and len(term.args) == 2 and type(term.args[0]) is Const:
        coefficient, term = term.args[0].value, term.args[1]
    found = type(term) is Call and term.op == "ln" and type(term.args[0]) is not Const
    return (coefficient, term.args[0]) if found and type(term) is Call else None


def _times(value: float, expr: Expr) -> Expr:
    if type(expr) is Call and expr.op == "mul":
        if type(expr.args[0]) is Const:  # canonical roots and logarithms keep a sign only
            return Call("mul", (Const(value * expr.args[0].value), *expr.args[1:]))
        return Call("mul", (Const(value), *expr.args))
    return Call("mul", (Const(value), expr))


def _short(value: float) -> float | None:
    """The number with at most 6 significant digits that ``value`` equals up to rounding, or None."""
    rounded = float(f"{value:.6g}")
    return rounded if abs(value - rounded) <= 1e-14 * abs(value) and 1e-6 < abs(value) < 1e9 else None


def _reading_key(term: Expr) -> tuple[bool, float, tuple[Any, ...]]:
    """Falling degree, constants last; coefficients do not count."""
    core = term
    if type(term) is Call and term.op == "mul" and type(term.args[0]) is Const:
        core = product(term.args[1:])
    return type(term) is Const, -_degree(term), order_key(core)


def _degree(term: Expr) -> float:
    if type(term) is Var:
        return 1.0
    if type(term) is not Call:
        return 0.0
    if term.op == "mul":
        return sum(map(_degree, term.args))
    if term.op == "pow" and type(term.args[1]) is Const:
        return term.args[1].value * _degree(term.args[0])
    if term.op == "add":
        return max(map(_degree, term.args))
    return 0.0
