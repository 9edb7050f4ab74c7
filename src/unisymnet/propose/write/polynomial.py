"""Sums of monomials over atoms, and the little algebra that compaction needs.

A ``Poly`` maps exponent tuples (over ``atoms``, any formulas: inputs, sin(x0), …) to coefficients.  Exponents
may be negative or fractional (Laurent sums).  A ``Form`` is a written product: scale · num / den.  Neither
knows data, views or how coefficients were found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...arrays import DIGITS_9
from ...symbolic.expr import Call, Const, Expr, product

Powers = tuple[float, ...]


@dataclass(frozen=True)
class Poly:
    """Σ coefficient · ∏ atom^power, with no zero coefficients."""

    atoms: tuple[Expr, ...]
    terms: tuple[tuple[Powers, float], ...]

    def __len__(self) -> int:
        return len(self.terms)

    def used(self) -> tuple[int, ...]:
        """Indices of the atoms that occur."""
        return tuple(i for i in range(len(self.atoms)) if any(powers[i] for powers, _ in self.terms))

    def with_terms(self, terms: Iterable[tuple[Powers, float]]) -> Poly:
        return Poly(self.atoms, tuple((p, c) for p, c in terms if c != 0.0))

    def common(self) -> Powers:
        """The largest monomial that divides every term and leaves no negative power."""
        return tuple(min(powers[i] for powers, _ in self.terms) for i in range(len(self.atoms)))

    def shared(self) -> Powers:
        """The monomial that stands in every term: powers of one sign, the smallest of them."""
        columns = [[powers[i] for powers, _ in self.terms] for i in range(len(self.atoms))]
        return tuple(min(c) if min(c) > 0 else (max(c) if max(c) < 0 else 0.0) for c in columns)

    def divided(self, powers: Powers) -> Poly:
        """This sum divided by a monomial."""
        return self.with_terms((minus(p, powers), c) for p, c in self.terms)

    def scaled(self, factor: float) -> Poly:
        return self.with_terms((p, factor * c) for p, c in self.terms)


def make_poly(atoms: Sequence[Expr], powers: Iterable[Sequence[float]], coefficients: Iterable[float]) -> Poly:
    """Collect equal monomials and drop zeros."""
    table: dict[Powers, float] = {}
    for row, c in zip(powers, coefficients, strict=True):
        key = tuple(float(p) + 0.0 for p in row)
        table[key] = table.get(key, 0.0) + float(c)
    return Poly(tuple(atoms), tuple((p, c) for p, c in table.items() if c != 0.0))


def plus(a: Powers, b: Powers) -> Powers:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def minus(a: Powers, b: Powers) -> Powers:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def multiply(a: Poly, b: Poly) -> Poly:
    pairs = [(plus(p, q), c * d) for p, c in a.terms for q, d in b.terms]
    return make_poly(a.atoms, [p for p, _ in pairs], [c for _, c in pairs])


def divide(poly: Poly, by: Poly, atom: int, tol: float) -> tuple[Poly, Poly] | None:
    """Quotient and remainder as polynomials in one atom; None if the leading coefficient is no monomial.

    Remainders smaller than ``tol`` times the terms they come from are rounding (or noise) and are dropped.
    """
    degree, floor = max(p[atom] for p, _ in by.terms), min(p[atom] for p, _ in by.terms)
    leading = [(p, c) for p, c in by.terms if p[atom] == degree]
    if len(leading) != 1 or degree <= floor:
        return None
    lead_powers, lead = leading[0]
    rest, quotient = dict(poly.terms), dict[Powers, float]()
    sizes = {p: abs(c) for p, c in poly.terms}
    for _ in range(40):
        top = [p for p in rest if p[atom] - degree >= -DIGITS_9]
        if not top or degree == floor:
            break
        powers = max(top, key=lambda p: p[atom])
        c = rest.pop(powers)
        factor = minus(powers, lead_powers)
        quotient[factor] = quotient.get(factor, 0.0) + c / lead
        for q, d in by.terms:
            key = plus(factor, q)
            if key == powers:
                continue
            change = c / lead * d
            sizes[key] = sizes.get(key, 0.0) + abs(change)
            rest[key] = rest.get(key, 0.0) - change
            if abs(rest[key]) <= tol * sizes[key]:
                del rest[key]
    else:
        return None
    return poly.with_terms(quotient.items()), poly.with_terms(rest.items())


@dataclass(frozen=True)
class Form:
    """scale · ∏ num / ∏ den, each factor a formula that is no product itself."""

    scale: float
    num: tuple[Expr, ...] = ()
    den: tuple[Expr, ...] = ()

    def bare(self) -> Expr:
        """The formula without its scale."""
        top = product(self.num)
        return Call("div", (top, product(self.den))) if self.den else top

    def written(self) -> Expr:
        """The whole formula."""
        if self.scale == 1.0 or not (self.num or self.den):
            return self.bare() if self.scale == 1.0 else Const(self.scale)
        if not self.num:
            return Call("div", (Const(self.scale), product(self.den)))
        if self.scale == -1.0:
            return Call("neg", (self.bare(),))
        top = product((Const(self.scale), *self.num))
        return Call("div", (top, product(self.den))) if self.den else top

    def times(self, other: Form) -> Form:
        return Form(self.scale * other.scale, self.num + other.num, self.den + other.den)

    def inverted(self) -> Form:
        return Form(1.0 / self.scale, self.den, self.num)


def cost(expr: Expr) -> int:
    """Nodes with n-ary operators counted as chains of binary ones."""
    if not isinstance(expr, Call):
        return 1
    own = len(expr.args) - 1 if len(expr.args) > 2 else 1
    return own + sum(cost(a) for a in expr.args)


def power(expr: Expr, exponent: float) -> Expr:
    """expr**exponent for a positive exponent, as a person writes it."""
    if exponent == 1.0:
        return expr
    if exponent == 0.5:
        return Call("sqrt", (expr,))
    return Call("pow", (expr, Const(exponent)))


def monomial(atoms: Sequence[Expr], powers: Sequence[float], scale: float = 1.0) -> Form:
    """scale · ∏ atom^power, several square roots under one sign."""
    pairs = [(a, p) for a, p in zip(atoms, powers, strict=True) if p]
    halves = [(a, p) for a, p in pairs if abs(p) == 0.5]
    roots: tuple[Expr, ...] = ()
    if len(halves) > 1:
        pairs = [(a, p) for a, p in pairs if abs(p) != 0.5]
        above, below = [a for a, p in halves if p > 0], [a for a, p in halves if p < 0]
        inner = Form(1.0, tuple(above), tuple(below)) if above else Form(1.0, tuple(below))
        roots = (power(inner.bare(), 0.5),)
    num = tuple(power(a, p) for a, p in pairs if p > 0)
    den = tuple(power(a, -p) for a, p in pairs if p < 0)
    # Where some root stands above the line, the common one does.
    sunk = bool(halves) and all(p < 0 for _, p in halves)
    return Form(scale, num, den + roots) if sunk else Form(scale, num + roots, den)


def add_forms(forms: Sequence[Form], tol: float) -> Form:
    """The sum of products as one factor, its scale chosen so that most coefficients become 1."""
    if len(forms) == 1:
        return forms[0]

    def needed(unit: float) -> tuple[int, int]:
        numbers = [unit, *(f.scale / unit for f in forms)]
        return sum(not _is_one(c, tol) for c in numbers), sum(digits(c) for c in numbers)

    sizes = sorted(abs(f.scale) for f in forms)
    # The size that most coefficients share, and the ends.
    often = max(sizes, key=lambda c: sum(abs(d - c) <= tol * c for d in sizes))
    unit = _rounded(min((1.0, often, sizes[-1], sizes[0]), key=needed), tol)
    if all(f.scale < 0 for f in forms):
        unit = -unit
    shares = [Form(_rounded(f.scale / unit, tol), f.num, f.den) for f in forms]
    positive = [f.written() for f in shares if f.scale > 0]
    expr: Expr | None = None
    if positive:
        expr = positive[0] if len(positive) == 1 else Call("add", positive)
    for f in shares:
        if f.scale < 0:
            term = Form(-f.scale, f.num, f.den).written()
            expr = Call("sub", (expr, term))  # type: ignore[arg-type]  # some share is positive
    assert expr is not None
    return Form(unit, (expr,))


def digits(value: float) -> int:
    """Significant digits of a number, up to 10: how little it looks like a person's constant."""
    return len(f"{abs(value):.9e}".split("e")[0].replace(".", "").rstrip("0"))


def _is_one(value: float, tol: float) -> bool:
    return abs(abs(value) - 1.0) <= tol


def _rounded(value: float, tol: float) -> float:
    return (1.0 if value > 0 else -1.0) if _is_one(value, tol) else value
