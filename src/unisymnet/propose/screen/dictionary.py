"""What inner functions are tried: arguments t of the inputs and functions u(κt) of them, in the order of their cost.

Arguments are monomials with small exponents, of inputs and of sums and differences of two inputs, and simple functions
of them.  Everything is generated from the operators that the problem allows, cheapest first; nothing here knows a
benchmark, a target or a fit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import DIGITS_9, MAX_LOG, Floats
from ...fit.kernels.inner import Codes
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, call, evaluate, product, total, walk

__all__ = ["Argument", "FAMILIES", "Family", "ONE", "affine", "arguments", "families", "monomial", "power", "usable"]


ONE: Expr = Const(1.0)

# Exponents and what they cost on top of the variable itself: 1 is free, small positive ones come first.
EXPONENTS: dict[float, float] = {1: 0, -1: 0.5, 2: 1, 0.5: 1.5, -2: 1.5, -0.5: 2, 3: 2, -3: 2.5, 1.5: 3, 4: 3, -4: 3.5}
SUM_COST = 1.5
FUNCTION_COST: dict[str, float] = {"exp": 2, "ln": 2, "sin": 2, "cos": 2, "sqrt": 2, "tanh": 3, "inv": 2}


@dataclass(frozen=True)
class Argument:
    """An expression of the inputs without free constants, and its cost."""

    expr: Expr
    cost: float
    plain: bool = True  # a monomial of the inputs, whose logarithm a log-space basis already spans


@dataclass(frozen=True)
class Family:
    """An inner function of s = offset + κt: its number in scan.py, cost, and the formula of its column(s).

    In log space the column is ln|g| and ``build`` gives g; in linear space ``build`` gives the columns themselves.
    ``span`` bounds |κ|·range(t) of the starts.
    """

    name: str
    code: int
    cost: float
    needs: tuple[str, ...]
    build: Callable[[Expr], tuple[Expr, ...]]
    log: bool
    span: tuple[float, float] = (0.2, 20.0)
    even: bool = False  # u(κt) and u(-κt) span the same columns


def _one(op: str) -> Callable[[Expr], tuple[Expr, ...]]:
    return lambda s: (Call(op, (s,)),)


def _minus(s: Expr) -> Expr:
    return product([Const(-1.0), s])


_RATIO = (0.05, 100.0)

FAMILIES: tuple[Family, ...] = (
    Family("1+s", Codes.LN1, 1, ("add",), lambda s: (s,), True, _RATIO),
    Family("sin", Codes.LOG_SIN, 1, ("sin",), _one("sin"), True, (0.3, 40.0), True),
    Family("cos", Codes.LOG_COS, 1, ("cos",), _one("cos"), True, (0.3, 40.0), True),
    Family("exp(s)-1", Codes.LOG_EXPM1, 2, ("exp", "add"), lambda s: (exponential(s) - 1.0,), True),
    Family("1+exp(s)", Codes.SOFT, 2, ("exp", "add"), lambda s: (1.0 + exponential(s),), True),
    Family("ln(1+s)", Codes.LOG_LN1, 2, ("ln", "add"), _one("ln"), True, _RATIO),
    Family("cosh", Codes.LOG_COSH, 2, ("cosh",), _one("cosh"), True, (0.2, 20.0), True),
    Family("tanh", Codes.LOG_TANH, 2, ("tanh",), _one("tanh"), True, (0.2, 20.0), True),
    Family("sinh", Codes.LOG_SINH, 2.5, ("sinh",), _one("sinh"), True, (0.2, 20.0), True),
    Family("atan", Codes.LOG_ATAN, 3, ("atan",), _one("atan"), True, (0.2, 20.0), True),
    Family("exp", Codes.EXP, 1, ("exp",), lambda s: (exponential(s),), False),
    Family("wave", Codes.WAVE, 1, ("sin", "cos"), lambda s: (call("sin", s), call("cos", s)), False, (0.3, 40.0), True),
    Family("1/(1+s)", Codes.INV1, 1, ("div", "add"), lambda s: (1.0 / s,), False, _RATIO),
    Family("ln(1+s)", Codes.LN1, 1, ("ln", "add"), _one("ln"), False, _RATIO),
    Family("sqrt(1+s)", Codes.SQRT1, 1, ("sqrt", "add"), _one("sqrt"), False, _RATIO),
    Family("1/sqrt(1+s)", Codes.RSQRT1, 2, ("sqrt", "div", "add"), lambda s: (1.0 / call("sqrt", s),), False, _RATIO),
    Family("tanh", Codes.TANH, 1.5, ("tanh",), _one("tanh"), False, (0.2, 20.0), True),
    Family("atan", Codes.ATAN, 2, ("atan",), _one("atan"), False, (0.2, 20.0), True),
    Family("1/(1+s)**2", Codes.INVSQ1, 2, ("div", "add"), lambda s: (1.0 / power(s, 2.0),), False, _RATIO),
    Family("hyperbolic", Codes.HYPERBOLIC, 2, ("exp",), lambda s: (Call("exp", (s,)), Call("exp", (_minus(s),))), False,
           (0.2, 20.0), True),
    Family("1/(exp(s)-1)", Codes.BOSE, 2.5, ("exp", "div"), lambda s: (1.0 / (exponential(s) - 1.0),), False),
    Family("1/(exp(s)+1)", Codes.LOGISTIC, 2.5, ("exp", "div"), lambda s: (1.0 / (exponential(s) + 1.0),), False),
    Family("ln(1+exp(s))", Codes.SOFT, 2.5, ("exp", "ln"), lambda s: (call("ln", 1.0 + exponential(s)),), False),
    Family("asin", Codes.ASIN, 2.5, ("asin",), _one("asin"), False, (0.05, 2.0), True),
    Family("tan", Codes.TAN, 2.5, ("tan",), _one("tan"), False, (0.2, 6.0), True),
    Family("abs(1+s)", Codes.ABS1, 2.5, ("abs", "add"), _one("abs"), False, _RATIO),
)  # fmt: skip


def families(problem: Problem, *, log: bool) -> list[Family]:
    """The inner functions of a log or linear space that the problem's operators allow."""
    return [f for f in FAMILIES if f.log == log and all(_allowed(problem, op) for op in f.needs)]


