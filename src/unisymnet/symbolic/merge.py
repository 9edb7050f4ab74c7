"""Merging parameters: fewer of them, the same functions.

The set of functions that a formula reaches when its parameters run through all numbers stays the same, up to
isolated limits such as a leading coefficient 0.  The rules:

* a free coefficient absorbs other factors, free or fixed; a free constant absorbs other constants;
* c*(sum) goes into the terms that have free coefficients of their own;
* next to a free coefficient, (c*x)**p, abs(c*x) and exp(c + x) give theirs away, and so does a sum whose terms are
  all free: its first coefficient becomes 1;
* next to a free constant, ln(c*x) gives its factor away.

A free factor inside a root or a logarithm is taken to be positive unless its value says otherwise.  A parameter that
occurs twice ties two places together and is left alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from .expr import Call, Const, Expr, Param, evaluate, product, walk
from .merge_parts import ONE, Factor, Term, bases, exp_of, has_variables, power_of, put_term, raised, times


class Merger:
    """One run over one formula: ``terms`` takes it apart and merges, ``join`` writes it down again."""

    def __init__(self, expr: Expr, values: Sequence[float] | None) -> None:
        uses = Counter(node.index for node in walk(expr) if isinstance(node, Param))
        self.tied = {index for index, n in uses.items() if n > 1}
        self.values: dict[int, float] = {i: 1.0 if values is None else float(values[i]) for i in uses}
        self.next = max(uses, default=-1) + 1
        self.inner: dict[Expr, list[Term]] = {}  # the argument of a function, still in terms
        self.elastic: dict[Expr, tuple[list[Factor], int]] = {}  # products with a sum that takes any coefficient

    def terms(self, expr: Expr) -> list[Term]:
        """``expr`` as a sum of merged terms."""
        if isinstance(expr, Const):
            return [Term(False, expr.value, None)]
        if isinstance(expr, Param) and expr.index not in self.tied:
            return [Term(True, self.values[expr.index], None)]
        if not isinstance(expr, Call):
            return [Term(False, 1.0, expr)]
        args, op = expr.args, expr.op
        if op == "add":
            return self.collect([t for a in args for t in self.terms(a)])
        if op == "sub":
            return self.collect([*self.terms(args[0]), *(self.scaled(t, -1.0) for t in self.terms(args[1]))])
        if op == "neg":
            return [self.scaled(t, -1.0) for t in self.terms(args[0])]
        if op in ("mul", "div", "inv", "square", "sqrt", "pow"):
            return self.multiply(self.factors(expr, 1.0))
        if len(args) > 1:  # a choice between two: each keeps its own constants
            return [Term(False, 1.0, Call(op, [self.join(self.terms(a)) for a in args]))]
        return [Term(False, 1.0, self.function(op, self.terms(args[0])))]

    def factors(self, expr: Expr, power: float) -> list[Factor]:
        """``expr ** power`` (a whole power) as factors."""
        if isinstance(expr, Call):
            args = expr.args
            if expr.op == "mul":
                return [f for a in args for f in self.factors(a, power)]
            if expr.op == "div":
                return [*self.factors(args[0], power), *self.factors(args[1], -power)]
            if expr.op == "neg":
                return [Factor([Term(False, (-1.0) ** power, None)], ONE), *self.factors(args[0], power)]
            if expr.op in ("inv", "square"):
                return self.factors(args[0], power * (-1.0 if expr.op == "inv" else 2.0))
            exponent = Const(0.5) if expr.op == "sqrt" else args[1] if expr.op == "pow" else None
            if isinstance(exponent, Const):
                if exponent.value.is_integer():
                    return self.factors(args[0], power * exponent.value)
                return [Factor(self.terms(args[0]), Const(power * exponent.value))]
            if exponent is not None:
                return [Factor(self.terms(args[0]), self.join([self.scaled(t, power) for t in self.terms(exponent)]))]
        return [Factor(self.terms(expr), Const(power))]

    def multiply(self, factors: list[Factor]) -> list[Term]:
        """The product of the factors as a sum of merged terms."""
        free, value, rest = self.coefficient(factors)
        closed = [i for i, f in enumerate(rest) if self.is_closed(f)]
        sinks = [i for i in closed if rest[i].number == 1.0]
        sinks += [] if free else [i for i in closed if rest[i].number % 2.0 == 1.0]
        sink = sinks[0] if sinks else None
        if free or sink is not None:
            scale, rest = self.absorb(rest, sink)
            value *= scale
        if len(rest) == 1 and rest[0].number == 1.0:
            return self.collect(self.distribute(free, value, rest[0].terms))
        if sink is not None and value != 0.0:
            return [self.stretched(rest, sink, value)]
        return [Term(free, value, self.build(rest))]

    def stretched(self, factors: list[Factor], sink: int, value: float) -> Term:
        """value * product, the value, free or not, multiplied into the sum at ``sink``."""
        power = factors[sink].number
        root = math.copysign(abs(value) ** (1.0 / power), value)
        terms = [self.scaled(t, root) for t in factors[sink].terms]
        factors = [*factors[:sink], Factor(terms, factors[sink].power), *factors[sink + 1 :]]
        core = self.build(factors)
        assert core is not None
        self.elastic[core] = factors, sink
        return Term(False, 1.0, core)

    def scaled(self, term: Term, factor: float) -> Term:
        """factor * term, the factor hidden in free numbers where possible."""
        if not term.free and term.core in self.elastic and term.value * factor != 0.0:
            return self.stretched(*self.elastic[term.core], term.value * factor)
        return term._replace(value=term.value * factor)

    def takes_any(self, term: Term) -> bool:
        return term.free or term.core in self.elastic

    def is_closed(self, factor: Factor) -> bool:
        """A whole power of a sum of free terms: any coefficient can go into it."""
        return len(factor.terms) > 1 and factor.number.is_integer() and all(map(self.takes_any, factor.terms))

    def coefficient(self, factors: list[Factor]) -> tuple[bool, float, list[Factor]]:
        """Numbers out of the factors: is the coefficient free, its value, and the factors left, equal bases joined."""
        free, value = False, 1.0
        powers: dict[Expr, float] = {}
        rest: list[Factor] = []
        for factor in factors:
            whole = factor.number.is_integer()
            if len(factor.terms) > 1 or not whole:
                rest.append(factor)
                continue
            term, power = factor.terms[0], factor.number
            if term.free and power % 2.0 == 0.0:
                rest.append(factor)  # a square of a free number is not free: it has a sign
                continue
            free |= term.free
            value *= power_of(term.value, power)
            if term.core is not None:
                for base, p in bases(term.core, power):
                    powers[base] = powers.get(base, 0.0) + p
        plain = [Factor([Term(False, 1.0, base)], Const(p)) for base, p in powers.items() if p != 0.0]
        if not math.isfinite(value):
            value = 1.0
        return free, value, [*plain, *rest]

    def absorb(self, factors: list[Factor], sink: int | None) -> tuple[float, list[Factor]]:
        """Take out of the factors whatever a free coefficient beside them can hold; the scale taken out."""
        scale = 1.0
        left: list[Factor] = []
        for i, factor in enumerate(factors):
            taken, kept = (1.0, factor) if i == sink else self.give_away(factor)
            if math.isfinite(scale * taken) and scale * taken != 0.0:
                scale *= taken
                factor = kept
            left.append(factor)
        return scale, left

    def give_away(self, factor: Factor) -> tuple[float, Factor]:
        terms, power = factor
        if len(terms) > 1:
            lead = next((i for i, t in enumerate(terms) if t.free and t.core is not None and t.value != 0.0), None)
            if lead is None or not self.is_closed(factor):
                return 1.0, factor
            size = terms[lead].value
            rest = [self.scaled(t, 1.0 / size) for t in terms]
            rest[lead] = Term(False, 1.0, terms[lead].core)
            return power_of(size, factor.number), Factor(rest, power)
        term = terms[0]
        if has_variables(power):
            return 1.0, factor
        if term.core is None:
            number = power_of(term.value, self.value_of(power))
            return number, Factor([Term(False, 1.0, None)], ONE)
        size, core = self.strip(term.core)
        sign = -1.0 if term.value < 0.0 and not factor.number.is_integer() else 1.0
        taken = power_of(abs(term.value) if sign < 0.0 else term.value, self.value_of(power))
        return taken * power_of(size, self.value_of(power)), Factor([Term(False, sign, core)], power)

    def strip(self, core: Expr) -> tuple[float, Expr | None]:
        """exp(c + u) is exp(c) times exp(u), abs(c*u) is abs(c) times abs(u); other cores stay."""
        inner = self.inner.get(core)
        if inner is None or not isinstance(core, Call):
            return 1.0, core
        if not has_variables(core) and not self.has_tied(core):
            return self.value_of(core), None
        if core.op == "exp" and any(t.free and t.core is None for t in inner):
            shift = sum(t.value for t in inner if t.core is None)
            return exp_of(shift), self.function("exp", [t for t in inner if t.core is not None])
        if core.op == "abs" and all(t.free for t in inner):
            if len(inner) == 1:
                return abs(inner[0].value), self.function("abs", [inner[0]._replace(free=False, value=1.0)])
            size, factor = self.give_away(Factor(inner, ONE))
            return abs(size), self.function("abs", factor.terms)
        return 1.0, core

    def distribute(self, free: bool, value: float, terms: list[Term]) -> list[Term]:
        """coefficient * sum: a free coefficient stays with those terms that have none of their own."""
        fixed = [t for t in terms if not self.takes_any(t)]
        if not free or not fixed:
            return [self.scaled(t, value) for t in terms]
        if len(fixed) == 1:
            return [
                t._replace(free=True, value=t.value * value) if t is fixed[0] else self.scaled(t, value) for t in terms
            ]
        return [Term(True, value, self.join(fixed)), *(self.scaled(t, value) for t in terms if t not in fixed)]

    def collect(self, terms: list[Term]) -> list[Term]:
        """Like terms joined; constants and factors of logarithms into a free constant."""
        joined: dict[Expr | None, Term] = {}
        for term in terms:
            put_term(joined, term)
        constant = joined.get(None)
        if constant is not None and constant.free:
            shift = constant.value
            for core, term in list(joined.items()):
                kept, moved = self.without_shift(term)
                if kept is not term and math.isfinite(shift + moved):
                    shift += moved
                    del joined[core]
                    if kept is not None:
                        put_term(joined, kept)
            joined[None] = constant._replace(value=shift)
        return [t for t in joined.values() if t.free or t.value != 0.0] or [Term(False, 0.0, None)]

    def without_shift(self, term: Term) -> tuple[Term | None, float]:
        """The term without the part that a free constant beside it can hold, and the value of that part."""
        core = term.core
        inner = self.inner.get(core) if core is not None else None
        if inner is None or not isinstance(core, Call):
            return term, 0.0
        if not has_variables(core) and not self.has_tied(core):
            return None, term.value * self.value_of(core)
        if core.op == "ln" and len(inner) == 1 and inner[0].free and inner[0].value != 0.0:
            rest = self.function("ln", [Term(False, math.copysign(1.0, inner[0].value), inner[0].core)])
            return term._replace(core=rest), term.value * math.log(abs(inner[0].value))
        return term, 0.0

    def function(self, op: str, inner: list[Term]) -> Call:
        core = Call(op, (self.join(inner),))
        self.inner[core] = inner
        return core

    def join(self, terms: list[Term]) -> Expr:
        """The sum of the terms, free values as new parameters."""
        plus: list[Expr] = []
        for term in terms:
            if plus and not term.free and term.value < 0.0:
                plus = [
                    Call(
                        "sub",
                        (
                            plus[0] if len(plus) == 1 else Call("add", plus),
                            self.written(term._replace(value=-term.value)),
                        ),
                    )
                ]
            else:
                plus.append(self.written(term))
        return plus[0] if len(plus) == 1 else Call("add", plus)

    def written(self, term: Term) -> Expr:
        if not term.free and term.value == -1.0 and term.core is not None:
            return Call("neg", (term.core,))
        number: Expr = self.new_param(term.value) if term.free else Const(term.value)
        if term.core is None:
            return number
        if number == ONE:
            return term.core
        if isinstance(term.core, Call) and term.core.op == "div":
            return Call("div", (times(number, term.core.args[0]), term.core.args[1]))
        return times(number, term.core)

    def build(self, factors: list[Factor]) -> Expr | None:
        """The factors as one formula, negative powers below a fraction bar."""
        above: list[Expr] = []
        below: list[Expr] = []
        for factor in factors:
            power = factor.number
            base = self.join(factor.terms)
            if base == ONE or power == 0.0:
                continue
            if math.isnan(power):
                above.append(Call("pow", (base, factor.power)))
            else:
                side = below if power < 0.0 else above
                side.append(raised(base, abs(power)))
        if below:
            return Call("div", (product(above), product(below)))
        return product(above) if above else None

    def new_param(self, value: float) -> Param:
        self.values[self.next] = value
        self.next += 1
        return Param(self.next - 1)

    def value_of(self, expr: Expr) -> float:
        if isinstance(expr, Const):
            return expr.value
        if isinstance(expr, Param):
            return self.values[expr.index]
        values = [self.values.get(i, 1.0) for i in range(self.next)]
        return float(evaluate(expr, np.ones((1, 1)), values)[0])

    def has_tied(self, expr: Expr) -> bool:
        return any(isinstance(node, Param) and node.index in self.tied for node in walk(expr))
