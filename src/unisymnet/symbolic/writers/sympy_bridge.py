"""To sympy and back, and the few jobs that need computer algebra.  The only file that imports sympy.

Nothing goes through text or ``sympify``, so columns called N, E, S, I, pi or lambda are plain symbols.  sympy may
think for hours about a formula; ``same_up_to_constant`` therefore runs in another process (sympy_worker.py) that is
killed when its time is up.  The conversions are quick and stay in this process.
"""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import sympy

from ..expr import Call, Const, Expr, Param, Var
from ..operators import FUNCTIONS, OPERATORS
from .sympy_worker import run_limited

_TO_SYMPY: dict[str, Any] = {
    op: getattr(sympy, OPERATORS[op].names.get("sympy", op)) for op in (*FUNCTIONS, "min", "max") if op != "sqrt"
}
_FROM_SYMPY = {cls: op for op, cls in _TO_SYMPY.items()}
_RECIPROCALS = {
    sympy.sec: "cos",
    sympy.csc: "sin",
    sympy.cot: "tan",
    sympy.sech: "cosh",
    sympy.csch: "sinh",
    sympy.coth: "tanh",
}
_VARIABLE = re.compile(r"x_?(\d+)\Z")
_PARAMETER = re.compile(r"c_?(\d+)_*\Z")
_UNDEFINED = {"inf": sympy.oo, "-inf": -sympy.oo, "nan": sympy.nan}
MAX_POWER = 200.0  # (2*x)**10**9 would make sympy compute 2**10**9


def to_sympy(expr: Expr, names: Sequence[str] | None = None, *, real: bool = False) -> Any:
    """``expr`` as a sympy expression in symbols x0, x1, … (or ``names``) and c0, c1, … for free constants.

    Whole numbers become Integers, others Floats; sympy's automatic simplification applies.  Numbers that would be
    astronomically large or small as Integers (10**10**9) are taken from floating point instead: they may be oo.
    """
    taken = set(names or ())

    def symbol(node: Expr) -> Any:
        if isinstance(node, Var):
            name = names[node.index] if names is not None and node.index < len(names) else f"x{node.index}"
        else:
            assert isinstance(node, Param)
            name = f"c{node.index}"
            while name in taken:
                name += "_"
        return sympy.Symbol(name, real=True) if real else sympy.Symbol(name)

    def convert(node: Expr, power: float) -> tuple[Any, float | None]:
        """The sympy form and, for a part made of numbers only, its value; ``power`` is what it will be raised to."""
        if isinstance(node, Const):
            return _number(node.value), node.value
        if not isinstance(node, Call):
            return symbol(node), None
        first, rest = node.args[0], node.args[1:]
        exponent = rest[0] if node.op == "pow" else Const(2.0 if node.op == "square" else 1.0)
        if isinstance(exponent, Const):
            power *= max(1.0, abs(exponent.value))
        pairs = [convert(first, power), *(convert(a, power) for a in rest)]
        args, numbers = [pair[0] for pair in pairs], [pair[1] for pair in pairs if pair[1] is not None]
        if len(numbers) == len(pairs):
            value = _value(node.op, numbers)
            if not 1e-100 < abs(value) < 1e100:
                return sympy.Float(value) if math.isfinite(value) else _UNDEFINED[str(value)], value
        if node.op in ("pow", "square") and isinstance(exponent, Const):
            args = [args[0], _exponent(exponent.value) if power <= MAX_POWER else sympy.Float(exponent.value)]
        return _build(node.op, args), (value if len(numbers) == len(pairs) else None)

    return convert(expr, 1.0)[0]


def known_words() -> frozenset[str]:
    """What sympy's own reader takes for something else than a symbol."""
    return frozenset([*dir(sympy), *dir(builtins)])


