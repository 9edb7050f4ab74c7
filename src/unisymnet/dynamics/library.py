"""Terms that rates are made of: monomials, sines, quotients, saturation, as formulas without their factor.

A `Library` is a list of terms to choose a few from; a rate is the sum of chosen terms, each with a coefficient.  Inner
constants (the half-saturation of x/(K + x), the place of a sigmoid) stand on a coarse grid here, and are fitted
later with everything else.  Knows no data but the ranges of the columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, permutations

import numpy as np

from ..arrays import Floats
from ..symbolic.expr import Call, Const, Expr, Var, call, evaluate, order_key, product, total, variables, walk

DEGREES = {1: 5, 2: 3, 3: 3}  # by number of columns; more columns: 2
MAX_TERMS = 90
LARGEST = 1e100  # squares must not overflow
LEAST_BENT = 0.01  # a sine or an exponential over less than this is a straight line
LARGEST_TURN = math.pi / 4.0  # from row to row of a table, which has some four rows for every measured one


@dataclass(frozen=True)
class Library:
    """Terms under a name, the first ``n_always`` of which every rate has.

    Of the ``groups``, terms with one value of an inner constant, a rate uses one at most.
    """

    name: str
    terms: tuple[Expr, ...]
    groups: tuple[tuple[Expr, ...], ...] = ()
    n_always: int = 0


def monomials(columns: Sequence[int], degree: int) -> list[Expr]:
    """1, x, y, x², x*y, … up to a degree."""
    found: list[Expr] = [Const(1.0)]
    for size in range(1, degree + 1):
        for chosen in combinations_with_replacement(columns, size):
            powers = {c: chosen.count(c) for c in dict.fromkeys(chosen)}
            found.append(product([power(Var(c), p) for c, p in powers.items()]))
    return found


def power(base: Expr, exponent: int) -> Expr:
    return base if exponent == 1 else Call("pow", (base, Const(float(exponent))))


def factored(term: Expr) -> tuple[float, Expr]:
    """A term as its number and the rest, factors in one order, so that equal terms look alike."""
    number, rest = _factors(term)
    return number, product(sorted(rest, key=order_key))


def _factors(expr: Expr) -> tuple[float, list[Expr]]:
    """What is divided by is a factor `inv`."""
    if isinstance(expr, Const):
        return expr.value, []
    if isinstance(expr, Call) and expr.op == "neg":
        number, rest = _factors(expr.args[0])
        return -number, rest
    if isinstance(expr, Call) and expr.op == "mul":
        parts = [_factors(arg) for arg in expr.args]
        return math.prod(number for number, _ in parts), [factor for _, rest in parts for factor in rest]
    if isinstance(expr, Call) and expr.op in ("div", "inv"):
        above, below = (Const(1.0), expr.args[0]) if expr.op == "inv" else expr.args
        (over, factors), (under, divisors) = _factors(above), _factors(below)
        if under != 0.0 and math.isfinite(1.0 / under):
            return over / under, [*factors, *(call("inv", divisor) for divisor in divisors)]
    return 1.0, [expr]


def libraries(
    columns: Sequence[int],
    ranges: dict[int, tuple[float, float]],
    fine: bool = False,
    positions: Sequence[int] = (),
    grown: int | None = None,
) -> list[Library]:
    """What is tried for a rate that may depend on these columns, common terms first.

    Clean data tell inner constants so sharply that a coarse grid misses them; theirs is ``fine``.  ``positions`` are
    places in space, whose distance from the origin may matter.  ``grown`` is the state itself where it is an amount:
    what there is none of neither grows nor shrinks, so every term may have it as a factor.
    """
    n = len(columns)
    degree = DEGREES.get(n, 2)
    low = monomials(columns, 2 if n <= 3 else 1)
    found = [Library("monomials", _few(monomials(columns, degree)))]
    if (
        grown is not None
        and grown in columns
        and n > 1
        and ranges[grown][0] >= -0.05 * (ranges[grown][1] - ranges[grown][0])
    ):
        found.append(
            Library("growth", _few(t for t in monomials(columns, 3 if n <= 3 else 2) if grown in variables(t)))
        )
    waves = _waves(columns)
    found.append(Library("waves", _few([*(monomials(columns, 2) if n <= 2 else low), *waves])))
    found.append(Library("quotients", _few([*low, *_quotients(columns, ranges)])))
    if len(positions) > 1:
        found.append(Library("central forces", _few([*low, *_central(positions)])))
    found += [Library(name, _few(low), tuple(map(tuple, groups))) for name, groups in _shapes(columns, ranges, fine)]
    return found


def _few(terms: Iterable[Expr]) -> tuple[Expr, ...]:
    return tuple(dict.fromkeys(factored(term)[1] for term in terms))[:MAX_TERMS]


def _waves(columns: Sequence[int]) -> list[Expr]:
    sines: list[Expr] = []
    for c in columns:
        sines += [call("sin", Var(c)), call("cos", Var(c)), Var(c) * call("abs", Var(c))]
    for c in columns:
        sines.append(call("sin", Var(c)) * call("cos", Var(c)))
    for a, b in permutations(columns, 2):
        sines += [Var(b) * call("sin", Var(a)), Var(b) * call("cos", Var(a)), call("sin", Var(a)) * call("cos", Var(b))]
        if a < b:
            sines += [call("sin", Var(a)) * call("sin", Var(b)), call("cos", Var(a)) * call("cos", Var(b))]
            sines += [call("sin", Var(a) - Var(b)), call("cos", Var(a) - Var(b))]
    for c in columns:
        sines += [Var(c) * call("sin", Var(c)), Var(c) * call("cos", Var(c))]
    return sines


def _central(positions: Sequence[int]) -> list[Expr]:
    """Forces towards the origin: x/r, x/r², x/r³, for pairs of positions and for all of them."""
    found: list[Expr] = []
    for chosen in dict.fromkeys([*combinations(positions, 2), tuple(positions)]):
        squared = total([power(Var(c), 2) for c in chosen])
        for exponent in (-0.5, -1.0, -1.5):
            found += [product([Var(c), Call("pow", (squared, Const(exponent)))]) for c in chosen]
    return found


def _quotients(columns: Sequence[int], ranges: dict[int, tuple[float, float]]) -> list[Expr]:
    """Inverses, roots and logarithms of what keeps its sign."""
    found: list[Expr] = []
    for c in columns:
        low, high = ranges[c]
        x = Var(c)
        if low > 0.0:
            found += [call("ln", x), x * call("ln", x), call("sqrt", x), Call("pow", (x, Const(1.5)))]
        if low > 0.0 or high < 0.0:
            found += [call("inv", x), call("inv", power(x, 2))]
            found += [Var(other) / x for other in columns if other != c]
            found += [call(op, Var(other)) / x for other in columns if other != c for op in ("sin", "cos")]
        if max(abs(low), abs(high)) < 20.0:
            found += [call("exp", -x), x * call("exp", -x), call("exp", x)]
    return found


def _shapes(
    columns: Sequence[int], ranges: dict[int, tuple[float, float]], fine: bool
) -> list[tuple[str, list[list[Expr]]]]:
    """Families with an inner constant, by column: saturation, Hill curves, exponentials, sigmoids, waves."""
    found: list[tuple[str, list[list[Expr]]]] = []
    for c in columns:
        low, high = ranges[c]
        size, width = max(abs(low), abs(high)), high - low
        if not width > 0.0:
            continue
        x = Var(c)
        others: list[Expr] = [Const(1.0), *(Var(other) for other in columns if other != c)]

        def group(*shapes: Expr, factors: list[Expr] = others) -> list[Expr]:
            return [_times(factor, shape) for shape in shapes for factor in factors]

        knees = [(k, call("inv", x + float(k))) for k in size * np.geomspace(0.03, 3.0, 33 if fine else 9)]
        if low >= -0.05 * width:
            found.append((f"saturation of {c}", [group(product([x, knee]), knee) for _, knee in knees]))
        hills = [call("inv", power(x, 2) + float(k**2)) for k, _ in knees]
        found.append((f"Hill curves of {c}", [group(product([x, h]), product([power(x, 2), h]), h) for h in hills]))
        rates = [sign * rate for rate in np.geomspace(0.3, 12.0, 19 if fine else 7) / width for sign in (-1.0, 1.0)]
        falls = [call("exp", x * float(rate)) for rate in rates if size * abs(rate) < 40.0]
        found.append((f"exponentials of {c}", [group(fall) for fall in falls]))
        steeps = np.array([1.5, 4.0, 10.0, 25.0]) / width
        steps = [call("tanh", (x - float(at)) * float(s)) for at in np.linspace(low, high, 5) for s in steeps]
        found.append((f"sigmoids of {c}", [group(step) for step in steps]))
        turns = np.array([1.0, 2.0, 3.0, 4.5, 6.5, 9.0]) * np.pi / width
        found.append((f"waves of {c}", [group(call("sin", x * float(w)), call("cos", x * float(w))) for w in turns]))
    return found


def _times(factor: Expr, term: Expr) -> Expr:
    return factored(product([factor, term]))[1]


def finite_terms(terms: Sequence[Expr], tables: Sequence[Floats]) -> list[Expr]:
    """Those that have a value everywhere on the tables, not too large a one, and one that the tables can tell."""
    kept = []
    for term in terms:
        values = [evaluate(term, table) for table in tables]
        if all(np.isfinite(v).all() and np.abs(v).max() < LARGEST for v in values) and _is_told(term, tables):
            kept.append(term)
    return kept


def _is_told(term: Expr, tables: Sequence[Floats]) -> bool:
    """Is every sine and exponential neither a straight line nor a blur?

    In units in which a state is 1e-9, sin(x) is x; where it is 1e9, a turn passes between two rows, and anything can be
    read into what is left.
    """
    for node in walk(term):
        if isinstance(node, Call) and node.op in ("sin", "cos", "exp"):
            inner = [evaluate(node.args[0], table) for table in tables]
            if max(np.ptp(v) for v in inner) < LEAST_BENT:
                return False
            if node.op != "exp" and max(float(np.mean(np.abs(np.diff(v)))) for v in inner) > LARGEST_TURN:
                return False
    return True
