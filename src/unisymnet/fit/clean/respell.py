"""The shortest way to write a law on the data at hand: x/sqrt(x**2 - v**2) is 1/sqrt(1 - (v/x)**2) where x > 0.

Such rewritings change values where a sign changes, so simplify.py may not make them.  Here the rows decide: a spelling
is taken only if it gives the same values on all of them.  It fits nothing.  Rewritings that hold everywhere are in
convention.py.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

import numpy as np

from ...arrays import Floats, evenly
from ...metrics import complexity
from ...symbolic.expr import Call, Const, Expr, Var, evaluate, total, walk
from ...symbolic.rewrite.collect import coefficient_of
from ...symbolic.rewrite.simplify import present, simplify

Factor = tuple[Expr, float]
Price = tuple[int, int, int, int, float, int]

ROUNDING = 1e-13  # relative difference of constants that are one
TOLERANCE = 1e-9  # relative difference of values that rounding may cause
MAX_EXPANDED = 25
MAX_DETOUR = 6  # tokens by which a step on the way may be longer than the start
MAX_SIZE = 80  # tokens; longer formulas are nobody's law
MAX_ROWS = 500
NESTED = 6  # tokens that a fraction within a fraction is worth


def respelled(expr: Expr, X: Floats) -> Expr:
    """``expr``, or a shorter formula with the same values on the rows of X; as a person likes to read it."""
    best = present(expr)
    if complexity(best) > MAX_SIZE:
        return best
    rows = X[evenly(len(X), MAX_ROWS)]
    with np.errstate(all="ignore"):
        wanted = evaluate(best, rows)
        for _, _, spelling in sorted(_reachable(best)):
            if spelling == best or _agree(evaluate(spelling, rows), wanted):
                return spelling
    return best


def _reachable(expr: Expr) -> list[tuple[Price, int, Expr]]:
    """Spellings a few moves away, with their prices, found by going on from the cheapest; their values may differ."""
    seen = {expr}
    found: list[tuple[Price, int, Expr]] = [(_price(expr), 0, expr)]
    waiting = list(found)
    for _ in range(MAX_EXPANDED):
        if not waiting or waiting[0][0][0] > found[0][0][0] + MAX_DETOUR:
            break
        for spelling in _spellings(heapq.heappop(waiting)[2]):
            if spelling not in seen:
                found.append((_price(spelling), len(seen), spelling))
                heapq.heappush(waiting, found[-1])
                seen.add(spelling)
    return found


def _price(expr: Expr) -> Price:
    """Tokens; among equals, inputs that are written once and few fractions, few numbers that are not whole or half, few
    beside 1, small exponents, 1 - x not x - 1."""
    nodes = list(walk(expr))
    calls = [node for node in nodes if isinstance(node, Call)]
    written = sum(isinstance(node, Var) for node in nodes) + sum(node.op == "div" for node in calls)
    numbers = [node.value for node in nodes if isinstance(node, Const)]
    fractions, others = sum(value % 0.5 != 0.0 for value in numbers), sum(abs(value) != 1.0 for value in numbers)
    exponents = [node.args[1].value for node in calls if node.op == "pow" and isinstance(node.args[1], Const)]
    behind = sum(node.op == "sub" and type(node.args[1]) is Const for node in calls)
    nested = NESTED * sum(map(_is_nested, calls))
    return complexity(expr) + nested, written, fractions, others, sum(map(abs, exponents)), behind


def _is_nested(node: Call) -> bool:
    """A number and a fraction below a fraction line: x/(1/x + 2) for x**2/(1 + 2*x)."""
    below = node.args[1] if node.op == "div" else None
    if not (isinstance(below, Call) and below.op == "add" and len(below.args) == 2):
        return False
    return any(isinstance(a, Const) and _is_power_below(b) for a, b in permutations(below.args))


def _is_power_below(node: Expr) -> bool:
    """c/x or c/x**p."""
    if not (isinstance(node, Call) and node.op == "div"):
        return False
    under = node.args[1]
    return isinstance(under, Var) or (isinstance(under, Call) and under.op == "pow" and isinstance(under.args[0], Var))


def _agree(values: Floats, wanted: Floats) -> bool:
    return bool(np.all(np.abs(values - wanted) <= TOLERANCE * np.abs(wanted)))  # False for NaN


def _spellings(expr: Expr) -> Iterator[Expr]:
    """The neighbours of a formula."""
    return map(present, _changed(simplify(expr)))


def _changed(expr: Expr) -> Iterator[Expr]:
    """One move at one place of a canonical formula."""
    if type(expr) is not Call:
        return
    if expr.op in ("mul", "pow"):
        yield from _moved(factors_of(expr))
        yield from _under_one_root(factors_of(expr))
    if expr.op == "add":
        yield from _gathered([factors_of(term) for term in expr.args])
    if expr.op == "pow" and isinstance(outer := expr.args[1], Const) and len(inner := factors_of(expr.args[0])) > 1:
        apart = product_of((base, exponent * outer.value) for base, exponent in inner)
        yield from (apart, Call("neg", (apart,)))
    if expr.op == "abs":
        yield expr.args[0]
        yield Call("neg", expr.args)
    for i, arg in enumerate(expr.args):
        yield from (Call(expr.op, (*expr.args[:i], new, *expr.args[i + 1 :])) for new in _changed(arg))


def _moved(factors: list[Factor]) -> Iterator[Expr]:
    """A power of one input moved between a sum and the factors beside it, or all of them; a number that all terms of a
    sum share taken out; or the sum multiplied out."""
    for place, (base, exponent) in enumerate(factors):
        if type(base) is not Call or base.op != "add":
            continue
        terms = [factors_of(term) for term in base.args]
        powers = {(atom, power) for term in terms for atom, power in term if isinstance(atom, Var)}
        others = [*factors[:place], *factors[place + 1 :]]
        numbers = [abs(term.value if type(term) is Const else coefficient_of(term)) for term in base.args]
        shared = numbers[0]
        if shared != 1.0 and all(abs(number - shared) <= ROUNDING * shared for number in numbers):
            freed = Call("add", [product_of((_divided(base, shared), power) for base, power in term) for term in terms])
            yield product_of([*others, (Const(shared), exponent), (freed, exponent)])
        if exponent == 1.0 and others:
            yield Call("add", [product_of([*others, *term]) for term in terms])
        inputs = [(atom, power / exponent) for atom, power in others if isinstance(atom, Var)]
        if len(inputs) > 1:
            rest = [factor for factor in others if not isinstance(factor[0], Var)]
            yield product_of([*rest, (Call("add", [product_of([*term, *inputs]) for term in terms]), exponent)])
        for atom, power in sorted(powers, key=lambda pair: (pair[0].index, pair[1])):
            yield product_of([*others, *_taken_out(terms, [(atom, power)], exponent)])
        for term in terms:
            whole = [(atom, power) for atom, power in term if isinstance(atom, Var)]
            if len(whole) > 1:
                yield product_of([*others, *_taken_out(terms, whole, exponent)])


def _under_one_root(factors: list[Factor]) -> Iterator[Expr]:
    """sqrt(x)/sqrt(y) as sqrt(x/y)."""
    roots = [(base, exponent) for base, exponent in factors if isinstance(base, Var) and exponent % 1.0]
    for size in sorted({abs(exponent) for _, exponent in roots}):
        alike = [(base, exponent) for base, exponent in roots if abs(exponent) == size]
        if len(alike) > 1:
            inside = product_of((base, exponent / size) for base, exponent in alike)
            yield product_of([*(factor for factor in factors if factor not in alike), (inside, size)])


def _taken_out(terms: list[list[Factor]], shared: Sequence[Factor], exponent: float) -> list[Factor]:
    """(a + b)**p as (a/s + b/s)**p times s**p, for a power law s of inputs."""
    inverse = [(atom, -power) for atom, power in shared]
    divided = Call("add", [product_of([*term, *inverse]) for term in terms])
    return [(divided, exponent), *((atom, power * exponent) for atom, power in shared)]


def _gathered(terms: list[list[Factor]]) -> Iterator[Expr]:
    """The terms of a sum that share a factor written as one: a*exp(x) - b*exp(x) + c as (a - b)*exp(x) + c."""
    shared = Counter(factor for term in terms for factor in term if not isinstance(factor[0], Const))
    for factor in (factor for factor, count in shared.items() if count > 1):
        inside = [product_of(f for f in term if f != factor) for term in terms if factor in term]
        outside = [product_of(term) for term in terms if factor not in term]
        yield total([*outside, product_of([(total(inside), 1.0), factor])])


def _divided(base: Expr, number: float) -> Expr:
    if not isinstance(base, Const):
        return base
    ratio = base.value / number
    return Const(float(round(ratio)) if abs(abs(ratio) - 1.0) <= ROUNDING else ratio)


def factors_of(expr: Expr) -> list[Factor]:
    """A canonical product as bases with numbers as exponents."""
    if type(expr) is Call and expr.op == "mul":
        return [pair for arg in expr.args for pair in factors_of(arg)]
    if type(expr) is Call and expr.op == "pow" and type(expr.args[1]) is Const:
        return [(expr.args[0], expr.args[1].value)]
    return [(expr, 1.0)]


def product_of(factors: Iterable[Factor]) -> Expr:
    parts: list[Expr] = []
    joined: dict[Expr, float] = {}
    for base, exponent in factors:
        joined[base] = joined.get(base, 0.0) + exponent
    for base, exponent in joined.items():
        if exponent != 0.0:
            parts.append(base if exponent == 1.0 else Call("pow", (base, Const(exponent))))
    return Call("mul", parts) if len(parts) > 1 else parts[0] if parts else Const(1.0)