def from_sympy(s: Any, names: Sequence[str] | None = None) -> Expr:
    """A sympy expression as our tree.  Raises ValueError for what a real formula cannot hold (I, Piecewise, …)."""
    columns = {name: i for i, name in enumerate(names or ())}

    def symbol(name: str) -> Expr:
        variable, parameter = _VARIABLE.match(name), _PARAMETER.match(name)
        if name in columns:
            return Var(columns[name])
        if variable:
            return Var(int(variable.group(1)))
        if parameter:
            return Param(int(parameter.group(1)))
        raise ValueError(f"sympy symbol {name!r} is not a column; the columns are {', '.join(columns) or 'x0, x1, …'}")

    def convert(node: Any) -> Expr:
        if node.is_Symbol:
            return symbol(node.name)
        if node.is_number and (node.is_Number or node.is_NumberSymbol):
            value = float(node)
            if math.isfinite(value):
                return Const(value)
        args = [convert(a) for a in node.args]
        if node.is_Add:
            return Call("add", args)
        if node.is_Mul:
            return Call("mul", args)
        if node.is_Pow:
            return Call("sqrt", args[:1]) if node.exp == sympy.S.Half else Call("pow", args)
        if node.func in (sympy.Min, sympy.Max):
            return reduce(lambda a, b: Call(_FROM_SYMPY[node.func], (a, b)), args)
        if node.func is sympy.Heaviside:
            return Call("step", args[:1])
        if node.func in _FROM_SYMPY and args:
            log = Call(_FROM_SYMPY[node.func], args[:1])
            return log if len(args) == 1 else Call("div", (log, Call("ln", args[1:])))
        if node.func in _RECIPROCALS:
            return Call("inv", (Call(_RECIPROCALS[node.func], args),))
        raise ValueError(f"{node.func.__name__} has no counterpart among our operators: {str(node)[:80]}")

    # Numbers and sympy objects only: sympify would execute a text.
    if isinstance(s, str):
        raise ValueError(f"from_sympy takes a sympy expression, not text; use parse({s[:40]!r})")
    return convert(s if isinstance(s, sympy.Basic) else sympy.Float(s))


def same_up_to_constant(true: Expr, found: Expr, max_time: float) -> bool:
    """SRBench's symbolic part of the judgement (metrics.is_solution_srbench), False when the time is up."""
    return run_limited("srbench_now", (true, found), max_time) is True


def n_nodes(expr: Expr) -> int:
    """Nodes of sympy's tree, its quotients and differences counted as powers and products."""
    return sum(1 for _ in sympy.preorder_traversal(to_sympy(expr)))


def srbench_now(true: Expr, found: Expr) -> bool:
    """Steps 1 to 5 of SRBench's symbolic solution (shared/benchmarks/README.md), without a time limit.

    Where sympy cannot tell whether the ratio is constant, because the truth may be zero somewhere, the ratio is
    simplified and asked again, as SRBench's later code does; otherwise 2*(x + y) would not solve x + y.
    """
    truth = _rounded(to_sympy(true))
    guess = sympy.simplify(_rounded(to_sympy(found)), ratio=1)
    if str(guess) in ("", "0", "nan"):
        return False
    difference = _rounded(truth - guess)
    fraction = _rounded(guess / truth)
    fraction_constant = fraction.is_constant()
    if fraction_constant is None:
        fraction = _rounded(sympy.simplify(fraction, ratio=1))
        fraction_constant = fraction.is_constant()
    if fraction_constant and fraction == 0:
        fraction_constant = False  # a ratio that rounding has made zero proves nothing
    if not difference.is_constant() or fraction_constant:
        difference = _rounded(sympy.simplify(difference, ratio=1))
    return bool(str(difference) == "0" or difference.is_constant() or fraction_constant)


def _rounded(s: Any) -> Any:
    """SRBench's rounding: below 1e-4 zero, else 3 decimals and 3 significant digits."""
    small = sympy.Integer(0)
    return s.xreplace({a: small if abs(a) < 1e-4 else sympy.Float(round(a, 3), 3) for a in s.atoms(sympy.Float)})


def _number(value: float) -> Any:
    return sympy.Integer(int(value)) if value.is_integer() and abs(value) < 1e15 else sympy.Float(value)


def _exponent(value: float) -> Any:
    """Exponents such as 1/2 and 2/3 are exact, so that sympy sees roots."""
    simple = Fraction(value).limit_denominator(12)
    exact = abs(value) < 100 and simple.numerator / simple.denominator == value
    return sympy.Rational(simple.numerator, simple.denominator) if exact else _number(value)


def _value(op: str, numbers: list[float]) -> float:
    with np.errstate(all="ignore"):
        return float(OPERATORS[op].apply(*map(np.float64, numbers)))


def _build(op: str, args: Sequence[Any]) -> Any:
    a = args[0]
    if op == "add":
        return sympy.Add(*args)
    if op == "mul":
        return sympy.Mul(*args)
    if op == "sub":
        return a - args[1]
    if op == "neg":
        return -a
    if op == "div":
        return a / args[1]
    if op in ("pow", "square"):
        return sympy.Pow(a, args[1])
    if op == "inv":
        return 1 / a
    if op == "step":
        return sympy.Heaviside(a, 0)
    return sympy.sqrt(a) if op == "sqrt" else _TO_SYMPY[op](*args)
