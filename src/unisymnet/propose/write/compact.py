"""From tables of coefficients to compact formulas: divide, split, factor, collect, complete squares.

Several ways of writing a sum or a quotient are tried and the cheapest is kept.  ``tol`` is the relative
difference below which two coefficients count as equal: about 1e-10 for exact data (pure algebra), about the
relative standard error for noisy data (then the result is a simpler neighbour, to be refitted).  Nothing here
knows data or views.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...symbolic.expr import Const, Expr, walk
from .polynomial import Form, Poly, Powers, add_forms, cost, digits, divide, minus, monomial, power
from .shorten import linear_factors, rank_one, squares

__all__ = ["compact_ratio", "price", "sum_forms"]

# Above this many terms, or after this many parts, only the cheap ways of writing are tried.
MAX_TERMS = 14
MAX_PARTS = 60
DIGIT = 0.2


def sum_forms(poly: Poly, tol: float) -> list[Form]:
    """Σ c_k ∏ atom^power in all the ways tried: what is cheapest may change under a root or a reciprocal."""
    return list(_Writer(tol).forms(poly))


def price(expr: Expr) -> float:
    """What is minimised: nodes, and a little for every digit of a constant, so that plain numbers survive."""
    numbers = [node.value for node in walk(expr) if isinstance(node, Const)]
    return cost(expr) + DIGIT * sum(map(digits, numbers))


def compact_ratio(num: Poly, den: Poly, tol: float) -> Form:
    """num/den as the cheapest formula found: factored, or split into a sum and a smaller quotient."""
    writer = _Writer(tol)
    if len(den) == 1:
        powers, c = den.terms[0]
        return writer.best(num.divided(powers).scaled(1.0 / c))
    num, den = _normalised(num, den, tol)
    forms = [_quotient(writer, num, den)]
    outer = num.common()
    inner = num.divided(outer)
    below = den.common()
    den = den.divided(below)
    lead = monomial(num.atoms, minus(outer, below))
    for atom in den.used():
        forms += [lead.times(f) for f in _splits(writer, inner, den, atom)]
        if any(outer):
            lower = monomial(num.atoms, minus((0.0,) * len(outer), below))
            forms += [lower.times(f) for f in _splits(writer, num, den, atom)]
    return min(forms, key=_price)


def _normalised(num: Poly, den: Poly, tol: float) -> tuple[Poly, Poly]:
    """Both divided by one coefficient of the denominator: the one that leaves the plainest numbers."""

    def plainness(unit: float) -> tuple[int, int]:
        numbers = [c / unit for _, c in (*num.terms, *den.terms)]
        return sum(abs(abs(c) - 1.0) > tol for c in numbers), sum(map(digits, numbers))

    unit = min((c for _, c in sorted(den.terms)), key=plainness)
    return num.scaled(1.0 / unit), den.scaled(1.0 / unit)


def _price(form: Form) -> float:
    return price(form.written())


def _quotient(writer: _Writer, num: Poly, den: Poly) -> Form:
    """num/den, common monomials cancelled."""
    shared = tuple(min(a, b) for a, b in zip(num.common(), den.common(), strict=True))
    top, bottom = writer.best(num.divided(shared)), writer.best(den.divided(shared))
    return _cancel(top.times(bottom.inverted()))


def _cancel(form: Form) -> Form:
    """Equal factors above and below a line leave the product."""
    num, den = list(form.num), list(form.den)
    for factor in form.num:
        if factor in den:
            num.remove(factor)
            den.remove(factor)
    return Form(form.scale, tuple(num), tuple(den))


def _splits(writer: _Writer, num: Poly, den: Poly, atom: int) -> Iterator[Form]:
    """num/den = whole + rest/den by division in one atom: of all, or of the parts that leave no rest."""
    divided = divide(num, den, atom, writer.tol)
    if divided is None:
        return
    whole, rest = divided
    if not len(whole):
        return
    yield _mixed(writer, whole, rest, den)
    # Parts: terms that agree in the atoms that the denominator does not have.
    inside = den.used()
    parts: dict[Powers, list[tuple[Powers, float]]] = {}
    for powers, c in num.terms:
        key = tuple(0.0 if i in inside else p for i, p in enumerate(powers))
        parts.setdefault(key, []).append((powers, c))
    clean: list[tuple[Powers, float]] = []
    left: list[tuple[Powers, float]] = []
    for terms in parts.values():
        part = divide(num.with_terms(terms), den, atom, writer.tol)
        if part is not None and not len(part[1]):
            clean += part[0].terms
        else:
            left += terms
    if clean and left:
        yield _mixed(writer, num.with_terms(clean), num.with_terms(left), den)


def _mixed(writer: _Writer, whole: Poly, rest: Poly, den: Poly) -> Form:
    if not len(rest):
        return writer.best(whole)
    parts = [writer.best(whole)] if len(whole) == 1 else writer.summands(whole)
    return add_forms([*parts, _quotient(writer, rest, den)], writer.tol)


class _Writer:
    """Finds the cheapest way to write a Poly; remembers the parts it has written."""

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self.left = MAX_PARTS
        self.known: dict[tuple[tuple[Powers, float], ...], Form] = {}

    def best(self, poly: Poly) -> Form:
        if not len(poly):
            return Form(0.0)
        known = self.known.get(poly.terms)
        if known is None:
            known = self.known[poly.terms] = min(self.forms(poly), key=_price)
        return known

    def summands(self, poly: Poly) -> list[Form]:
        """The terms of the sum, or the one product if that is cheaper than the sum."""
        plain = [monomial(poly.atoms, p, c) for p, c in _ordered(poly)]
        form = self.best(poly)
        return [form] if _price(form) < _price(add_forms(plain, self.tol)) else plain

    def forms(self, poly: Poly) -> Iterator[Form]:
        """All the ways tried, the plain sum first."""
        yield add_forms([monomial(poly.atoms, p, c) for p, c in _ordered(poly)], self.tol)
        self.left -= 1
        if len(poly) == 1 or self.left < 0:
            return
        common, shared = poly.common(), poly.shared()
        if any(shared):
            yield monomial(poly.atoms, shared).times(self.best(poly.divided(shared)))
        if any(common) and common != shared:
            yield monomial(poly.atoms, common).times(self.best(poly.divided(common)))
        if any(common) and all(p >= 0 for p in common):
            return
        if len(poly) > MAX_TERMS:
            yield from self._collected(poly, 1)
            return
        used = poly.used()
        if len(used) == 1:
            yield from self._univariate(poly, used[0])
        split = rank_one(poly, self.tol)
        if split is not None:
            yield self.best(split[0]).times(self.best(split[1]))
            return
        yield from self._squares(poly)
        yield from self._collected(poly, 3 if len(poly) <= 5 else 2 if len(poly) <= 8 else 1)

    def _collected(self, poly: Poly, width: int) -> Iterator[Form]:
        """a·(…) + (…) for the ``width`` atoms that most terms share."""
        counts = [(sum(p[i] > 0 for p, _ in poly.terms), i, 1) for i in poly.used()]
        counts += [(sum(p[i] < 0 for p, _ in poly.terms), i, -1) for i in poly.used()]
        for count, atom, sign in sorted(counts, reverse=True)[:width]:
            if count < 2:
                return
            inside = [(p, c) for p, c in poly.terms if sign * p[atom] > 0]
            outside = [(p, c) for p, c in poly.terms if sign * p[atom] <= 0]
            if outside:
                parts = [self.best(poly.with_terms(inside)), *self.summands(poly.with_terms(outside))]
                yield add_forms(parts, self.tol)

    def _univariate(self, poly: Poly, atom: int) -> Iterator[Form]:
        """Real roots of a polynomial in one atom as factors, or a completed square."""
        table = {p[atom]: c for p, c in poly.terms}
        step = _step(table)
        if step is None or not 2 <= round(max(table) / step) <= 12:
            return
        degree = round(max(table) / step)
        row = [table.get(k * step, 0.0) for k in range(degree, -1, -1)]
        base = power(poly.atoms[atom], step)
        factors, left = linear_factors(row, self.tol)
        if factors:
            rest = poly.with_terms(
                (tuple(step * (len(left) - 1 - k) if i == atom else 0.0 for i in range(len(poly.atoms))), c)
                for k, c in enumerate(left)
            )
            form = self.best(rest)
            for root, multiplicity in factors:
                form = form.times(Form(1.0, (power(_shifted(base, -root, self.tol), float(multiplicity)),)))
            yield form
        elif degree == 2 and row[1]:
            shift = row[1] / (2.0 * row[0])
            square = Form(row[0], (power(_shifted(base, shift, self.tol), 2.0),))
            yield add_forms([square, Form(row[2] - row[0] * shift * shift)], self.tol)

    def _squares(self, poly: Poly) -> Iterator[Form]:
        """c·(r_1 ± r_2 …)² + rest, where the r are monomials."""
        groups, rest = squares(poly, self.tol)
        if not groups:
            return
        forms = []
        for c, members in groups:
            inner = self.best(poly.with_terms(members))
            num = tuple(power(f, 2.0) for f in inner.num)
            forms.append(Form(c * inner.scale**2, num, tuple(power(f, 2.0) for f in inner.den)))
        if rest:
            forms += self.summands(poly.with_terms(rest))
        yield add_forms(forms, self.tol)


def _ordered(poly: Poly) -> list[tuple[Powers, float]]:
    """Terms in reading order: by atoms, high powers first, the constant last."""
    return sorted(poly.terms, key=lambda term: tuple(-p for p in term[0]))


def _shifted(base: Expr, shift: float, tol: float) -> Expr:
    return add_forms([Form(1.0, (base,)), Form(shift)], tol).written() if shift else base


def _step(table: dict[float, float]) -> float | None:
    """The unit in which all powers are whole numbers >= 0, if there is one."""
    powers = [p for p in table if p]
    if min(table) < 0 or not powers:
        return None
    for unit in (1.0, 0.5):
        multiples = [p / unit for p in powers]
        if all(m == round(m) for m in multiples):
            return unit * math.gcd(*(round(m) for m in multiples))
    return None
