"""Ψ⁻¹: a unified graph read back as a formula, its exp∘ln and ln∘exp pairs turned into products, powers and abs.

Rewriting, never algebra (ADR 4).  An exp node fed by ln nodes is a product of powers; what else feeds it stays in
one exp: exp(2*ln x0 - ln x1 + x2) is x0**2*x1**-1*exp(x2).  An exp node over y*ln(x) is x**y.  A ln over an exp that
is no product is abs.  Numbers that play one role are merged on the way, so that each free number counts:

- a factor inside a product or exp, and the shift inside an exp, go into the weight of the term;
- the factor in ln(c*u) goes into the bias of the sum it stands in;
- abs(c0*x0 + c1) becomes |c0|*abs(x0 + c1/c0).

Dropping the factor of a *sum* under a power or ln would lose its sign (sqrt(1 - x) is no sqrt(x + c)), so it stays.
How a number is written (as Const or as Param) is the business of the scribe.
"""

from __future__ import annotations

import math
import sys
from typing import Protocol

from ..expr import Call, Const, Expr, Var, product, total
from .unified import Affine, Unified

_MAX_SHIFT = 300.0  # e**shift must stay a finite number
Factors = tuple[Expr, ...]


class Scribe(Protocol):
    """Writes numbers; None leaves one out that changes nothing."""

    def weight(self, value: float) -> Expr | None: ...

    def bias(self, value: float) -> Expr | None: ...

    def power(self, base: Expr, exponent: float) -> Expr: ...


class Numbers:
    """Writes every number as it is.  One that overflowed becomes the largest there is: so does the formula's value."""

    def weight(self, value: float) -> Expr | None:
        return None if value == 1.0 else _const(value)

    def bias(self, value: float) -> Expr | None:
        return None if value == 0.0 else _const(value)

    def power(self, base: Expr, exponent: float) -> Expr:
        return base if exponent == 1.0 else Call("pow", (base, _const(exponent)))


def read(graph: Unified, root: Affine, scribe: Scribe) -> Expr:
    """The formula that the weighted sum ``root`` of nodes of ``graph`` stands for."""
    return _Reader(graph, scribe).sum(root)


