"""Canonical products, powers, exponentials and absolute values (the canonical form is described in collect.py).

A rewriting is allowed only if it keeps the value wherever the old form is defined (the new one may be defined in
more places): x**0.5*x**0.5 is x, but sqrt(x**2) is abs(x).  Every ``make_*`` takes canonical parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..expr import Call, Const, Expr, order_key, product
from .collect import (
    ONE,
    ZERO,
    checked,
    is_nonnegative,
    is_number,
    leads_negative,
    make_sum,
    negated,
    plus,
    power_of_numbers,
    takes_factor,
    terms_of,
    tidy,
    times,
)

MAX_EXP_SHIFT = 50.0  # exp(x + c) is written exp(c)*exp(x) up to this |c|, so that neither factor overflows
MAX_SPLIT = 32.0  # (x/y)**n is written x**n*y**-n up to this |n|, for the same reason


def make_product(pairs: Iterable[tuple[Expr, float]]) -> Expr:
    """The product of ``expr ** whole number`` over the pairs, equal bases collected."""
    factors = _Factors()
    for expr, exponent in pairs:
        factors.put(expr, exponent)
    return factors.build()


def make_power(base: Expr, exponent: Expr) -> Expr:
    """``base ** exponent``."""
    if type(exponent) is Const:
        return raised(base, exponent.value)
    if type(base) is Const and base.value > 0.0:
        return _exponential(base, exponent)
    if type(base) is Call and base.op == "exp":
        return make_exp(make_product([(base.args[0], 1.0), (exponent, 1.0)]))
    if type(base) is Call and base.op == "pow" and type(base.args[1]) is Const and not is_number(base):
        inner, power = base.args[0], base.args[1].value
        inner = make_abs(inner) if power % 2.0 == 0.0 else inner
        return make_power(inner, make_product([(Const(power), 1.0), (exponent, 1.0)]))
    return Call("pow", (base, exponent))


def raised(base: Expr, exponent: float) -> Expr:
    """``base ** exponent`` for a number."""
    if exponent == 1.0:
        return base
    if exponent == 0.0:
        return ONE
    if exponent.is_integer():
        if abs(exponent) > MAX_SPLIT and type(base) is Call and base.op == "mul":
            return Call("pow", (base, Const(exponent)))
        return make_product([(base, exponent)])
    if type(base) is Const:
        return Const(power_of_numbers(base.value, exponent))
    if type(base) is Call:
        if base.op == "exp":
            return make_exp(make_sum([(exponent, base.args[0])]))
        if base.op == "mul":
            return _root_of_product(base, exponent)
        if base.op == "pow" and not is_number(base):
            inner, power = base.args
            if type(power) is Const:
                # Where x**even is the base, x may be negative; any other power is defined for x >= 0 only.
                inner = make_abs(inner) if power.value % 2.0 == 0.0 else inner
                return raised(inner, tidy(times(power.value, exponent)))
            if is_nonnegative(inner):
                return make_power(inner, make_sum([(exponent, power)]))
    return Call("pow", (base, Const(exponent)))


def make_exp(arg: Expr) -> Expr:
    """``exp(arg)``: constants, logarithms and their multiples come out as factors."""
    if type(arg) is not Call:
        return (
            Const(checked(math.exp(arg.value))) if type(arg) is Const and abs(arg.value) < 690 else Call("exp", (arg,))
        )
    if arg.op not in ("ln", "add", "mul"):
        return Call("exp", (arg,))
    outside: list[tuple[Expr, float]] = []
    inside: list[tuple[float, Expr]] = []
    for core, coefficient in terms_of(arg).items():
        pulled = _exp_of_term(coefficient, core)
        if pulled is None:
            inside.append((coefficient, core))
        else:
            outside.append((pulled, 1.0))
    if not outside:
        return Call("exp", (arg,))
    if inside:
        outside.append((Call("exp", (make_sum(inside),)), 1.0))
    return make_product(outside)


def make_abs(arg: Expr) -> Expr:
    """``abs(arg)``: signs vanish, factors that are never negative come out."""
    if is_nonnegative(arg):
        return arg
    if type(arg) is Const:
        return Const(abs(arg.value))
    if type(arg) is Call and arg.op == "pow" and type(arg.args[1]) is Const:
        return raised(make_abs(arg.args[0]), arg.args[1].value)
    if type(arg) is Call and arg.op == "mul":
        outside = [f for f in arg.args if type(f) is Const or is_nonnegative(f)]
        if outside:
            inside = product([f for f in arg.args if f not in outside])
            parts = [Const(abs(f.value)) if type(f) is Const else f for f in outside]
            return make_product([(f, 1.0) for f in [*parts, make_abs(inside)]])
    return Call("abs", (negated(arg) if leads_negative(arg) else arg,))


class _Factors:
    """A product being collected: coefficient, {base: number}, {base: other exponents} and arguments of exp."""

    __slots__ = ("coefficient", "exponentials", "powers", "symbolic")

    def __init__(self) -> None:
        self.coefficient = 1.0
        self.powers: dict[Expr, float] = {}
        self.symbolic: dict[Expr, list[tuple[float, Expr]]] = {}
        self.exponentials: list[tuple[float, Expr]] = []

    def put(self, expr: Expr, exponent: float) -> None:
        """Multiply by ``expr ** exponent``, the exponent a whole number."""
        if type(expr) is Const:
            self.coefficient = times(self.coefficient, power_of_numbers(expr.value, exponent))
            return
        if type(expr) is Call:
            op = expr.op
            if op == "mul":
                for arg in expr.args:
                    self.put(arg, exponent)
                return
            if op == "pow":
                base, power = expr.args
                if is_number(expr):
                    self.raise_base(expr, exponent)
                elif type(power) is Const:
                    self.raise_base(base, times(power.value, exponent))
                else:
                    self.symbolic.setdefault(base, []).append((exponent, power))
                return
            if op == "exp":
                self.exponentials.append((exponent, expr.args[0]))
                return
            if op == "abs" and exponent % 2.0 == 0.0:
                self.put(expr.args[0], exponent)
                return
            if op == "add" and leads_negative(expr):
                expr = negated(expr)
                if exponent % 2.0 != 0.0:
                    self.coefficient = -self.coefficient
        self.raise_base(expr, exponent)

    def raise_base(self, base: Expr, exponent: float) -> None:
        old = self.powers.get(base)
        self.powers[base] = exponent if old is None else tidy(plus(old, exponent))

    def build(self) -> Expr:
        while self.exponentials or self.symbolic or self.powers:
            if self.settle_exponentials() or self.settle_symbolic():
                continue
            unsettled = [(b, e) for b, e in self.powers.items() if e.is_integer() and _can_split(b, e)]
            if not unsettled:
                break
            for base, exponent in unsettled:
                del self.powers[base]
                if exponent != 0.0:
                    self.put(base, exponent)
        if self.coefficient == 0.0:
            return ZERO
        factors = [b if e == 1.0 else Call("pow", (b, Const(e))) for b, e in self.powers.items() if e != 0.0]
        factors.extend(Call("pow", (base, powers[0][1])) for base, powers in self.symbolic.items())
        factors.extend(Call("exp", (arg,)) for _, arg in self.exponentials)
        return self.assemble(factors)

    def assemble(self, factors: list[Expr]) -> Expr:
        if not factors:
            return Const(self.coefficient)
        if len(factors) > 1:
            factors.sort(key=order_key)
        if len(factors) == 1 and self.coefficient == -1.0:
            return negated(factors[0])
        if self.coefficient not in (1.0, -1.0):
            self.multiply_in(factors)
        return product(factors) if self.coefficient == 1.0 else Call("mul", (Const(self.coefficient), *factors))

    def multiply_in(self, factors: list[Expr]) -> None:
        """Multiply the coefficient into a sum where that saves a number: 2*(3*x + 1) is 6*x + 2."""
        for i, factor in enumerate(factors):
            if type(factor) is Call and factor.op == "add" and takes_factor(factor, self.coefficient):
                sign = math.copysign(1.0, self.coefficient) if len(factors) > 1 else 1.0
                scaled = make_sum([(self.coefficient * sign, factor)])
                if type(scaled) is Call and scaled.op == "add":
                    self.coefficient, factors[i] = sign, scaled
                    factors.sort(key=order_key)
                return

    def settle_exponentials(self) -> bool:
        """Join exp(a)*exp(b); True if something changed."""
        if not self.exponentials or (len(self.exponentials) == 1 and self.exponentials[0][0] == 1.0):
            return False
        pairs, self.exponentials = self.exponentials, []
        self.put(make_exp(make_sum(pairs)), 1.0)
        return True

    def settle_symbolic(self) -> bool:
        """Join x**a*x**b; True if something changed."""
        for base, pairs in self.symbolic.items():
            if len(pairs) > 1 or pairs[0][0] != 1.0 or base in self.powers:
                del self.symbolic[base]
                number = self.powers.pop(base, 0.0)
                self.put(make_power(base, make_sum([*pairs, (number, ONE)])), 1.0)
                return True
        return False


def _can_split(base: Expr, exponent: float) -> bool:
    """May base**whole number be collected further?  (Its exponent may have become whole only now.)"""
    if type(base) is not Call:
        return type(base) is Const
    if base.op == "abs":
        return exponent % 2.0 == 0.0
    if is_number(base) or (base.op == "mul" and abs(exponent) > MAX_SPLIT):
        return False
    return base.op in ("mul", "pow", "exp") or (base.op == "add" and leads_negative(base))


def _root_of_product(base: Call, exponent: float) -> Expr:
    """Product ** broken number: only what is surely positive may leave the root."""
    outside: list[tuple[Expr, float]] = []
    inside: list[Expr] = []
    for factor in base.args:
        if type(factor) is Const:
            outside.append((Const(power_of_numbers(abs(factor.value), exponent)), 1.0))
            if factor.value < 0.0:
                inside.append(Const(-1.0))
        elif type(factor) is Call and factor.op in ("exp", "cosh"):
            outside.append((raised(factor, exponent), 1.0))
        else:
            inside.append(factor)
    if all(map(is_nonnegative, inside)):
        return make_product([*outside, *((raised(factor, exponent), 1.0) for factor in inside)])
    rest = make_product([(factor, 1.0) for factor in inside])
    if rest == base:
        return Call("pow", (base, Const(exponent)))
    return make_product([*outside, (raised(rest, exponent), 1.0)])


def _exponential(base: Const, exponent: Expr) -> Expr:
    """Positive number ** formula: a constant in the exponent becomes a factor."""
    if base.value == 1.0:
        return ONE
    if base.value == math.e:
        return make_exp(exponent)
    shift = terms_of(exponent).get(ONE, 0.0)
    if shift == 0.0 or abs(shift * math.log(base.value)) > MAX_EXP_SHIFT:
        return Call("pow", (base, exponent))
    rest = Call("pow", (base, make_sum([(1.0, exponent), (-shift, ONE)])))
    return make_product([(Const(base.value**shift), 1.0), (rest, 1.0)])


def _exp_of_term(coefficient: float, core: Expr) -> Expr | None:
    """exp(coefficient*core) written without exp, or None."""
    if core is ONE or core == ONE:
        return Const(math.exp(coefficient)) if abs(coefficient) <= MAX_EXP_SHIFT else None
    if type(core) is not Call:
        return None
    if core.op == "ln":
        return raised(core.args[0], coefficient)
    if core.op == "mul":
        logs = [f for f in core.args if type(f) is Call and f.op == "ln"]
        if len(logs) == 1:
            rest = make_product([(Const(coefficient), 1.0), *((f, 1.0) for f in core.args if f is not logs[0])])
            return make_power(logs[0].args[0], rest)
    return None