def power(base: Expr, exponent: float) -> Expr:
    """base**exponent as a person writes it; integers and halves exactly."""
    if exponent == 1:
        return base
    if exponent == -1:
        return call("div", 1.0, base)
    if exponent == 0.5:
        return call("sqrt", base)
    return call("pow", base, exponent)


def exponential(s: Expr) -> Expr:
    """exp(s), with κ·ln(t) inside written as the power t**κ and constants as factors."""
    terms = s.args if isinstance(s, Call) and s.op == "add" else (s,)
    factors: list[Expr] = []
    left: list[Expr] = []
    for item in terms:
        coefficient, body = _coefficient(item)
        if isinstance(body, Call) and body.op == "ln":
            factors.append(power(body.args[0], coefficient))
        elif body == ONE and abs(coefficient) < MAX_LOG:
            factors.append(Const(math.exp(coefficient)))
        else:
            left.append(item)
    if left:
        factors.append(Call("exp", (total(left),)))
    return product(factors)


def _coefficient(item: Expr) -> tuple[float, Expr]:
    if isinstance(item, Const):
        return item.value, ONE
    if isinstance(item, Call) and item.op == "mul" and len(item.args) == 2 and isinstance(item.args[0], Const):
        return item.args[0].value, item.args[1]
    return 1.0, item


def monomial(bases: Sequence[Expr], exponents: Sequence[float]) -> Expr:
    """The product of powers, with a fraction bar for negative exponents."""
    above = [power(b, e) for b, e in zip(bases, exponents) if e > 0]
    below = [power(b, -e) for b, e in zip(bases, exponents) if e < 0]
    if not below:
        return product(above)
    return call("div", product(above), product(below))


