"""The unified form of a formula: a graph of sin, cos, exp and ln nodes over weighted sums (Ψ of the paper).

Products, quotients and powers become exp nodes over ln nodes, abs becomes ln over exp.  These pairs are *marks*
(ADR 4): exp(ln x0 + ln x1) stands for x0*x1, also where x0 is negative, so the rules below may be used only if they
keep every value that the formula has.  Equal nodes exist once, like terms and like powers are collected.
Knows no layers (identify.py) and no way back (reading.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from ...errors import EncodingError
from ..expr import Const, Expr, Param, Var

# A weighted sum: (bias, ((node, weight), ...)), nodes ascending, weights not zero.
Affine = tuple[float, tuple[tuple[int, float], ...]]

# exp(a + b) is stored as e**b * exp(a), so that equal functions get equal graphs; not for a huge b (overflow).
_MAX_SHIFT = 50.0
# Sums of weights below this share of their terms are rounding errors of zero.
_ROUNDING = 1e-14

ONE: Affine = (1.0, ())


class Unified:
    """Nodes in topological order: ``ops[i]`` is x, sin, cos, exp, ln or abs; ``args[i]`` what it is applied to.

    For an input ``x`` the argument is ``(index, ())``.  A node tagged ``abs`` is the ln of the pair ln(exp(…)).
    ``heights[i]`` is the lowest layer on which the node can stand (inputs: 0).
    """

    __slots__ = ("_lowered", "_nodes", "args", "heights", "ops")

    def __init__(self) -> None:
        self.ops: list[str] = []
        self.args: list[Affine] = []
        self.heights: list[int] = []
        self._nodes: dict[tuple[str, Affine], int] = {}
        self._lowered: dict[Expr, Affine] = {}

    def node(self, op: str, arg: Affine) -> int:
        """The one node with this operator and argument."""
        key = (op, arg)
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = self.fresh(op, arg)
        return found

    def fresh(self, op: str, arg: Affine) -> int:
        """A new node, even if there is an equal one."""
        heights = self.heights
        height = 0
        for node, _ in arg[1]:
            if heights[node] >= height:
                height = heights[node] + 1
        heights.append(height)
        self.ops.append(op)
        self.args.append(arg)
        return len(heights) - 1

    def lower(self, expr: Expr) -> Affine:
        """Ψ: the weighted sum that stands for ``expr``; raises EncodingError if the library cannot express it."""
        kind = type(expr)
        if kind is Var:
            return (0.0, ((self.node("x", (float(expr.index), ())), 1.0),))  # type: ignore[attr-defined]
        if kind is Const:
            return (expr.value, ())  # type: ignore[attr-defined]
        if kind is Param:
            raise EncodingError(f"the formula has a free constant {expr}; bind its constants to numbers first")
        known = self._lowered.get(expr)
        if known is None:
            rule = _RULES.get(expr.op)  # type: ignore[attr-defined]
            if rule is None:
                raise EncodingError(
                    f"{expr.op} cannot be written with sin, cos, exp and ln; "  # type: ignore[attr-defined]
                    "leave the function out or replace it"
                )
            known = self._lowered[expr] = rule(self, *expr.args)  # type: ignore[attr-defined]
        return known

    def product(self, factors: Iterable[tuple[Affine, float]]) -> Affine:
        """The product of powers ``base**exponent``: a number times exp(sum of exponent * ln(base))."""
        scale, logs = 1.0, {}  # type: float, dict[int, float]
        for base, exponent in factors:
            scale *= self._factor(base, exponent, logs)
        return self._exp_of_logs(scale, logs)

    def power(self, base: Affine, exponent: float) -> Affine:
        if exponent == 1.0:
            return base
        if exponent == 0.0:
            return ONE
        return self.product([(base, exponent)])

    def exp(self, arg: Affine) -> Affine:
        bias, terms = arg
        if abs(bias) > _MAX_SHIFT:
            return (_finite(math.exp, bias), ()) if not terms else (0.0, ((self.node("exp", arg), 1.0),))
        return self._exp_of_logs(math.exp(bias), dict(terms))

    def ln(self, arg: Affine) -> Affine:
        bias, terms = arg
        if not terms:
            return (_finite(math.log, bias), ())
        if not bias and len(terms) == 1 and self.ops[terms[0][0]] == "exp":
            node, scale = terms[0]
            inner = self.args[node]
            if not self.is_product(node):
                # A real ln(exp(u)) is u.  Kept as it stands it would be read as abs(u).
                return _shifted(inner, _finite(math.log, scale))
            if scale > 0 and len(inner[1]) == 1 and inner[1][0][1] % 2.0 != 0.0:
                return _shifted(inner, math.log(scale))  # ln(u**p) = p*ln(u) unless p is even
        return (0.0, ((self.node("ln", arg), 1.0),))

    def abs(self, arg: Affine) -> Affine:
        bias, terms = arg
        if not terms:
            return (abs(bias), ())
        if not bias and len(terms) == 1:
            node, scale = terms[0]
            if self._is_nonnegative(node):
                return (0.0, ((node, abs(scale)),))
            if scale != 1.0:
                return scaled(self.abs((0.0, ((node, 1.0),))), abs(scale))
        if self.has_log(terms):
            # exp(… + ln u) would be read as a product, so write the absolute value as a root of a square.
            square = self.node("exp", (0.0, ((self.node("ln", arg), 2.0),)))
            return self._exp_of_logs(1.0, {self.node("ln", (0.0, ((square, 1.0),))): 0.5})
        return (0.0, ((self.node("abs", (0.0, ((self.node("exp", arg), 1.0),))), 1.0),))

    def is_product(self, node: int) -> bool:
        """Is this exp node a mark for a product or power, that is, fed by a ln?"""
        return self.has_log(self.args[node][1])

    def tag(self, op: str, arg: Affine) -> str:
        """``abs`` for the ln of an ln(exp(…)) pair whatever its weight, else the operator."""
        bias, terms = arg
        pair = op == "ln" and not bias and len(terms) == 1 and self.ops[terms[0][0]] == "exp"
        return "abs" if pair and not self.is_product(terms[0][0]) else op

    def has_log(self, terms: Iterable[tuple[int, float]]) -> bool:
        ops = self.ops
        return any(ops[node] == "ln" for node, _ in terms)

    def _is_nonnegative(self, node: int) -> bool:
        if self.ops[node] == "exp":
            return all(self.ops[n] != "ln" or weight % 2.0 != 1.0 for n, weight in self.args[node][1])
        return self.ops[node] == "abs"

    def _factor(self, base: Affine, exponent: float, logs: dict[int, float]) -> float:
        """Add ``exponent * ln(base)`` to ``logs``; return the number that comes out of it."""
        bias, terms = base
        if not terms:
            return _power(bias, exponent)
        if bias or len(terms) > 1:
            _collect(logs, self.node("ln", base), exponent)
            return 1.0
        node, scale = terms[0]
        whole = exponent % 1.0 == 0.0
        if scale < 0 and not whole:
            _collect(logs, self.node("ln", (0.0, ((node, -1.0),))), exponent)
            return _power(-scale, exponent)
        number = 1.0 if scale == 1.0 else _power(scale, exponent)
        if self.ops[node] == "exp":
            inner_bias, inner = self.args[node]
            if whole or self._power_of_power(node, exponent):
                for n, weight in inner:
                    _collect(logs, n, weight * exponent)
                return number * _finite(math.exp, inner_bias * exponent) if inner_bias else number
            if len(inner) == 1 and inner[0][1] * exponent == 1.0 and not self.has_log(self._base(inner)[1]):
                return number * self._factor(self.abs(self._base(inner)), 1.0, logs)  # (u**2)**0.5
        elif self.ops[node] == "abs" and exponent % 2.0 == 0.0:
            return number * self._factor(self.args[self.args[node][1][0][0]], exponent, logs)
        _collect(logs, self.node("ln", (0.0, ((node, 1.0),))), exponent)
        return number

    def _base(self, inner: tuple[tuple[int, float], ...]) -> Affine:
        return self.args[inner[0][0]]

    def _power_of_power(self, node: int, exponent: float) -> bool:
        """May exp(a)**exponent be written exp(exponent*a), for an exponent that is not whole?

        (u*v)**0.5 may not (both could be negative), nor (u**2)**0.75; (u**3)**0.5 and (u**4)**0.5 may.
        """
        logs = [weight for n, weight in self.args[node][1] if self.ops[n] == "ln"]
        if len(logs) != 1:
            return not logs
        return logs[0] % 2.0 != 0.0 or (logs[0] * exponent) % 2.0 == 0.0

    def _exp_of_logs(self, scale: float, logs: dict[int, float]) -> Affine:
        terms = tuple(sorted((n, weight) for n, weight in logs.items() if weight))
        if not terms or not scale:
            return (scale, ())
        if len(terms) == 1 and terms[0][1] == 1.0 and self.ops[terms[0][0]] == "ln":
            return scaled(self.args[terms[0][0]], scale)
        return (0.0, ((self.node("exp", (0.0, terms)), scale),))


def scaled(arg: Affine, factor: float) -> Affine:
    if factor == 1.0:
        return arg
    if not factor:
        return (0.0, ())
    return (arg[0] * factor, tuple([(node, weight * factor) for node, weight in arg[1]]))


def summed(parts: Iterable[tuple[Affine, float]]) -> Affine:
    """The weighted sum of weighted sums, like terms collected."""
    bias, terms = 0.0, {}  # type: float, dict[int, float]
    for (part_bias, part_terms), factor in parts:
        bias += part_bias * factor
        for node, weight in part_terms:
            _collect(terms, node, weight * factor)
    return (bias, tuple(sorted([item for item in terms.items() if item[1]])))


def _collect(terms: dict[int, float], node: int, weight: float) -> None:
    old = terms.get(node)
    if old is not None:
        new = old + weight
        weight = new if abs(new) > _ROUNDING * abs(weight) else 0.0
    terms[node] = weight


def _shifted(arg: Affine, shift: float) -> Affine:
    return (arg[0] + shift, arg[1])


def _finite(function: Callable[[float], float], value: float) -> float:
    try:
        return function(value)
    except (ValueError, OverflowError):
        raise EncodingError(f"a part of the formula is nowhere defined: {function.__name__}({value:g})") from None


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (ValueError, OverflowError):
        raise EncodingError(f"a part of the formula is nowhere defined: ({base:g})**({exponent:g})") from None


def _add(g: Unified, *args: Expr) -> Affine:
    return summed([(g.lower(a), 1.0) for a in args])


def _mul(g: Unified, *args: Expr) -> Affine:
    scale, factors = 1.0, []
    for arg in args:
        factor = g.lower(arg)
        if factor[1]:
            factors.append((factor, 1.0))
        else:
            scale *= factor[0]
    if not factors:
        return (scale, ())
    return scaled(factors[0][0] if len(factors) == 1 else g.product(factors), scale)


def _div(g: Unified, a: Expr, b: Expr) -> Affine:
    top, bottom = g.lower(a), g.lower(b)
    if bottom[1]:
        return g.product([(top, 1.0), (bottom, -1.0)])
    return scaled(top, _power(bottom[0], -1.0))


def _pow(g: Unified, a: Expr, b: Expr) -> Affine:
    base, exponent = g.lower(a), g.lower(b)
    if not exponent[1]:
        return g.power(base, exponent[0])
    if not base[1]:
        return g.exp(scaled(exponent, _finite(math.log, base[0])))
    # x**y needs Ψ twice: exp(exp(ln y + ln ln x)) (ADR 4).
    return g.exp(g.product([(exponent, 1.0), (g.ln(base), 1.0)]))


def _halves(g: Unified, arg: Affine, op: Callable[[float], float], sign: float) -> Affine:
    """(exp(u) + sign exp(-u))/2: sinh or cosh, which is ``op`` for numbers."""
    if not arg[1]:
        return (_finite(op, arg[0]), ())
    return summed([(g.exp(arg), 0.5), (g.exp(scaled(arg, -1.0)), 0.5 * sign)])


def _tanh(g: Unified, arg: Affine) -> Affine:
    if not arg[1]:
        return (math.tanh(arg[0]), ())
    return g.product([(_halves(g, arg, math.sinh, -1.0), 1.0), (_halves(g, arg, math.cosh, 1.0), -1.0)])


def _trigonometric(g: Unified, op: str, a: Expr) -> Affine:
    arg = g.lower(a)
    if arg[1]:
        return (0.0, ((g.node(op, arg), 1.0),))
    return (math.sin(arg[0]) if op == "sin" else math.cos(arg[0]), ())


_RULES: dict[str, Callable[..., Affine]] = {
    "add": _add,
    "sub": lambda g, a, b: summed([(g.lower(a), 1.0), (g.lower(b), -1.0)]),
    "mul": _mul,
    "div": _div,
    "pow": _pow,
    "neg": lambda g, a: scaled(g.lower(a), -1.0),
    "sin": lambda g, a: _trigonometric(g, "sin", a),
    "cos": lambda g, a: _trigonometric(g, "cos", a),
    "exp": lambda g, a: g.exp(g.lower(a)),
    "ln": lambda g, a: g.ln(g.lower(a)),
    "sqrt": lambda g, a: g.power(g.lower(a), 0.5),
    "square": lambda g, a: g.power(g.lower(a), 2.0),
    "inv": lambda g, a: g.power(g.lower(a), -1.0),
    "abs": lambda g, a: g.abs(g.lower(a)),
    "sinh": lambda g, a: _halves(g, g.lower(a), math.sinh, -1.0),
    "cosh": lambda g, a: _halves(g, g.lower(a), math.cosh, 1.0),
    "tanh": lambda g, a: _tanh(g, g.lower(a)),
}