class _Reader:
    def __init__(self, graph: Unified, scribe: Scribe) -> None:
        self.ops, self.args = graph.ops, graph.args
        self.scribe = scribe
        self.terms: dict[int, tuple[Factors, float, float | None]] = {}
        self.logs: dict[int, Expr] = {}

    def sum(self, affine: Affine) -> Expr:
        parts, bias = self.parts(affine)
        return self.written({factors: self.scribe.weight(w) for factors, w in parts.items()}, bias)

    def sum_and_lead(self, affine: Affine) -> tuple[Expr, float]:
        """The sum divided by its first weight, and that weight."""
        parts, bias = self.parts(affine)
        lead = next(iter(parts.values()), 1.0) or 1.0
        weights: dict[Factors, Expr | None] = {}
        for factors, weight in parts.items():
            weights[factors] = self.scribe.weight(weight / lead) if weights else None
        return self.written(weights, None if bias is None else bias / lead), lead

    def parts(self, affine: Affine) -> tuple[dict[Factors, float], float | None]:
        """Terms as {factors: weight}, and the bias, None if there cannot be one."""
        bias, terms = affine
        shifted = bias != 0.0
        parts: dict[Factors, float] = {}
        for node, weight in terms:
            factors, scale, shift = self.term(node)
            parts[factors] = parts.get(factors, 0.0) + weight * scale
            if shift is not None:
                bias, shifted = bias + weight * shift, True
        return parts, bias if shifted or not parts else None

    def written(self, weights: dict[Factors, Expr | None], bias: float | None) -> Expr:
        terms = [product(factors if w is None else (w, *factors)) for factors, w in weights.items()]
        last = None if bias is None else self.scribe.bias(bias)
        return total(terms if last is None else [*terms, last])

    def term(self, node: int) -> tuple[Factors, float, float | None]:
        """A node as (factors, scale, shift): it equals scale*product(factors) + shift."""
        known = self.terms.get(node)
        if known is None:
            known = self.terms[node] = self.new_term(node)
        return known

    def new_term(self, node: int) -> tuple[Factors, float, float | None]:
        op, arg = self.ops[node], self.args[node]
        if op == "x":
            return (Var(int(arg[0])),), 1.0, None
        if op == "exp":
            return *self.powers(*arg), None
        if op == "abs":
            inside, lead = self.sum_and_lead(self.args[arg[1][0][0]])
            return (Call("abs", (inside,)),), abs(lead), None
        if op == "ln":
            base, scale = self.base(node)
            if scale is None:
                return (Call("ln", (base,)),), 1.0, None
            return (Call("ln", (_with_sign(base, scale),)),), 1.0, _log(abs(scale))
        return (Call(op, (self.sum(arg),)),), 1.0, None

    def factor(self, node: int) -> tuple[Factors, float]:
        """A node that stands alone in a product: a ln keeps its inner factor, ln(c*x0), there is no bias to take it."""
        if self.ops[node] == "ln":
            if node not in self.logs:
                self.logs[node] = Call("ln", (self.sum(self.args[node]),))
            return (self.logs[node],), 1.0
        factors, scale, _ = self.term(node)
        return factors, scale

    def base(self, node: int) -> tuple[Expr, float | None]:
        """What a ln node is applied to, as scale*base; None for a sum, which keeps its factor."""
        bias, terms = self.args[node]
        if bias or len(terms) != 1:
            return self.sum((bias, terms)), None
        factors, scale = self.factor(terms[0][0])
        return product(factors), scale * terms[0][1]

    def powers(self, shift: float, terms: tuple[tuple[int, float], ...]) -> tuple[Factors, float]:
        """exp(shift + sum of weight*node) as a product of powers and one exp, and its scale."""
        exponents: dict[Expr, float] = {}
        towers: list[Expr] = []
        rest: list[tuple[int, float]] = []
        inside = shift if abs(shift) > _MAX_SHIFT else 0.0
        scale = math.exp(shift - inside)
        for node, weight in terms:
            if self.ops[node] == "ln":
                base, factor = self.base(node)
                if factor is not None:
                    whole = weight % 1.0 == 0.0
                    base = base if whole else _with_sign(base, factor)
                    scale *= _power(factor if whole else abs(factor), weight)
                exponents[base] = exponents.get(base, 0.0) + weight
            elif (tower := self.tower(node, weight)) is not None:
                towers.append(tower)
            else:
                rest.append((node, weight))
        factors = [self.scribe.power(base, exponent) for base, exponent in exponents.items()] + towers
        if rest or inside:
            factors.append(Call("exp", (self.sum((inside, tuple(rest))),)))
        return tuple(factors), scale

    def tower(self, node: int, weight: float) -> Expr | None:
        """x**y for an exp fed by y*ln(x), that is, by an exp node over a ln(ln x) of weight 1 and other nodes."""
        if self.ops[node] != "exp":
            return None
        shift, terms = self.args[node]
        for at in reversed(range(len(terms))):
            log, power = terms[at]
            inner = self.args[log]
            single = self.ops[log] == "ln" and power == 1.0 and not inner[0] and len(inner[1]) == 1
            if single and len(terms) > 1 and self.ops[inner[1][0][0]] == "ln":
                factors, scale = self.powers(shift, terms[:at] + terms[at + 1 :])
                number = self.scribe.weight(weight * scale * inner[1][0][1])
                exponent = product(factors if number is None else (number, *factors))
                return Call("pow", (self.sum(self.args[inner[1][0][0]]), exponent))
        return None


def _const(value: float) -> Const:
    largest = sys.float_info.max
    return Const(largest if math.isnan(value) else min(max(value, -largest), largest))


def _with_sign(base: Expr, scale: float) -> Expr:
    return Call("neg", (base,)) if scale < 0 else base


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (ValueError, OverflowError):
        return math.inf


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