def arguments(problem: Problem, *, limit: int, max_cost: float = 6.0, n_rows: int = 60) -> list[Argument]:
    """The cheapest ``limit`` arguments, tested on a few rows; multiples of one another are listed once."""
    X = problem.X[np.unique(np.linspace(0, problem.n_rows - 1, n_rows).astype(int))]
    found: list[Argument] = []
    seen: set[bytes] = set()
    for argument in sorted(_candidates(problem, max_cost), key=lambda a: a.cost):
        v = evaluate(argument.expr, X)
        size = float(np.max(np.abs(v)))
        if not _varies(v, size):
            continue
        key = np.round(v / v[np.argmax(np.abs(v))], 9).tobytes()
        if key not in seen:
            seen.add(key)
            found.append(argument)
        if len(found) >= limit:
            break
    return found


def usable(args: Sequence[Argument], X: Floats) -> tuple[list[Argument], Floats]:
    """The arguments that are finite and not constant on the rows ``X``, and their values (m, n)."""
    pairs = [(a, evaluate(a.expr, X)) for a in args]
    kept = [(a, v) for a, v in pairs if _varies(v, float(np.max(np.abs(v))))]
    return [a for a, _ in kept], np.array([v for _, v in kept]).reshape(len(kept), len(X))


def _varies(values: Floats, size: float) -> bool:
    return 1e-100 < size < 1e100 and float(np.ptp(values)) > DIGITS_9 * size


def _allowed(problem: Problem, op: str) -> bool:
    # A sum or quotient can be written with any of these.
    if op == "div":
        return problem.allows("div") or problem.allows("inv") or problem.allows("pow")
    if op == "add":
        return problem.allows("add") or problem.allows("sub")
    return problem.allows(op)


def _candidates(problem: Problem, max_cost: float) -> Iterator[Argument]:
    inputs = [Argument(Var(i), 1.0) for i in range(problem.n_features)]
    sums = [
        Argument(expr, 2.0 + SUM_COST, False)
        for a, b in itertools.combinations(inputs, 2)
        for expr in (a.expr - b.expr, a.expr + b.expr)
        if problem.allows("add" if expr.op == "add" else "sub")
    ]
    powers = [p for leaf in (*inputs, *sums) for p in _powers(problem, leaf)]
    monomials = list(powers)
    if _may_multiply(problem):
        products = _products(powers, max_cost)
        monomials += products + _raised(problem, products, max_cost)
    yield from (m for m in monomials if m.cost <= max_cost)
    yield from _sums(problem, [m for m in monomials if m.plain and m.cost <= 2.0], max_cost)
    for op, cost in FUNCTION_COST.items():
        if not problem.allows(op):
            continue
        for m in monomials:
            if m.cost + cost > max_cost or (op in ("sqrt", "inv") and m.plain):
                continue
            f = Call(op, (m.expr,))
            yield Argument(f, m.cost + cost, False)
            if op in ("sin", "cos", "ln", "tanh") and m.cost + cost + 1 <= max_cost:
                yield Argument(power(f, 2.0), m.cost + cost + 1, False)
    if _may_multiply(problem):
        yield from _mixed(problem, inputs, max_cost)


def _sums(problem: Problem, monomials: list[Argument], max_cost: float) -> Iterator[Argument]:
    """x + x², x − x·y, x² + y², …: sums of two cheap monomials (those of two inputs are leaves already)."""
    for a, b in itertools.combinations(monomials, 2):
        cost = a.cost + b.cost + SUM_COST + 0.5
        if cost > max_cost or (isinstance(a.expr, Var) and isinstance(b.expr, Var)):
            continue
        if problem.allows("add"):
            yield Argument(a.expr + b.expr, cost, False)
        if problem.allows("sub"):
            yield Argument(a.expr - b.expr, cost, False)


def _may_multiply(problem: Problem) -> bool:
    return problem.allows("mul")


def _powers(problem: Problem, leaf: Argument) -> list[Argument]:
    values = evaluate(leaf.expr, problem.X)
    positive, nonzero = bool(np.all(values > 0)), bool(np.all(values != 0))
    found = []
    for exponent, cost in EXPONENTS.items():
        whole = float(exponent).is_integer()
        if (not whole and not positive) or (exponent < 0 and not nonzero):
            continue
        if exponent < 0 and not _allowed(problem, "div"):
            continue
        if not whole and not (problem.allows("pow") or (abs(exponent) == 0.5 and problem.allows("sqrt"))):
            continue
        if whole and abs(exponent) > 1 and not (problem.allows("pow") or problem.allows("mul")):
            continue
        expr = monomial([leaf.expr], [float(exponent)])
        found.append(Argument(expr, leaf.cost + cost, leaf.plain))
    return found


def _products(powers: list[Argument], max_cost: float) -> list[Argument]:
    """Products of two, three, four and five powers of different leaves, at most one of them a sum."""
    powers = sorted(powers, key=lambda p: p.cost)
    level: list[tuple[tuple[int, ...], float]] = [((i,), p.cost) for i, p in enumerate(powers)]
    leaves = [_leaf(p.expr) for p in powers]
    found = []
    for _ in range(4):
        wider: list[tuple[tuple[int, ...], float]] = []
        for chosen, cost in level:
            used = {leaves[i] for i in chosen}
            compound = any(not powers[i].plain for i in chosen)
            for j in range(chosen[-1] + 1, len(powers)):
                if cost + powers[j].cost > max_cost:
                    break
                if leaves[j] in used or (compound and not powers[j].plain):
                    continue
                wider.append(((*chosen, j), cost + powers[j].cost))
        for chosen, cost in wider:
            parts = [powers[i] for i in chosen]
            found.append(Argument(_joined([p.expr for p in parts]), cost, all(p.plain for p in parts)))
        level = wider
    return found


def _raised(problem: Problem, products: list[Argument], max_cost: float) -> list[Argument]:
    """(x/y)², √(x·y): products of first powers raised as a whole cost less than their factors raised alone."""
    found = []
    for p in products:
        plain = not any(isinstance(n, Call) and n.op in ("pow", "sqrt") for n in walk(p.expr))
        if not p.plain or not plain:
            continue
        if p.cost + 1.0 <= max_cost and (problem.allows("pow") or problem.allows("square")):
            found.append(Argument(power(p.expr, 2.0), p.cost + 1.0))
        if p.cost + 1.5 <= max_cost and problem.allows("sqrt"):
            found.append(Argument(power(p.expr, 0.5), p.cost + 1.5))
    return found


def _leaf(expr: Expr) -> Expr:
    """The base of a power as made by ``monomial``."""
    if isinstance(expr, Call) and expr.op == "div":
        return _leaf(expr.args[1])
    if isinstance(expr, Call) and expr.op in ("pow", "sqrt"):
        return expr.args[0]
    return expr


def _joined(factors: Sequence[Expr]) -> Expr:
    """A product in which reciprocals go below one fraction bar."""
    above = [f for f in factors if not (isinstance(f, Call) and f.op == "div")]
    below = [f.args[1] for f in factors if isinstance(f, Call) and f.op == "div"]
    return call("div", product(above), product(below)) if below else product(above)


def _mixed(problem: Problem, inputs: list[Argument], max_cost: float) -> Iterator[Argument]:
    """An input times a function of another (or the same) one, and sums x + u(x)."""
    for op in ("sin", "cos", "exp", "ln"):
        if not problem.allows(op):
            continue
        for a, b in itertools.product(inputs, inputs):
            cost = a.cost + b.cost + FUNCTION_COST[op]
            if cost <= max_cost:
                yield Argument(product([a.expr, Call(op, (b.expr,))]), cost, False)


def affine(offset: float, kappas: Sequence[float], args: Sequence[Expr]) -> Expr:
    """offset + Σ κ·t as a formula; an argument of 1 gives a bare constant."""
    terms: list[Expr] = []
    for kappa, arg in zip(kappas, args):
        if arg == ONE:
            offset += kappa
        else:
            terms.append(arg if kappa == 1.0 else product([Const(kappa), arg]))
    return total([Const(offset), *terms] if offset else terms)
